/** Quick fixes that silence leave a `…` where a person writes why: it is selected once the edit stands there. */

import * as vscode from "vscode";

export const SELECT_REASON = "tried.selectReason";

const REASON = "…";
/** As the server writes it; see lsp/code_actions.py there. */
const MARK = `because ${REASON}`;

/** Where a reason is to be written, once the edit has been applied. */
export interface ReasonPlace {
  uri: string;
  line: number;
  character: number;
}

interface Edit {
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
  readonly newText: string;
}

/** Where the `…` of `because …` comes to lie; undefined for an edit that has none. */
export function placeOfReason(uri: string, { range: { start }, newText }: Edit): ReasonPlace | undefined {
  const found = newText.lastIndexOf(MARK);
  if (found < 0) return undefined;
  const lines = newText.slice(0, found + MARK.length - REASON.length).split(/\r\n|\r|\n/);
  const last = lines.at(-1) ?? "";
  return lines.length === 1
    ? { uri, line: start.line, character: start.character + last.length }
    : { uri, line: start.line + lines.length - 1, character: last.length };
}

/** Actions that have nothing else to do after their edit select the reason in it. */
export function selectingReasons<Action extends vscode.CodeAction | vscode.Command>(actions: readonly Action[]): Action[] {
  for (const action of actions) if (isNotCommand(action) && action.command === undefined) selectReason(action);
  return [...actions];
}

function isNotCommand(action: vscode.CodeAction | vscode.Command): action is vscode.CodeAction {
  return typeof action.command !== "string";
}

function selectReason(action: vscode.CodeAction): void {
  for (const [uri, edits] of action.edit?.entries() ?? []) {
    for (const edit of edits) {
      const place = placeOfReason(uri.toString(), edit);
      if (place !== undefined) action.command = { command: SELECT_REASON, title: "Write the Reason", arguments: [place] };
    }
  }
}

/** For quick fixes alone: in no menu and not in the palette. */
export function registerReasonSelection(): vscode.Disposable {
  return vscode.commands.registerCommand(SELECT_REASON, (place: ReasonPlace) => {
    const active = vscode.window.activeTextEditor;
    const editors = active === undefined ? vscode.window.visibleTextEditors : [active, ...vscode.window.visibleTextEditors];
    const editor = editors.find(({ document }) => document.uri.toString() === place.uri);
    if (editor === undefined) return;
    const range = new vscode.Range(place.line, place.character, place.line, place.character + REASON.length);
    if (editor.document.getText(range) !== REASON) return; // the text is another by now
    editor.selection = new vscode.Selection(range.start, range.end);
    editor.revealRange(range);
  });
}
