import assert from "node:assert/strict";
import { test } from "node:test";
import type * as vscode from "vscode";
import { SERVER_COMMANDS } from "../../src/protocol";
import { middleware } from "../../src/server/middleware";
import { RecordLinks } from "../../src/server/recordLinks";
import type { Tried } from "../../src/tried";

const TEXT = "$(error) [x](command:workbench.action.quit)";
const INERT = "$\u200b(error) [x]\u200b(command:workbench.action.quit)";

const logged: string[] = [];
const sent: unknown[] = [];
const log = { warn: (text: string) => logged.push(text) };
const tried = { onNotification: () => ({ dispose: () => undefined }), context: {}, log, sendRequest: (_: string, params: unknown) => Promise.resolve(sent.push(params)) } as unknown as Tried;
const links = new RecordLinks(tried);
const between = middleware(tried, links);
const none = undefined as never;

test("neither names nor containers of symbols draw icons or make links", async () => {
  const symbols = [{ name: TEXT, containerName: TEXT }] as unknown as vscode.SymbolInformation[];
  await between.provideWorkspaceSymbols?.("", none, () => symbols);
  assert.deepEqual(symbols, [{ name: INERT, containerName: INERT }]);
});

test("nor do titles of lenses", async () => {
  const lenses = [{ command: { title: TEXT, command: "x" } }] as unknown as vscode.CodeLens[];
  await between.provideCodeLenses?.(none, none, () => lenses);
  assert.equal(lenses[0]?.command?.title, INERT);
});

test("nor does what is said of progress", () => {
  const told: unknown[] = [];
  const begin = { kind: "begin", title: TEXT, message: TEXT } as const;
  between.handleWorkDoneProgress?.("token", begin, (_, params) => told.push(params));
  between.handleWorkDoneProgress?.("token", { kind: "end" }, (_, params) => told.push(params));
  assert.deepEqual(told, [{ kind: "begin", title: INERT, message: INERT }, { kind: "end" }]);
});

test("nor does the error of a command of the server", async () => {
  const answer: unknown = between.executeCommand?.(SERVER_COMMANDS.rescan, [{}], () => Promise.reject(new Error(TEXT)));
  await assert.rejects(Promise.resolve(answer), { message: INERT });
});

test("that a value that was used could not be counted is in the log alone", async () => {
  const hit = [{ record: "EXP-7", how: "used" }];
  const counted: unknown = between.executeCommand?.(SERVER_COMMANDS.countHit, hit, (command, args) => Promise.resolve([command, args]));
  assert.deepEqual(await counted, ["tried.countHit", hit]);
  assert.equal(logged.length, 0);
  const failed: unknown = between.executeCommand?.(SERVER_COMMANDS.countHit, hit, () => Promise.reject(new Error("read-only")));
  assert.equal(await failed, undefined);
  assert.match(logged[0] ?? "", /read-only/);
});

test("who goes to a record that was searched has opened it; one that is only found is no hit", async () => {
  const symbols = [{ name: "a", containerName: "", data: { record: "EXP-7" } }] as unknown as vscode.SymbolInformation[];
  await between.provideWorkspaceSymbols?.("", none, () => symbols);
  assert.equal(sent.length, 0);
  const [symbol] = symbols;
  assert.ok(symbol);
  assert.equal(await between.resolveWorkspaceSymbol?.(symbol, none, (item) => item), symbol);
  assert.deepEqual(sent, [{ command: "tried.countHit", arguments: [{ record: "EXP-7", how: "opened" }] }]);
});

test("a link leads to a record, and nowhere else", async () => {
  const document = { version: 1, uri: "file:///a.yaml" } as unknown as vscode.TextDocument;
  const ofRecord = { data: { record: "mlflow:1" }, tooltip: TEXT } as unknown as vscode.DocumentLink;
  const other = { target: "command:workbench.action.quit" } as unknown as vscode.DocumentLink;
  assert.deepEqual(await between.provideDocumentLinks?.(document, none, () => [other, ofRecord]), [ofRecord]);
  assert.equal(ofRecord.tooltip, INERT);
});

test("nothing but pages of the web and files is opened for the server", async () => {
  for (const uri of ["command:workbench.action.quit", "vscode://x/y", "javascript:1", "data:text/html,x", "ssh://x"]) {
    let opened = 0;
    const answer = await between.window?.showDocument?.({ uri, external: true }, () => {
      opened++;
      return { success: true };
    });
    assert.deepEqual([answer, opened], [{ success: false }, 0], uri);
  }
});
