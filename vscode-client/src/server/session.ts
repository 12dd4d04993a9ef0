/**
 * The server as the rest of the extension sees it: whichever process it is just now.
 *
 * Invariant: a server is started by `restart()` only, and after one that ended by itself by the rule in crashes.ts.
 * Invariant: at most one process at a time.
 */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { TrackedConfig } from "../activeConfig";
import { reasonOf } from "../reason";
import { inert, line } from "../text";
import type { ServerState, Tried } from "../tried";
import { chooseServer, type Chosen } from "./choose";
import { CrashHistory } from "./crashes";
import { debugInformation } from "./debugInformation";
import { forgetWhatWasSaid, tell } from "./messages";
import { middleware } from "./middleware";
import { RecordLinks } from "./recordLinks";
import type { ServerRun } from "./run";

/** So long a server may take to answer `initialize`. */
const START_LIMIT_MS = 20_000;

/** Errors of the protocol. */
const CONTENT_MODIFIED = -32801;
const SERVER_CANCELLED = -32802;
const REQUEST_CANCELLED = -32800;

type Handler = (params: unknown) => void;

export class Session implements Tried, vscode.Disposable {
  readonly activeConfig: TrackedConfig;
  readonly #stateChanged = new vscode.EventEmitter<ServerState>();
  readonly onDidChangeState = this.#stateChanged.event;
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #crashes = new CrashHistory();
  readonly #middleware: Middleware;
  readonly #links: RecordLinks;
  #state: ServerState = "stopped";
  #run: ServerRun | undefined;
  #chosen: Chosen | undefined;
  #failure: string | undefined;
  /** Counts the starts; one that is no longer the latest gives up. */
  #turn = 0;
  #latest: Promise<void> = Promise.resolve();
  #abort = new AbortController();

