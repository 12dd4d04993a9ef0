/** The record panel: what differs as a table, what it did as a chart, and a conclusion recorded in place. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { copyOfDemo } from "./driver/places";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import { Workbench } from "./driver/workbench";

const scenario = scenarios(() => Workbench.start({ name: "record" }));
const viewport = { width: 1600, height: 1000 };

scenario("a record is shown with its chart and what differs, and follows what is typed", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "panel"), file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.showSidebar();
  await window.row("Related", "audio transformer").click();
  const panel = window.panel();
  await panel.locator("h1").filter({ hasText: "HYD-019" }).waitFor();

  const differing = panel.locator("table.parameters tr.different");
  await waitFor("rows of what differs", () => differing.allInnerTexts(), (rows) => rows.length >= 3);
  const rows = (await differing.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, " "));
  assert.ok(rows.some((row) => /optimizer\.lr.* 0\.01 .*0\.003/.test(row)), rows.join("\n"));
  assert.equal(await panel.locator("table.parameters tr.same").first().isVisible(), false); // only differences by default
  await panel.locator(".toggle input").check();
  await panel.locator("table.parameters tr.same").first().waitFor({ state: "visible" });

  const chart = panel.locator("figure.plot").filter({ hasText: "optimizer.lr" }).locator("svg.canvas");
  await chart.waitFor();
  assert.ok((await chart.locator(".point").count()) >= 3);
  assert.ok((await chart.locator(".point.dead_end").count()) >= 1, "dead ends are marked");
  assert.equal(await chart.locator(".draft .draft-line").count(), 1, "the current value is a line");
  assert.match(await chart.locator(".draft-label").textContent() ?? "", /0\.01/);
  await window.shot("panel");

  await window.retype('"lr": 1e-2', "1e-2", "2e-3");
  await waitFor("the line to follow", () => chart.locator(".draft-label").textContent(), (text) => text?.includes("0.002") === true);
  await waitFor("the table to follow", () => differing.allInnerTexts(), (texts) => texts.some((row) => /optimizer\.lr[\s\S]*0\.002/.test(row)));
  await window.close();
});

scenario("the panel is used by keyboard: walk through the chart, open another run", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "keys"), file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.showSidebar();
  await window.row("Related", "audio transformer").click();
  const panel = window.panel();
  const chart = panel.locator("figure.plot").filter({ hasText: "optimizer.lr" }).locator("svg.canvas");
  await chart.locator(".point[tabindex='0']").focus();
  await window.page.keyboard.press("Home");
  await window.page.keyboard.press("ArrowRight");
  const focused = chart.locator(".point:focus");
  const label = await waitFor("a point with the focus", () => focused.getAttribute("data-record"), (record) => record !== null && !record.endsWith("HYD-019"));
  await window.page.keyboard.press("Enter");
  await waitFor("the panel of that run", () => panel.locator("h1").textContent(), (text) => text !== null && text !== "HYD-019" && label?.includes(text.split("…")[0] ?? "?") === true);
  await window.close();
});

scenario("a conclusion is recorded in place, and found in the journal and in the view", async (bench) => {
  const folder = copyOfDemo(bench.folder, "conclude");
  const journal = path.join(folder, ".tried/pool.jsonl");
  const lines = (): string[] => fs.readFileSync(journal, "utf8").trim().split("\n");
  const before = lines().length;
  const window = await bench.open({ folder, file: "configs/wide_conformer.yaml", viewport });
  await window.editorShows("wide_conformer.yaml");
  await window.showSidebar();
  await window.waitForRows("In This File", "the finding", (rows) => rows.some((row) => row.includes("out of memory")));
  await window.expand("In This File", /out of memory/);
  await window.row("In This File", /^hydra:multirun/).click();
  const panel = window.panel();
  const box = panel.locator("textarea#conclusion");
  await waitFor("the cause and the last error in the box", () => box.inputValue(), (text) => /^out of memory: .*out of memory/i.test(text));
  await box.fill("144 needs the large card; 128 is the widest that fits");
  await panel.locator("input[name='verdict'][value='dead_end']").check();
  await window.shot("conclusion");
  await box.press("Control+Enter");
  await panel.locator(".said.saved").waitFor();

  const written = lines();
  assert.equal(written.length, before + 1);
  const amendment = JSON.parse(written.at(-1) ?? "{}") as Record<string, unknown>;
  assert.equal(amendment.kind, "amendment");
  assert.equal(amendment.verdict, "dead_end");
  assert.match(JSON.stringify(amendment.conclusion), /144 needs the large card; 128 is the widest that fits/);
  await panel.locator("header .headline").filter({ hasText: "144 needs the large card" }).waitFor();
  await window.waitForRows("In This File", "the conclusion", (rows) => rows.some((row) => row.includes("144 needs the large card")));
  await window.shot("concluded");
  await window.close();
});

scenario("the command records a conclusion in two steps, and Escape leaves nothing written", async (bench) => {
  const folder = copyOfDemo(bench.folder, "command");
  const journal = path.join(folder, ".tried/pool.jsonl");
  const before = fs.readFileSync(journal, "utf8");
  const window = await bench.open({ folder, file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.waitForSquiggle("warning", '"lr": 1e-2');
  const choose = async (): Promise<void> => {
    await window.command("Tried: Record a Conclusion…");
    await window.quickInput().waitFor();
    await window.quickInput().fill("HYD-001");
    await waitFor("the one run of that id", () => window.quickRows().count(), (count) => count === 1);
    await window.page.locator(".quick-input-widget .monaco-progress-container.active").waitFor({ state: "detached" });
    await window.pick(/HYD-001/);
    await window.pick(/Works/);
  };
  await choose();
  await waitFor("the second step", () => window.page.locator(".quick-input-widget").innerText(), (text) => text.includes("2 of 2"));
  await window.page.keyboard.press("Escape");
  await window.quickInput().waitFor({ state: "hidden" });
  assert.equal(fs.readFileSync(journal, "utf8"), before);

  await choose();
  await waitFor("the second step", () => window.page.locator(".quick-input-widget").innerText(), (text) => text.includes("2 of 2"));
  await window.quickInput().fill("good enough to compare with");
  await window.page.keyboard.press("Enter");
  await waitFor("the line in the journal", () => fs.readFileSync(journal, "utf8"), (text) => text.slice(before.length).includes("good enough to compare with"));
  await window.close();
});
