/** The record panel: one page beside the editor that shows a record, and follows the config that is being edited. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { recordArguments } from "../commands/arguments";
import { pickRecord } from "../commands/pickRecord";
import { registerCommand } from "../commands/register";
import { countHit } from "../hits";
import { RECORD, SERVER_COMMANDS, STATUS_DID_CHANGE, type CountHit, type RecordArguments, type RecordView, type Verdict } from "../protocol";
import { reasonOf } from "../reason";
import { inert, line } from "../text";
import type { Tried } from "../tried";
import { pageHtml } from "./html";
import { fromPage, keptRecord, type FromPage, type ToPage } from "./messages";
import { webHost } from "./model";

export const VIEW_TYPE = "tried.record";

const STYLES = ["record.css", "record-conclusion.css", "record-plots.css", "record-tables.css"];
/** A pool that is being read changes many times: the panel asks again this long after it last did. */
const POOL_DELAY_MS = 700;

export function registerRecordPanel(tried: Tried): vscode.Disposable {
  const panel = new RecordPanel(tried);
  const show = async (given: unknown, revealed?: "parameters"): Promise<void> => {
    const named = recordArguments(given);
    const record = named?.record ?? (await pickRecord(tried, revealed === undefined ? "Show a Record" : "Compare with a Record"));
    if (record) panel.show({ ...named, record }, { revealed, preserveFocus: named !== undefined });
  };
  return vscode.Disposable.from(
    panel,
    registerCommand("tried.showRecord", (given: unknown) => show(given)),
    registerCommand("tried.compare", (given: unknown) => show(given, "parameters")),
    vscode.window.registerWebviewPanelSerializer(VIEW_TYPE, {
      deserializeWebviewPanel: (restored, state) => {
        panel.restore(restored, keptRecord(state));
        return Promise.resolve();
      },
    }),
  );
}

class RecordPanel implements vscode.Disposable {
  readonly #tried: Tried;
  readonly #subscriptions: vscode.Disposable[];
  #panel: vscode.WebviewPanel | undefined;
  #shown: RecordArguments | undefined;
  #view: RecordView | undefined;
  #revealed: "parameters" | undefined;
  /** What a person did to see the record; counted once it is there. */
  #gesture: CountHit["how"] | undefined;
  #isReady = false;
  /** What came of a conclusion while the page could not be told. */
  #untold: ToPage | undefined;
  #isStale = false;
  #request: vscode.CancellationTokenSource | undefined;
  #poolTimer: NodeJS.Timeout | undefined;

