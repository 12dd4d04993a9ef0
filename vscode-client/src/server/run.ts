/**
 * One process of the server and the client that speaks with it, from its start to its end.
 *
 * Invariant: after `end()` the process and those that it started are gone, within three seconds.
 */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  type LanguageClientOptions,
  type Middleware,
  RevealOutputChannelOn,
} from "vscode-languageclient/node";
import { HAS_GROUPS, signalGroup } from "./processGroup";
import { QuietClient } from "./quietClient";
import { DOCUMENT_SELECTOR } from "./selector";
import { LineSplitter, parseLine } from "./stderrLines";

const END_MS = 2_000;
const LAST_WORDS_MS = 300;

export interface Launch {
  command: string;
  args: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
}

export class ServerRun {
  readonly client: QuietClient;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #gone: Promise<string>;
  readonly #stderr: LineSplitter;
  #isGone = false;
  #wasEnded = false;
  #ending: Promise<void> | undefined;

  constructor(launch: Launch, middleware: Middleware, log: vscode.LogOutputChannel) {
    this.#stderr = new LineSplitter((line) => {
      const { level, text } = parseLine(line);
      log[level](`[server] ${text}`);
    });
    this.#process = spawn(launch.command, launch.args, {
      cwd: launch.cwd,
      env: launch.env,
      stdio: "pipe",
      windowsHide: true,
      detached: HAS_GROUPS,
    });
    this.#gone = new Promise((resolve) => {
      const gone = (how: string) => {
        this.#isGone = true;
        this.#stderr.end();
        resolve(how);
      };
      this.#process.once("error", (error) => {
        if (this.#process.pid === undefined) gone(error.message);
      });
      this.#process.once("exit", (code, signal) => {
        const how = signal === null ? `exit status ${code ?? "unknown"}` : `signal ${signal}`;
        // What it said last may still be on its way; but a child of its own can keep the pipes open for ever.
        const timer = setTimeout(gone, LAST_WORDS_MS, how);
        this.#process.once("close", () => {
          clearTimeout(timer);
          gone(how);
        });
      });
    });
    this.#process.stdin.on("error", () => undefined); // told by its end
    this.#process.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      this.#stderr.push(chunk);
    });
    const streams = { reader: this.#process.stdout, writer: this.#process.stdin };
    this.client = new QuietClient(() => Promise.resolve(streams), clientOptions(middleware, log), log);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** It is gone, and nobody had asked it to go. */
  get endedByItself(): boolean {
    return this.#isGone && !this.#wasEnded;
  }

  /** How the process ended, once it has. */
  get gone(): Promise<string> {
    return this.#gone;
  }

  /** What the server said last on stderr. */
  get lastWords(): string {
    return this.#stderr.last.join("\n");
  }

  /** Settles when the server has answered `initialize`; throws if it ends before, or does not answer in time. */
  async start(limitMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`it did not answer within ${limitMs / 1000} seconds`));
      }, limitMs);
    });
    const ended = this.#gone.then((how) => {
      throw new Error(`it ended before it answered (${how})`);
    });
    try {
      const started = this.client.start();
      started.catch(() => undefined); // that of the three which comes first is told
      // The library lets go of its own promise when the connection is lost: asked again, it gives that one.
      this.client.start().catch(() => undefined);
      await Promise.race([started, late, ended]);
      // The library calls it started, too, when the connection was lost before the answer.
      if (!this.client.isRunning()) await Promise.race([late, ended]);
    } catch (error) {
      await this.end();
      throw error;
    } finally {
      clearTimeout(timer);
      ended.catch(() => undefined);
    }
  }

  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    if (!this.#isGone) {
      this.#wasEnded = true;
      const stopped = this.client.isRunning() ? this.client.stop(END_MS).catch(() => undefined) : undefined;
      if (stopped === undefined) signalGroup(this.#process, "SIGTERM");
      await Promise.race([this.#gone, pause(stopped === undefined ? END_MS / 4 : END_MS)]);
    }
    if (!this.#isGone) {
      signalGroup(this.#process, "SIGKILL");
      await Promise.race([this.#gone, pause(END_MS / 4)]);
    }
    await this.client.dispose().catch(() => undefined);
    this.client.diagnostics?.dispose();
  }
}

function clientOptions(middleware: Middleware, log: vscode.LogOutputChannel): LanguageClientOptions {
  const message = "the connection to the server was closed";
  return {
    documentSelector: DOCUMENT_SELECTOR,
    outputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    diagnosticCollectionName: "tried",
    initializationOptions: {}, // what stood here would outlive a setting that is taken back; the server asks
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }), // the end of the process decides
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true, message }), // crashes.ts has the rule
    },
    markdown: { isTrusted: false, supportHtml: false },
    middleware,
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
