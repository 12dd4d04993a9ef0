/** A language client that writes to the log and never opens a message or the log by itself. */

import type * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type StreamInfo } from "vscode-languageclient/node";

export class QuietClient extends LanguageClient {
  constructor(
    connect: () => Promise<StreamInfo>,
    options: LanguageClientOptions,
    private readonly sink: vscode.LogOutputChannel,
  ) {
    super("tried", "Tried", connect, options);
  }

  override error(message: string, data?: unknown): void {
    this.sink.error(worded(message, data));
  }

  override warn(message: string, data?: unknown): void {
    this.sink.warn(worded(message, data));
  }

  override info(message: string, data?: unknown): void {
    this.sink.info(worded(message, data));
  }

  override debug(message: string, data?: unknown): void {
    this.sink.debug(worded(message, data));
  }

  /** One that does not run has nothing to be stopped; the library throws. */
  override async stop(timeout?: number): Promise<void> {
    if (this.isRunning()) await super.stop(timeout);
  }
}

function worded(message: string, data: unknown): string {
  if (data === undefined || data === null) return message;
  const text = data instanceof Error ? data.message : typeof data === "string" ? data : JSON.stringify(data);
  return `${message} ${text}`;
}
