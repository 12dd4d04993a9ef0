/** A code-server with the extension in it, apart from everything else on the machine, and a browser that looks at it. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { type Browser, chromium } from "playwright-core";
import { places, programNamedTried, temporaryFolder } from "./places";
import { waitFor } from "./waiting";
import { Window } from "./window";

export type Settings = Record<string, unknown>;

/** What keeps a workbench still, and the same at each run. */
const QUIET: Settings = {
  "telemetry.telemetryLevel": "off",
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "workbench.enableExperiments": false,
  "workbench.tips.enabled": false,
  "workbench.colorTheme": "Default Light Modern",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "git.enabled": false,
  "remote.autoForwardPorts": false,
  "update.mode": "none",
  "chat.disableAIFeatures": true,
  "chat.commandCenter.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "editor.hover.delay": 100,
  "editor.cursorBlinking": "solid",
  "editor.minimap.enabled": false,
  "workbench.reduceMotion": "on",
  "files.autoSave": "off",
  "files.hotExit": "off",
  "window.confirmBeforeClose": "never",
};

/** Settings of the scopes machine and machine-overridable: here as in any remote window they are not the user's but the machine's. */
const MACHINE_SETTINGS = ["tried.path", "tried.interpreter", "tried.pool.sources", "tried.remote"];

export interface WorkbenchOptions {
  /** Names the folder of its logs and screenshots. */
  name: string;
  settings?: Settings;
  /** What `tried` on PATH runs: the server under test by default, nothing at all if null. */
  server?: readonly string[] | null;
}

export interface OpenOptions {
  /** A folder, or a `.code-workspace` file; neither: a window without a folder. */
  folder?: string;
  workspace?: string;
  /** A file to open at once: absolute, or relative to the folder. */
  file?: string;
  /** User settings of this window beside those of the workbench. */
  settings?: Settings;
  viewport?: { width: number; height: number };
}

export class Workbench {
  readonly windows: Window[] = [];
  private earlierLogs = new Set<string>();

  private constructor(
    /** Copies of fixtures, settings, extensions; deleted at the end. */
    readonly folder: string,
    readonly out: string,
    readonly port: number,
    private readonly settings: Settings,
    private readonly process: ChildProcess,
    private readonly browser: Browser,
  ) {}