  constructor(tried: Tried) {
    this.#tried = tried;
    this.#subscriptions = [
      tried.activeConfig.onDidChange(() => {
        this.#follow();
      }),
      tried.onDidChangeState((state) => {
        if (state !== "starting") this.#refresh();
      }),
      tried.onNotification(STATUS_DID_CHANGE, () => {
        this.#poolTimer ??= setTimeout(() => {
          this.#poolTimer = undefined;
          this.#refresh();
        }, POOL_DELAY_MS);
      }),
    ];
  }

  show(named: RecordArguments, how: { revealed: "parameters" | undefined; preserveFocus: boolean }): void {
    const panel =
      this.#panel ??
      this.#adopt(
        vscode.window.createWebviewPanel(
          VIEW_TYPE,
          "Record",
          { viewColumn: vscode.ViewColumn.Beside, preserveFocus: how.preserveFocus },
          { ...this.#options(), enableFindWidget: true },
        ),
      );
    if (!panel.visible || !how.preserveFocus) panel.reveal(undefined, how.preserveFocus);
    this.#use(named, how.revealed, how.revealed === undefined ? "opened" : "compared");
  }

  /** After the window was loaded anew. */
  restore(panel: vscode.WebviewPanel, named: RecordArguments | null): void {
    if (named === null || this.#panel) {
      panel.dispose();
      return;
    }
    panel.webview.options = this.#options();
    this.#adopt(panel);
    this.#use(named, undefined, undefined);
  }

  dispose(): void {
    clearTimeout(this.#poolTimer);
    this.#request?.cancel();
    this.#panel?.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #options(): vscode.WebviewOptions {
    const root = this.#tried.context.extensionUri;
    return {
      enableScripts: true,
      enableForms: false,
      enableCommandUris: false,
      localResourceRoots: [vscode.Uri.joinPath(root, "dist"), vscode.Uri.joinPath(root, "media")],
    };
  }

  #adopt(panel: vscode.WebviewPanel): vscode.WebviewPanel {
    const root = this.#tried.context.extensionUri;
    const { webview } = panel;
    this.#panel = panel;
    this.#isReady = false;
    const icon = (name: string): vscode.Uri => vscode.Uri.joinPath(root, "media", name);
    panel.iconPath = { light: icon("tried.svg"), dark: icon("tried-dark.svg") };
    panel.onDidDispose(() => {
      this.#request?.cancel();
      this.#panel = this.#shown = this.#view = undefined;
    });
    panel.onDidChangeViewState(() => {
      if (!panel.visible) this.#isReady = false;
      else if (this.#isStale) this.#refresh();
    });
    webview.onDidReceiveMessage((message: unknown) => {
      const checked = fromPage(message);
      if (checked) this.#heard(checked).catch((error: unknown) => { this.#tell(reasonOf(error)); });
    });
    webview.html = pageHtml({
      source: webview.cspSource,
      script: webview.asWebviewUri(vscode.Uri.joinPath(root, "dist", "webview.js")).toString(),
      styles: STYLES.map((name) => webview.asWebviewUri(vscode.Uri.joinPath(root, "media", name)).toString()),
      nonce: randomBytes(18).toString("base64url"),
    });
    return panel;
  }

  #use(named: RecordArguments, revealed: "parameters" | undefined, gesture: CountHit["how"] | undefined): void {
    if (named.record !== this.#shown?.record) this.#view = undefined;
    this.#shown = named;
    this.#revealed = revealed;
    this.#gesture = gesture;
    if (this.#panel && !this.#view) this.#panel.title = titleOf(named.record);
    this.#post({ type: "loading", short: line(named.record, 80) });
    this.#refresh();
  }

  /** The config that is edited, whichever the record was opened from; nothing to compare with where that is none. */
  #follow(): void {
    const uri = this.#tried.activeConfig.document?.uri.toString();
    if (this.#shown) this.#shown = { record: this.#shown.record, ...(uri === undefined ? {} : { uri }) };
    this.#refresh();
  }

  /** Asks for the record as of now; an answer that is late for a newer question is dropped. */
  #refresh(): void {
    if (!this.#panel || !this.#shown) return;
    this.#isStale = !this.#panel.visible;
    if (this.#isStale) return;
    void this.#ask(this.#shown);
  }

  async #ask({ record, uri }: RecordArguments): Promise<void> {
    this.#request?.cancel();
    const request = (this.#request = new vscode.CancellationTokenSource());
    const document = this.#tried.activeConfig.document?.uri.toString() ?? (isOpen(uri) ? uri : undefined);
    try {
      const params = document === undefined ? { record } : { record, textDocument: { uri: document } };
      const view = await this.#tried.sendRequest<RecordView | null>(RECORD, params, request.token);
      if (request !== this.#request) return;
      if (view) this.#received(view);
      else if (view === null) this.#tell(`There is no record ${line(record, 80)} in the pool.`);
      else this.#tellState();
    } catch (error) {
      if (request === this.#request) this.#tell(reasonOf(error));
    } finally {
      request.dispose();
    }
  }

  #received(view: RecordView): void {
    this.#view = view;
    if (this.#panel) this.#panel.title = titleOf(view.short);
    this.#postView();
    this.#count(view);
  }

  #count({ id, document }: RecordView): void {
    const how = this.#gesture;
    this.#gesture = undefined;
    const uri = document ?? this.#shown?.uri;
    if (how !== undefined) void countHit(this.#tried, { record: id, how, ...(uri === undefined ? {} : { uri }) });
  }

  #postView(): void {
    if (!this.#view || !this.#isReady) return;
    const revealed = this.#revealed;
    this.#revealed = undefined;
    this.#post(revealed ? { type: "record", view: this.#view, revealed } : { type: "record", view: this.#view });
  }

  #tellState(): void {
    const { state } = this.#tried;
    if (state === "starting" || state === "running") return; // an answer follows once it runs
    const text = state === "missing" ? "The server of Tried is not installed." : "The server of Tried does not run.";
    this.#post({ type: "problem", text, remedy: "restart" });
  }

  #tell(text: string): void {
    this.#post({ type: "problem", text: line(text, 500), remedy: "none" });
  }

  #post(message: ToPage): void {
    void this.#panel?.webview.postMessage(message);
  }

  async #heard(message: FromPage): Promise<void> {
    switch (message.type) {
      case "ready":
        this.#isReady = true;
        if (this.#view) this.#postView();
        else if (this.#shown) this.#post({ type: "loading", short: line(this.#shown.record, 80) });
        if (this.#untold) this.#post(this.#untold);
        this.#untold = undefined;
        this.#refresh();
        return;
      case "show":
        this.#use({ ...this.#shown, record: message.record }, undefined, "opened");
        return;
      case "openPage":
        if (this.#view?.url && webHost(this.#view.url)) await vscode.env.openExternal(vscode.Uri.parse(this.#view.url, true));
        return;
      case "openFolder":
        if (this.#view?.run_dir && !(await openFolder(this.#view.run_dir))) this.#tell("Its folder is in none of the folders that are open here.");
        return;
      case "openStored":
        await this.#openStored();
        return;
      case "restart":
        await vscode.commands.executeCommand("tried.restart");
        return;
      case "showLogs":
        await vscode.commands.executeCommand("tried.showLogs");
        return;
      case "conclude":
        await this.#conclude(message.record, message.text, message.verdict);
        return;
    }
  }

  async #openStored(): Promise<void> {
    if (!this.#view) return;
    await this.#command(SERVER_COMMANDS.open, { uri: this.#view.document, record: this.#view.id });
  }

  async #conclude(record: string, reason: string, verdict: Verdict | null): Promise<void> {
    const answer = (state: "saved" | "failed", text: string): void => {
      const told: ToPage = { type: "conclusion", state, text: line(text, 500), record };
      if (this.#isReady) this.#post(told);
      else this.#untold = told; // a page that is hidden hears nothing, and would offer to record it again
    };
    const uri = this.#view?.document ?? null; // without one the server looks for the pool that has the record
    try {
      const done = await this.#command(SERVER_COMMANDS.mark, { uri, record, reason, ...(verdict === null ? {} : { verdict }) });
      if (done === undefined) answer("failed", "Not recorded: the server of Tried does not run.");
      else answer("saved", "Recorded in the journal.");
    } catch (error) {
      answer("failed", `Not recorded: ${reasonOf(error)}`);
      return;
    }
    this.#refresh();
  }

  #command(command: string, table: Record<string, unknown>): Promise<unknown> {
    return this.#tried.sendRequest("workspace/executeCommand", { command, arguments: [table] });
  }
}

/** Lists of open editors draw icons where a title says so. */
function titleOf(record: string): string {
  return inert(line(record, 40)) || "Record";
}

function isOpen(uri: string | undefined): boolean {
  return uri !== undefined && vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri);
}

/** False for one that the explorer does not show. */
async function openFolder(uri: string): Promise<boolean> {
  const folder = vscode.Uri.parse(uri, true);
  if (folder.scheme !== "file" || !vscode.workspace.getWorkspaceFolder(folder)) return false;
  await vscode.commands.executeCommand("revealInExplorer", folder);
  return true;
}
