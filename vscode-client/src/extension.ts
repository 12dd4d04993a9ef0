import { LOADING_STARTED } from "./clock";
import * as vscode from "vscode";
import { registerCommands } from "./commands";
import { registerTryPolicy } from "./policies/tryPolicy";
import { registerRecordPanel } from "./record/panel";
import { registerLanguageStatus } from "./server/languageStatus";
import { registerRestarts } from "./server/restarts";
import { Session } from "./server/session";
import { registerViews } from "./views";

/** Between loading and activation VS Code has things of its own to wait for. */
const LOADING_MS = performance.now() - LOADING_STARTED;

let session: Session | undefined;

/** Registers everything; nothing is waited for. */
export function activate(context: vscode.ExtensionContext): void {
  const began = performance.now();
  const log = vscode.window.createOutputChannel("Tried", { log: true });
  session = new Session(context, log);
  context.subscriptions.push(
    log,
    session,
    registerCommands(session),
    registerViews(session),
    registerRecordPanel(session),
    registerTryPolicy(session),
    registerLanguageStatus(session),
    registerRestarts(session),
  );
  const own = LOADING_MS + performance.now() - began;
  log.info(`activated in ${Math.round(own)} ms, of which loading ${Math.round(LOADING_MS)} ms`);
  setImmediate(() => void session?.restart());
}

export async function deactivate(): Promise<void> {
  await session?.end();
}
