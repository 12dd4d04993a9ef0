/** The server's process: found, killed, hanging, missing, not trusted; and a server that reports nothing. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { copyOfDemo, fakeServer, places, programNamedTried } from "./driver/places";
import { scenarios } from "./driver/scenario";
import { waitFor } from "./driver/waiting";
import type { Window } from "./driver/window";
import { Workbench } from "./driver/workbench";

const scenario = scenarios(() => Workbench.start({ name: "server" }));
const RESTRICTED = { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" };

/** The check that all else rests on; the negative control below runs the very same. */
async function seesTheRepeat(window: Window, seconds?: number): Promise<void> {
  await window.editorShows("hot_start.py");
  await window.waitForSquiggle("warning", '"lr": 1e-2', seconds);
}

async function debugInformation(window: Window, expected: string): Promise<string> {
  await window.command("Tried: Debug Information");
  await window.editorShows("Debug Information");
  const text = async (): Promise<string> => (await window.text()).join("\n");
  return waitFor(`debug information that says ${expected}`, text, (shown) => shown.includes(expected));
}

scenario("a server that reports nothing fails the check for the squiggle", async (bench) => {
  const silent = programNamedTried(bench.folder, [process.execPath, fakeServer, "silent"], "silent");
  const settings = { "tried.path": [path.join(silent, "tried")] };
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "silent"), file: "configs/hot_start.py", settings });
  await window.editorShows("hot_start.py");
  await waitFor("the silent server to answer", () => bench.extensionLog(), (log) => log.includes('the server answers'));
  assert.match(bench.extensionLog(), /starting .*silent\/tried serve/);
  await assert.rejects(seesTheRepeat(window, 8), /waited 8 s for a warning squiggle under the line .*; last saw: \[\]/);
  await window.close();
});

scenario("the server is found on PATH, and a setting names another; the reason is told", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "found"), file: "configs/hot_start.py" });
  await seesTheRepeat(window);
  assert.match(await debugInformation(window, "Because: it is on PATH."), /State: \*\*running\*\*/);

  await bench.changeSettings(window, { "tried.path": [places.server] });
  await waitFor("the other server", () => bench.extensionLog(), (log) => log.includes(`starting ${places.server} serve`) && /names it\)[\s\S]*the server answers/.test(log));
  await debugInformation(window, "Because: tried.path names it.");
  await window.openFile("configs/hot_start.py");
  await seesTheRepeat(window);
  await waitFor("one server only", () => bench.servers(), (servers) => servers.length === 1);
  await window.close();
});

scenario("a killed server comes back, with everything that it said", async (bench) => {
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "killed"), file: "configs/hot_start.py" });
  await seesTheRepeat(window);
  await window.showSidebar();
  await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5);
  const [before] = await waitFor("one server", () => bench.servers(), (servers) => servers.length === 1);
  assert.ok(before !== undefined);
  process.kill(before, "SIGKILL");
  await waitFor("another server", () => bench.servers(), (servers) => servers.length === 1 && servers[0] !== before);
  await waitFor("it to answer", () => bench.extensionLog(), (log) => /ended unexpectedly[\s\S]*the server answers/.test(log));
  await seesTheRepeat(window);
  await window.retype('"lr": 1e-2', "1e-2", "2e-3"); // and it is the new one that speaks
  await window.waitForNoSquiggle();
  await window.waitForRows("Related", "related experiments", (rows) => rows.length >= 5);
  await window.close();
});

scenario("a server that hangs at start is given up, told, and another takes its place", async (bench) => {
  const hanging = programNamedTried(bench.folder, [process.execPath, fakeServer, "hang"], "hanging");
  const settings = { "tried.path": [path.join(hanging, "tried")] };
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "hanging"), file: "configs/hot_start.py", settings });
  await window.editorShows("hot_start.py");
  await waitFor("the start", () => bench.extensionLog(), (log) => /starting .*hanging\/tried serve/.test(log));
  await window.retype('"lr": 1e-2', "1e-2", "1e-3"); // the editor is not held up
  await window.retype('"lr": 1e-3', "1e-3", "1e-2");
  await waitFor("a message", () => window.notifications(), (texts) => texts.some((text) => text.includes("did not answer within 20 seconds")), 40);
  await window.shot("hanging");
  await waitFor("the hanging process to be gone", () => bench.servers("fake-server"), (servers) => servers.length === 0);
  await bench.changeSettings(window, {});
  await seesTheRepeat(window);
  await window.close();
});

scenario("a setting that names no server, or one that is too old, is told, and another server is used", async (bench) => {
  const old = programNamedTried(bench.folder, [process.execPath, fakeServer, "old"], "old");
  const settings = { "tried.path": [path.join(old, "tried")] };
  const window = await bench.open({ folder: copyOfDemo(bench.folder, "old"), file: "configs/hot_start.py", settings });
  const told = (expected: RegExp): Promise<string[]> =>
    waitFor(`a message like ${String(expected)}`, () => window.notifications(), (texts) => texts.some((text) => expected.test(text)));
  await told(/it is tried 0\.0\.1; \d+\.\d+\.\d+ or newer is needed/);
  await seesTheRepeat(window); // by the one on PATH
  await bench.changeSettings(window, { "tried.path": ["/nowhere/tried"] });
  await told(/\/nowhere\/tried/);
  await window.close();
});

scenario("in a workspace that is not trusted nothing that it names is run", async (bench) => {
  const folder = copyOfDemo(bench.folder, "untrusted");
  const mark = path.join(bench.folder, "mark");
  const bin = programNamedTried(folder, [process.execPath, fakeServer, "mark", mark], "tools");
  const program = path.join(bin, "tried");
  fs.mkdirSync(path.join(folder, ".vscode"));
  fs.writeFileSync(
    path.join(folder, ".vscode/settings.json"),
    JSON.stringify({ "tried.path": [program], "tried.interpreter": [program], "tried.importStrategy": "fromEnvironment" }),
  );
  const window = await bench.open({ folder, file: "configs/hot_start.py", settings: RESTRICTED });
  await window.editorShows("hot_start.py");
  await waitFor("Restricted Mode to be told", () => window.notifications(), (texts) => texts.some((text) => text.includes("Restricted Mode")));
  await window.page.locator(".statusbar [id='status.workspaceTrust'], .statusbar [id*='workspaceTrust']").first().waitFor();
  await window.showSidebar();
  await window.command("Tried: Restart Server");
  await waitFor("the restart", () => bench.extensionLog(), (log) => (log.match(/in Restricted Mode only the server inside/g) ?? []).length >= 2);
  await window.shot("restricted");
  assert.equal(fs.existsSync(mark), false, "a program of the workspace was run");
  assert.deepEqual(bench.servers(), []);
  await window.close();

  // The same folder, once trusted: that program is run, so the mark would have been left.
  const trusted = await bench.open({ folder, file: "configs/hot_start.py" });
  await trusted.editorShows("hot_start.py");
  await waitFor("the mark", () => fs.existsSync(mark), (isThere) => isThere);
  await trusted.close();
});
