// Builds the server as a program that needs no Python, for this platform, proves that it starts, and packages the extension
// with it in bundled/server: dist/tried-<target>.vsix. `node scripts/bundle-server.mjs [--python PYTHON]`.
// PyInstaller and the server's dependencies come from the package index; they are needed to build only.
// All is done in a temporary folder: the ordinary .vsix comes without a server, whatever happens here.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";

const client = path.resolve(import.meta.dirname, "..");
const repository = path.dirname(client);
const isWindows = process.platform === "win32";
const PYINSTALLER = "pyinstaller>=6.11,<7";
const SLOWEST_START_MS = 20_000;

const { values: options } = parseArgs({
  options: { python: { type: "string" } },
});

function run(command, args, settings = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, ...settings });
  if (done.status !== 0) {
    const said = `${done.stdout ?? ""}${done.stderr ?? ""}${done.error?.message ?? ""}`.trim().split("\n").slice(-30).join("\n");
    throw new Error(`${[command, ...args].join(" ")} failed:\n${said}`);
  }
  return done.stdout;
}

/** An environment of its own, so that nothing but the server and what it needs gets in. */
function makeEnvironment(work) {
  const folder = path.join(work, "environment");
  const bin = path.join(folder, isWindows ? "Scripts" : "bin");
  const python = options.python ?? (isWindows ? "python" : "python3");
  run(python, ["-m", "venv", folder]);
  const inside = path.join(bin, isWindows ? "python.exe" : "python");
  run(inside, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PYINSTALLER, repository]);
  return inside;
}

/** The parts that are imported by name only: handlers, sources, grammars. */
function build(python, work) {
  const entry = path.join(work, "entry.py");
  fs.writeFileSync(entry, "from tried.__main__ import main\n\nmain()\n");
  const grammars = ["bash", "python", "toml", "yaml"].map((name) => `tree_sitter_${name}`);
  run(
    python,
    [
      ...["-m", "PyInstaller", "--noconfirm", "--clean", "--onedir", "--console", "--name", "tried", "--log-level", "WARN"],
      ...["--collect-all", "tried", "--copy-metadata", "tried", "--collect-submodules", "rich._unicode_data"],
      ...grammars.flatMap((name) => ["--hidden-import", name, "--collect-binaries", name]),
      ...["tkinter", "numpy.f2py", "numpy.testing", "setuptools", "pip"].flatMap((name) => ["--exclude-module", name]),
      ...["--distpath", path.join(work, "dist"), "--workpath", path.join(work, "build"), "--specpath", work, entry],
    ],
    { cwd: work },
  );
  const built = path.join(work, "dist", "tried");
  const libraries = path.join(built, "_internal");
  if (process.platform === "linux") stripLibpython(libraries);
  // Links to libraries in their packages' own folders, where these find them: a .vsix would hold them twice.
  for (const entry of fs.readdirSync(libraries, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) fs.rmSync(path.join(libraries, entry.name));
  }
  return built;
}

/** Debug information can be four fifths of it. Other libraries are left alone: some do not survive being stripped. */
function stripLibpython(folder) {
  for (const name of fs.readdirSync(folder).filter((one) => one.startsWith("libpython"))) {
    spawnSync("strip", ["--strip-debug", path.join(folder, name)]); // without it the program is merely larger
  }
}

/** Starts it in an empty folder without any Python around, asks for its version, and has it answer `initialize`. */
async function prove(program) {
  const cwd = fs.mkdtempSync(path.join(os.tmpdir(), "tried-bundled-"));
  const env = { HOME: cwd, USERPROFILE: cwd, SystemRoot: process.env.SystemRoot ?? "", PATH: "", LANG: "C.UTF-8" };
  try {
    const version = run(program, ["--version"], { cwd, env }).trim();
    if (!/^tried \d+\.\d+/.test(version)) throw new Error(`${program} --version says ${version}`);
    const milliseconds = await initialize(program, cwd, env);
    return { version, milliseconds };
  } finally {
    fs.rmSync(cwd, { recursive: true, force: true });
  }
}

