/** The three views of the sidebar: filled, live while one types, filtered and searched. */

import assert from "node:assert/strict";
import { copyOfDemo } from "./driver/places";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import { Workbench } from "./driver/workbench";

const scenario = scenarios(() => Workbench.start({ name: "views" }));
const viewport = { width: 1280, height: 1000 };

scenario("the three views are filled, and follow what is typed", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "filled"), file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.showSidebar();

  const related = await window.waitForRows("Related", "related experiments", (rows) => rows.some((row) => row.includes("learning rate 0.01")));
  assert.ok(related.length >= 5, related.join("\n"));
  assert.ok(related.some((row) => /^learning rate 0\.01 · .*0\.\d+ · .+ ago$/.test(row)), related.join("\n"));
  // Three seeds of the baseline: val_f1 0.712, 0.709 and 0.716
  assert.ok(related.some((row) => /^baseline.* · 0\.712 ± 0\.004, 3 runs · /.test(row)), `replicates are one row: ${related.join("\n")}`);
  const spoken = await window.spokenRows("Related");
  assert.ok(spoken.some((label) => label.startsWith("dead end")), spoken.join("\n"));
  assert.ok(spoken.some((label) => label.startsWith("works")), spoken.join("\n"));

  const findings = await window.waitForRows("In This File", "the finding", (rows) => rows.length > 0);
  assert.match(findings[0] ?? "", /^ran before: diverged after 5 min.*line 7/);

  const pool = await window.waitForRows("Pool", "four sources", (rows) => rows.filter((row) => /\d+ records?/.test(row)).length >= 4);
  assert.ok(pool.some((row) => row.includes('pool.jsonl · 25 records')), pool.join("\n"));
  assert.ok(pool.some((row) => row.startsWith("mlruns · 5 records")), pool.join("\n"));
  assert.ok(pool.some((row) => row.includes('results.tsv · 7 records')), pool.join("\n"));
  await window.shot("views");

  await window.expand("Related", /^learning rate 0\.01$/);
  await window.waitForRows("Related", "why, in its own words", (rows) => rows.some((row) => row.includes("Loss became NaN at step 910")));
  await window.waitForRows("Related", "no difference", (rows) => rows.some((row) => row.includes("No compared parameter differs")));
  await window.waitForRows("Related", "bars of the score", (rows) => rows.some((row) => /^0\.\d+ · [█▏▎▍▌▋▊▉]+ lexical$/.test(row)));
  await window.shot("unfolded");

  await window.retype('"lr": 1e-2', "1e-2", "2e-3");
  await window.waitForRows("Related", "the difference that was typed", (rows) => rows.some((row) => /optimizer\.lr: (2e-3|0\.002) → 0\.01/.test(row)));
  await waitFor("no finding any more", () => window.rowTexts("In This File"), (rows) => !rows.some((row) => row.includes("ran before")));
  await window.close();
});

scenario("the ranking changes with what is typed, and a finding leads to its value", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "ranking"), file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.showSidebar();
  await window.waitForRows("In This File", "the finding", (rows) => rows.length > 0);
  await window.rows("In This File").first().click();
  await waitFor("the cursor at the value", () => window.page.locator(".statusbar").innerText(), (text) => /Ln 7, Col \d+/.test(text));

  const order = (rows: string[]): string[] => rows.map((row) => row.split(" · ")[0] ?? "");
  const before = order(await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5));
  await window.retype('"backbone": "resnet18"', "resnet18", "conformer-s");
  const after = order(await window.waitForRows("Related", "another order", (rows) => order(rows).join() !== before.join()));
  const place = (list: string[]): number => list.indexOf("conformer");
  assert.ok(place(after) >= 0 && (place(before) < 0 || place(after) < place(before)), `${before.join("\n")}\n--\n${after.join("\n")}`);
  await window.close();
});

scenario("experiments are filtered, searched, sorted, and asked about", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "filters"), file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.showSidebar();
  const spoken = (): Promise<string[]> => window.spokenRows("Related");
  const all = await waitFor("experiments of several outcomes", spoken, (labels) => labels.some((label) => label.startsWith("works")));

  await window.command("Tried: Show Dead Ends Only");
  await waitFor("dead ends only", spoken, (labels) => labels.length > 0 && labels.every((label) => /^dead end|^Show more/.test(label)));
  await window.shot("dead-ends");
  await window.command("Tried: Clear Filters");
  await waitFor("all of them again", spoken, (labels) => labels.join() === all.join());

  await window.command("Tried: Search Related Experiments…");
  await window.quickInput().fill("mislabelled");
  await waitFor("the one that mentions it", () => window.rowTexts("Related"), (rows) => rows.length === 1 && rows[0]?.startsWith("focal loss") === true);
  await window.page.keyboard.press("Escape");
  await waitFor("all of them again", spoken, (labels) => labels.join() === all.join());

  await window.command("Tried: Sort Related Experiments…");
  await window.pick(/^Newest first/);
  await waitFor("another order", spoken, (labels) => labels.length > 0 && labels.join() !== all.join());

  await window.command("Tried: Why Is a Run Not Here?…");
  await window.quickInput().waitFor();
  await window.quickInput().fill("HYD-024");
  await window.pick(/HYD-024/);
  await waitFor("an answer about HYD-024", () => window.notifications(), (texts) => texts.some((text) => text.includes("HYD-024")));
  await window.shot("why-not");
  await window.close();
});
