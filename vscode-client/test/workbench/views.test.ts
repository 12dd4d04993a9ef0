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
  assert.ok(related.some((row) => /^learning rate 0\.01 .*0\.\d{3} · .+ ago$/.test(row)), related.join("\n"));
  assert.ok(related.some((row) => /^baseline\b.*, 3 runs · 0\.\d{3} · /.test(row)), `replicates are one row: ${related.join("\n")}`);
  const spoken = await window.rows("Related").evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));
  assert.ok(spoken.some((label) => label.startsWith("dead end")), spoken.join("\n"));
  assert.ok(spoken.some((label) => label.startsWith("works")), spoken.join("\n"));

  const findings = await window.waitForRows("In This File", "the finding", (rows) => rows.length > 0);
  assert.match(findings[0] ?? "", /^ran before: diverged after 5 min.*line 7/);

  const pool = await window.waitForRows("Pool", "four sources", (rows) => rows.filter((row) => /\d+ records?/.test(row)).length >= 4);
  assert.ok(pool.some((row) => /pool\.jsonl\s+25 records/.test(row)), pool.join("\n"));
  assert.ok(pool.some((row) => /mlruns.*5 records/.test(row)), pool.join("\n"));
  assert.ok(pool.some((row) => /results\.tsv\s+7 records/.test(row)), pool.join("\n"));
  await window.shot("views");

  await window.expand("Related", /^learning rate 0\.01(?! with)/);
  await window.waitForRows("Related", "why, in its own words", (rows) => rows.some((row) => row.includes("Loss became NaN at step 910")));
  await window.waitForRows("Related", "no difference", (rows) => rows.some((row) => row.includes("No compared parameter differs")));
  await window.waitForRows("Related", "bars of the score", (rows) => rows.some((row) => /[█▏▎▍▌▋▊▉]+ ?lexical 0\.\d+/.test(row)));
  await window.shot("unfolded");

  await window.retype('"lr": 1e-2', "1e-2", "2e-3");
  await window.waitForRows("Related", "the difference that was typed", (rows) => rows.some((row) => /optimizer\.lr: 2e-3 → 0\.01/.test(row)));
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

  const names = (rows: string[]): string[] => rows.map((row) => row.replace(/ (\d[\d.]* ± .*|0\.\d{3}.*|loss.*)$/, ""));
  const before = names(await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5));
  await window.retype('"backbone": "resnet18"', "resnet18", "conformer-s");
  const after = names(await window.waitForRows("Related", "another order", (rows) => names(rows).join("\n") !== before.join("\n")));
  const place = (list: string[]): number => list.findIndex((row) => row.startsWith("conformer"));
  assert.ok(place(after) >= 0 && (place(before) < 0 || place(after) < place(before)), `${before.join("\n")}\n--\n${after.join("\n")}`);
  await window.close();
});

scenario("experiments are filtered, searched, sorted, and asked about", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "filters"), file: "configs/hot_start.py", viewport });
  await window.editorShows("hot_start.py");
  await window.showSidebar();
  const spoken = (): Promise<string[]> => window.rows("Related").evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label") ?? ""));
  const all = await waitFor("experiments of several outcomes", spoken, (labels) => labels.some((label) => label.startsWith("works")));

  await window.command("Tried: Show Dead Ends Only");
  await waitFor("dead ends only", spoken, (labels) => labels.length > 0 && labels.every((label) => label.startsWith("dead end")));
  await window.shot("dead-ends");
  await window.command("Tried: Clear Filters");
  await waitFor("all of them again", spoken, (labels) => labels.join() === all.join());

  await window.command("Tried: Search Related Experiments…");
  await window.quickInput().fill("mixup");
  await waitFor("what mentions mixup", () => window.rowTexts("Related"), (rows) => rows.length > 0 && rows.length < all.length && rows.some((row) => /mixup/.test(row)));
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
