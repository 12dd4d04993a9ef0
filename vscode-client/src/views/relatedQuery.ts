/** What of the related experiments is asked for, and how that is said in words. */

import type { Experiments, ExperimentsParams, Filter, Outcome, Sort } from "../protocol";
import { counted, line } from "../text";
import { OUTCOMES } from "./words";

/** The server's own limit comes first; then these. */
const LIMITS = [50, 200, 1000, 5000];

export const SORTS: Record<Sort, string> = { score: "most related first", newest: "newest first", best: "best result first" };

/**
 * What the user chose. `ownLine`: the research line of the config in the editor, whichever that is; it stands instead of
 * `filter.researchLine`.
 */
export interface Choice {
  readonly filter: Filter;
  readonly ownLine: boolean;
  readonly sort: Sort;
}

export const NO_CHOICE: Choice = { filter: {}, ownLine: false, sort: "score" };

export function hasFilters({ filter, ownLine }: Choice): boolean {
  return ownLine || Object.keys(filter).length > 0;
}

/** What was kept from an earlier session; whatever is not as it should be is left out. */
export function restored(kept: unknown): Choice {
  if (!isTable(kept)) return NO_CHOICE;
  const given = isTable(kept.filter) ? kept.filter : {};
  const filter: Filter = {};
  if (typeof given.outcome === "string" && given.outcome in OUTCOMES) filter.outcome = given.outcome as Outcome;
  for (const name of ["researchLine", "tag", "source", "text"] as const) {
    const value = given[name];
    if (typeof value === "string" && value !== "") filter[name] = value;
  }
  const sort = kept.sort;
  return { filter, ownLine: kept.ownLine === true, sort: typeof sort === "string" && sort in SORTS ? (sort as Sort) : "score" };
}

/** The same filter again takes it away. */
export function toggled<Name extends keyof Filter>(choice: Choice, name: Name, value: NonNullable<Filter[Name]>): Choice {
  const filter: Filter = choice.filter[name] === value ? without(choice.filter, name) : { ...choice.filter, [name]: value };
  return { ...choice, filter, ownLine: name === "researchLine" ? false : choice.ownLine };
}

export function withOwnLine(choice: Choice, ownLine: boolean): Choice {
  return { ...choice, filter: without(choice.filter, "researchLine"), ownLine };
}

export function withText(choice: Choice, text: string): Choice {
  const words = text.trim();
  const filter = without(choice.filter, "text");
  return { ...choice, filter: words === "" ? filter : { ...filter, text: words } };
}

export function withoutFilters(choice: Choice): Choice {
  return { ...NO_CHOICE, sort: choice.sort };
}

/** `ownLine`: that of the config, null if it is of none. */
export function filterInForce(choice: Choice, ownLine: string | null): Filter {
  return choice.ownLine && ownLine !== null ? { ...choice.filter, researchLine: ownLine } : choice.filter;
}

/**
 * Asks, and asks again if the config turns out to be of another research line than was thought. `ownLine`: what is
 * thought, undefined before anything is known. Undefined without a server, null for a document that is no config.
 */
export async function ask(
  uri: string,
  choice: Choice,
  limit: number | undefined,
  ownLine: string | null | undefined,
  send: (params: ExperimentsParams) => Promise<Experiments | null | undefined>,
): Promise<Experiments | null | undefined> {
  const params = (line: string | null): ExperimentsParams => ({
    textDocument: { uri },
    ...(limit === undefined ? {} : { limit }),
    filter: filterInForce(choice, line),
    sort: choice.sort,
  });
  const answer = await send(params(ownLine ?? null));
  if (answer === undefined || answer === null || !choice.ownLine || answer.query.research_line === (ownLine ?? null)) return answer;
  return send(params(answer.query.research_line));
}

/** While one types, no more than so many are ranked anew at once; the rest of a longer list follows in a pause. */
export const LIVE_ROWS = 100;

/** The beginning of a list, anew, and behind it what else was listed. */
export function withRest(beginning: Experiments, before: Experiments): Experiments {
  const known = new Set(beginning.experiments.map((one) => one.record));
  const rest = before.experiments.filter((one) => !known.has(one.record));
  const experiments = [...beginning.experiments, ...rest].slice(0, Math.min(before.experiments.length, beginning.total));
  return { ...beginning, experiments };
}

/** How many to ask for next, `wanted` if that can be; undefined where all are shown, or as many as can be. */
export function nextLimit({ experiments, total }: Experiments, wanted = 0): number | undefined {
  if (experiments.length >= total) return undefined;
  const limits = LIMITS.filter((limit) => limit > experiments.length);
  return limits.find((limit) => limit >= wanted) ?? limits.at(-1);
}

/** "20 of 340 · newest first", beside the view's title. */
export function description(answer: Experiments, choice: Choice): string {
  const shown = answer.experiments.length;
  const parts = [shown < answer.total ? `${shown.toLocaleString("en-US")} of ${answer.total.toLocaleString("en-US")}` : counted(shown, "experiment")];
  if (choice.sort !== "score") parts.push(SORTS[choice.sort]);
  if (answer.pool.is_partial) parts.push("still reading");
  return parts.join(" · ");
}

/** "Dead ends only · tag “sweep”", above the list; empty without filters. */
export function filterWords(choice: Choice, ownLine: string | null): string {
  const { outcome, researchLine, tag, source, text } = choice.filter;
  const parts: string[] = [];
  if (outcome !== undefined) parts.push(outcome === "dead_end" ? "dead ends only" : `${OUTCOMES[outcome].words} only`);
  if (choice.ownLine) parts.push(ownLine === null ? "this config names no research line: all are shown" : `this research line (${line(ownLine, 60)})`);
  if (researchLine !== undefined) parts.push(`research line “${line(researchLine, 60)}”`);
  if (tag !== undefined) parts.push(`tag “${line(tag, 60)}”`);
  if (source !== undefined) parts.push(`source “${line(source, 60)}”`);
  if (text !== undefined) parts.push(`“${line(text, 60)}”`);
  const words = parts.join(" · ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function without(filter: Filter, name: keyof Filter): Filter {
  return Object.fromEntries(Object.entries(filter).filter(([each]) => each !== name));
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
