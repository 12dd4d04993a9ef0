/** *Pool*: what the pool rests on, and what could not be read. */

import * as vscode from "vscode";
import { STATUS, STATUS_DID_CHANGE, type Status, type StatusDidChange } from "../protocol";
import { line } from "../text";
import type { Tried } from "../tried";
import { setContext } from "./contexts";
import { Newest } from "./newest";
import { poolDescription, poolRows } from "./poolRows";
import { reasonOf } from "../reason";
import { RowView } from "./rowView";

/** "2 h ago" is told anew so often. */
const AGEING_MS = 60_000;

/** Invariant: nothing is asked for while the view cannot be seen; when it can be seen again, it is up to date. */
export class PoolView implements vscode.Disposable {
  readonly #tried: Tried;
  readonly #view = new RowView("tried.pool");
  readonly #newest = new Newest();
  readonly #disposables: vscode.Disposable;
  #isStale = true;
  #status: Status | null = null;

  constructor(tried: Tried) {
    this.#tried = tried;
    setContext("tried.hasNoSources", false);
    const ageing = setInterval(() => {
      if (this.#view.isVisible && this.#status !== null) this.#view.show(poolRows(this.#status, new Date()));
    }, AGEING_MS);
    this.#disposables = vscode.Disposable.from(
      this.#view,
      this.#view.onDidChangeVisibility(() => {
        if (this.#isStale) this.#refresh();
      }),
      tried.onNotification<StatusDidChange>(STATUS_DID_CHANGE, () => {
        this.#refresh();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.#refresh();
      }),
      tried.onDidChangeState((state) => {
        if (state === "running") this.#refresh();
        else if (state !== "starting") this.#clear();
      }),
      {
        dispose: (): void => {
          clearInterval(ageing);
        },
      },
    );
    this.#refresh();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** While the pool is looked through, the view says so. */
  async during(work: Promise<unknown>): Promise<void> {
    await vscode.window.withProgress({ location: { viewId: "tried.pool" } }, () => work);
    this.#refresh();
  }

  #refresh(): void {
    this.#isStale = !this.#view.isVisible;
    if (this.#view.isVisible && this.#tried.state === "running") void this.#load();
  }

  async #load(): Promise<void> {
    try {
      await this.#newest.ask(
        () => this.#tried.sendRequest<Status>(STATUS, {}),
        (status) => {
          if (status !== undefined) this.#show(status);
        },
      );
    } catch (error) {
      this.#tried.log.error(`${STATUS}: ${reasonOf(error)}`);
      if (this.#tried.state === "running") this.#view.complain(`The pool could not be shown: ${line(reasonOf(error), 300)}`);
    }
  }

  #clear(): void {
    this.#newest.forget();
    this.#show(null);
  }

  #show(status: Status | null): void {
    this.#status = status;
    const rows = status === null ? [] : poolRows(status, new Date());
    setContext("tried.hasNoSources", status !== null && rows.length === 0);
    this.#view.show(rows);
    this.#view.say(status === null ? "" : poolDescription(status), "");
  }
}
