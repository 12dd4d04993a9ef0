/** No folder, several folders, a file outside of all of them. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { copyOfDemo } from "./driver/places";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import { Workbench } from "./driver/workbench";
import type { Window } from "./driver/window";

const scenario = scenarios(() => Workbench.start({ name: "folders" }));
const CONFIG = "dataset: harbour-2025\noptimizer:\n  name: adamw\n  lr: 0.01\nbatch_size: 32\n";

function folderWithoutRuns(parent: string, name: string): string {
  const folder = path.join(parent, name);
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, "config.yaml"), CONFIG);
  return folder;
}

/**
 * Now and then the workbench reads a workspace file before it can read any, and then has none of its folders: the path of a
 * file then begins at the root of the disk. Loaded once more it has them.
 */
async function untilFoldersAreOpen(window: Window): Promise<void> {
  for (let attempt = 0; attempt < 4; attempt++) {
    const first = window.page.locator(".breadcrumbs-below-tabs .monaco-breadcrumb-item").first();
    await first.waitFor();
    if ((await first.innerText()).trim() === "ships") return;
    await window.page.reload();
    await window.editorShows("hot_start.py");
  }
  assert.fail("the workbench opens none of the folders of the workspace");
}

scenario("no folder: the views ask for one, and a file alone is looked at with its own project", async (bench) => {
  const project = copyOfDemo(bench.folder, "alone");
  const window = await bench.open({ file: path.join(project, "configs/hot_start.py") });
  await window.editorShows("hot_start.py");
  await window.waitForSquiggle("warning", '"lr": 1e-2');
  await window.showSidebar();
  await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5);
  await window.command("View: Close All Editors");
  await waitFor("a request for a folder", () => window.pane("Related").innerText(), (text) => text.includes("Open a folder"));
  await window.shot("no-folder");
  await window.close();
});

scenario("several folders: each has its own pool, and the views follow the active editor", async (bench) => {
  const ships = copyOfDemo(bench.folder, "ships");
  const other = folderWithoutRuns(bench.folder, "other");
  const workspace = path.join(bench.folder, "both.code-workspace");
  fs.writeFileSync(workspace, JSON.stringify({ folders: [{ path: ships }, { path: other }] }));
  const window = await bench.open({ workspace, file: path.join(ships, "configs/hot_start.py") });
  await window.editorShows("hot_start.py");
  await untilFoldersAreOpen(window);
  await window.waitForSquiggle("warning", '"lr": 1e-2');
  await window.showSidebar();
  await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5);
  await window.waitForRows("Pool", "both folders", (rows) => rows.some((row) => row.startsWith("ships")) && rows.some((row) => row.startsWith("other")));

  await window.openFile("other/config.yaml");
  await waitFor("nothing related", () => window.pane("Related").innerText(), (text) => text.includes("No runs were found in this folder"));
  assert.deepEqual(await window.squiggles(), []);
  await window.shot("several-folders");
  await window.close();
});

scenario("a file outside of all folders is looked at with its own project", async (bench) => {
  const inside = folderWithoutRuns(bench.folder, "inside");
  const outside = copyOfDemo(bench.folder, "outside");
  const window = await bench.open({ folder: inside, file: path.join(outside, "configs/hot_start.py") });
  await window.editorShows("hot_start.py");
  await window.waitForSquiggle("warning", '"lr": 1e-2');
  await window.showSidebar();
  await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5);
  await window.close();
});
