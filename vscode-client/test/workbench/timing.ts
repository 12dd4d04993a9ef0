/**
 * How fast the extension is, measured in the workbench: `node test/workbench/run.mjs --timing`. A benchmark, not a test: what it
 * says depends on the machine and on what else runs there.
 */

import fs from "node:fs";
import { CONFIG, manyRecords, project } from "./driver/journals";
import { places } from "./driver/places";
import { waitFor } from "./driver/waiting";
import type { Window } from "./driver/window";
import { Workbench } from "./driver/workbench";

const RECORDS = Number(process.env.TRIED_TIMING_RECORDS ?? 10_000);
const KEYSTROKES = 40;
const STARTS = 5;
const PAUSE_MS = 1200; // so that each keystroke is one of its own, not of a burst

declare global {
   
  var triedTiming: { began: number; took: number[] };
}

/** From a key going down to the frame after the view *Related* shows another difference, in the page's own clock, in milliseconds. */
async function keystrokes(window: Window): Promise<number[]> {
  // A value that no run had: each further digit differs from all of them, and the order of the rows stays.
  await window.retype("dropout: 0.3", "0.3", "0.77");
  await waitFor("the lens to follow", () => window.codeLenses(), (lenses) => lenses.some((text) => /differs in .*dropout/.test(text)), 60);
  await window.expand("Related", /^kite/);
  const difference = window.row("Related", /^dropout: /);
  await difference.waitFor();
  await window.pane("Related").evaluate((pane) => {
    const shown = (): string => Array.from(pane.querySelectorAll(".label-name"), (label) => label.textContent).find((text) => text.startsWith("dropout: ")) ?? "";
    const timing = { began: 0, took: [] as number[] };
    globalThis.triedTiming = timing;
    let before = shown();
    addEventListener(
      "keydown",
      (event) => {
        before = shown();
        timing.began = event.timeStamp;
      },
      { capture: true },
    );
    new MutationObserver(() => {
      const now = shown();
      if (timing.began === 0 || now === "" || now === before) return;
      const { began } = timing;
      timing.began = 0;
      requestAnimationFrame(() => timing.took.push(performance.now() - began));
    }).observe(pane, { subtree: true, childList: true, characterData: true });
  });
  await window.cursorAfter("dropout: 0.77", "0.77");
  const count = (): Promise<number> => window.page.evaluate(() => globalThis.triedTiming.took.length);
  for (let i = 0; i < KEYSTROKES; i++) {
    const key = i % 2 === 0 ? String(1 + ((i / 2) % 9)) : "Backspace";
    await window.page.keyboard.press(key);
    await waitFor(`the view after keystroke ${i + 1}`, count, (taken) => taken > i, 15);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return window.page.evaluate(() => globalThis.triedTiming.took);
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

function milliseconds(values: readonly number[]): string {
  const [median, p95, most] = [quantile(values, 0.5), quantile(values, 0.95), Math.max(...values)].map((value) => `${Math.round(value)} ms`);
  return `median ${median ?? ""}, p95 ${p95 ?? ""}, max ${most ?? ""} (n = ${values.length})`;
}

async function measure(bench: Workbench): Promise<void> {
  const made = project(bench.folder, "kites", manyRecords(RECORDS), CONFIG);
  const activations: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const window = await bench.open({ folder: made.folder, file: made.config });
    await window.editorShows("config.yaml");
    const log = await waitFor("the activation", () => bench.extensionLog(), (text) => /activated in \d+ ms/.test(text) && text.includes("the server answers"), 60);
    activations.push(Number(/activated in (\d+) ms/.exec(log)?.[1]));
    await window.close();
  }
  const window = await bench.open({ folder: made.folder, file: made.config, viewport: { width: 1280, height: 1000 } });
  await window.editorShows("config.yaml");
  await window.showSidebar();
  await waitFor("the whole pool", () => window.pane("Pool").innerText(), (text) => text.includes(`${RECORDS.toLocaleString("en-US")} records`) && !/[Rr]eading/.test(text), 120);
  await window.waitForRows("Related", "related experiments", (rows) => rows.length > 5, 60);
  const took = await keystrokes(window);
  await window.shot("after");
  await window.close();
  const size = fs.statSync(places.vsix).size;
  console.log(`
| what | measured | wanted |
|---|---|---|
| from a keystroke to the redrawn view *Related*, ${RECORDS.toLocaleString("en-US")} records, debounce included | ${milliseconds(took)} | ≤ 300 ms |
| activation, the extension's own time | ${milliseconds(activations)} | ≤ 200 ms |
| the .vsix without a server | ${(size / 1e6).toFixed(2)} MB | ≤ 1 MB |
`);
}

void Workbench.start({ name: "timing" }).then((bench) => measure(bench).finally(() => bench.close()));
