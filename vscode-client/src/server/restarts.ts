/** Starts the server anew where another one may be chosen now. */

import * as vscode from "vscode";
import type { Tried } from "../tried";

/** Settings that say which server is started, and how. All others go to the one that runs. */
const CHOOSING = ["tried.path", "tried.interpreter", "tried.importStrategy", "tried.logLevel"];

export function registerRestarts(tried: Tried): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.onDidGrantWorkspaceTrust(() => void tried.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (CHOOSING.some((setting) => event.affectsConfiguration(setting))) void tried.restart();
    }),
  );
}
