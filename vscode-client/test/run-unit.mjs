// Bundles each unit test and runs them all with Node's own runner. No workbench: in the place of vscode stands test/fake.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import esbuild from "esbuild";

const here = import.meta.dirname;
const folder = path.join(here, "unit");
const out = path.join(here, "..", "dist", "unit");
const tests = fs.readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
if (tests.length === 0) throw new Error(`no tests in ${folder}`);
fs.rmSync(out, { recursive: true, force: true });
await esbuild.build({
  entryPoints: tests.map((name) => path.join(folder, name)),
  outdir: out,
  bundle: true,
  alias: { vscode: path.join(here, "fake", "vscode.ts") },
  platform: "node",
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  sourcemap: "inline",
  target: "es2022",
  logLevel: "warning",
});
const run = spawnSync(process.execPath, ["--test", "--test-timeout=60000", ...tests.map((name) => path.join(out, name.replace(/\.ts$/, ".cjs")))], {
  cwd: path.join(here, ".."),
  stdio: "inherit",
});
process.exit(run.status ?? 1);
