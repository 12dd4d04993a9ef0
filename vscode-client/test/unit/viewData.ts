/** Invented answers of the server, to make rows of. */

import type { Experiment, Experiments, Finding, FolderStatus, SourceStatus } from "../../src/protocol";

export const URI = "file:///home/ana/configs/base.yaml";

export function experiment(given: Partial<Experiment> = {}): Experiment {
  return {
    record: "mlflow:3f0c6a5d",
    short: "3f0c6a5d",
    records: ["mlflow:3f0c6a5d"],
    runs: 1,
    name: "wide-conformer",
    rank: 3,
    closeness: null,
    score: 0.7123,
    terms: [
      { name: "lexical", value: 0.4, signal: 1, weight: 0.4 },
      { name: "structural", value: 0, signal: null, weight: 0, note: "the config states no architecture" },
      { name: "recency", value: 0.1, signal: 0.5, weight: 0.2 },
      { name: "importance", value: 0.2123, signal: 0.53075, weight: 0.4 },
    ],
    outcome: "dead_end",
    cause: "diverged",
    time: "2026-11-08T09:00:00Z",
    age: "3 weeks ago",
    result: { metric: "val_f1", direction: "max", mean: 0.912, spread: null, count: 1, text: "0.912" },
    why: "diverges without warmup",
    why_kind: "written",
    differences: [
      { key: "optimizer.lr", draft: "0.05", record: "0.01" },
      { key: "warmup", draft: null, record: "500" },
    ],
    differences_total: 2,
    is_compared: true,
    tags: [],
    research_line: null,
    source: { kind: "mlflow", name: "mlruns" },
    url: null,
    ...given,
  };
}

export function experiments(list: Experiment[], given: Partial<Experiments> = {}): Experiments {
  return {
    schema: "tried.experiments/v1",
    uri: URI,
    version: 1,
    now: "2026-11-30T12:00:00Z",
    pool: { records: 100, is_partial: false },
    total: list.length,
    query: { text: "", research_line: "ship-sounds" },
    facets: { research_lines: [], tags: [], sources: [] },
    experiments: list,
    ...given,
  };
}

export function finding(given: Partial<Finding> = {}): Finding {
  return {
    code: "dead-end",
    evidence: "move",
    severity: "warning",
    range: { start: { line: 6, character: 6 }, end: { line: 6, character: 10 } },
    message: "lr 0.5: diverged after 5 min (HYD-005)",
    why: ["diverges without warmup"],
    record: "hydra:HYD-005",
    records: ["hydra:HYD-005"],
    count: 1,
    blamed: ["optimizer.lr"],
    cause: "diverged",
    ...given,
  };
}

export function source(given: Partial<SourceStatus> = {}): SourceStatus {
  return {
    path: "/home/ana/mlflow.db",
    kind: "mlflow",
    records: 412,
    dead_ends: 57,
    merged: 0,
    amendments: 0,
    roles: {},
    research_line: null,
    skipped: [],
    coverage: { conclusion: 0.25, lineage: 0, architecture: 0.5, timestamp: 1 },
    newest: "2026-11-30T10:00:00Z",
    seconds: 0.42,
    expected: null,
    ...given,
  };
}

export function folder(given: Partial<FolderStatus> = {}): FolderStatus {
  return {
    path: "/home/ana",
    state: "ready",
    progress: null,
    sources: [source()],
    notes: [],
    consents: [],
    totals: { records: 412, dead_ends: 57 },
    journal: "/home/ana/.tried/pool.jsonl",
    ...given,
  };
}
