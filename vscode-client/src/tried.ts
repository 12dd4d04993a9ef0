/** What the modules of the extension share: the server as one talks to it, whichever process it is just now. */

import type * as vscode from "vscode";

export type ServerState = "starting" | "running" | "stopped" | "failed" | "missing";

export interface Tried {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly state: ServerState;
  readonly onDidChangeState: vscode.Event<ServerState>;
  /** Answers undefined while no server runs; a mistake that the server reports is thrown as an Error. */
  sendRequest<Answer>(method: string, params: unknown, token?: vscode.CancellationToken): Promise<Answer | undefined>;
  /** Handlers stay when the server is started anew. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller names the params of its method
  onNotification<Params>(method: string, handler: (params: Params) => void): vscode.Disposable;
  /** Starts the server, ending the one that runs: the only way to start it. `isAsked`: by a person, who is told again what is wrong. */
  restart(isAsked?: boolean): Promise<void>;
  /** Markdown: which server was chosen and why, versions, settings in force; without secrets. */
  debugInformation(): Promise<string>;
  readonly activeConfig: ActiveConfig;
}

/** The config that the views are about: that of the active editor, or the last one while the focus is elsewhere. */
export interface ActiveConfig {
  readonly document: vscode.TextDocument | undefined;
  /** Fires when another config becomes active, and when the server has looked at a new version of it. */
  readonly onDidChange: vscode.Event<void>;
}
