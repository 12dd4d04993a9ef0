import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { contentSecurityPolicy, pageHtml } from "../../src/record/html";
import { fromPage, keptRecord } from "../../src/record/messages";

const SOURCE = "https://*.vscode-cdn.net";
const PARTS = { source: SOURCE, script: "https://x/dist/webview.js", styles: ["https://x/media/record.css", "https://x/media/more.css"], nonce: "n0nce" };

function directives(policy: string): Record<string, string> {
  return Object.fromEntries(policy.split("; ").map((one) => [one.slice(0, one.indexOf(" ")), one.slice(one.indexOf(" ") + 1)]));
}

test("the policy lets in the page's own script and style, and nothing else", () => {
  assert.deepEqual(directives(contentSecurityPolicy(SOURCE, "n0nce")), {
    "default-src": "'none'",
    "style-src": SOURCE,
    "script-src": "'nonce-n0nce'",
    "base-uri": "'none'",
    "form-action": "'none'",
  });
});

test("the page has one script, with the nonce, its style sheets, and no handler, style or address of its own", () => {
  const html = pageHtml(PARTS);
  assert.deepEqual(html.match(/<script[^>]*>/g), ['<script nonce="n0nce" src="https://x/dist/webview.js">']);
  assert.deepEqual(html.match(/<link[^>]*>/g), [
    '<link rel="stylesheet" href="https://x/media/record.css">',
    '<link rel="stylesheet" href="https://x/media/more.css">',
  ]);
  assert.match(html, /<html lang="en">/);
  assert.match(html, /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; /);
  assert.doesNotMatch(html, /\son\w+=|\sstyle=|<style|javascript:|<script[^>]*>[^<]/);
});

test("what is put into the page's frame cannot leave its attribute", () => {
  const html = pageHtml({ ...PARTS, script: '"><script>x()</script>' });
  assert.equal(html.match(/<script/g)?.length, 1);
});

test("no source of the panel parses markup or text as code", () => {
  const root = path.resolve("src");
  const files = ["record", "webview"].flatMap((folder) =>
    fs.readdirSync(path.join(root, folder)).filter((name) => name.endsWith(".ts")).map((name) => path.join(root, folder, name)),
  );
  assert.ok(files.length > 8, "the sources were found");
  const forbidden = /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|setHTML|\beval\(|new Function|srcdoc/;
  for (const file of files) assert.doesNotMatch(fs.readFileSync(file, "utf8"), forbidden, path.basename(file));
});

test("the style sheets fetch nothing and name no colour of their own", () => {
  const sheets = fs.readdirSync("media").filter((name) => name.endsWith(".css"));
  assert.ok(sheets.includes("record.css"));
  const css = sheets.map((name) => fs.readFileSync(path.join("media", name), "utf8")).join("\n");
  assert.doesNotMatch(css, /url\(|@import|@font-face|#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/i);
  const named = css.match(/var\(--(?!vscode-|small|line|faint|bad|good|open|busy|here|mono|text-link-decoration)[\w-]+/g);
  assert.equal(named, null);
});

test("messages of the page are checked", () => {
  assert.deepEqual(fromPage({ type: "ready", more: 1 }), { type: "ready" });
  assert.deepEqual(fromPage({ type: "show", record: "EXP-7" }), { type: "show", record: "EXP-7" });
  const conclusion = { type: "conclude", record: "EXP-7", text: "no", verdict: "dead_end" };
  assert.deepEqual(fromPage(conclusion), conclusion);
  assert.deepEqual(fromPage({ ...conclusion, verdict: null }), { ...conclusion, verdict: null });
  const wrong = [
    null,
    "ready",
    [],
    {},
    { type: "run" },
    { type: "show" },
    { type: "show", record: 7 },
    { type: "show", record: "" },
    { ...conclusion, verdict: "great" },
    { ...conclusion, verdict: undefined },
    { ...conclusion, text: 1 },
    { ...conclusion, text: "x".repeat(20_001) },
  ];
  for (const message of wrong) assert.equal(fromPage(message), null, JSON.stringify(message).slice(0, 80));
});

test("a panel is brought back from what the page kept, if that names a record", () => {
  assert.deepEqual(keptRecord({ record: "EXP-7", uri: "file:///a", scroll: 3 }), { record: "EXP-7", uri: "file:///a" });
  assert.deepEqual(keptRecord({ record: "EXP-7", uri: 3 }), { record: "EXP-7" });
  for (const state of [undefined, null, "EXP-7", {}, { record: "" }, { record: 7 }]) assert.equal(keptRecord(state), null);
});
