import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordView } from "../../src/protocol";
import { barPlace, durationText, panelModel, preview, type TermModel, webHost } from "../../src/record/model";

function view(changes: Partial<RecordView> = {}): RecordView {
  return {
    schema: "tried.record-view/v1",
    id: "journal:EXP-7",
    short: "EXP-7",
    aliases: [],
    name: "lion",
    headline: { text: "Lion diverges", kind: "written" },
    outcome: "dead_end",
    verdict: null,
    cause: "diverged",
    error: null,
    hypothesis: null,
    notes: null,
    tags: [],
    research_line: null,
    time: "2026-11-09T14:12:00Z",
    age: "3 weeks ago",
    duration_seconds: 2520,
    url: null,
    source: { kind: "journal", name: "pool.jsonl" },
    run_dir: null,
    document: "file:///w/train.yaml",
    version: 3,
    replicates: { runs: 1, result: null, records: [] },
    parameters: [],
    parameters_total: 0,
    metrics: [],
    change: { summary: null, changes: [] },
    lineage: { ancestors: [], children: [], children_total: 0 },
    breakdown: null,
    plots: [],
    conclusion: { prefill: "", verdict: null },
    ...changes,
  };
}

const METRIC = { name: "f1", value: 0.9, before: 0.8, delta: 0.1, direction: "max", is_objective: false, is_better: true } as const;

test("the head says how it ended, when, how long and where from", () => {
  const model = panelModel(view());
  assert.deepEqual([model.outcomeWord, model.outcomeNote], ["dead end", "diverged"]);
  assert.deepEqual(model.facts, [
    { label: "ran", text: "3 weeks ago (2026-11-09 14:12)" },
    { label: "for", text: "42 min" },
    { label: "from", text: "journal · pool.jsonl" },
  ]);
});

test("it is plain whether somebody wrote the headline, and whether somebody judged", () => {
  const kinds = (["written", "generated", "none"] as const).map((kind) => panelModel(view({ headline: { text: "x", kind } })));
  assert.equal(new Set(kinds.map(({ headline, headlineNote }) => headline + headlineNote)).size, 3);
  assert.equal(kinds[2]?.headline, "Nobody wrote down what came of it.");
  assert.match(kinds[1]?.headlineNote ?? "", /nobody wrote/);
  assert.equal(panelModel(view({ verdict: "dead_end" })).outcomeNote, "diverged · somebody’s verdict");
  assert.equal(panelModel(view({ cause: "unknown" })).outcomeNote, "");
});

test("parameters are counted by whether they differ", () => {
  const parameters = [
    { key: "lr", record: "0.1", draft: "0.01", status: "differs" },
    { key: "ema", record: "true", draft: null, status: "only_record" },
    { key: "warmup", record: null, draft: "5", status: "only_draft" },
    { key: "depth", record: "12", draft: "12", status: "equal" },
    { key: "seed", record: "1", draft: "2", status: "not_compared" },
  ] as const;
  const model = panelModel(view({ parameters: [...parameters], parameters_total: 700 }));
  const { differing, same, total, rows } = model.parameters;
  assert.deepEqual([model.isCompared, differing, same, total], [true, 3, 2, 700]);
  assert.deepEqual(rows[1], { key: "ema", here: null, there: "true", status: "only_record", mark: "−", word: "not set here" });
  assert.equal(new Set(rows.map(({ mark }) => mark)).size, 5, "each status has a mark of its own");
});

test("without a config there is no diff", () => {
  const parameters = [{ key: "lr", record: "0.1", draft: null, status: "not_compared" as const }];
  const model = panelModel(view({ document: null, version: null, parameters, parameters_total: 1 }));
  assert.equal(model.isCompared, false);
  assert.equal(model.parameters.rows[0]?.there, "0.1");
  assert.equal(model.links.stored, true, "its place in the pool can be opened without a config, too");
});

