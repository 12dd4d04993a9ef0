/**
 * Two rankings as two texts that a diff tells apart: a record has a line with its place, and one below it with its score.
 *
 * Where no record moved the first lines are equal, however much all scores differ; one that moved differs in both.
 *
 * Invariant: what comes from records is one visible line (text.ts).
 */

import type { Knobs, NamedPolicy, Ranked, Ranking } from "../protocol";
import { clipped, counted, line } from "../text";
import { doesApply, score, termName } from "../views/words";
import { changedKnobs, knobText, tomlLines, valueText, type ChangedKnob } from "./knobs";

const MOST_NAME = 100;
/** Of an id that a tracker made up the beginning tells enough. */
const MADE_UP = /^[0-9a-f]{20,}$/;

/** A ranking by the policy in force, and another one by the policy that was chosen. */
export interface Comparison {
  /** The config. */
  file: string;
  /** So many records were asked for. */
  limit: number;
  active: NamedPolicy;
  /** What others are told from. */
  standard: Knobs | undefined;
  /** A policy of the settings, or undefined for the one in force with knobs of its own. */
  chosen: NamedPolicy | undefined;
  /** As the server used it. */
  used: Knobs;
  usedId: string;
  before: Ranking;
  after: Ranking;
}

export interface Texts {
  title: string;
  before: string;
  after: string;
}

export function texts(comparison: Comparison): Texts {
  const { active, chosen, before, after, file } = comparison;
  const short = shortIds([...before.results, ...after.results]);
  const order = orderWords(comparison);
  return {
    title: `${line(active.name, 40)} ↔ ${chosenName(comparison, 60)}: ${line(file, 60)}`,
    before: [...activeHeader(comparison), order, "", ...records(before.results, after.results, short, "goes to")].join("\n"),
    after: [...chosenHeader(comparison, chosen), order, "", ...records(after.results, before.results, short, "came from")].join("\n"),
  };
}

/** "steady", or "default with half_life_days = 90" */
export function chosenName({ active, chosen, used }: Comparison, limit: number): string {
  if (chosen !== undefined) return line(chosen.name, limit);
  const changes = changedKnobs(used, active.policy);
  return changes.length === 0 ? line(active.name, limit) : clipped(`${line(active.name, 40)} with ${changes.map(knobText).join(", ")}`, limit);
}

function activeHeader({ active, standard }: Comparison): string[] {
  return [
    `Ranked by the policy in force: ${line(active.name, 60)} (${line(active.policy_id, 20)})`,
    ...differenceLines(changedKnobs(active.policy, standard)),
  ];
}

function chosenHeader(comparison: Comparison, chosen: NamedPolicy | undefined): string[] {
  const { active, standard, used, usedId, after } = comparison;
  const changes = changedKnobs(used, standard);
  return [
    `Ranked for once by: ${chosenName(comparison, 300)} (${line(usedId, 20)})`,
    ...differenceLines(changes),
    ...(after.remarks ?? []).map((remark) => `Mind: ${line(remark, 300)}.`),
    `The policy in force is still ${line(active.name, 60)}: nothing was changed or kept.`,
    ...(chosen === undefined ? ownPolicyLines(changes) : [`To use this one: policy = ${JSON.stringify(line(chosen.name, 60))} under [ranking] in tried.toml, or the setting tried.ranking.policy.`]),
  ];
}

function ownPolicyLines(changes: readonly ChangedKnob[]): string[] {
  if (changes.length === 0) return ['To use this one: policy = "default" under [ranking] in tried.toml, or the setting tried.ranking.policy.'];
  const lines = tomlLines(changes, "mine").map((text) => (text === "" ? "" : `    ${text}`));
  return ["To use this one, give it a name in tried.toml, and name it under [ranking] or in the setting tried.ranking.policy:", ...lines];
}

function differenceLines(changes: readonly ChangedKnob[]): string[] {
  if (changes.length === 0) return ["It differs from the default in nothing."];
  return ["It differs from the default in:", ...changes.map((change) => `    ${knobText(change)} (there ${valueText(change.before)})`)];
}

/** The same in both texts: no difference by itself. */
function orderWords({ before, after, file, limit }: Comparison): string {
  const places = new Map(after.results.map(({ id }, place) => [id, place]));
  const staying = before.results.filter(({ id }) => places.has(id)).length;
  const moved = before.results.filter(({ id }, place) => places.has(id) && places.get(id) !== place).length;
  const gone = before.results.length - staying;
  const fresh = after.results.length - staying;
  const parts = [
    moved > 0 ? `${counted(moved, "record")} at another place` : "",
    gone > 0 ? `${counted(gone, "record")} only on the left` : "",
    fresh > 0 ? `${counted(fresh, "record")} only on the right` : "",
  ].filter((part) => part !== "");
  const most = Math.max(before.results.length, after.results.length);
  const what = `${most >= limit ? `The first ${counted(limit, "record")}` : counted(most, "record")} related to ${line(file, 100)}`;
  return `${what}: ${parts.length === 0 ? "the same order by both" : parts.join(", ")}.`;
}

function records(results: readonly Ranked[], others: readonly Ranked[], short: ReadonlyMap<string, string>, verb: string): string[] {
  if (results.length === 0) return ["No record."];
  const places = new Map(others.map(({ id }, place) => [id, place + 1]));
  const digits = String(results.length).length;
  const terms = results.flatMap((result) => result.terms);
  const applying = new Set(terms.filter(doesApply).map(({ name }) => name));
  const names = [...new Set(terms.map(({ name }) => name))].filter((name) => applying.has(name));
  return results.flatMap((result, index) => {
    const place = index + 1;
    const there = places.get(result.id);
    const move = there === place ? "" : there === undefined ? "  (not on the other side)" : `  (${verb} ${there})`;
    const id = short.get(result.id) ?? result.id;
    const name = line(result.name, MOST_NAME);
    const words = [id, name === id ? "" : name, result.dead_end ? "· dead end" : ""].filter((part) => part !== "").join("  ");
    return [`${String(place).padStart(digits)}. ${words}${move}`, `${" ".repeat(digits + 2)}${scoreLine(result, names)}`];
  });
}

/** In columns of the terms that apply to any record; where one does not apply stands a dash. */
function scoreLine({ score: sum, terms }: Ranked, names: readonly string[]): string {
  const byName = new Map(terms.map((term) => [term.name, term]));
  const columns = names.map((name) => {
    const term = byName.get(name);
    const value = term !== undefined && doesApply(term) ? score(term.value) : "–";
    return `${termName(name)} ${value.padEnd(6)}`;
  });
  return `${score(sum).padEnd(6)} = ${columns.join("  ")}`.trimEnd();
}

/** What stands behind the last colon, if no other record there has the same. */
function shortIds(results: readonly Ranked[]): Map<string, string> {
  const owners = new Map<string, Set<string>>();
  const shorts = new Map<string, string>();
  for (const { id } of results) {
    const last = id.slice(id.lastIndexOf(":") + 1) || id;
    const short = line(MADE_UP.test(last) ? last.slice(0, 8) : last, 40);
    shorts.set(id, short);
    owners.set(short, (owners.get(short) ?? new Set()).add(id));
  }
  return new Map([...shorts].map(([id, short]) => [id, owners.get(short)?.size === 1 ? short : line(id, 80)]));
}
