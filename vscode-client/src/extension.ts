import { LOADING_STARTED } from "./clock";
import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { registerRecordPanel } from "./record/panel";
import { registerLanguageStatus } from "./server/languageStatus";
import { registerRestarts } from "./server/restarts";
import { Session } from "./server/session";
import { registerViews } from "./views";

let session: Session | undefined;

/** Registers everything; nothing is waited for. */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Tried", { log: true });
  session = new Session(context, log);
  context.subscriptions.push(
    log,
    session,
    registerCommands(session),
    registerViews(session),
    registerRecordPanel(session),
    registerLanguageStatus(session),
    registerRestarts(session),
  );
  log.info(`activated in ${Math.round(performance.now() - LOADING_STARTED)} ms`);
  setImmediate(() => void session?.restart());
}

export async function deactivate(): Promise<void> {
  await session?.end();
}
