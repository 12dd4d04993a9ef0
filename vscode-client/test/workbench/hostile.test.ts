/** Records that mean harm, and very many records: shown as text, clipped, and nothing runs. */

import assert from "node:assert/strict";
import { CONFIG, HARMFUL, harmfulParameters, harmfulRecord, manyRecords, project } from "./driver/journals";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import type { Window } from "./driver/window";
import { Workbench } from "./driver/workbench";

const scenario = scenarios(() => Workbench.start({ name: "hostile" }));
const viewport = { width: 1600, height: 1000 };

/** Looks at every place where the record with this id and dropout is shown, and opens all that can be opened. */
async function lookAtEverything(window: Window, id: string, dropout: number, name: string): Promise<void> {
  const value = String(dropout);
  const hover = await window.hover("name: kite", "kite", new RegExp(`${id}\\b`)); // there is nothing that it changed: told at the name
  assert.ok(hover.length < 50_000, `a hover of ${hover.length} characters`);
  await window.shot(`${name}-hover`);
  await assertInert(window);
  await window.closeHover();

  await window.expand("In This File", /^ran before/);
  await window.row("In This File", new RegExp(`^${id}$`)).click();
  const panel = window.panel();
  await waitFor("the panel of that record", () => panel.locator("table.parameters").innerText(), (text) => text.includes(value));
  for (const more of await panel.getByRole("button", { name: "show all" }).all()) await more.click({ timeout: 3000 }).catch(() => undefined);
  await window.shot(`${name}-panel`);
  for (const row of [...(await window.rowTexts("Related")), ...(await window.rowTexts("In This File"))]) {
    assert.ok(row.length <= 700, `a row of ${row.length} characters: ${row.slice(0, 200)}`);
  }
  await assertInert(window);
}

/** Nothing ran, nothing was asked for, nothing was opened, and no element came from a record. */
async function assertInert(window: Window): Promise<void> {
  assert.deepEqual(window.dialogs, []);
  assert.deepEqual(window.foreignRequests, []);
  for (const frame of window.page.frames()) {
    assert.equal(await frame.evaluate(() => (globalThis as { harm?: unknown }).harm), undefined, `a script of a record ran in ${frame.url()}`);
    const foreign = await frame.locator("[src*='harm.example'], [href*='harm.example'], [href^='javascript:'], [data-href^='command:workbench'], [data-href*='javascript:']").count();
    assert.equal(foreign, 0, `an element of a record is in ${frame.url()}`);
  }
  assert.equal(await window.page.locator(".tab").filter({ hasText: "Untitled" }).count(), 0);
}

/** The panel's own document: what stands in it as text, and which elements it has. */
async function assertPlainPanel(window: Window, text: string): Promise<void> {
  const body = window.panel().locator("body");
  const shown = await body.evaluate((element) => element.textContent);
  assert.ok(shown.includes(text), `the panel does not show ${text}: ${shown.slice(0, 500)}`);
  assert.equal(await body.locator("img, iframe, object, embed, form, a[href]").count(), 0);
  assert.equal(await body.locator("script").count(), 1, "only its own script");
}

scenario("Markdown, HTML, scripts, command links, right-to-left marks and ANSI codes are text, and no more", async (bench) => {
  const dropout = (i: number): number => (41 + i) / 100;
  const harmful = HARMFUL.map((text, i) => harmfulRecord(`HARM-${i + 1}`, text, 0, dropout(i)));
  const config = CONFIG.replace("dropout: 0.3", "dropout: 0.41");
  const made = project(bench.folder, "texts", [...manyRecords(20), ...harmful, harmfulParameters("HARM-PARAMETERS", HARMFUL)], config);
  const window = await bench.open({ folder: made.folder, file: made.config, viewport });
  await window.editorShows("config.yaml");
  await window.showSidebar();
  for (const [i, text] of HARMFUL.entries()) {
    if (i > 0) await window.retype("dropout", String(dropout(i - 1)), String(dropout(i)));
    await lookAtEverything(window, `HARM-${i + 1}`, dropout(i), `text-${i + 1}`);
    if (!/^[<[]/.test(text)) continue; // signs stand for what the others hide
    await assertPlainPanel(window, text);
    await window.waitForRows("In This File", `the text ${text}`, (rows) => rows.some((row) => row.includes(text.slice(0, 30))));
  }

  await window.command("Tried: Show Record…"); // a list of records, and a panel whose keys and values are harmful
  await window.quickInput().waitFor();
  await window.quickInput().fill("HARM-PARAMETERS");
  await window.pick(/HARM-PARAMETERS/);
  const table = window.panel().locator("table.parameters");
  await waitFor("its parameters", () => table.innerText(), (text) => text.includes("value <script>window.harm=2</script>"));
  await window.shot("parameters");
  await assertInert(window);
  await assertPlainPanel(window, HARMFUL[0]);

  // The check can fail: what a record's script would do is seen.
  await window.page.evaluate(() => void fetch("https://harm.example/z").catch(() => undefined));
  await waitFor("the request to be seen", () => window.foreignRequests, (urls) => urls.length === 1);
  await assert.rejects(assertInert(window));
  window.foreignRequests.length = 0;
  await assertInert(window);
  await window.panel().locator("body").evaluate(() => Object.assign(globalThis, { harm: 1 }));
  await assert.rejects(assertInert(window), /a script of a record ran/);
  await window.close();
});

scenario("a record whose every text is 100 KB is clipped", async (bench) => {
  const long = `${HARMFUL.join(" ")} ${"long ".repeat(100)}`;
  const made = project(bench.folder, "long", [...manyRecords(20), harmfulRecord("HARM-99", long, 100_000)], CONFIG);
  const window = await bench.open({ folder: made.folder, file: made.config, viewport });
  await window.editorShows("config.yaml");
  await window.showSidebar();
  await lookAtEverything(window, "HARM-99", 0.3, "long");
  const size = await window.panel().locator("body").evaluate((element) => element.textContent.length);
  assert.ok(size < 200_000, `the panel holds ${size} characters`);
  await window.close();
});

scenario("5,000 related records are listed, and the list stays usable", async (bench) => {
  const made = project(bench.folder, "many", manyRecords(5000), CONFIG);
  const window = await bench.open({ folder: made.folder, file: made.config, viewport });
  await window.editorShows("config.yaml");
  await window.showSidebar();
  await window.waitForRows("Related", "related experiments", (rows) => rows.length > 5, 60);
  for (const more of [50, 200, 1000, 5000]) {
    await window.rows("Related").first().focus();
    await window.page.keyboard.press("End");
    await window.row("Related", "Show more").click();
    const rows = more === 5000 ? more : more + 1; // and the row that shows more
    const listed = window.pane("Related").locator(`.monaco-list-row[aria-setsize='${rows}']`);
    await waitFor(`${more} experiments`, () => listed.count(), (count) => count > 0);
  }
  await window.rows("Related").first().focus();
  await window.page.keyboard.press("End");
  const last = window.pane("Related").locator(".monaco-list-row[aria-posinset='5000']");
  await waitFor("the last row", () => last.count(), (count) => count === 1);
  await last.click({ position: { x: 60, y: 8 } });
  await window.panel().locator("header .headline").waitFor();
  await window.shot("many");
  await window.retype("lr: 0.05", "0.05", "0.06");
  await waitFor("the panel to follow", () => window.panel().locator("table.parameters tr.different").allInnerTexts(), (rows) => rows.some((row) => row.includes("0.06")));
  await window.close();
});
