import assert from "node:assert/strict";
import { test } from "node:test";
import type * as vscode from "vscode";
import { middleware } from "../../src/server/middleware";
import { placeOfReason, selectingReasons } from "../../src/server/reasonSelection";
import { RecordLinks } from "../../src/server/recordLinks";
import type { Tried } from "../../src/tried";

const URI = "file:///w/train.yaml";

function edit(line: number, character: number, newText: string) {
  return { range: { start: { line, character } }, newText };
}

function action(newText: string, more: Partial<vscode.CodeAction> = {}): vscode.CodeAction {
  const entries = () => [[{ toString: () => URI }, [edit(6, 9, newText)]]];
  return { title: "Silence", edit: { entries }, ...more } as unknown as vscode.CodeAction;
}

test("behind a value the reason lies in the same line", () => {
  // 9 characters of the line, then 36 of the comment before the reason
  assert.deepEqual(placeOfReason(URI, edit(6, 9, "  # tried: ignore[dead-end] because …")), { uri: URI, line: 6, character: 9 + 36 });
});

test("in a line of its own it is counted from the start of that line", () => {
  assert.deepEqual(placeOfReason(URI, edit(6, 0, "  # tried: ignore because …\n")), { uri: URI, line: 6, character: 26 });
  assert.deepEqual(placeOfReason(URI, edit(6, 9, "\r\n  # tried: retry exp-2 because …")), { uri: URI, line: 7, character: 31 });
});

test("an edit without a reason has no such place, nor one of which a … is a part of the value", () => {
  assert.equal(placeOfReason(URI, edit(6, 9, "0.003")), undefined);
  assert.equal(placeOfReason(URI, edit(6, 9, '"a … b"')), undefined);
});

test("quick fixes that write a reason select it afterwards; others stay as they are", async () => {
  const own = { command: "tried.markRecord", title: "Mark" };
  const [silence, use, both, mark] = [action("  # tried: ignore because …"), action("0.003"), action(" because …", { command: own }), own];
  const tried = { onNotification: () => ({ dispose: () => undefined }), context: {} } as unknown as Tried;
  const between = middleware(tried, new RecordLinks(tried));
  const none = undefined as never;
  const given = await between.provideCodeActions?.(none, none, none, none, () => [silence, use, both, mark]);
  assert.deepEqual(given, [silence, use, both, mark]);
  assert.deepEqual(silence.command, { command: "tried.selectReason", title: "Write the Reason", arguments: [{ uri: URI, line: 6, character: 35 }] });
  assert.equal(use.command, undefined);
  assert.equal(both.command, own);
  assert.deepEqual(mark, { command: "tried.markRecord", title: "Mark" });
  assert.equal(await between.provideCodeActions?.(none, none, none, none, () => null), null);
});

test("an action that is only a command is none that edits", () => {
  assert.deepEqual(selectingReasons([{ title: "Open", command: "tried.openRecord" }]), [{ title: "Open", command: "tried.openRecord" }]);
});