  static async start(options: WorkbenchOptions): Promise<Workbench> {
    const folder = temporaryFolder();
    const out = path.join(places.out, options.name);
    fs.mkdirSync(out, { recursive: true });
    const environment = isolated(folder, options.server === undefined ? [places.server] : options.server);
    const common = ["--user-data-dir", path.join(folder, "user"), "--extensions-dir", path.join(folder, "extensions")];
    const installed = spawnSync(process.execPath, [places.codeServer, ...common, "--install-extension", places.vsix], {
      env: environment,
      encoding: "utf8",
    });
    if (installed.status !== 0) throw new Error(`could not install ${places.vsix}:\n${installed.stdout}${installed.stderr}`);
    const port = await freePort();
    const log = fs.openSync(path.join(out, "code-server.log"), "w");
    const flags = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
    const server = spawn(process.execPath, [places.codeServer, ...common, ...flags, "--disable-getting-started-override"], {
      env: environment,
      stdio: ["ignore", log, log],
      detached: true, // a group of its own, which can be ended as a whole
    });
    fs.closeSync(log);
    // Also where the tests themselves are ended: a group of its own would live on.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
    process.once("exit", () => {
      if (server.pid !== undefined && server.exitCode === null) killGroup(server.pid, "SIGKILL");
    });
    try {
      const healthy = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok;
      await waitFor("code-server to answer", healthy, (isHealthy) => isHealthy, 60);
      const browser = await chromium.launch({
        executablePath: places.chromium,
        headless: true,
        args: BROWSER_FLAGS,
      });
      return new Workbench(folder, out, port, { ...QUIET, ...options.settings }, server, browser);
    } catch (error) {
      await end(server);
      fs.rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** A window of a browser profile of its own: nothing is remembered from one to the next. */
  async open(options: OpenOptions): Promise<Window> {
    this.earlierLogs = new Set(this.extensionLogs());
    const { user, machine } = this.divided(options.settings ?? {});
    for (const [kind, text] of [["User", user], ["Machine", machine]] as const) {
      fs.mkdirSync(path.dirname(this.settingsFile(kind)), { recursive: true });
      fs.writeFileSync(this.settingsFile(kind), text);
    }
    const context = await this.browser.newContext({ viewport: options.viewport ?? { width: 1280, height: 800 } });
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const page = await context.newPage();
    const window = new Window(page, this.out, this.port, options.folder);
    this.windows.push(window);
    const query = new URLSearchParams();
    if (options.folder) query.set("folder", options.folder);
    else if (options.workspace) query.set("workspace", options.workspace);
    else query.set("ew", "true");
    if (options.file) {
      const file = path.resolve(options.folder ?? "/", options.file);
      query.set("payload", JSON.stringify([["openFile", `vscode-remote://127.0.0.1:${this.port}${file}`]]));
    }
    await page.goto(`http://127.0.0.1:${this.port}/?${query.toString()}`);
    await page.locator(".monaco-workbench .part.statusbar").waitFor({ timeout: 60_000 });
    return window;
  }

  /**
   * Changes the settings to those of the workbench and these. Those of the user in the window's editor, as a person does:
   * what is changed behind its back is not looked at before the next window. Those of the machine on the disk.
   */
  async changeSettings(window: Window, settings: Settings): Promise<void> {
    const { user, machine } = this.divided(settings);
    fs.writeFileSync(this.settingsFile("Machine"), machine);
    if (fs.readFileSync(this.settingsFile("User"), "utf8") === user) return;
    await window.command("Preferences: Open User Settings (JSON)");
    await window.editorShows("settings.json");
    await window.page.locator(".monaco-editor.focused").first().waitFor();
    await window.page.keyboard.press("Control+A");
    await window.page.keyboard.insertText(user);
    await window.save();
    await window.command("View: Close Editor");
  }

  private divided(settings: Settings): { user: string; machine: string } {
    const all = Object.entries({ ...this.settings, ...settings });
    const part = (ofMachine: boolean): string =>
      JSON.stringify(Object.fromEntries(all.filter(([name]) => MACHINE_SETTINGS.includes(name) === ofMachine)));
    return { user: part(false), machine: part(true) };
  }

  private settingsFile(kind: "User" | "Machine"): string {
    return path.join(this.folder, "user", kind, "settings.json");
  }

  /** The process ids of servers of tried that run in this workbench; `program`: what their command line holds. */
  servers(program = "serve"): number[] {
    const found: number[] = [];
    for (const name of fs.readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
      try {
        const words = fs.readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
        const isOurs = fs.readFileSync(`/proc/${name}/environ`, "utf8").split("\0").includes(`HOME=${this.folder}/home`);
        if (isOurs && words.includes("serve") && words.some((word) => word.includes(program))) found.push(Number(name));
      } catch {
        // it has ended meanwhile
      }
    }
    return found;
  }

  /** What the extension has logged in the window that was opened last. */
  extensionLog(): string {
    return this.extensionLogs()
      .filter((file) => !this.earlierLogs.has(file))
      .map((file) => fs.readFileSync(file, "utf8"))
      .join("");
  }

  private extensionLogs(): string[] {
    return LOG_FOLDERS.map((name) => path.join(this.folder, name))
      .filter((folder) => fs.existsSync(folder))
      .flatMap((folder) => fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => path.join(folder, name)))
      .filter((file) => file.endsWith("tried.tried/Tried.log"));
  }

  /** Ends everything and keeps the logs. */
  async close(): Promise<void> {
    await this.browser.close().catch(() => undefined);
    await end(this.process);
    const logs = path.join(this.out, "logs");
    fs.rmSync(logs, { recursive: true, force: true });
    for (const name of LOG_FOLDERS) {
      const from = path.join(this.folder, name);
      if (fs.existsSync(from)) fs.cpSync(from, logs, { recursive: true });
    }
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const LOG_FOLDERS = ["user/logs", "data/code-server/logs"];
const BROWSER_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function isolated(folder: string, server: readonly string[] | null): NodeJS.ProcessEnv {
  const home = path.join(folder, "home");
  fs.mkdirSync(home, { recursive: true });
  const system = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  const search = [path.dirname(process.execPath), ...system.split(":")];
  if (server) search.unshift(programNamedTried(folder, server));
  // The workbench asks a login shell for the environment of extensions, and /etc/profile sets PATH anew.
  fs.writeFileSync(path.join(home, ".bash_profile"), `export PATH='${search.join(path.delimiter)}'\n`);
  return {
    PATH: search.join(path.delimiter),
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    HOME: home,
    XDG_CONFIG_HOME: path.join(folder, "config"),
    XDG_DATA_HOME: path.join(folder, "data"),
    XDG_CACHE_HOME: path.join(folder, "cache"),
    XDG_STATE_HOME: path.join(folder, "state"),
    XDG_RUNTIME_DIR: folder,
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => {
        if (address === null || typeof address === "string") reject(new Error("no port"));
        else resolve(address.port);
      });
    });
  });
}

function killGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // already gone
  }
}

/** Ends a process and all of its group, the hard way if it does not listen. */
async function end(process_: ChildProcess): Promise<void> {
  const group = process_.pid;
  if (group === undefined) return;
  const isGone = (): boolean => {
    try {
      process.kill(-group, 0);
      return false;
    } catch {
      return true;
    }
  };
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (isGone()) return;
    killGroup(group, signal);
    await waitFor("code-server to end", isGone, (gone) => gone, 10).catch(() => undefined);
  }
}
