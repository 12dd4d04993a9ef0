/**
 * What the record panel draws, worked out from the server's answer: words, rows and lengths, no DOM.
 *
 * Invariant: every text here was made visible and cut (text.ts); the page puts it in as text alone.
 */

import type { MetricRow, Outcome, ParameterRow, Plot, RecordName, RecordView, Term, Verdict } from "../protocol";
import { clipped, line, visibleLines } from "../text";
import { causeWords, doesApply, OUTCOMES, score as scoreText, termName } from "../views/words";
import { numberText, signedText } from "./numbers";


export const VERDICTS: readonly { value: Verdict | null; word: string }[] = [
  { value: "dead_end", word: "dead end" },
  { value: "works", word: "works" },
  { value: "inconclusive", word: "inconclusive" },
  { value: null, word: "no verdict" },
];

const STATUS: Record<ParameterRow["status"], { mark: string; word: string }> = {
  differs: { mark: "≠", word: "differs" },
  only_record: { mark: "−", word: "not set here" },
  only_draft: { mark: "+", word: "not set there" },
  equal: { mark: "=", word: "equal" },
  not_compared: { mark: "·", word: "not compared" },
};

 
const TERMINAL_COLOURS = /\u001b\[[0-9;]*m/g;
/** Most texts: there is nothing to make visible. */
const PLAIN = /^(?:[!-~]+(?: [!-~]+)*)?$/;
const MOST_CHARACTERS = 20_000;
const PREVIEW_LINES = 10;
const PREVIEW_CHARACTERS = 900;
const MOST_PARAMETERS = 500;
const MOST_METRICS = 60;
const MOST_NAMES = 50;
const MOST_PLOTS = 8;

export interface Fact {
  label: string;
  text: string;
}

export interface ParameterModel {
  key: string;
  here: string | null;
  there: string | null;
  status: ParameterRow["status"];
  mark: string;
  word: string;
}

export interface MetricModel {
  name: string;
  value: string;
  before: string;
  delta: string;
  arrow: "▲" | "▼" | "";
  judgement: "better" | "worse" | "";
  goal: string;
  isObjective: boolean;
}

export interface TermModel {
  name: string;
  value: string;
  /** Of what stands for 1, as the score does; in [0, 1]. Negative terms are drawn to the other side. */
  share: number;
  isNegative: boolean;
  /** `0.40 × 0.83`, or why there is none. */
  working: string;
  note: string;
  applies: boolean;
}

export interface TextModel {
  key: "error" | "hypothesis" | "notes";
  title: string;
  text: string;
  preview: string;
  isClipped: boolean;
}

export interface NameModel {
  id: string;
  short: string;
  outcome: Outcome;
  headline: string;
}

export interface ReplicateModel {
  id: string;
  label: string;
  value: string;
  isThis: boolean;
}

export interface PanelModel {
  id: string;
  short: string;
  name: string;
  outcome: Outcome;
  outcomeWord: string;
  /** `judged so by somebody`, `out of memory` …: what stands beside the word. */
  outcomeNote: string;
  headline: string;
  headlineKind: "written" | "generated" | "none";
  headlineNote: string;
  result: string | null;
  facts: Fact[];
  tags: string[];
  links: { page: string | null; folder: boolean; stored: boolean };
  isCompared: boolean;
  parameters: { rows: ParameterModel[]; differing: number; same: number; total: number };
  plots: Plot[];
  outcomes: Outcome[];
  metrics: MetricModel[];
  hasBefore: boolean;
  change: { summary: string | null; changes: string[]; effects: MetricModel[] };
  texts: TextModel[];
  lineage: { ancestors: NameModel[]; children: NameModel[]; more: number };
  replicates: { title: string; runs: ReplicateModel[]; more: number } | null;
  /** `below`: so far below zero the bars' scale reaches, in tenths; above it reaches to 1. */
  breakdown: { score: string; rank: string; terms: TermModel[]; below: number } | null;
  /** `verdict`: proposed for what is said now; `standing`: given already. */
  conclusion: { prefill: string; verdict: Verdict | null; standing: Verdict | null };
}

export function panelModel(view: RecordView): PanelModel {
  const isCompared = view.document !== null && view.parameters.some((row) => row.status !== "not_compared");
  const rows = view.parameters.slice(0, MOST_PARAMETERS).map(parameterModel);
  const differing = rows.filter((row) => isDifference(row.status)).length;
  const metrics = view.metrics.slice(0, MOST_METRICS).map(metricModel);
  const ordered = [...metrics.filter((one) => one.isObjective), ...metrics.filter((one) => !one.isObjective)];
  const plots = view.plots.slice(0, MOST_PLOTS).map(plotModel);
  return {
    id: view.id,
    short: shown(view.short, 80),
    name: shown(view.name, 200),
    outcome: view.outcome,
    outcomeWord: OUTCOMES[view.outcome].words,
    outcomeNote: outcomeNote(view),
    ...headline(view),
    result: resultText(view),
    facts: facts(view),
    tags: view.tags.slice(0, 20).map((tag) => shown(tag, 60)),
    links: { page: webHost(view.url), folder: view.run_dir !== null, stored: webHost(view.url) === null },
    isCompared,
    parameters: {
      rows: isCompared ? rows : rows.map((row) => ({ ...row, here: null })),
      differing,
      same: rows.length - differing,
      total: Math.max(view.parameters_total, rows.length),
    },
    plots,
    outcomes: (Object.keys(OUTCOMES) as Outcome[]).filter((outcome) =>
      plots.some((plot) => plot.points.some((point) => point.outcome === outcome)),
    ),
    metrics: ordered,
    hasBefore: view.metrics.some((row) => row.before !== null),
    change: {
      summary: view.change.summary ? shown(view.change.summary) : null,
      changes: view.change.changes.slice(0, MOST_NAMES).map((line) => shown(line, 300)),
      effects: ordered.filter((one) => one.before !== "" && (one.isObjective || one.judgement !== "")).slice(0, 3),
    },
    texts: texts(view),
    lineage: {
      ancestors: view.lineage.ancestors.slice(0, MOST_NAMES).map(nameModel),
      children: view.lineage.children.slice(0, MOST_NAMES).map(nameModel),
      more: Math.max(0, view.lineage.children_total - Math.min(view.lineage.children.length, MOST_NAMES)),
    },
    replicates: replicates(view),
    breakdown: view.breakdown ? breakdown(view.breakdown) : null,
    conclusion: {
      prefill: block(view.conclusion.prefill).slice(0, 2000),
      verdict: view.conclusion.verdict,
      standing: view.verdict,
    },
  };
}

export function isDifference(status: ParameterRow["status"]): boolean {
  return status === "differs" || status === "only_record" || status === "only_draft";
}

/** The host of an address that may be opened; null for anything but http and https. */
export function webHost(url: string | null): string | null {
  const match = /^https?:\/\/([^/?#\s\\@]+)(?:[/?#]|$)/i.exec(url ?? "");
  return match?.[1] ? shown(match[1], 60) : null;
}

export function durationText(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds) || seconds < 0) return "";
  if (seconds < 60) return `${seconds < 10 ? Number(seconds.toFixed(1)) : Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return hours % 24 ? `${Math.floor(hours / 24)} d ${hours % 24} h` : `${hours / 24} d`;
}

/** The first lines of a long text, and whether that is all of it. */
export function preview(text: string): { preview: string; isClipped: boolean } {
  const lines = text.split("\n", PREVIEW_LINES + 1);
  const start = clipped(lines.slice(0, PREVIEW_LINES).join("\n"), PREVIEW_CHARACTERS);
  const isClipped = start.length < text.length;
  return { preview: isClipped && !start.endsWith("…") ? `${start}\n…` : start, isClipped };
}

function shown(text: string, limit = 500): string {
  return text.length <= limit && PLAIN.test(text) ? text : line(text, limit);
}

/** Several lines, without the colours that programs write for terminals; other controls stand there as signs. */
function block(text: string): string {
  return visibleLines(clipped(text, MOST_CHARACTERS).replace(TERMINAL_COLOURS, "")).trim();
}

function outcomeNote(view: RecordView): string {
  const parts = view.cause === null || view.cause === "unknown" ? [] : [shown(causeWords(view.cause), 60)];
  if (view.verdict !== null) parts.push("somebody’s verdict");
  return parts.join(" · ");
}

function headline(view: RecordView): Pick<PanelModel, "headline" | "headlineKind" | "headlineNote"> {
  const text = shown(view.headline.text);
  if (text === "" || view.headline.kind === "none") {
    return { headline: "Nobody wrote down what came of it.", headlineKind: "none", headlineNote: "" };
  }
  const note = view.headline.kind === "written" ? "written by a person or an agent" : "put together from the run: nobody wrote a conclusion";
  return { headline: text, headlineKind: view.headline.kind, headlineNote: note };
}

function facts(view: RecordView): Fact[] {
  const when = [shown(view.age, 60), view.time ? view.time.slice(0, 16).replace("T", " ") : ""].filter((part) => part !== "");
  const all: Fact[] = [
    { label: "ran", text: when.length === 2 ? `${when[0] ?? ""} (${shown(when[1] ?? "", 20)})` : shown(when[0] ?? "", 60) },
    { label: "for", text: durationText(view.duration_seconds) },
    { label: "from", text: [...new Set([view.source.kind, view.source.name])].map((part) => shown(part, 120)).filter((part) => part !== "").join(" · ") },
    { label: "research line", text: shown(view.research_line ?? "", 120) },
    { label: "also known as", text: view.aliases.slice(0, 5).map((alias) => shown(alias, 80)).join(", ") },
  ];
  return all.filter((fact) => fact.text !== "");
}

function parameterModel(row: ParameterRow): ParameterModel {
  const value = (text: string | null): string | null => (text === null ? null : shown(text));
  return { key: shown(row.key, 160), here: value(row.draft), there: value(row.record), status: row.status, ...STATUS[row.status] };
}

function metricModel(row: MetricRow): MetricModel {
  const arrow = typeof row.delta !== "number" || row.delta === 0 ? "" : row.delta > 0 ? "▲" : "▼";
  return {
    name: shown(row.name, 200),
    value: numberText(row.value),
    before: row.before === null ? "" : numberText(row.before),
    delta: typeof row.delta === "number" ? signedText(row.delta) : "",
    arrow,
    judgement: row.is_better === null ? "" : row.is_better ? "better" : "worse",
    goal: row.direction === "max" ? "higher is better" : row.direction === "min" ? "lower is better" : "",
    isObjective: row.is_objective,
  };
}

function plotModel(plot: Plot): Plot {
  return {
    ...plot,
    key: shown(plot.key, 120),
    metric: shown(plot.metric, 80),
    categories: plot.categories?.map((name) => shown(name, 80)) ?? null,
    draft_text: plot.draft_text === null ? null : shown(plot.draft_text, 80),
    points: plot.points.map((point) => ({ ...point, short: shown(point.short, 60) })),
  };
}

function texts(view: RecordView): TextModel[] {
  const all = [
    { key: "error", title: "Error", text: view.error },
    { key: "hypothesis", title: "Hypothesis", text: view.hypothesis },
    { key: "notes", title: "Notes", text: view.notes },
  ] as const;
  return all.flatMap(({ key, title, text }) => {
    const whole = block(text ?? "");
    return whole === "" ? [] : [{ key, title, text: whole, ...preview(whole) }];
  });
}

function nameModel(name: RecordName): NameModel {
  return { id: name.id, short: shown(name.short, 80), outcome: name.outcome, headline: shown(name.headline, 200) };
}

/** With the name of the metric. */
function resultText({ replicates: { result } }: RecordView): string | null {
  if (!result) return null;
  return shown(result.text.includes(result.metric) ? result.text : `${result.metric} ${result.text}`, 120);
}

function replicates(view: RecordView): PanelModel["replicates"] {
  const { runs, records, result } = view.replicates;
  if (runs < 2) return null;
  const listed = records.slice(0, MOST_NAMES).map(
    (run): ReplicateModel => ({
      id: run.id,
      label: shown(run.id, 80),
      value: run.value === null ? "no result" : numberText(run.value),
      isThis: run.id === view.id,
    }),
  );
  const title = result ? (resultText(view) ?? "") : `${runs} runs`;
  return { title, runs: listed, more: Math.max(0, runs - listed.length) };
}

function breakdown({ score, rank, terms }: NonNullable<RecordView["breakdown"]>): NonNullable<PanelModel["breakdown"]> {
  const models = terms.map(termModel);
  const lowest = Math.max(0, ...models.filter((term) => term.isNegative).map((term) => term.share));
  const below = Math.ceil(lowest * 10) / 10;
  return { score: scoreText(score), rank: rank === null ? "" : `number ${rank} in the list`, terms: models, below };
}

/** Where a term's bar stands on a scale from −`below` to 1, as shares of its length. */
export function barPlace({ share, isNegative }: TermModel, below: number): { start: number; width: number } {
  const zero = below / (1 + below);
  const width = share / (1 + below);
  return { start: isNegative ? zero - width : zero, width };
}

function termModel(term: Term): TermModel {
  const applies = doesApply(term);
  const { signal, weight } = term;
  const working = signal !== null && weight !== null ? `${scoreText(signal)} × ${scoreText(weight, 2)}` : applies ? "" : "does not apply";
  return {
    name: termName(term.name),
    value: scoreText(term.value),
    share: Math.min(1, Math.abs(term.value)),
    isNegative: term.value < 0,
    working,
    note: shown(term.note ?? "", 200),
    applies,
  };
}
