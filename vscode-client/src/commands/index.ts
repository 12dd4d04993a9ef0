/** The commands that belong to no view. */

import * as vscode from "vscode";
import { registerReasonSelection } from "../server/reasonSelection";
import type { Tried } from "../tried";
import { conclude } from "./conclude";
import { registerDebugDocument } from "./debugDocument";
import { installServer } from "./installServer";
import { registerCommand } from "./register";

export function registerCommands(tried: Tried): vscode.Disposable {
  const { executeCommand } = vscode.commands;
  const { extension } = tried.context;
  return vscode.Disposable.from(
    registerDebugDocument(tried),
    registerReasonSelection(),
    registerCommand("tried.restart", () => tried.restart(true)),
    registerCommand("tried.showLogs", () => {
      tried.log.show(true);
    }),
    registerCommand("tried.installServer", () => installServer(tried)),
    registerCommand("tried.openGuide", () => openGuide(extension.extensionUri)),
    registerCommand("tried.openSettings", () => executeCommand("workbench.action.openSettings", `@ext:${extension.id}`)),
    registerCommand("tried.conclude", (given: unknown) => conclude(tried, given)),
  );
}

/** The README that came with the extension: no network is needed. */
async function openGuide(root: vscode.Uri): Promise<void> {
  const names = (await vscode.workspace.fs.readDirectory(root)).map(([name]) => name);
  const name = names.find((one) => one.toLowerCase() === "readme.md") ?? "README.md"; // a .vsix has it in lower case
  const guide = vscode.Uri.joinPath(root, name);
  try {
    await vscode.commands.executeCommand("markdown.showPreview", guide);
  } catch {
    await vscode.window.showTextDocument(guide); // the preview is an extension, and can be turned off
  }
}
