import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome } from "../../src/protocol";
import { relatedRows } from "../../src/views/relatedRows";
import type { Row } from "../../src/views/row";
import { URI, experiment, experiments } from "./viewData";

function only(given: Parameters<typeof experiment>[0] = {}): Row {
  const [row, ...rest] = relatedRows(experiments([experiment(given)]));
  assert.ok(row !== undefined && rest.length === 0);
  return row;
}

function below(row: Row, id: string): Row {
  const found = row.children?.().find((one) => one.id === id);
  assert.ok(found !== undefined, `no ${id} below ${row.label}`);
  return found;
}

function shown(row: Row): string[] {
  return (row.children?.() ?? []).map((one) => `${one.label}|${one.description}`);
}

test("an experiment says how it ended, what came of it, where it ranks and how old it is", () => {
  const row = only({ result: { metric: "val_f1", direction: "max", mean: 0.912, spread: 0.004, count: 5, text: "0.912 ± 0.004" }, runs: 5 });
  assert.equal(row.label, "wide-conformer");
  assert.equal(row.description, "0.912 ± 0.004, 5 runs · diverged · score 0.71 · 3 weeks ago");
  assert.deepEqual(row.icon, { name: "circle-slash", color: "problemsErrorIcon.foreground" });
  assert.equal(row.spoken, "dead end: diverged, wide-conformer, 0.912 ± 0.004, 5 runs, rank 3, 3 weeks ago");
  assert.deepEqual(row.command?.arguments, [{ record: "mlflow:3f0c6a5d", uri: URI }]);
  assert.match(row.tooltip(), /^dead end: diverged\nwide-conformer \(3f0c6a5d\)\nval_f1: 0\.912 ± 0\.004, 5 runs \(higher is better\)\nrank 3, score 0\.712\n/);
});

test("a row that stands first whatever its score says why", () => {
  assert.equal(only({ closeness: "repeat" }).description, "this config · 0.912 · diverged · score 0.71 · 3 weeks ago");
  const nearest = only({ closeness: "nearest" });
  assert.equal(nearest.description, "nearest · 0.912 · diverged · score 0.71 · 3 weeks ago");
  assert.equal(nearest.spoken, "dead end: diverged, wide-conformer, nearest, 0.912, rank 3, 3 weeks ago");
});

test("a run without name, result and time is known by its id", () => {
  const row = only({ name: "", result: null, age: "", time: null, outcome: "running", cause: null });
  assert.equal(row.label, "3f0c6a5d");
  assert.equal(row.description, "score 0.71");
  assert.equal(row.spoken, "running, 3f0c6a5d, rank 3");
});

test("each outcome has an icon of its own", () => {
  const outcomes: Outcome[] = ["dead_end", "works", "inconclusive", "running", "unknown"];
  assert.deepEqual(
    outcomes.map((outcome) => only({ outcome }).icon?.name),
    ["circle-slash", "pass", "question", "sync", "circle-large-outline"],
  );
});

test("below it stand why, what differs, the score, and where it is, in this order", () => {
  const row = only({ tags: ["sweep", "wide"], research_line: "ship-sounds", url: "https://example.org/run/1", runs: 2, records: ["mlflow:3f0c6a5d", "mlflow:b"] });
  assert.deepEqual(
    row.children?.().map((one) => one.id),
    ["why", "differences", "score", "runs", "tags", "line", "page", "source"],
  );
  assert.equal(below(row, "tags").label, "sweep, wide");
  assert.equal(below(row, "page").url, "https://example.org/run/1");
  assert.equal(below(row, "source").description, "mlflow · mlruns");
  assert.equal(below(only({ source: { kind: "journal", name: "journal" } }), "source").description, "journal");
});

test("what differs is read from here to there", () => {
  const differences = below(only(), "differences");
  assert.equal(differences.label, "Differs in 2 parameters");
  assert.equal(differences.description, "here → there");
  assert.equal(differences.isOpen, true);
  assert.deepEqual(shown(differences), ["optimizer.lr: 0.05 → 0.01|", "warmup: (not set) → 500|"]);
  assert.equal(differences.children?.()[0]?.tooltip(), "optimizer.lr\nhere: 0.05\nthere: 0.01");
});

test("more differences than were sent are to be seen in the comparison", () => {
  const more = below(below(only({ differences_total: 14 }), "differences"), "more");
  assert.equal(more.label, "+ 12 more");
  assert.equal(more.command?.id, "tried.compare");
});

test("nothing that differs is told apart from nothing that can be compared", () => {
  assert.equal(below(only({ differences: [], differences_total: 0 }), "equal").label, "No compared parameter differs");
  assert.equal(below(only({ differences: [], differences_total: 0, is_compared: false }), "not compared").label, "Cannot be compared");
});