test("a metric's change is judged by its direction, in a word", () => {
  const metrics = [
    { ...METRIC, name: "loss", value: 0.5, before: 0.4, delta: 0.1, direction: "min", is_better: false } as const,
    { ...METRIC, is_objective: true },
    { ...METRIC, name: "epoch", delta: -1, direction: null, is_better: null },
    { ...METRIC, name: "ppl", value: "nan", delta: "nan", direction: "min", is_better: false } as const,
    { ...METRIC, name: "new", before: null, delta: null, is_better: null },
  ];
  const model = panelModel(view({ metrics }));
  assert.deepEqual(
    model.metrics.map(({ name, arrow, delta, judgement }) => [name, arrow, delta, judgement]),
    [
      ["f1", "▲", "+0.1", "better"],
      ["loss", "▲", "+0.1", "worse"],
      ["epoch", "▼", "−1", ""],
      ["ppl", "", "", "worse"],
      ["new", "", "", ""],
    ],
  );
  assert.deepEqual(model.change.effects.map(({ name }) => name), ["f1", "loss", "ppl"]);
});

test("bars of the breakdown have the scale of the score, and terms that do not apply say so", () => {
  const terms = [
    { name: "lexical", value: 0.4, signal: 1, weight: 0.4 },
    { name: "structural", value: 0, signal: null, weight: 0 },
    { name: "decay_penalty", value: -0.1, signal: null, weight: null, note: "old" },
  ];
  const found = panelModel(view({ breakdown: { score: 0.3, rank: 2, terms } })).breakdown;
  assert.deepEqual([found?.score, found?.rank], ["0.300", "number 2 in the list"]);
  assert.deepEqual(
    found?.terms.map(({ share, isNegative, working, applies, name }) => [name, share, isNegative, working, applies]),
    [
      ["lexical", 0.4, false, "1.000 × 0.40", true],
      ["structural", 0, false, "does not apply", false],
      ["decay penalty", 0.1, true, "", true],
    ],
  );
});

test("terms that a policy turns on are part of the score, also where they come to nothing", () => {
  const terms = [
    { name: "lexical", value: 0.4, signal: 1, weight: 0.4 },
    { name: "lexical_bonus", value: 0, signal: null, weight: null, note: "5 of 21 terms" },
    { name: "hit_boost", value: 0.025, signal: null, weight: null },
    { name: "decay_penalty", value: -0.0312, signal: null, weight: null },
  ];
  const found = panelModel(view({ breakdown: { score: -0.00001, rank: 2, terms } })).breakdown;
  assert.deepEqual(
    found?.terms.map(({ name, value, working, note, applies }) => [name, value, working, note, applies]),
    [
      ["lexical", "0.400", "1.000 × 0.40", "", true],
      ["lexical bonus", "0.000", "", "5 of 21 terms", true],
      ["hit boost", "0.025", "", "", true],
      ["decay penalty", "−0.031", "", "", true],
    ],
  );
  assert.equal(found.score, "0.000", "nothing has no sign");
});

test("the scale of the bars reaches below zero as far as a term does", () => {
  const decayed = (value: number) => panelModel(view({ breakdown: { score: 0.3, rank: 2, terms: [{ name: "decay_penalty", value, signal: null, weight: null }] } })).breakdown;
  assert.deepEqual([0.04, 0, -0.04, -0.1, -0.25, -3].map((value) => decayed(value)?.below), [0, 0, 0.1, 0.1, 0.3, 1]);
  const term = (value: number) => ({ ...panelModel(view({ breakdown: { score: 0, rank: 1, terms: [{ name: "x", value, signal: 1, weight: 1 }] } })).breakdown?.terms[0] } as TermModel);
  assert.deepEqual(barPlace(term(0.75), 0), { start: 0, width: 0.75 });
  assert.deepEqual(barPlace(term(1), 1), { start: 0.5, width: 0.5 });
  assert.deepEqual(barPlace(term(-1), 1), { start: 0, width: 0.5 });
  assert.deepEqual(barPlace(term(-0.5), 1), { start: 0.25, width: 0.25 });
});

