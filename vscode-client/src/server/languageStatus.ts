import * as vscode from "vscode";
import type { Tried } from "../tried";

export function registerLanguageStatus(tried: Tried): vscode.Disposable {
  void tried;
  return vscode.Disposable.from();
}
