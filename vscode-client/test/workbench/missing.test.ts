/** A machine without the server. */

import assert from "node:assert/strict";
import { copyOfDemo } from "./driver/places";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import { Workbench } from "./driver/workbench";

const scenario = scenarios(() => Workbench.start({ name: "missing", server: null }));

scenario("without a server a message offers to install it or to open the guide, and so does the sidebar", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder), file: "configs/hot_start.py" });
  await window.editorShows("hot_start.py");
  const [message] = await waitFor("the message", () => window.notifications(), (texts) => texts.some((text) => text.includes("needs its server")));
  assert.match(message ?? "", /Install the Server…/);
  assert.match(message ?? "", /Open the Guide/);
  await window.showSidebar();
  await waitFor("the empty view to say so", () => window.pane("Related").innerText(), (text) => text.includes("not installed") && text.includes("Install the Server"));
  await window.shot("missing");
  assert.equal(await window.offersCommand("Tried: Show Record…"), false);
  assert.equal(await window.offersCommand("Tried: Restart Server"), true);
  await window.command("Tried: Install the Server…");
  // The wheel that came with the extension, not whatever has this name elsewhere.
  const dialog = window.page.locator(".monaco-dialog-box");
  await waitFor("the commands, before they are run", () => dialog.innerText(), (text) => /pip install .*tried-[\w.]+-py3-none-any\.whl/s.test(text));
  await window.shot("install");
  await window.page.keyboard.press("Escape");
  await window.close();
});
