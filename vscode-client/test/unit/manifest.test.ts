import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { LANGUAGES } from "../../src/server/selector";
import { isOlder, MINIMUM_PYTHON, MINIMUM_SERVER } from "../../src/server/versions";
import { CLIENT, MANIFEST, read, REPOSITORY } from "./manifest";

const SERVER = /^__version__ = "([^"]+)"$/m.exec(read(REPOSITORY, "server", "tried", "__init__.py"))?.[1] ?? "";
const GUIDE = path.join(REPOSITORY, "docs", "editors", "vscode.md");

test("the extension has the version of the server that it is released with", () => {
  const lock = JSON.parse(read(CLIENT, "package-lock.json")) as { version: string; packages: Record<string, { version?: string }> };
  assert.match(SERVER, /^\d+\.\d+\.\d+$/);
  assert.deepEqual([MANIFEST.version, lock.version, lock.packages[""]?.version], [SERVER, SERVER, SERVER]);
  assert.match(read(CLIENT, "CHANGELOG.md"), new RegExp(`^## ${SERVER.replaceAll(".", "\\.")}\\b`, "m"));
});

test("the oldest server that will do is no newer than the one of this release, and the oldest Python is the server's", () => {
  assert.equal(isOlder(SERVER, MINIMUM_SERVER), false);
  assert.match(read(REPOSITORY, "pyproject.toml"), new RegExp(`^requires-python = ">=${MINIMUM_PYTHON.replaceAll(".", "\\.")}"$`, "m"));
  const readme = read(CLIENT, "README.md").replace(/\s+/g, " ");
  assert.ok(readme.includes(`**tried ${MINIMUM_SERVER} or newer** in **Python ${MINIMUM_PYTHON} or newer**`), "the README says which are needed");
});

test("it is started by languages and by what lies in the folder, never by everything", () => {
  for (const event of MANIFEST.activationEvents) assert.match(event, /^(onLanguage:\w+|onWebviewPanel:tried\.record|workspaceContains:[^*]+)$/);
  const languages = MANIFEST.activationEvents.filter((event) => event.startsWith("onLanguage:")).map((event) => event.slice("onLanguage:".length));
  assert.deepEqual(languages, LANGUAGES);
});

test("it claims no language, no key, no formatter and nothing of another extension's", () => {
  for (const name of ["languages", "grammars", "keybindings", "snippets", "configurationDefaults", "jsonValidation", "yamlValidation"]) {
    assert.equal(MANIFEST.contributes[name], undefined, name);
  }
  assert.deepEqual(MANIFEST.extensionKind, ["workspace"]);
});

test("each setting has a scope, and what names a program is restricted", () => {
  const settings = Object.assign({}, ...MANIFEST.contributes.configuration.map(({ properties }) => properties)) as Record<string, { scope?: string }>;
  for (const [name, { scope }] of Object.entries(settings)) assert.match(scope ?? "", /^(machine|machine-overridable|window|resource)$/, name);
  const { supported, restrictedConfigurations } = MANIFEST.capabilities.untrustedWorkspaces;
  assert.equal(supported, "limited");
  for (const name of restrictedConfigurations) assert.ok(name in settings, name);
  for (const name of ["tried.path", "tried.interpreter", "tried.remote", "tried.pool.sources"]) {
    assert.ok(restrictedConfigurations.includes(name), name);
    assert.match(settings[name]?.scope ?? "", /^machine/, name);
  }
});

test("commands are of the category Tried, with a title that has no full stop", () => {
  for (const { command, title, category } of MANIFEST.contributes.commands) {
    assert.equal(category, "Tried", command);
    assert.match(title, /^[A-Z].*[^.:]$/, command);
  }
});

test("pages and pictures that the manifest names are there", () => {
  const pages = MANIFEST.contributes.walkthroughs.flatMap(({ steps }) => steps.map(({ media }) => media.markdown));
  for (const name of [...pages, "media/tried.svg", "media/icon.png"]) assert.ok(fs.existsSync(path.join(CLIENT, name)), name);
});

test("each view says what its emptiness means, whatever the state", () => {
  const clauses = (view: string): string => MANIFEST.contributes.viewsWelcome.filter((one) => one.view === view).map(({ when }) => when).join(" ");
  for (const view of ["tried.related", "tried.findings", "tried.pool"]) {
    for (const state of ["missing", "failed", "stopped", "running"]) assert.ok(clauses(view).includes(`tried.state == ${state}`), `${view} ${state}`);
  }
});

test("where findings are off the view does not say that there are none, and leads to the setting", () => {
  const welcome = MANIFEST.contributes.viewsWelcome.filter(({ view }) => view === "tried.findings");
  const none = welcome.find(({ contents }) => contents.startsWith("Nothing in this file"));
  assert.match(none?.when ?? "", /!tried\.findingsAreOff/);
  const off = welcome.find(({ when }) => when.includes(" tried.findingsAreOff"));
  const [, argument = ""] = /\(command:workbench\.action\.openSettings\?([^)]+)\)/.exec(off?.contents ?? "") ?? [];
  const [setting = ""] = JSON.parse(decodeURIComponent(argument)) as string[];
  assert.ok(MANIFEST.contributes.configuration.some(({ properties }) => setting in properties), setting);
});

test("the guide has the table of commands; TRIED_UPDATE_DOCS=1 writes it", () => {
  const printed = spawnSync(process.execPath, [path.join(CLIENT, "scripts", "commands-table.mjs")], { encoding: "utf8" });
  assert.equal(printed.status, 0, printed.stderr);
  const text = fs.readFileSync(GUIDE, "utf8");
  const marks = /(<!-- commands -->\n)([\s\S]*?)(<!-- end of commands -->)/;
  const wanted = text.replace(marks, (_, start: string, _old: string, end: string) => `${start}${printed.stdout}${end}`);
  assert.match(text, marks);
  if (process.env.TRIED_UPDATE_DOCS === "1") fs.writeFileSync(GUIDE, wanted);
  else assert.equal(text, wanted, "run it with TRIED_UPDATE_DOCS=1");
});
