// The tests in a real VS Code: `node test/workbench/run.mjs [PART OF A FILE'S NAME …]`. Installs a workbench (once), packages the
// extension, bundles the tests and runs them. Where no workbench can be had the tests are skipped with the reason; with
// CI=true that is a failure. Screenshots and logs are kept in dist/workbench/.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import esbuild from "esbuild";
import { install, NoWorkbench } from "./install.mjs";

const here = import.meta.dirname;
const client = path.join(here, "..", "..");
const dist = path.join(client, "dist");
const server = path.resolve(process.env.TRIED_TEST_SERVER || path.join(client, "..", ".venv", "bin", "tried"));

const MOST_BYTES = 1_000_000;

const workbench = installOrSkip();
const vsix = path.join(dist, "tried.vsix");
if (!process.env.TRIED_TEST_VSIX) packageExtension();
checkSize(process.env.TRIED_TEST_VSIX || vsix);
const alone = ["--timing", "--picture"].find((flag) => process.argv[2] === flag)?.slice(2); // no tests, but run like them
const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const names = fs
  .readdirSync(here)
  .filter((name) => (alone ? name === `${alone}.ts` : name.endsWith(".test.ts")))
  .filter((name) => alone || wanted.length === 0 || wanted.some((part) => name.includes(part)));
if (names.length === 0) fail(`no test of that name in ${here}`);
const bundled = await bundle(names);
const out = path.join(dist, "workbench");
if (wanted.length === 0 && !alone) fs.rmSync(out, { recursive: true, force: true });
fs.mkdirSync(out, { recursive: true });
const flags = alone ? [] : ["--test", "--test-concurrency=1"];
const run = spawnSync(process.execPath, ["--enable-source-maps", ...flags, ...bundled], {
  stdio: "inherit",
  env: {
    ...process.env,
    TRIED_TEST_CLIENT: client,
    TRIED_TEST_CODE_SERVER: workbench.entry,
    TRIED_TEST_CHROMIUM: workbench.chromium,
    TRIED_TEST_VSIX: path.resolve(process.env.TRIED_TEST_VSIX || vsix),
    TRIED_TEST_SERVER: server,
    TRIED_TEST_OUT: out,
  },
});
console.log(`Screenshots and logs: ${out}`);
process.exit(run.status ?? 1);

function installOrSkip() {
  try {
    if (!fs.existsSync(server)) throw new NoWorkbench(`no server to test at ${server}: run make first, or name one in TRIED_TEST_SERVER`);
    return install();
  } catch (error) {
    if (!(error instanceof NoWorkbench)) throw error;
    if (process.env.CI === "true") fail(`The tests in a workbench cannot run, and with CI=true they must: ${error.message}`);
    console.log(`Skipped the tests in a workbench: ${error.message}`);
    process.exit(0);
  }
}

/** Without a server program inside it is small: whoever installs it anew waits for it. */
function checkSize(file) {
  const { size } = fs.statSync(file);
  if (size > MOST_BYTES) fail(`${file} has ${size} bytes; at most ${MOST_BYTES} are wanted`);
}

function packageExtension() {
  const args = ["package", "--no-dependencies", "--allow-missing-repository", "-o", vsix];
  fs.mkdirSync(dist, { recursive: true });
  const done = spawnSync(path.join(client, "node_modules", ".bin", "vsce"), args, { cwd: client, encoding: "utf8" });
  if (done.status !== 0) fail(`vsce ${args.join(" ")} failed:\n${done.error?.message ?? ""}${done.stdout}${done.stderr}`);
}

async function bundle(files) {
  const folder = path.join(dist, "workbench-tests");
  fs.rmSync(folder, { recursive: true, force: true });
  await esbuild.build({
    entryPoints: files.map((name) => path.join(here, name)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
  });
  return files.map((name) => path.join(folder, name.replace(/\.ts$/, ".mjs")));
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
