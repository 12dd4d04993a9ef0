// Bundles the extension and the script of its record panel into dist/.
import esbuild from "esbuild";

const production = process.argv.includes("--production");
const check = process.argv.includes("--check");
const common = {
  bundle: true,
  minify: production,
  sourcemap: !production,
  target: "es2022",
  logLevel: "warning",
  write: !check,
};

await Promise.all([
  esbuild.build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    platform: "node",
    format: "cjs",
    external: ["vscode"],
  }),
  esbuild.build({
    ...common,
    entryPoints: ["src/webview/main.ts"],
    outfile: "dist/webview.js",
    platform: "browser",
    format: "iife",
  }),
]);
