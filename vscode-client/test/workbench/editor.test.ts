/** What the server says in the editor: squiggles, Problems, hovers, quick fixes, lenses, hints, suggestions, links. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { copyOfDemo } from "./driver/places";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import { Workbench } from "./driver/workbench";

const scenario = scenarios(() => Workbench.start({ name: "editor" }));

scenario("a repeated config is told by a squiggle, a row of Problems and a hover, until it is no repeat", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "repeat"), file: "configs/hot_start.py" });
  await window.editorShows("hot_start.py");
  await window.waitForSquiggle("warning", '"lr": 1e-2');

  const problems = await waitFor("a row in Problems", () => window.problems(), (rows) => rows.some((row) => row.includes("HYD-005")));
  assert.ok(
    problems.some((row) => /ran before: diverged after 5 min.*HYD-005.*repeat/.test(row)),
    problems.join("\n"),
  );

  const hover = await window.hover('"lr": 1e-2', "1e-2", "HYD-005");
  assert.match(hover, /Loss became NaN at step 910: 0\.01 is too high for AdamW here/);
  await window.shot("hover");
  await window.closeHover();

  await window.retype('"lr": 1e-2', "1e-2", "2e-3");
  await window.waitForNoSquiggle();
  await waitFor("no row in Problems", () => window.problems(), (rows) => rows.length === 0);

  await window.retype('"lr": 2e-3', "2e-3", "0.01"); // another spelling of the same value
  await window.waitForSquiggle("warning", '"lr": 0.01');
  await window.close();
});

scenario("quick fixes use the best value, and silence a finding with a reason that stays in the file", async (bench) => {
  const folder = copyOfDemo(bench.folder, "fixes");
  const window = await bench.open({ folder, file: "configs/wide_conformer.yaml" });
  await window.editorShows("wide_conformer.yaml");
  await window.waitForSquiggle("info", "width: 144");
  await window.cursorAfter("width: 144", "144");
  await window.quickFix(/^Silence dead-end here/);
  await window.waitForNoSquiggle();
  await waitFor("the … to be selected", () => window.page.locator(".statusbar").innerText(), (text) => text.includes("(1 selected)"));
  await window.page.keyboard.type("the large card is back"); // over the … that is selected
  await window.save();
  const file = path.join(folder, "configs/wide_conformer.yaml");
  assert.match(fs.readFileSync(file, "utf8"), /^ +width: 144 +# tried: ignore\[dead-end\] because the large card is back$/m);
  await waitFor(
    "the edit to be undone",
    async () => {
      await window.page.keyboard.press("Control+Z");
      return window.text();
    },
    (lines) => !lines.some((text) => text.includes("tried: ignore")),
  );
  await window.waitForSquiggle("info", "width: 144");

  await window.cursorAfter("width: 144", "144");
  await window.quickFix(/^Use 96: best of 3 runs \(val_f1 0\.801\)/);
  await window.waitForNoSquiggle();
  await window.save();
  assert.match(fs.readFileSync(file, "utf8"), /^ {2}width: 96$/m);
  await window.close();
});

scenario("the lens says where one stands, and hints what was tried, once they are switched on", async (bench) => {
  const folder = copyOfDemo(bench.folder, "lens");
  const window = await bench.open({ folder, file: "configs/wide_conformer.yaml" });
  await window.editorShows("wide_conformer.yaml");
  const lenses = await waitFor("a lens", () => window.codeLenses(), (texts) => texts.some((text) => text.startsWith("never run")));
  assert.match(lenses.join("\n"), /never run · nearest: .+ \(dead end\), differs in model\.width · 2 dead ends nearby/);
  assert.deepEqual(await window.inlayHints(), []);

  await bench.changeSettings(window, { "tried.inlayHints.enable": true });
  await waitFor("inlay hints", () => window.inlayHints(), (hints) => hints.some((hint) => /\d+ runs? · best 0\.\d+/.test(hint)));
  await window.shot("lens-and-hints");

  await bench.changeSettings(window, { "tried.inlayHints.enable": false, "tried.codeLens.enable": false });
  await waitFor("no hint and no lens", async () => [...(await window.inlayHints()), ...(await window.codeLenses())], (texts) => texts.length === 0);
  await window.close();
});

scenario("values that were tried are suggested, best first, dead ends last", async (bench) => {
  const folder = copyOfDemo(bench.folder, "suggest");
  const window = await bench.open({ folder, file: "configs/transformer.yaml" });
  await window.editorShows("transformer.yaml");
  await waitFor("a lens", () => window.codeLenses(), (texts) => texts.length > 0); // the pool has been read
  await window.cursorAfter("lr: 0.0005", "0.0005");
  for (let left = 6; left > 0; left--) await window.page.keyboard.press("Backspace");
  const isOurs = (label: string): boolean => label.startsWith("0.0");
  const labels = await window.suggestions((all) => all.filter(isOurs).length >= 3, "learning rates");
  await window.shot("suggestions");
  const values = labels.filter(isOurs).map((label) => Number.parseFloat(label));
  // 0.01 is the one that only ever diverged
  assert.equal(values.at(-1), 0.01, labels.join("\n"));
  assert.ok(values.includes(0.003) && values.includes(0.001), labels.join("\n"));
  await window.close();
});

scenario("the id of a record in a config is a link to its panel, and has a definition", async (bench) => {
  const folder = copyOfDemo(bench.folder, "links");
  const file = path.join(folder, "configs/transformer.yaml");
  fs.writeFileSync(file, `# after HYD-019, and not like HYD-023\n${fs.readFileSync(file, "utf8")}`);
  const window = await bench.open({ folder, file });
  await window.editorShows("transformer.yaml");
  const links = window.editor().locator(".detected-link, .detected-link-active");
  await waitFor("two links", () => links.allInnerTexts(), (texts) => texts.join(" ").includes("HYD-019") && texts.join(" ").includes("HYD-023"));
  await links.filter({ hasText: "HYD-019" }).first().click({ modifiers: ["ControlOrMeta"] });
  await window.panel().locator("h1").filter({ hasText: "HYD-019" }).waitFor();
  await window.shot("link-to-panel");

  await window.openFile("configs/transformer.yaml");
  await window.cursorAfter("HYD-023", "not like HYD");
  await window.page.keyboard.press("F12");
  await waitFor("a page about HYD-023", () => window.page.locator(".tab.active").allInnerTexts(), (tabs) => tabs.some((tab) => tab.includes("HYD-023")));
  await waitFor("its headline", () => window.text(), (lines) => lines.join("").includes("CUDA out of memory: fp32 doubles the activations"));
  await window.close();
});