async function initialize(program, cwd, env) {
  const began = performance.now();
  const server = spawn(program, ["serve"], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  let [said, complained] = ["", ""];
  server.stderr.on("data", (chunk) => (complained += chunk));
  const ended = new Promise((resolve) => server.once("close", resolve));
  const answered = (id) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = new RegExp(`\\{[^\\n]*"id": ?${id}\\b[^\\n]*`).exec(said);
        if (found) resolve(found[0]);
      };
      server.stdout.on("data", look);
      ended.then((status) => reject(new Error(`it ended with ${status}:\n${complained}`)));
      setTimeout(() => reject(new Error(`it did not answer:\n${complained}`)), SLOWEST_START_MS).unref();
      look();
    });
  server.stdout.on("data", (chunk) => (said += chunk));
  const send = (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  };
  try {
    send({ id: 1, method: "initialize", params: { processId: process.pid, rootUri: null, capabilities: {} } });
    if (!(await answered(1)).includes('"hoverProvider"')) throw new Error(`an odd answer to initialize:\n${said}`);
    const milliseconds = Math.round(performance.now() - began);
    send({ method: "initialized", params: {} });
    // Each grammar, and the handler of hovers, are loaded when they are first needed.
    let id = 1;
    for (const [language, text] of [["yaml", "lr: 0.1\n"], ["toml", "lr = 0.1\n"], ["python", "lr = 0.1\n"], ["shellscript", "LR=0.1\n"]]) {
      const uri = `untitled:config-${language}`;
      send({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: language, version: 1, text } } });
      send({ id: ++id, method: "textDocument/hover", params: { textDocument: { uri }, position: { line: 0, character: 1 } } });
      const answer = await answered(id);
      if (answer.includes('"error"')) throw new Error(`a hover in ${language} failed: ${answer}\n${complained}`);
    }
    send({ id: ++id, method: "shutdown" });
    await answered(id);
    send({ method: "exit" });
    const status = await ended;
    if (status !== 0) throw new Error(`it ended with ${status}:\n${complained}`);
    if (/Traceback|ERROR/.test(complained)) throw new Error(`it complained:\n${complained}`);
    return milliseconds;
  } finally {
    server.kill("SIGKILL");
  }
}

function sizeOf(folder) {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((total, entry) => total + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

/** VS Code's name of this platform; `alpine` is another one than `linux`, since its C library is. */
function target() {
  const isAlpine = process.platform === "linux" && fs.existsSync("/etc/alpine-release");
  const arch = process.arch === "arm" ? "armhf" : process.arch;
  return `${isAlpine ? "alpine" : process.platform}-${arch}`;
}

/** Packages a copy of the extension that has the server in it. */
function packaged(folder) {
  run(process.execPath, ["esbuild.mjs", "--production"], { cwd: client });
  for (const name of ["package.json", ".vscodeignore", "README.md", "CHANGELOG.md", "LICENSE", "media", "walkthrough"]) {
    fs.cpSync(path.join(client, name), path.join(folder, name), { recursive: true });
  }
  for (const name of ["extension.js", "webview.js"]) fs.cpSync(path.join(client, "dist", name), path.join(folder, "dist", name));
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));
  delete manifest.scripts; // it is built already
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  const out = path.join(client, "dist", `tried-${target()}.vsix`);
  const vsce = path.join(client, "node_modules", "@vscode", "vsce", "vsce");
  const flags = ["--no-dependencies", "--allow-missing-repository", "--target", target(), "-o", out];
  run(process.execPath, [vsce, "package", ...flags], { cwd: folder });
  return out;
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const work = fs.mkdtempSync(path.join(os.tmpdir(), "tried-bundle-"));
const stage = fs.mkdtempSync(path.join(os.tmpdir(), "tried-stage-"));
try {
  console.log("Installing PyInstaller and the server into an environment of their own …");
  const python = makeEnvironment(work);
  console.log("Building …");
  const destination = path.join(stage, "bundled", "server");
  fs.cpSync(build(python, work), destination, { recursive: true, verbatimSymlinks: true });
  fs.rmSync(work, { recursive: true, force: true }); // the proof must not lean on what it was built from
  const proof = await prove(path.join(destination, isWindows ? "tried.exe" : "tried"));
  console.log(`The server: ${proof.version}, ${megabytes(sizeOf(destination))}, answers initialize after ${proof.milliseconds} ms.`);
  const vsix = packaged(stage);
  console.log(`${path.relative(repository, vsix)}: ${megabytes(fs.statSync(vsix).size)}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  for (const folder of [work, stage]) fs.rmSync(folder, { recursive: true, force: true });
}
