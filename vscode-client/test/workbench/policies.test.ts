/** Another policy tried for once, both rankings side by side; and hits, of which the server keeps count. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { copyOfDemo, places } from "./driver/places";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import { oneLine, type Window } from "./driver/window";
import { Workbench } from "./driver/workbench";

const scenario = scenarios(() => Workbench.start({ name: "policies" }));
const viewport = { width: 1800, height: 1000 };

const TRY = "Tried: Try Another Policy…";
/** What is latest comes first, whatever it is. */
const NEWEST = `
[policies.newest]
half_life_days = 365
weights = { lexical = 0.0, structural = 0.0, recency = 1.0, importance = 0.0 }
`;

/** The lines of the two texts that are compared, as far as they are in sight. */
async function sides(window: Window): Promise<[string[], string[]]> {
  const side = async (name: string): Promise<string[]> => {
    const lines = await window.page
      .locator(`.monaco-diff-editor .editor.${name} .view-line`)
      .evaluateAll((elements) => elements.map((element) => ({ text: element.textContent.replaceAll("\u00a0", " "), top: element.getBoundingClientRect().top })));
    return lines.sort((a, b) => a.top - b.top).map(({ text }) => text.trimEnd());
  };
  return [await side("original"), await side("modified")];
}

const placed = (lines: string[]): string[] => lines.filter((each) => /^ *\d+\. /.test(each));
const ids = (lines: string[]): string[] => placed(lines).map((each) => each.trim().split(/\s+/)[1] ?? "");

scenario("a policy of one's own ranks otherwise, side by side with the one in force, which stays", async (bench) => {
  const folder = copyOfDemo(bench.folder, "policy");
  fs.appendFileSync(path.join(folder, "tried.toml"), NEWEST);
  const window = await bench.open({ folder, file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.showSidebar();
  const listed = await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5);

  await window.command(TRY);
  const offered = await waitFor("the policies", () => window.quickRows().allInnerTexts(), (rows) => rows.some((row) => row.includes("newest")));
  const rows = offered.map(oneLine).join("\n");
  assert.match(rows, /^default ?[0-9a-f]{12} · in force the default\nsteady ?[0-9a-f]{12} lexical_bonus\.enabled = true, .*\nnewest ?[0-9a-f]{12} · of your own .*weights\.recency = 1, .*\nChange one knob…/);
  await window.shot("policies");
  await window.pick(/^newest/);
  const [before, after] = await waitFor("both rankings", () => sides(window), ([left, right]) => ids(left).length >= 5 && ids(right).length >= 5);
  await window.shot("side-by-side");
  assert.match(before[0] ?? "", /^Ranked by the policy in force: default \([0-9a-f]{12}\)$/);
  assert.match(after[0] ?? "", /^Ranked for once by: newest \([0-9a-f]{12}\)$/);
  assert.ok(after.some((each) => each === "The policy in force is still default: nothing was changed or kept."), after.join("\n"));
  assert.ok(after.some((each) => each.startsWith('To use this one: policy = "newest" under [ranking] in tried.toml')), after.join("\n"));
  assert.notDeepEqual(ids(before), ids(after));
  assert.ok(placed(before).some((each) => /\(goes to \d+\)$/.test(each)), before.join("\n"));
  assert.ok(after.some((each) => /^ +(0\.\d{3}) += lexical 0\.000 +recency \1 +importance 0\.000$/.test(each)), after.join("\n"));
  const tab = await window.page.locator(".editor-group-container .tab.active").innerText();
  assert.match(oneLine(tab), /default ↔ newest: configs\/hot_start\.py/);
  assert.ok((await window.page.locator(".monaco-diff-editor .line-insert, .monaco-diff-editor .line-delete").count()) > 0, "differences are marked");

  assert.deepEqual(await window.rowTexts("Related"), listed, "the list is still about the config, by the policy in force");
  assert.doesNotMatch(fs.readFileSync(path.join(folder, "tried.toml"), "utf8"), /policy = /);
  await window.close();
});

scenario("a knob that there is not is told in the box, and one that there is ranks by it", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "knob"), file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.waitForSquiggle("warning", '"lr": 1e-2');
  await window.command(TRY);
  await window.pick(/^Change one knob…/);
  await waitFor("the box", () => window.page.locator(".quick-input-widget").innerText(), (text) => text.includes("half_life_days = 30"));
  const message = window.page.locator(".quick-input-widget .quick-input-message");
  const refused = async (text: string, expected: RegExp): Promise<void> => {
    await window.quickInput().fill(text);
    await window.page.keyboard.press("Enter");
    await waitFor(`${text} to be refused`, () => message.innerText(), (said) => expected.test(oneLine(said)));
  };
  await refused("half_life=90", /half_life.*half_life_days/);
  await refused("weights.lexical=-1", /weights\.lexical.*-1/);
  await window.shot("refused");
  await window.quickInput().fill("weights.lexical=0, half_life_days=9000");
  await window.page.keyboard.press("Enter");
  const [, after] = await waitFor("both rankings", () => sides(window), ([left, right]) => ids(left).length >= 5 && ids(right).length >= 5);
  assert.match(after[0] ?? "", /^Ranked for once by: default with weights\.lexical = 0, half_life_days = 9000 \([0-9a-f]{12}\)$/);
  assert.ok(after.some((each) => each.trim() === "[policies.mine]"), after.join("\n"));
  assert.deepEqual(await window.notifications(), []);
  await window.close();
});

