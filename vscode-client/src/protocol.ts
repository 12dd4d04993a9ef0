/** The requests and notifications that the server adds to the Language Server Protocol; see docs/language-server.md. */

import type { Range } from "vscode-languageserver-types";

export const RELATED = "tried/related";
export const POLICIES = "tried/policies";
export const EXPERIMENTS = "tried/experiments";
export const ABSENCE = "tried/absence";
export const FINDINGS = "tried/findings";
export const RECORD = "tried/record";
export const STATUS = "tried/status";
export const EXPLAIN = "tried/explain";
export const DID_ANALYSE = "tried/didAnalyse";
export const STATUS_DID_CHANGE = "tried/statusDidChange";

export interface DocumentName {
  uri: string;
}

export type Outcome = "dead_end" | "works" | "inconclusive" | "running" | "unknown";
export type Verdict = "dead_end" | "works" | "inconclusive";
/** A number; "nan", "inf" and "-inf" where JSON has none. */
export type Numeric = number | "nan" | "inf" | "-inf";

/** Of the terms that a policy turns on signal and weight are null; of a signal that does not apply, the signal alone. */
export interface Term {
  name: string;
  value: number;
  signal: number | null;
  weight: number | null;
  note?: string;
}

export interface Result {
  metric: string;
  direction: "min" | "max" | null;
  mean: Numeric;
  spread: Numeric | null;
  count: number;
  text: string;
}

/** null: not set there. */
export interface Difference {
  key: string;
  draft: string | null;
  record: string | null;
}

export interface SourceName {
  kind: string;
  name: string;
}

export interface Filter {
  outcome?: Outcome;
  researchLine?: string;
  tag?: string;
  source?: string;
  text?: string;
}

export type Sort = "score" | "newest" | "best";

export interface ExperimentsParams {
  textDocument: DocumentName;
  limit?: number;
  filter?: Filter;
  sort?: Sort;
}

export interface Experiment {
  record: string;
  short: string;
  records: string[];
  runs: number;
  name: string;
  rank: number;
  /** Why it stands first whatever its score: the config describes it, or nothing is nearer. */
  closeness: "repeat" | "nearest" | null;
  score: number;
  terms: Term[];
  outcome: Outcome;
  cause: string | null;
  time: string | null;
  age: string;
  result: Result | null;
  why: string;
  why_kind: "written" | "generated" | "none";
  differences: Difference[];
  differences_total: number;
  is_compared: boolean;
  tags: string[];
  research_line: string | null;
  source: SourceName;
  url: string | null;
}

export interface Facet {
  name: string;
  count: number;
}

export interface Experiments {
  schema: string;
  uri: string;
  version: number;
  now: string;
  pool: { records: number; is_partial: boolean };
  total: number;
  query: { text: string; research_line: string | null };
  facets: { research_lines: Facet[]; tags: Facet[]; sources: Facet[] };
  experiments: Experiment[];
}

export interface AbsenceParams {
  textDocument: DocumentName;
  record: string;
  filter?: Filter;
  limit?: number;
}

export interface Absence {
  schema: string;
  record: string | null;
  answer: string;
  rank: number | null;
  score: number | null;
  terms: Term[] | null;
  dropped_by: "filter" | "ttl" | "cut" | "replicate" | "unknown" | null;
}

/** The knobs of a policy (`tried.policy/v1`), in groups: `{"half_life_days": 30, "weights": {"lexical": 0.4, …}, …}`. */
export interface Knobs {
  readonly [name: string]: boolean | number | string | null | Knobs;
}

export interface NamedPolicy {
  name: string;
  policy_id: string;
  is_active: boolean;
  is_preset: boolean;
  policy: Knobs;
}

/** `active`: a name among them. */
export interface Policies {
  schema: string;
  active: string;
  policies: NamedPolicy[];
}

/** One request, another policy: its name, and single knobs over it (or over the active one) by their dotted names. */
export interface PolicyChoice {
  policy?: string;
  set?: Readonly<Record<string, boolean | number | string>>;
}

export interface RelatedParams extends PolicyChoice {
  textDocument: DocumentName;
  limit?: number;
  trace?: boolean;
}

export interface Ranked {
  rank: number;
  id: string;
  name: string;
  score: number;
  dead_end: boolean;
  terms: Term[];
}

/**
 * `policy`: the one that was chosen for this request, with its `name` and `policy_id` among the knobs. `remarks`: what of it
 * has no effect, or one that nobody can want.
 */
export interface Ranking {
  schema: string;
  now: string;
  policy_id?: string;
  policy?: Knobs;
  remarks?: string[];
  query: { text: string; terms: string[]; architecture: string | null };
  results: Ranked[];
  uri: string;
  version: number;
}

