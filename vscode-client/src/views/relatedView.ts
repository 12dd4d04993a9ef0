/** *Related*: the experiments that bear on the config in the editor, kept up while one types. */

import * as vscode from "vscode";
import { EXPERIMENTS, type Experiments, type ExperimentsParams } from "../protocol";
import { line } from "../text";
import type { Tried } from "../tried";
import { setContext } from "./contexts";
import { Newest } from "./newest";
import { LIVE_ROWS, ask, description, filterWords, hasFilters, nextLimit, restored, withRest, type Choice } from "./relatedQuery";
import { relatedRows } from "./relatedRows";
import { reasonOf } from "../reason";
import { RowView } from "./rowView";

const KEPT_AS = "tried.related.choice";
/** A first answer may be this late before the view shows that one is waited for. */
const PATIENCE_MS = 400;
/** After so long without an edit the whole of a long list is ranked anew. */
const PAUSE_MS = 1_000;

/**
 * Invariant: nothing is asked for while the view cannot be seen; when it can be seen again, it is up to date.
 * Invariant: what is shown stays until there is something newer.
 */
export class RelatedView implements vscode.Disposable {
  readonly #tried: Tried;
  readonly #view = new RowView("tried.related");
  readonly #newest = new Newest();
  readonly #disposables: vscode.Disposable;
  #limit: number | undefined;
  #pause: NodeJS.Timeout | undefined;
  #requests: vscode.CancellationTokenSource | undefined;
  #asked: string | undefined;
  #isStale = true;
  #chosen: Choice;
  #content = "";
  answer: Experiments | null = null;

  constructor(tried: Tried) {
    this.#tried = tried;
    this.#chosen = restored(tried.context.workspaceState.get(KEPT_AS));
    setContext("tried.hasFilters", hasFilters(this.#chosen));
    this.#disposables = vscode.Disposable.from(
      this.#view,
      this.#view.onDidChangeVisibility(() => {
        if (this.#isStale) this.refresh();
      }),
      tried.activeConfig.onDidChange(() => {
        this.refresh(true);
      }),
      tried.onDidChangeState(() => {
        this.#follow();
      }),
    );
    this.refresh();
  }

  get isVisible(): boolean {
    return this.#view.isVisible;
  }

  get choice(): Choice {
    return this.#chosen;
  }

  /** Kept for this workspace. */
  choose(choice: Choice): void {
    this.#chosen = choice;
    this.#limit = undefined;
    setContext("tried.hasFilters", hasFilters(choice));
    void this.#tried.context.workspaceState.update(KEPT_AS, choice);
    this.refresh();
  }

  /** `wanted`: down to this rank. */
  showMore(wanted = 0): void {
    this.#limit = this.answer === null ? undefined : (nextLimit(this.answer, wanted) ?? this.#limit);
    this.refresh();
  }

