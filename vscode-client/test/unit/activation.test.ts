import assert from "node:assert/strict";
import { test } from "node:test";
import type * as vscode from "vscode";
import { DESCRIPTIONS } from "../../src/commands/descriptions";
import { registerCommand } from "../../src/commands/register";
import { activate } from "../../src/extension";
import { SERVER_COMMANDS } from "../../src/protocol";
import { noted } from "../fake/vscode";
import { MANIFEST } from "./manifest";

/** Registered, but for links and quick fixes of our own only: in no menu and not in the palette. */
const INTERNAL = ["tried.openLink", "tried.selectReason"];
/** VS Code makes one for each view. */
const OF_VIEWS = Object.values(MANIFEST.contributes.views).flatMap((views) => views.map(({ id }) => `${id}.focus`));

const later: (() => void)[] = [];

/** Runs activation as VS Code does; the start of the server, which it leaves for later, stays away. */
const activated = (() => {
  const original = globalThis.setImmediate;
  globalThis.setImmediate = ((run: () => void) => later.push(run)) as unknown as typeof setImmediate;
  try {
    const context = { subscriptions: [], extension: { id: "tried.tried", packageJSON: MANIFEST }, workspaceState: { get: () => undefined } };
    const start: (context: vscode.ExtensionContext) => unknown = activate;
    return { answer: start(context as unknown as vscode.ExtensionContext), context };
  } finally {
    globalThis.setImmediate = original;
  }
})();

test.after(() => {
  for (const part of activated.context.subscriptions as { dispose(): unknown }[]) part.dispose();
});

test("activation waits for nothing, and leaves the start of the server for later", () => {
  assert.equal(activated.answer, undefined, "no promise");
  assert.equal(later.length, 1);
});

test("the commands of package.json are those that the code registers", () => {
  const declared = MANIFEST.contributes.commands.map(({ command }) => command);
  assert.deepEqual([...noted.commands].sort(), [...declared, ...INTERNAL].sort());
  assert.equal(new Set(noted.commands).size, noted.commands.length, "each once");
});

test("no command of the server has the name of one of the extension", () => {
  for (const id of Object.values(SERVER_COMMANDS)) assert.ok(!noted.commands.includes(id), id);
});

test("each command has a description, and each description a command", () => {
  assert.deepEqual(Object.keys(DESCRIPTIONS).sort(), MANIFEST.contributes.commands.map(({ command }) => command).sort());
});

test("each view of package.json is made, and no other", () => {
  assert.deepEqual([...noted.views].sort(), Object.values(MANIFEST.contributes.views).flatMap((views) => views.map(({ id }) => id)).sort());
});

function clauses(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(clauses);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => ((key === "when" || key === "enablement") && typeof inner === "string" ? [inner] : clauses(inner)));
}

test("each context key that menus and views go by is set, and each that is set is gone by", () => {
  const views = Object.values(MANIFEST.contributes.views).flatMap((all) => all.map(({ id }) => id));
  const used = new Set(clauses(MANIFEST.contributes).flatMap((clause) => clause.match(/\btried\.[\w.]+/g) ?? []));
  assert.deepEqual([...used].filter((key) => !views.includes(key)).sort(), [...noted.contexts.keys()].sort());
});

test("the keys of VS Code in clauses are known ones, and words stand on the right of == only", () => {
  const known = ["view", "viewItem", "isWorkspaceTrusted", "workspaceFolderCount", "false"];
  for (const clause of clauses(MANIFEST.contributes)) {
    for (const part of clause.split(/\s*(?:&&|\|\|)\s*/)) {
      const key = /^!?([\w.]+)/.exec(part)?.[1] ?? "";
      assert.ok(known.includes(key) || noted.contexts.has(key), `${key} in ${clause}`);
    }
  }
});

test("states that clauses ask for are states of the server", () => {
  const states = new Set(clauses(MANIFEST.contributes).flatMap((clause) => [...clause.matchAll(/tried\.state == (\w+)/g)].map((found) => found[1])));
  assert.deepEqual([...states].sort(), ["failed", "missing", "running", "starting", "stopped"]);
});

test("menus, welcome views and the walkthrough name commands that there are", () => {
  const declared = new Set(MANIFEST.contributes.commands.map(({ command }) => command));
  const { menus, submenus, viewsWelcome, walkthroughs } = MANIFEST.contributes;
  for (const { command, submenu } of Object.values(menus).flat()) {
    assert.ok(command === undefined ? submenus.some(({ id }) => id === submenu) : declared.has(command), command ?? submenu ?? "neither");
  }
  const steps = walkthroughs.flatMap((walkthrough) => walkthrough.steps);
  const texts = [...viewsWelcome.map(({ contents }) => contents), ...steps.map(({ description }) => description)];
  for (const [, command = ""] of texts.join("\n").matchAll(/\(command:(tried[^)]*)\)/g)) {
    assert.ok(declared.has(command) || OF_VIEWS.includes(command), command);
  }
  for (const event of steps.flatMap((step) => step.completionEvents ?? [])) {
    const [kind, name = ""] = event.split(":");
    assert.ok(kind === "onCommand" ? declared.has(name) : kind === "onView" && OF_VIEWS.includes(`${name}.focus`), event);
  }
});

test("what a command throws is told as text, without links", async () => {
  registerCommand("tried.showLogs", () => {
    throw new Error("no [file](command:workbench.action.quit)\u202e");
  });
  await noted.run.get("tried.showLogs")?.();
  assert.deepEqual(noted.messages, ["no [file]\u200b(command:workbench.action.quit)⟨202E⟩"]);
});