  constructor(
    readonly context: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
  ) {
    this.#links = new RecordLinks(this);
    this.#middleware = middleware(this, this.#links);
    this.activeConfig = new TrackedConfig(this);
    void setContext(this.#state);
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The server that was chosen last. */
  get chosen(): Chosen | undefined {
    return this.#chosen;
  }

  /** The process id of the server that runs. */
  get pid(): number | undefined {
    return this.#state === "running" ? this.#run?.pid : undefined;
  }

  async sendRequest<Answer>(
    method: string,
    params: unknown,
    token?: vscode.CancellationToken,
  ): Promise<Answer | undefined> {
    const run = this.#run;
    if (run === undefined || this.#state !== "running" || !run.client.isRunning()) return undefined;
    try {
      // A token that is undefined would be sent as a second parameter
      const { client } = run;
      return await (token === undefined ? client.sendRequest<Answer>(method, params) : client.sendRequest<Answer>(method, params, token));
    } catch (error) {
      if (this.#run !== run || !run.client.isRunning() || token?.isCancellationRequested === true || isOutdated(error)) return undefined;
      throw error instanceof Error ? error : new Error(String(error));
    }
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- as in Tried
  onNotification<Params>(method: string, handler: (params: Params) => void): vscode.Disposable {
    const known = this.#handlers.get(method);
    const handlers = known ?? new Set<Handler>();
    handlers.add(handler as Handler);
    if (known === undefined) {
      this.#handlers.set(method, handlers);
      if (this.#run !== undefined) this.#listen(this.#run, method, handlers);
    }
    return new vscode.Disposable(() => handlers.delete(handler as Handler));
  }

  restart(isAsked = false): Promise<void> {
    if (isAsked) forgetWhatWasSaid();
    this.#crashes.forget();
    return this.#begin();
  }

  debugInformation(): Promise<string> {
    return debugInformation(this, { chosen: this.#chosen, pid: this.pid, failure: this.#failure });
  }

  /** Ends the server; there is none afterwards. */
  async end(): Promise<void> {
    this.#turn++;
    this.#abort.abort();
    await this.#run?.end();
    this.#run = undefined;
    this.#setState("stopped");
  }

  dispose(): void {
    void this.end();
    this.activeConfig.dispose();
    this.#links.dispose();
    this.#stateChanged.dispose();
  }

  #begin(): Promise<void> {
    const turn = ++this.#turn;
    this.#abort.abort(); // whatever is on its way up gives way
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#setState("starting");
    const ended = this.#run?.end();
    this.#latest = this.#latest
      .then(() => ended)
      .then(() => (turn === this.#turn ? this.#start(turn, signal) : undefined))
      .catch((error: unknown) => {
        this.#fail(turn, `Tried could not be started: ${String(error)}`);
      });
    return this.#latest;
  }

  async #start(turn: number, signal: AbortSignal): Promise<void> {
    this.#failure = undefined;
    const began = performance.now();
    this.#run = undefined;
    // The client's library is large: activation does not wait for it.
    const [chosen, { ServerRun }] = await Promise.all([chooseServer(this.context, signal), import("./run.js")]);
    if (turn !== this.#turn) return;
    this.#chosen = chosen;
    tell(chosen, this);
    if (chosen.launch === undefined) {
      this.#setState("missing");
      return;
    }
    this.log.info(`starting ${[chosen.launch.command, ...chosen.launch.args].join(" ")} (${chosen.reason})`);
    const run = new ServerRun(chosen.launch, this.#middleware, this.log);
    this.#run = run;
    for (const [method, handlers] of this.#handlers) this.#listen(run, method, handlers);
    void run.gone.then((how) => {
      if (this.#run === run && turn === this.#turn && this.#state === "running") this.#crashed(turn, run, how);
    });
    try {
      await run.start(START_LIMIT_MS);
    } catch (error) {
      if (turn !== this.#turn) return;
      // One that has run before may come up again; one that never did has a fault that a person must mend.
      if (run.endedByItself && !this.#crashes.isEmpty) this.#crashed(turn, run, reasonOf(error));
      else this.#couldNotStart(turn, run, reasonOf(error));
      return;
    }
    if (turn !== this.#turn) {
      await run.end();
      return;
    }
    this.log.info(`the server answers after ${Math.round(performance.now() - began)} ms, process ${run.pid ?? 0}`);
    this.#setState("running");
    if (run.isGone) this.#crashed(turn, run, "at once");
  }

  #couldNotStart(turn: number, run: ServerRun, why: string): void {
    this.#run = undefined;
    this.log.error(`the server did not start: ${why}`);
    const lastWord = run.lastWords.trim().split("\n").at(-1) ?? "";
    this.#fail(turn, `The server of Tried did not start: ${why}.${lastWord === "" ? "" : ` It said: ${lastWord}`}`);
  }

  #crashed(turn: number, run: ServerRun, how: string): void {
    this.#run = undefined;
    void run.end(); // nothing runs any more; lets go of what was registered
    const pause = this.#crashes.next(Date.now());
    if (pause === undefined) {
      this.#fail(turn, `The server of Tried ended unexpectedly too often (${how}).`);
      return;
    }
    this.log.warn(`the server ended unexpectedly (${how}); starting again in ${pause} ms`);
    this.#setState("starting");
    setTimeout(() => {
      if (turn === this.#turn) void this.#begin();
    }, pause);
  }

  #fail(turn: number, message: string): void {
    if (turn !== this.#turn) return;
    this.#failure = message;
    this.log.error(message);
    this.#setState("failed");
    void vscode.window.showErrorMessage(inert(line(message, 600)), "Restart", "Show Logs", "Debug Information").then((button) => {
      if (button === "Restart") void this.restart(true);
      if (button === "Show Logs") this.log.show(true);
      if (button === "Debug Information") void vscode.commands.executeCommand("tried.debugInformation");
    });
  }

  #listen(run: ServerRun, method: string, handlers: ReadonlySet<Handler>): void {
    run.client.onNotification(method, (params: unknown) => {
      for (const handler of [...handlers]) handler(params);
    });
  }

  #setState(state: ServerState): void {
    if (state === this.#state) return;
    this.#state = state;
    void setContext(state);
    this.#stateChanged.fire(state);
  }
}

function setContext(state: ServerState): Thenable<unknown> {
  return vscode.commands.executeCommand("setContext", "tried.state", state);
}

/** The text has changed, or the caller no longer wants to know: nobody's mistake. */
function isOutdated(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return code === CONTENT_MODIFIED || code === REQUEST_CANCELLED || code === SERVER_CANCELLED;
}
