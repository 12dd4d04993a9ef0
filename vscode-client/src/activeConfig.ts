/** The config that the views are about. */

import * as vscode from "vscode";
import { DID_ANALYSE, type DidAnalyse } from "./protocol";
import { RANKING_SCHEME } from "./policies/rankingDocuments";
import { DOCUMENT_SELECTOR } from "./server/selector";
import type { ActiveConfig, Tried } from "./tried";

/** So long the last config is kept while the server looks at the document that one has gone to. */
const PATIENCE_MS = 1_500;

export class TrackedConfig implements ActiveConfig, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #isConfig = new Map<string, boolean>();
  #document: vscode.TextDocument | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #subscriptions: { dispose(): void }[];

  constructor(tried: Pick<Tried, "onNotification" | "onDidChangeState">) {
    void setContext(false);
    this.#subscriptions = [
      this.#changed,
      tried.onNotification<DidAnalyse>(DID_ANALYSE, (params) => {
        this.#analysed(params);
      }),
      tried.onDidChangeState((state) => {
        if (state !== "running") this.#isConfig.clear();
      }),
      vscode.window.onDidChangeActiveTextEditor(() => {
        this.#look();
      }),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.#isConfig.delete(document.uri.toString());
        if (document === this.#document) this.#use(undefined);
      }),
    ];
  }

  get document(): vscode.TextDocument | undefined {
    return this.#document;
  }

  dispose(): void {
    clearTimeout(this.#timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #analysed({ uri, isConfig }: DidAnalyse): void {
    const key = vscode.Uri.parse(uri).toString();
    this.#isConfig.set(key, isConfig);
    const before = this.#document;
    if (vscode.window.activeTextEditor?.document.uri.toString() === key) this.#look();
    if (this.#document !== before || this.#document?.uri.toString() !== key) return;
    if (isConfig) this.#changed.fire();
    else this.#use(undefined);
  }

  #look(): void {
    clearTimeout(this.#timer);
    const document = vscode.window.activeTextEditor?.document;
    if (document === undefined || isOutput(document)) return; // the focus is elsewhere
    if (vscode.languages.match(DOCUMENT_SELECTOR, document) === 0) {
      this.#use(undefined);
      return;
    }
    const isConfig = this.#isConfig.get(document.uri.toString());
    if (isConfig !== undefined) {
      this.#use(isConfig ? document : undefined);
    } else if (this.#document !== undefined && this.#document !== document) {
      this.#timer = setTimeout(() => {
        this.#use(undefined);
      }, PATIENCE_MS);
    }
  }

  #use(document: vscode.TextDocument | undefined): void {
    clearTimeout(this.#timer);
    if (document === this.#document) return;
    this.#document = document;
    void setContext(document !== undefined);
    this.#changed.fire();
  }
}

/** Panels such as the log are text editors, too; and two rankings side by side are about the config, as the views are. */
function isOutput(document: vscode.TextDocument): boolean {
  return ["output", "debug", "vscode-interactive-input", "comment", RANKING_SCHEME].includes(document.uri.scheme);
}

function setContext(isConfig: boolean): Thenable<unknown> {
  return vscode.commands.executeCommand("setContext", "tried.isConfig", isConfig);
}
