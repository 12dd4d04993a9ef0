import assert from "node:assert/strict";
import { test } from "node:test";
import * as vscode from "vscode";
import { countHit } from "../../src/hits";
import { registerRecordPanel } from "../../src/record/panel";
import type { CountHit, RecordView } from "../../src/protocol";
import type { Tried } from "../../src/tried";
import { noted } from "../fake/vscode";

type Fake = Record<string, unknown>;
type Listener = (given?: unknown) => void;

const URI = "file:///home/ana/base.yaml";

function server(answer: () => unknown = () => ({ hits: 1 })): { tried: Pick<Tried, "sendRequest" | "log">; sent: unknown[]; logged: string[] } {
  const sent: unknown[] = [];
  const logged: string[] = [];
  const sendRequest = (method: string, params: unknown): Promise<unknown> => {
    sent.push([method, params]);
    return new Promise((resolve) => {
      resolve(answer());
    });
  };
  const log = { warn: (text: string) => logged.push(text) };
  return { tried: { sendRequest, log } as unknown as Tried, sent, logged };
}

test("a hit is a command of the server, once for a double click, and again for another gesture", async () => {
  const { tried, sent, logged } = server();
  await countHit(tried, { record: "a", how: "opened", uri: URI }, 10_000);
  await countHit(tried, { record: "a", how: "opened", uri: URI }, 10_200);
  await countHit(tried, { record: "a", how: "compared", uri: URI }, 10_300);
  await countHit(tried, { record: "b", how: "opened" }, 10_400);
  await countHit(tried, { record: "b", how: "opened" }, 11_000);
  const hit = (given: CountHit): unknown => ["workspace/executeCommand", { command: "tried.countHit", arguments: [given] }];
  assert.deepEqual(sent, [
    hit({ record: "a", how: "opened", uri: URI }),
    hit({ record: "a", how: "compared", uri: URI }),
    hit({ record: "b", how: "opened" }),
    hit({ record: "b", how: "opened" }),
  ]);
  assert.deepEqual([logged, noted.messages], [[], []]);
});

test("what could not be counted is in the log, and nobody is bothered", async () => {
  const older = server(() => {
    throw new Error("there is no command tried.countHit");
  });
  await countHit(older.tried, { record: "a", how: "opened" }, 20_000);
  assert.match(older.logged[0] ?? "", /there is no command tried\.countHit/);
  const full = server(() => ({ record: "a", hits: null, problem: "no space left" }));
  await countHit(full.tried, { record: "a", how: "opened" }, 30_000);
  assert.match(full.logged[0] ?? "", /no space left/);
  await countHit(server(() => undefined).tried, { record: "a", how: "opened" }, 40_000);
  assert.deepEqual(noted.messages, []);
});

/** The record panel between a server and a page that are made up. */
function panel() {
  const hits: CountHit[] = [];
  const config = new vscode.EventEmitter<undefined>();
  let restore: ((panel: unknown, state: unknown) => unknown) | undefined;
  let heard: Listener = () => undefined;
  const page = {
    visible: true,
    title: "",
    webview: {
      cspSource: "x",
      asWebviewUri: () => "x",
      postMessage: () => Promise.resolve(true),
      onDidReceiveMessage: (listener: Listener) => (heard = listener),
    },
    reveal: () => undefined,
    dispose: () => undefined,
    onDidDispose: () => undefined,
    onDidChangeViewState: () => undefined,
  };
  (vscode.window as unknown as Fake).createWebviewPanel = () => page;
  (vscode.window as unknown as Fake).registerWebviewPanelSerializer = (_: string, { deserializeWebviewPanel }: { deserializeWebviewPanel: (panel: unknown, state: unknown) => unknown }) => {
    restore = deserializeWebviewPanel;
    return { dispose: () => undefined };
  };
  let isKnown = true;
  const tried = {
    state: "running",
    context: { extensionUri: "x" },
    log: { warn: () => undefined },
    activeConfig: { document: { uri: { toString: () => URI } }, onDidChange: config.event },
    onDidChangeState: () => ({ dispose: () => undefined }),
    onNotification: () => ({ dispose: () => undefined }),
    sendRequest: (method: string, params: { record: string; arguments?: CountHit[] }): Promise<unknown> => {
      if (method === "tried/record") return Promise.resolve(isKnown ? ({ id: `journal:${params.record}`, short: params.record, document: URI } as RecordView) : null);
      hits.push(...(params.arguments ?? []));
      return Promise.resolve({});
    },
  } as unknown as Tried;
  const registered = registerRecordPanel(tried);
  return {
    hits,
    run: async (command: string, record: string): Promise<void> => {
      await noted.run.get(command)?.({ record, uri: URI });
      await settled();
    },
    restore: async (record: string): Promise<void> => {
      await restore?.(page, { record, uri: URI });
      await settled();
    },
    pageSays: async (message: unknown): Promise<void> => {
      heard(message);
      await settled();
    },
    edit: async (): Promise<void> => {
      config.fire(undefined);
      await settled();
    },
    forget: () => (isKnown = false),
    dispose: () => registered.dispose() as unknown,
  };
}

function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

test("who opens a record in the panel, or compares with it, hits it once, however often it is shown anew", async () => {
  const shown = panel();
  await shown.run("tried.showRecord", "EXP-1");
  await shown.edit();
  await shown.pageSays({ type: "ready" });
  await shown.run("tried.compare", "EXP-1");
  await shown.edit();
  await shown.pageSays({ type: "show", record: "EXP-2" });
  await shown.edit();
  assert.deepEqual(shown.hits, [
    { record: "journal:EXP-1", how: "opened", uri: URI },
    { record: "journal:EXP-1", how: "compared", uri: URI },
    { record: "journal:EXP-2", how: "opened", uri: URI },
  ]);
  shown.dispose();
});

test("a panel that is brought back is no hit, nor is a record that there is not", async () => {
  const back = panel();
  await back.restore("EXP-3");
  await back.edit();
  assert.deepEqual(back.hits, []);
  back.dispose();
  const unknown = panel();
  unknown.forget();
  await unknown.run("tried.showRecord", "EXP-4");
  assert.deepEqual(unknown.hits, []);
  unknown.dispose();
});
