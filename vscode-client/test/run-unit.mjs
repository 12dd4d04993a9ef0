// Bundles each unit test and runs them all with Node's own runner. No workbench: what imports vscode is not tested here.
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
  platform: "node",
  format: "esm",
  outExtension: { ".js": ".mjs" },
  sourcemap: "inline",
  target: "es2022",
  logLevel: "warning",
});
const run = spawnSync(process.execPath, ["--test", ...tests.map((name) => path.join(out, name.replace(/\.ts$/, ".mjs")))], {
  stdio: "inherit",
});
process.exit(run.status ?? 1);
