/** Debug information as a read-only document: nothing to be saved when it is closed. */

import * as vscode from "vscode";
import type { Tried } from "../tried";
import { registerCommand } from "./register";

const URI = vscode.Uri.parse("tried-information:/Debug Information.md");

export function registerDebugDocument(tried: Tried): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  let text = "";
  return vscode.Disposable.from(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(URI.scheme, {
      onDidChange: changed.event,
      provideTextDocumentContent: () => text,
    }),
    registerCommand("tried.debugInformation", async () => {
      text = await tried.debugInformation();
      changed.fire(URI);
      const document = await vscode.workspace.openTextDocument(URI);
      await vscode.languages.setTextDocumentLanguage(document, "markdown");
      await vscode.window.showTextDocument(document, { preview: true });
    }),
  );
}
