/** Starts the server anew where another one may be chosen now. */

import * as vscode from "vscode";
import { pythonInterpreter, onDidChooseInterpreter } from "./interpreter";
import type { Session } from "./session";

/** Settings that say which server is started, and how. All others go to the one that runs. */
const CHOOSING = ["tried.path", "tried.interpreter", "tried.importStrategy", "tried.logLevel"];

export function registerRestarts(session: Session): vscode.Disposable {
  let interpreters: vscode.Disposable | undefined;
  const subscriptions = [
    vscode.workspace.onDidGrantWorkspaceTrust(() => void session.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (CHOOSING.some((setting) => event.affectsConfiguration(setting))) void session.restart();
    }),
    session.onDidChangeState((state) => {
      if (state === "starting" || session.chosen?.asked === undefined) return;
      interpreters ??= onDidChooseInterpreter(() => void useAnother(session));
    }),
  ];
  return new vscode.Disposable(() => {
    for (const subscription of [...subscriptions, interpreters]) subscription?.dispose();
  });
}

/** Only where the Python extension's choice mattered, and is another one than before. */
async function useAnother(session: Session): Promise<void> {
  const before = session.chosen?.asked;
  if (before === undefined) return;
  const now = await pythonInterpreter(vscode.workspace.workspaceFolders?.[0]?.uri);
  if (session.chosen?.asked !== before || !("path" in now) || ("path" in before && before.path === now.path)) return;
  session.log.info(`the Python extension has chosen ${now.path}`);
  await session.restart();
}