test("the verdict that stands is told apart from the one that is proposed", () => {
  const proposed = panelModel(view({ verdict: null, conclusion: { prefill: "", verdict: "dead_end" } })).conclusion;
  assert.deepEqual([proposed.verdict, proposed.standing], ["dead_end", null]);
  assert.equal(panelModel(view({ verdict: "works" })).conclusion.standing, "works");
});

test("hostile text is one visible line, or lines, and never long", () => {
  const nasty = '\u001b[31m<img src=x onerror="x()">\u202e[a](command:x)\n';
  const big = nasty.repeat(4000);
  const model = panelModel(view({ name: big, error: big, headline: { text: big, kind: "written" }, tags: [big], research_line: big }));
  for (const text of [model.name, model.headline, ...model.tags, ...model.facts.map((fact) => fact.text)]) {
    assert.ok(text.length <= 500, `${text.length} characters`);
    assert.doesNotMatch(text, /[\u001b\u202e\n]/);
  }
  assert.match(model.name, /<img src=x/, "shown as it is, as text");
  const [error] = model.texts;
  assert.ok(error && error.text.length <= 80_000 && error.preview.length <= 910);
  assert.doesNotMatch(error.text, /[\u001b\u202e]/);
  assert.equal(error.isClipped, true);
});

test("colours that programs write for terminals are left out of long texts", () => {
  const [error] = panelModel(view({ error: "\u001b[1;31mValueError\u001b[0m: x\n\tat y\n" })).texts;
  assert.equal(error?.text, "ValueError: x\n    at y");
});

test("a long text starts with its first lines", () => {
  assert.deepEqual(preview("a\nb"), { preview: "a\nb", isClipped: false });
  const lines = Array.from({ length: 12 }, (_, index) => `line ${index + 1}`);
  assert.deepEqual(preview(lines.join("\n")), { preview: [...lines.slice(0, 10), "…"].join("\n"), isClipped: true });
  assert.deepEqual(preview("x".repeat(2000)), { preview: `${"x".repeat(899)}…`, isClipped: true });
});

test("only pages of the web are offered", () => {
  assert.equal(webHost("https://mlflow.example.org/#/runs/1"), "mlflow.example.org");
  assert.equal(webHost("http://localhost:5000"), "localhost:5000");
  for (const url of ["javascript:alert(1)", "command:x", "file:///etc/passwd", "https://", "https://a b/", "https://user@evil.example/", " https://x/", null]) {
    assert.equal(webHost(url), null, String(url));
  }
  assert.equal(panelModel(view({ url: "javascript:alert(1)" })).links.page, null);
});

test("durations are in two units at most", () => {
  assert.deepEqual(
    [0.25, 19, 59.6, 61, 3600, 7500, 48 * 3600, 100 * 3600, null, -1].map((seconds) => durationText(seconds)),
    ["0.3 s", "19 s", "60 s", "1 min", "1 h", "2 h 5 min", "2 d", "4 d 4 h", "", ""],
  );
});

test("replicates are listed where there are several", () => {
  assert.equal(panelModel(view()).replicates, null);
  const result = { metric: "f1", direction: "max", mean: 0.9, spread: 0.01, count: 3, text: "f1 0.9 ± 0.01, 3 runs" } as const;
  const records = [
    { id: "journal:EXP-7", time: null, value: 0.91 },
    { id: "journal:EXP-8", time: null, value: null },
  ];
  const found = panelModel(view({ replicates: { runs: 3, result, records } })).replicates;
  assert.deepEqual(found, {
    title: "f1 0.9 ± 0.01, 3 runs",
    runs: [
      { id: "journal:EXP-7", label: "journal:EXP-7", value: "0.91", isThis: true },
      { id: "journal:EXP-8", label: "journal:EXP-8", value: "no result", isThis: false },
    ],
    more: 1,
  });
});