test("a row that opens by itself is never the same as one that had nothing below it", () => {
  const variants = [{}, { differences: [], differences_total: 0 }, { differences: [], differences_total: 0, is_compared: false }, { why: "" }, { runs: 3 }];
  const kinds = new Map<string, boolean>();
  for (const row of variants.flatMap((given) => only(given).children?.() ?? [])) {
    const hasChildren = row.children !== undefined;
    assert.equal(kinds.get(row.id) ?? hasChildren, hasChildren, row.id);
    kinds.set(row.id, hasChildren);
  }
});

test("the breakdown is shown as it came, with a bar each", () => {
  const score = below(only(), "score");
  assert.equal(score.label, "Score 0.712");
  assert.deepEqual(shown(score), ["0.400|████████ lexical", "–|structural", "0.100|██ recency", "0.212|████▎ importance"]);
  const terms = score.children?.() ?? [];
  assert.equal(terms[1]?.tooltip(), "structural does not apply\nthe config states no architecture");
  assert.equal(terms[2]?.tooltip(), "recency 0.100 = weight 0.200 × signal 0.500");
});

test("terms that a policy turns on stand among the others, with their sign", () => {
  const terms = [
    { name: "lexical", value: 0.4, signal: 1, weight: 0.4 },
    { name: "lexical_bonus", value: 0, signal: null, weight: null, note: "5 of 21 terms" },
    { name: "hit_boost", value: 0.025, signal: null, weight: null },
    { name: "decay_penalty", value: -0.05, signal: null, weight: null, note: "a year old" },
  ];
  const row = only({ terms, score: -0.012 });
  assert.match(row.description, / · score −0\.01 · /);
  const score = below(row, "score");
  assert.equal(score.label, "Score −0.012");
  assert.deepEqual(shown(score), ["0.400|████████ lexical", "0.000|lexical bonus", "0.025|▌ hit boost", "−0.050|−█ decay penalty"]);
  const rows = score.children?.() ?? [];
  assert.deepEqual(
    rows.map((one) => one.tooltip()),
    ["lexical 0.400 = weight 0.400 × signal 1.000", "lexical bonus 0.000\n5 of 21 terms", "hit boost 0.025", "decay penalty −0.050\na year old"],
  );
  assert.deepEqual(rows.map((one) => one.spoken), ["lexical 0.400", "lexical bonus 0.000", "hit boost 0.025", "decay penalty −0.050"]);
});

test("where nobody wrote why, one click does", () => {
  const why = below(only({ why: "", why_kind: "none" }), "why");
  assert.equal(why.label, "Nobody wrote why");
  assert.equal(why.command?.id, "tried.conclude");
  assert.notEqual(below(only({ why_kind: "generated" }), "why").icon?.name, below(only(), "why").icon?.name);
});

test("menus know whether a run has a page", () => {
  assert.equal(only().context, "experiment.dead_end");
  assert.match(only({ url: "https://example.org" }).context, /^experiment.*\.url/);
  const inner = only({ url: "https://example.org", tags: ["a"], runs: 3 }).children?.() ?? [];
  assert.ok(inner.length > 4 && inner.every((row) => !row.context.startsWith("experiment")));
});

test("the last row asks for more, as long as there are more and the server gives more", () => {
  const list = Array.from({ length: 20 }, (_, place) => experiment({ record: `r${place}` }));
  const last = relatedRows(experiments(list, { total: 340 })).at(-1);
  assert.equal(last?.label, "Show more…");
  assert.equal(last.description, "20 of 340");
  assert.equal(last.tooltip(), "Show up to 50");
  assert.equal(relatedRows(experiments(list)).length, 20);
  const many = Array.from({ length: 5000 }, (_, place) => experiment({ record: `r${place}` }));
  assert.equal(relatedRows(experiments(many, { total: 9000 })).length, 5000);
});

test("rows of 5,000 experiments are made in a blink, their children only when asked for", () => {
  const list = Array.from({ length: 5000 }, (_, place) => experiment({ record: `r${place}` }));
  const started = performance.now();
  const rows = relatedRows(experiments(list));
  assert.ok(performance.now() - started < 200);
  assert.equal(rows.length, 5000);
});

test("hostile text is shown as text on one short line", () => {
  const evil = `\u001b[31m<img src=x>\u202e[x](command:quit)\n${"A".repeat(100_000)}`;
  const row = only({ name: evil, why: evil, age: evil, tags: [evil], research_line: evil, short: evil, source: { kind: evil, name: evil }, differences: [{ key: evil, draft: evil, record: evil }], differences_total: 1 });
  const all = [row, ...(row.children?.() ?? []), ...(row.children?.() ?? []).flatMap((one) => one.children?.() ?? [])];
  assert.ok(all.length > 10);
  for (const one of all) {
    assert.ok(one.label.length <= 400 && one.description.length <= 400, one.id.slice(0, 20));
    assert.ok(!/[\u0000-\u001f\u202e]/.test(`${one.label}${one.description}${one.spoken ?? ""}`), one.context);
    assert.ok(!/[\u0000-\u0009\u000b-\u001f\u202e]/.test(one.tooltip()), one.context);
    assert.ok(one.tooltip().length < 4000);
  }
});