scenario("a record that is opened is hit once, and so is one whose value is used, and one that was searched", async (bench) => {
  const folder = copyOfDemo(bench.folder, "hits");
  fs.appendFileSync(path.join(folder, "tried.toml"), '\n[ranking]\npolicy = "steady"\n');
  const hits = (): string => {
    const env = { ...process.env, HOME: path.join(bench.folder, "home"), XDG_STATE_HOME: path.join(bench.folder, "state") };
    const done = spawnSync(places.server, ["hits", "--json"], { cwd: folder, env, encoding: "utf8" });
    return done.status === 0 ? done.stdout : done.stderr;
  };
  const count = (record: RegExp): number => {
    const { records } = JSON.parse(hits()) as { records: { record: string; hits: number }[] };
    return records.filter((one) => record.test(one.record)).reduce((sum, one) => sum + one.hits, 0);
  };
  const window = await bench.open({ folder, file: "configs/wide_conformer.yaml", viewport });
  await window.editorShows("wide_conformer.yaml");
  await window.showSidebar();
  await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5);
  assert.equal(count(/./), 0, "that they are listed is no hit");

  await window.row("Related", "audio transformer").click();
  await window.panel().locator("h1").filter({ hasText: "HYD-019" }).waitFor();
  await waitFor("the hit", () => count(/HYD-019$/), (found) => found === 1);

  const why = window.panel().locator("table.breakdown");
  const boost = why.locator("tr").filter({ hasText: "hit boost" });
  await waitFor("the terms that the policy turns on", () => why.innerText(), (text) => /lexical bonus[\s\S]*hit boost[\s\S]*decay penalty\s+−0\.0/.test(text));
  assert.equal(await why.locator(".fill.negative").count(), 1);
  await why.scrollIntoViewIfNeeded();
  await window.shot("steady");
  await window.expand("Related", /^conformer-wide$/);
  await window.waitForRows("Related", "the same in the list", (rows) => rows.some((row) => /^−0\.0\d\d · .*decay penalty$/.test(row)));

  await window.waitForSquiggle("info", "width: 144");
  await window.cursorAfter("width: 144", "144");
  await window.quickFix(/^Use 96: best of 3 runs/);
  await window.waitForNoSquiggle();
  await waitFor("the hit on the run with the best value", () => count(/./), (found) => found === 2);
  await waitFor("the hit in the score of what was opened", () => boost.innerText(), (text) => /0\.00[1-9]/.test(text)); // once the panel asked anew
  await window.page.keyboard.press("Control+P");
  await window.quickInput().fill("#HYD-013");
  await window.pick(/HYD-013/);
  await window.editorShows("HYD-013");
  await waitFor("the hit on what was searched", () => count(/HYD-013$/), (found) => found === 1);
  assert.equal(count(/HYD-019$/), 1, "what is edited beside the panel is no hit on what it shows");
  assert.deepEqual(await window.notifications(), []);
  await window.close();
});
