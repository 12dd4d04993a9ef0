/** Pools that are made up: many records, and records that mean harm. */

import fs from "node:fs";
import path from "node:path";

export type RecordLine = Record<string, unknown>;

const BASE = { schema_version: 2, kind: "experiment" };

/** Writes a folder with a journal and a config, whose path is answered. */
export function project(parent: string, name: string, records: readonly RecordLine[], config: string): { folder: string; config: string } {
  const folder = path.join(parent, name);
  fs.mkdirSync(path.join(folder, ".tried"), { recursive: true });
  const lines = records.map((record) => JSON.stringify({ ...BASE, ...record }));
  fs.writeFileSync(path.join(folder, ".tried/pool.jsonl"), `${lines.join("\n")}\n`);
  fs.writeFileSync(path.join(folder, "config.yaml"), config);
  return { folder, config: path.join(folder, "config.yaml") };
}

export const CONFIG = `# Wind on a hill: which learning rate carries further?
name: kite
dataset: hill-2025
optimizer:
  name: adamw
  lr: 0.05
  weight_decay: 0.1
dropout: 0.3
batch_size: 32
epochs: 20
`;

/** Runs beside `CONFIG`: no two alike, a fifth of them dead ends, the same at each call. */
export function manyRecords(count: number): RecordLine[] {
  return Array.from({ length: count }, (_, i) => {
    const isDead = i % 5 === 4;
    const lr = [0.001, 0.003, 0.01, 0.02, 0.1][i % 5] ?? 0.01;
    return {
      id: `KITE-${String(i + 1).padStart(5, "0")}`,
      name: `kite ${["red", "blue", "green", "white"][i % 4] ?? ""} ${i + 1}`,
      research_line: "kites",
      timestamp: new Date(Date.UTC(2025, 0, 1) + i * 3_600_000).toISOString(),
      params: {
        dataset: "hill-2025",
        "optimizer.name": "adamw",
        "optimizer.lr": lr,
        "optimizer.weight_decay": 0.1,
        dropout: i / 20_000,
        batch_size: 32,
        epochs: 20,
      },
      metrics: isDead ? {} : { height: 10 + (i % 100) / 10 },
      objective: "height",
      directions: { height: "max" },
      hypothesis: `wind ${i % 7} on slope ${i % 11}`,
      conclusion: isDead
        ? { outcome: "failed", headline: `the loss became NaN at learning rate ${lr}` }
        : { outcome: "completed", headline: `flies ${10 + (i % 100) / 10} m high` },
      ...(isDead ? { verdict: "dead_end", cause: "diverged" } : {}),
    };
  });
}

/** What a text of a record may hold to do harm where it is shown. Each sets `window.harm`, asks `harm.example`, or runs a command. */
export const HARMFUL = [
  `<img src="https://harm.example/a.png" onerror="window.harm=1">`,
  `<script>window.harm=2</script>`,
  `</textarea></style></script><svg onload="window.harm=3"></svg>`,
  `[run](command:workbench.action.files.newUntitledFile)`,
  `[go](javascript:window.harm=4) ![see](https://harm.example/b.png)`,
  `<https://harm.example/c> https://harm.example/d`,
  `<iframe src="https://harm.example/e"></iframe>`,
  `$(zap) \u001b[31mred\u001b[0m \u001b]8;;https://harm.example/f\u0007link\u001b]8;;\u0007`,
  `\u202egnp.exe\u202c \u2066abc \u200f\u200e`,
  "```\n# heading\n| a | b |\n|---|---|\n```\n---\n***bold*** &lt;b&gt;",
] as const;

/** Every text field is of this kind and `length` long; the parameters are those of `CONFIG` but for the dropout, so that it can be told as a repeat. */
export function harmfulRecord(id: string, text: string, length: number, dropout = 0.3): RecordLine {
  const field = (name: string): string => `${name} ${text} `.repeat(Math.max(1, Math.ceil(length / (name.length + text.length + 2)))).slice(0, Math.max(length, name.length + text.length + 1));
  return {
    id,
    name: field("name"),
    research_line: "kites",
    timestamp: "2025-03-01T12:00:00Z",
    hypothesis: field("hypothesis"),
    notes: field("notes"),
    pipeline_summary: field("pipeline"),
    tags: [field("tag"), text],
    url: "javascript:window.harm=5",
    run_dir: field("folder"),
    params: {
      dataset: "hill-2025",
      "optimizer.name": "adamw",
      "optimizer.lr": 0.05,
      "optimizer.weight_decay": 0.1,
      dropout,
      batch_size: 32,
      epochs: 20,
    },
    metrics: { height: 1.5, [`metric ${text.slice(0, 200)}`]: 2 },
    objective: "height",
    directions: { height: "max" },
    verdict: "dead_end",
    cause: "diverged",
    conclusion: { outcome: "failed", headline: field("headline"), error: field("error") },
    derivation: { from: "KITE-00001", to: id, summary: field("summary"), changes: [{ change: "Unspecified", reason: field("reason") }] },
  };
}

/** One whose parameters and metrics are of this kind, keys and values. */
export function harmfulParameters(id: string, texts: readonly string[]): RecordLine {
  const entries = texts.map((text, i) => [`key ${i} ${text}`, `value ${text}`]);
  return {
    id,
    name: `parameters ${texts[0] ?? ""}`,
    research_line: "kites",
    timestamp: "2025-03-02T12:00:00Z",
    params: { dataset: "hill-2025", "optimizer.name": "adamw", "optimizer.lr": 0.02, batch_size: 32, ...Object.fromEntries(entries) },
    metrics: { height: 11, ...Object.fromEntries(texts.map((text, i) => [`metric ${i} ${text}`, i])) },
    objective: "height",
    directions: { height: "max" },
    conclusion: { outcome: "completed" },
  };
}
