import * as vscode from "vscode";
import type { Tried } from "../tried";

export function registerCommands(tried: Tried): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.commands.registerCommand("tried.restart", () => tried.restart()),
    vscode.commands.registerCommand("tried.showLogs", () => {
      tried.log.show(true);
    }),
  );
}