export interface ExplainParams extends PolicyChoice {
  textDocument: DocumentName;
  record: string;
  filter?: Filter;
  limit?: number;
}

/** `final_score`: the sum of the breakdown's values from left to right. */
export interface Explanation {
  schema: string;
  record: string | null;
  policy_id: string;
  policy?: Knobs;
  rank: number | null;
  of: number;
  final_score: number | null;
  breakdown: Term[];
  dropped_by: "filter" | "ttl" | "cut" | "unknown" | null;
  answer: string;
  uri: string;
  version: number;
}

export interface Finding {
  code: string;
  evidence: string;
  severity: "warning" | "information" | "hover";
  range: Range;
  message: string;
  why: string[];
  record: string;
  records: string[];
  count: number;
  blamed: string[];
  cause: string | null;
}

export interface Findings {
  schema: string;
  uri: string;
  version: number;
  total: number;
  findings: Finding[];
}

export interface RecordParams {
  record: string;
  textDocument?: DocumentName;
}

export interface RecordName {
  id: string;
  short: string;
  outcome: Outcome;
  headline: string;
}

export interface ParameterRow {
  key: string;
  record: string | null;
  draft: string | null;
  status: "differs" | "only_record" | "only_draft" | "equal" | "not_compared";
}

export interface MetricRow {
  name: string;
  value: Numeric;
  before: Numeric | null;
  delta: Numeric | null;
  direction: "min" | "max" | null;
  is_objective: boolean;
  is_better: boolean | null;
}

/** `x` counts in `categories` where the scale is one of them; `y` is null for a run that ended without a result. */
export interface PlotPoint {
  record: string;
  short: string;
  x: number;
  y: number | null;
  outcome: Outcome;
  is_this: boolean;
}

export interface Plot {
  key: string;
  metric: string;
  direction: "min" | "max" | null;
  scale: "linear" | "log" | "category";
  categories: string[] | null;
  draft: number | null;
  draft_text: string | null;
  record: number | null;
  points: PlotPoint[];
}

export interface RecordView {
  schema: string;
  id: string;
  short: string;
  aliases: string[];
  name: string;
  headline: { text: string; kind: "written" | "generated" | "none" };
  outcome: Outcome;
  verdict: Verdict | null;
  cause: string | null;
  error: string | null;
  hypothesis: string | null;
  notes: string | null;
  tags: string[];
  research_line: string | null;
  time: string | null;
  age: string;
  duration_seconds: number | null;
  url: string | null;
  source: SourceName;
  run_dir: string | null;
  document: string | null;
  version: number | null;
  replicates: { runs: number; result: Result | null; records: { id: string; time: string | null; value: Numeric | null }[] };
  parameters: ParameterRow[];
  parameters_total: number;
  metrics: MetricRow[];
  change: { summary: string | null; changes: string[] };
  lineage: { ancestors: RecordName[]; children: RecordName[]; children_total: number };
  breakdown: { score: number; rank: number | null; terms: Term[] } | null;
  plots: Plot[];
  conclusion: { prefill: string; verdict: Verdict | null };
}

export interface Skipped {
  where: string;
  why: string;
}

export interface SourceStatus {
  path: string;
  name?: string;
  kind: string;
  records: number;
  dead_ends: number;
  merged: number;
  amendments: number;
  roles: Record<string, number>;
  research_line: string | null;
  skipped: Skipped[];
  coverage: { conclusion: number; lineage: number; architecture: number; timestamp: number };
  newest: string | null;
  seconds: number;
  expected: number | null;
  address?: string;
  fetched?: string | null;
}

export interface FolderStatus {
  path: string;
  state: "unread" | "reading" | "ready";
  progress: { done: number; total: number; what: string } | null;
  sources: SourceStatus[];
  notes: Skipped[];
  consents: { path: string; named_by: string }[];
  totals: { records: number; dead_ends: number } | null;
  journal?: string | null;
}

export interface Status {
  schema: string;
  folders: FolderStatus[];
}

export interface DidAnalyse {
  uri: string;
  version: number;
  isConfig: boolean;
}

export interface StatusDidChange {
  path: string;
}

/** Commands of the server; vscode-languageclient registers them. */
export const SERVER_COMMANDS = {
  mark: "tried.markRecord",
  conclude: "tried.concludeRecords",
  silence: "tried.silence",
  open: "tried.openRecord",
  compare: "tried.compareRecord",
  rescan: "tried.rescan",
  countHit: "tried.countHit",
} as const;

/** Arguments of `tried.countHit`. */
export interface CountHit {
  record: string;
  how: "opened" | "compared" | "used" | "concluded";
  uri?: string;
}

/** Arguments of `tried.showRecord`, `tried.compare` and `tried.conclude`. */
export interface RecordArguments {
  record: string;
  uri?: string;
}
