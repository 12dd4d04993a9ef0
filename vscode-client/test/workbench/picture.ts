/** The picture of README.md and docs/editors/vscode.md, taken of the real thing: `node test/workbench/run.mjs --picture`. */

import path from "node:path";
import { copyOfDemo, places } from "./driver/places";
import { waitFor } from "./driver/waiting";
import { Workbench } from "./driver/workbench";

async function take(bench: Workbench): Promise<void> {
  const window = await bench.open({
    folder: copyOfDemo(bench.folder, "ship-sounds"),
    file: "configs/wide_conformer.yaml",
    settings: { "workbench.colorTheme": "Default Dark Modern", "editor.fontSize": 13, "editor.minimap.enabled": false },
    viewport: { width: 1560, height: 900 },
  });
  await window.editorShows("wide_conformer.yaml");
  await window.showSidebar();
  await window.waitForRows("In This File", "the finding", (rows) => rows.some((row) => row.includes("out of memory")));
  await window.page.mouse.move(347, 500); // the sash at the sidebar's right
  await window.page.mouse.down();
  await window.page.mouse.move(440, 500, { steps: 5 });
  await window.page.mouse.up();
  await window.expand("In This File", /out of memory/);
  await window.row("In This File", /^hydra:multirun/).click();
  const panel = window.panel();
  await panel.locator("figure.plot svg.canvas").first().waitFor();
  await panel.locator("table.parameters tr.different").first().waitFor();
  await panel.locator("textarea#conclusion").fill("144 needs the large card; 96 is the widest that fits here");
  await waitFor("the lens", () => window.codeLenses(), (lenses) => lenses.some((text) => text.includes("never run")));
  await window.expand("Related", /^conformer-wide\b/);
  await window.page.mouse.move(700, 700);
  await window.page.screenshot({ path: path.join(places.client, "..", "docs", "images", "vscode.png") });
  await window.close();
}

void Workbench.start({ name: "picture" }).then((bench) => take(bench).finally(() => bench.close()));