  /** `isLive`: because of an edit, of which more may follow. */
  refresh(isLive = false): void {
    clearTimeout(this.#pause);
    const uri = this.#tried.activeConfig.document?.uri.toString();
    if (uri !== this.#asked) {
      this.#limit = undefined;
      this.#asked = uri;
    }
    this.#isStale = !this.#view.isVisible;
    if (uri === undefined) this.#clear();
    else if (this.#view.isVisible && this.#tried.state === "running") {
      const shown = this.answer?.uri === uri ? this.answer.experiments.length : 0;
      if (isLive && shown > LIVE_ROWS) {
        this.#pause = setTimeout(() => void this.#load(uri, this.#limit), PAUSE_MS);
        void this.#load(uri, LIVE_ROWS, true);
      } else void this.#load(uri, this.#limit);
    }
  }

  dispose(): void {
    clearTimeout(this.#pause);
    this.#requests?.cancel();
    this.#disposables.dispose();
  }

  /** While the server is started anew the list stays; it goes where there is no server any more. */
  #follow(): void {
    if (this.#tried.state === "running") this.refresh();
    else if (this.#tried.state !== "starting") this.#clear();
  }

  /** `isBeginning`: of the list that is shown; the rest of it stays. */
  async #load(uri: string, limit: number | undefined, isBeginning = false): Promise<void> {
    // A long list that nobody needs any more
    this.#requests?.cancel();
    const { token } = (this.#requests = new vscode.CancellationTokenSource());
    const ownLine = this.answer?.uri === uri ? this.answer.query.research_line : undefined;
    const send = async (params: ExperimentsParams): Promise<Experiments | null | undefined> =>
      this.#tried.sendRequest<Experiments | null>(EXPERIMENTS, params, token);
    const asked = performance.now();
    try {
      const asking = this.#newest.ask(
        async () => ask(uri, this.#chosen, limit, ownLine, send),
        (answer) => {
          // Another config may have become active since
          if (answer === undefined || uri !== this.#asked || this.#isTooEarly(answer)) return;
          if (isBeginning) this.#show(this.#completed(answer), answer);
          else this.#show(answer);
          this.#tried.log.debug(`${EXPERIMENTS}: ${answer?.experiments.length ?? 0} rows after ${Math.round(performance.now() - asked)} ms`);
        },
      );
      if (this.answer?.uri !== uri) showWaiting(asking);
      await asking;
    } catch (error) {
      this.#tried.log.error(`${EXPERIMENTS}: ${String(error)}`);
      if (uri === this.#asked && this.#tried.state === "running") this.#view.complain(`The list could not be made: ${line(reasonOf(error), 300)}`);
    }
  }

  /** After a restart a pool is empty at first. */
  #isTooEarly(answer: Experiments | null): boolean {
    const isEmpty = answer?.pool.is_partial === true && answer.experiments.length === 0;
    return isEmpty && this.answer?.uri === answer.uri && this.answer.experiments.length > 0 && !hasFilters(this.#chosen);
  }

  #completed(answer: Experiments | null): Experiments | null {
    return answer !== null && this.answer?.uri === answer.uri ? withRest(answer, this.answer) : answer;
  }

  #clear(): void {
    this.#newest.forget();
    this.#show(null);
  }

  /** `beginning`: the part of it that is new, if the rest is what is shown already. */
  #show(answer: Experiments | null, beginning = answer): void {
    const content = beginningOf(beginning);
    const isSame = content === this.#content && (beginning !== answer || (answer?.experiments.length ?? 0) <= LIVE_ROWS);
    this.answer = answer;
    this.#content = content;
    const isEmpty = answer?.experiments.length === 0;
    setContext("tried.poolIsEmpty", answer !== null && answer.pool.records === 0 && !answer.pool.is_partial);
    const isBare = isEmpty && !hasFilters(this.#chosen);
    setContext("tried.isReading", isBare && answer.pool.is_partial);
    setContext("tried.isUnrelated", isBare && !answer.pool.is_partial && answer.pool.records > 0);
    const filters = answer === null ? "" : filterWords(this.#chosen, answer.query.research_line);
    if (!isSame) this.#view.show(answer === null ? [] : relatedRows(answer));
    // A message would stand instead of the welcome view, which offers to clear the filters
    if (isEmpty) this.#view.say(filters, "");
    else this.#view.say(answer === null ? "" : description(answer, this.#chosen), filters);
  }
}

/** What is compared of a list with what is shown: thousands of rows are not written out for every key. */
function beginningOf(answer: Experiments | null): string {
  if (answer === null) return "";
  return JSON.stringify({ ...answer, now: "", version: 0, experiments: answer.experiments.slice(0, LIVE_ROWS) });
}

function showWaiting(asking: Promise<void>): void {
  const isDone = asking.then(
    () => true,
    () => true,
  );
  const isLate = new Promise<boolean>((resolve) => {
    setTimeout(resolve, PATIENCE_MS, false);
  });
  void Promise.race([isDone, isLate]).then((done) => {
    if (!done) void vscode.window.withProgress({ location: { viewId: "tried.related" } }, () => isDone);
  });
}
