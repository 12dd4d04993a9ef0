/** *In this file*: what is said about the config in the editor, by line. */

import * as vscode from "vscode";
import type { Range } from "vscode-languageserver-types";
import { registerCommand } from "../commands/register";
import { FINDINGS, type Findings } from "../protocol";
import { counted, line } from "../text";
import type { Tried } from "../tried";
import { setContext } from "./contexts";
import { findingRows } from "./findingRows";
import { Newest } from "./newest";
import { reasonOf } from "../reason";
import { RowView } from "./rowView";

/** The source of the server's diagnostics. */
const SOURCE = "tried";

/**
 * Invariant: nothing is asked for while the view cannot be seen; the badge is counted from the diagnostics, which are
 * there anyway.
 */
export class FindingsView implements vscode.Disposable {
  readonly #tried: Tried;
  readonly #view = new RowView("tried.findings");
  readonly #newest = new Newest();
  readonly #disposables: vscode.Disposable;
  #isStale = true;
  #content = "";

  constructor(tried: Tried) {
    this.#tried = tried;
    this.#disposables = vscode.Disposable.from(
      this.#view,
      this.#view.onDidChangeVisibility(() => {
        if (this.#isStale) this.#refresh();
      }),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        const config = tried.activeConfig.document?.uri.toString();
        if (uris.some((uri) => uri.toString() === config)) this.#count();
      }),
      tried.activeConfig.onDidChange(() => {
        this.#refresh();
      }),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("tried.findings.enable")) this.#refresh();
      }),
      tried.onDidChangeState((state) => {
        if (state === "running") this.#refresh();
        else if (state !== "starting") this.#clear();
      }),
    );
    this.#refresh();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #refresh(): void {
    this.#count();
    const document = this.#tried.activeConfig.document?.uri;
    const uri = document?.toString();
    setContext("tried.findingsAreOff", vscode.workspace.getConfiguration("tried", document ?? null).get<unknown>("findings.enable") === false);
    this.#isStale = !this.#view.isVisible;
    if (uri === undefined) this.#clear();
    else if (this.#view.isVisible && this.#tried.state === "running") void this.#load(uri);
  }

  async #load(uri: string): Promise<void> {
    try {
      await this.#newest.ask(
        () => this.#tried.sendRequest<Findings | null>(FINDINGS, { textDocument: { uri } }),
        (answer) => {
          if (answer !== undefined && uri === this.#tried.activeConfig.document?.uri.toString()) this.#show(answer);
        },
      );
    } catch (error) {
      this.#tried.log.error(`${FINDINGS}: ${reasonOf(error)}`);
      if (this.#tried.state === "running") this.#view.complain(`The findings could not be listed: ${line(reasonOf(error), 300)}`);
    }
  }

  #clear(): void {
    this.#newest.forget();
    this.#show(null);
  }

  #show(answer: Findings | null): void {
    const content = answer === null ? "" : JSON.stringify({ ...answer, version: 0 });
    setContext("tried.hasNoFindings", answer?.findings.length === 0);
    if (content !== this.#content) this.#view.show(answer === null ? [] : findingRows(answer));
    this.#content = content;
    this.#view.say(answer === null || answer.findings.length === 0 ? "" : counted(answer.findings.length, "finding"), "");
  }

  #count(): void {
    const uri = this.#tried.activeConfig.document?.uri;
    const warnings = uri === undefined ? 0 : vscode.languages.getDiagnostics(uri).filter(isWarning).length;
    this.#view.badge = warnings === 0 ? undefined : { value: warnings, tooltip: `${counted(warnings, "warning")} of Tried in this file` };
  }
}

function isWarning(diagnostic: vscode.Diagnostic): boolean {
  return diagnostic.source === SOURCE && diagnostic.severity === vscode.DiagnosticSeverity.Warning;
}

interface Place {
  readonly uri?: string;
  readonly range?: Range;
}

export function registerFindingsCommands(): vscode.Disposable {
  return vscode.Disposable.from(
    registerCommand("tried.findings.reveal", (place?: Place) => reveal(place)),
    registerCommand("tried.findings.fix", async (place?: Place) => {
      if (await reveal(place)) await vscode.commands.executeCommand("editor.action.quickFix");
    }),
  );
}

/** Selects the value and gives its editor the focus. */
async function reveal(place: Place | undefined): Promise<boolean> {
  if (place?.uri === undefined || place.range === undefined) return false;
  const { start, end } = place.range;
  const selection = new vscode.Range(start.line, start.character, end.line, end.character);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(place.uri, true));
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document === document);
  const editor = await vscode.window.showTextDocument(document, {
    selection,
    preserveFocus: false,
    ...(shown?.viewColumn === undefined ? {} : { viewColumn: shown.viewColumn }),
  });
  editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  return true;
}
