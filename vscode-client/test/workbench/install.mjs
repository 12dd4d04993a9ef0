// Installs a real VS Code (code-server) for the tests, from the npm registry and the system's packages alone, into a folder
// that is kept between runs. `node install.mjs` prints the folder, or says why there is none and ends with 1.
import { spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

const recipe = path.join(import.meta.dirname, "code-server");
const FILES = ["package.json", "package-lock.json", ".npmrc"];
const COMPLETE = ".complete";

/** Why there can be no workbench here; a reason to skip, not a fault of the tests. */
export class NoWorkbench extends Error {}

/** Where the workbench is kept: `TRIED_WORKBENCH`, else a folder of the cache named after what is installed into it. */
export function workbenchFolder(environment = process.env) {
  if (environment.TRIED_WORKBENCH) return path.resolve(environment.TRIED_WORKBENCH);
  const cache = environment.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  const hash = crypto.createHash("sha256");
  for (const name of FILES) hash.update(fs.readFileSync(path.join(recipe, name)));
  hash.update(fs.readFileSync(import.meta.filename));
  hash.update(`${process.platform} ${process.arch} ${process.versions.modules}`); // native modules fit one Node
  return path.join(cache, "tried", `workbench-${hash.digest("hex").slice(0, 16)}`);
}

export function codeServerEntry(folder) {
  return path.join(folder, "node_modules/code-server/out/node/entry.js");
}

/** The browser: `CHROMIUM`, else the system's. */
export function findChromium(environment = process.env) {
  if (environment.CHROMIUM) return environment.CHROMIUM;
  return which("chromium") ?? which("chromium-browser") ?? which("google-chrome");
}

/** Installs what is missing. Answers where code-server starts and which browser there is; throws NoWorkbench. */
export function install(log = (line) => process.stderr.write(`${line}\n`)) {
  if (process.platform !== "linux") throw new NoWorkbench(`the workbench is installed on Linux only, and this is ${process.platform}`);
  installSystemPackages(log);
  const chromium = findChromium();
  if (!chromium) throw new NoWorkbench("no browser: install chromium, or name one in CHROMIUM");
  const folder = workbenchFolder();
  if (!isComplete(folder)) {
    if (process.env.TRIED_WORKBENCH && fs.existsSync(folder) && fs.readdirSync(folder).length > 0)
      throw new NoWorkbench(`TRIED_WORKBENCH names ${folder}, which is neither empty nor a workbench`);
    log(`Installing a workbench into ${folder}; this takes some minutes, once.`);
    installCodeServer(folder);
  }
  return { folder, entry: codeServerEntry(folder), chromium };
}

function isComplete(folder) {
  return fs.existsSync(path.join(folder, COMPLETE)) && fs.existsSync(codeServerEntry(folder));
}

/** chromium, a font, ripgrep, and compilers for four native modules. Without root the absent ones are only named. */
function installSystemPackages(log) {
  const wanted = [
    ["chromium", findChromium()],
    ["fonts-dejavu-core", fs.existsSync("/usr/share/fonts")],
    ["ripgrep", which("rg")],
    ["gcc", which("gcc")],
    ["g++", which("g++")],
    ["make", which("make")],
    ["python3", which("python3")],
  ];
  const absent = wanted.filter(([, found]) => !found).map(([name]) => name);
  if (absent.length === 0) return;
  if (process.getuid?.() !== 0 || !which("apt-get"))
    throw new NoWorkbench(`needs ${absent.join(", ")}; install them with the system's package manager`);
  log(`Installing ${absent.join(", ")} with apt-get.`);
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const installing = ["install", "-y", "--no-install-recommends", ...absent];
  if (spawnSync("apt-get", installing, { env: environment, stdio: "ignore" }).status === 0) return;
  run("apt-get", ["update"], { env: environment }); // the lists may be missing or old
  run("apt-get", installing, { env: environment });
}

/** Installs beside the folder and moves it there at the end, so that a half-installed workbench is never used. */
function installCodeServer(folder) {
  fs.mkdirSync(path.dirname(folder), { recursive: true });
  removeLeftovers(folder);
  const partial = `${folder}.partial-${process.pid}`;
  try {
    fs.mkdirSync(partial);
    for (const name of FILES) fs.copyFileSync(path.join(recipe, name), path.join(partial, name));
    const npm = (where, ...args) =>
      run("npm", args, {
        cwd: path.join(partial, where),
        env: {
          ...process.env,
          npm_config_nodedir: nodeHeaders(),
          npm_config_audit: "false",
          npm_config_fund: "false",
          npm_config_update_notifier: "false",
          npm_config_omit_lockfile_registry_resolved: "true",
          npm_config_yes: "true", // one module asks npx for node-gyp
        },
      });
    // A plain install would run scripts that download programs from elsewhere: no script is run, and what they would have
    // built is built by name.
    npm("", "ci", "--ignore-scripts");
    npm("", "rebuild", "argon2");
    const vscode = "node_modules/code-server/lib/vscode";
    npm(vscode, "install", "--ignore-scripts", "--omit=dev"); // not `ci`: the shrinkwrap that came with it lacks a package
    npm(vscode, "rebuild", "@vscode/spdlog", "native-watchdog", "node-pty"); // @parcel/watcher comes built
    npm(path.join(vscode, "extensions"), "install", "--ignore-scripts", "--omit=dev");
    const at = (...names) => path.join(partial, vscode, ...names);
    fs.mkdirSync(at("node_modules/@vscode/ripgrep/bin"), { recursive: true });
    link(which("rg"), at("node_modules/@vscode/ripgrep/bin/rg"));
    link("node_modules", at("node_modules.asar"));
    link("code-linux.sh", at("bin/remote-cli/code-server"));
    link("browser-linux.sh", at("bin/helpers/browser.sh"));
    fs.writeFileSync(path.join(partial, COMPLETE), "");
    try {
      fs.renameSync(partial, folder);
    } catch (error) {
      if (!isComplete(folder)) throw error; // another run was quicker
    }
  } finally {
    fs.rmSync(partial, { recursive: true, force: true });
  }
}

/** What runs that were killed left behind, and a folder that someone took files out of. */
function removeLeftovers(folder) {
  const prefix = `${path.basename(folder)}.partial-`;
  for (const name of fs.readdirSync(path.dirname(folder))) {
    if (!name.startsWith(prefix)) continue;
    try {
      process.kill(Number(name.slice(prefix.length)), 0);
    } catch {
      fs.rmSync(path.join(path.dirname(folder), name), { recursive: true, force: true });
    }
  }
  if (fs.existsSync(folder) && !isComplete(folder)) fs.rmSync(folder, { recursive: true, force: true });
}

/** Native modules are compiled against the headers that came with Node: without them node-gyp would download some. */
function nodeHeaders() {
  const prefix = [path.dirname(path.dirname(fs.realpathSync(process.execPath))), "/usr", "/usr/local"].find((folder) =>
    fs.existsSync(path.join(folder, "include/node/node.h")),
  );
  if (!prefix) throw new NoWorkbench("Node's headers (include/node/node.h) are not here; install them, e.g. libnode-dev");
  return prefix;
}

function link(target, name) {
  fs.rmSync(name, { force: true });
  fs.symlinkSync(target, name);
}

function run(program, args, options) {
  const done = spawnSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 15 * 60_000, ...options });
  if (done.status === 0) return;
  const said = `${done.stdout ?? ""}\n${done.stderr ?? ""}`.trim().split("\n").slice(-12).join("\n");
  throw new NoWorkbench(`${[program, ...args].join(" ")} failed (${done.error?.message ?? `status ${done.status}`}):\n${said}`);
}

function which(name) {
  for (const folder of (process.env.PATH ?? "").split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      fs.accessSync(file, fs.constants.X_OK);
      if (fs.statSync(file).isFile()) return file;
    } catch {
      // not in this folder
    }
  }
  return undefined;
}

if (process.argv[1] && fs.realpathSync(process.argv[1]) === import.meta.filename) {
  try {
    console.log(install().folder);
  } catch (error) {
    if (!(error instanceof NoWorkbench)) throw error;
    console.error(`No workbench: ${error.message}`);
    process.exit(1);
  }
}
