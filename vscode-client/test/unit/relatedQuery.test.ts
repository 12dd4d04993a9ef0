import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExperimentsParams } from "../../src/protocol";
import { Newest } from "../../src/views/newest";
import {
  NO_CHOICE,
  ask,
  description,
  filterWords,
  hasFilters,
  nextLimit,
  restored,
  toggled,
  withOwnLine,
  withRest,
  withText,
  withoutFilters,
  type Choice,
} from "../../src/views/relatedQuery";
import { URI, experiment, experiments } from "./viewData";

test("the same filter again takes it away, and another one stands instead", () => {
  const deadEnds = toggled(NO_CHOICE, "outcome", "dead_end");
  assert.deepEqual(deadEnds.filter, { outcome: "dead_end" });
  assert.deepEqual(toggled(deadEnds, "outcome", "works").filter, { outcome: "works" });
  assert.deepEqual(toggled(deadEnds, "outcome", "dead_end").filter, {});
});

test("the line of the config and a line by name exclude each other", () => {
  const own = withOwnLine(toggled(NO_CHOICE, "researchLine", "other"), true);
  assert.deepEqual([own.filter, own.ownLine], [{}, true]);
  const named = toggled(own, "researchLine", "other");
  assert.deepEqual([named.filter, named.ownLine], [{ researchLine: "other" }, false]);
});

test("an empty search is none", () => {
  assert.deepEqual(withText(withText(NO_CHOICE, " warmup "), "  "), NO_CHOICE);
  assert.equal(withText(NO_CHOICE, " warmup ").filter.text, "warmup");
});

test("clearing filters keeps the order", () => {
  const choice: Choice = { filter: { tag: "a" }, ownLine: true, sort: "newest" };
  assert.equal(hasFilters(choice), true);
  assert.deepEqual(withoutFilters(choice), { filter: {}, ownLine: false, sort: "newest" });
  assert.equal(hasFilters(withoutFilters(choice)), false);
});

test("what was kept comes back, and nonsense does not", () => {
  const choice: Choice = { filter: { outcome: "works", tag: "a", text: "x" }, ownLine: true, sort: "best" };
  assert.deepEqual(restored(JSON.parse(JSON.stringify(choice))), choice);
  for (const nonsense of [undefined, null, 3, "x", { filter: 3, sort: "worst" }, { filter: { outcome: "odd", tag: 3, text: "", toString: "x" } }]) {
    assert.deepEqual(restored(nonsense), NO_CHOICE);
  }
});

test("filters and order are told in words", () => {
  const choice: Choice = { filter: { outcome: "dead_end", tag: "sweep", text: "warm\u202eup" }, ownLine: true, sort: "newest" };
  assert.equal(filterWords(choice, "ship-sounds"), "Dead ends only · this research line (ship-sounds) · tag “sweep” · “warm⟨202E⟩up”");
  assert.equal(filterWords(NO_CHOICE, null), "");
  assert.match(filterWords({ ...NO_CHOICE, ownLine: true }, null), /names no research line/);
  assert.equal(description(experiments([experiment()], { total: 340 }), choice), "1 of 340 · newest first");
  assert.equal(description(experiments([experiment()], { pool: { records: 9, is_partial: true } }), NO_CHOICE), "1 experiment · still reading");
});

test("more is shown in a few steps, up to 5,000", () => {
  const shown = (count: number): number | undefined => nextLimit(experiments(Array.from({ length: count }, () => experiment()), { total: 9000 }));
  assert.deepEqual([20, 50, 70, 200, 1000, 5000].map(shown), [50, 200, 200, 1000, 5000, undefined]);
  const few = experiments([experiment()], { total: 9000 });
  assert.deepEqual([nextLimit(few, 23), nextLimit(few, 201), nextLimit(few, 8000)], [50, 1000, 5000]);
});

test("of a long list only the beginning is new at first, and nothing is listed twice", () => {
  const list = (...records: string[]): ReturnType<typeof experiments> => experiments(records.map((record) => experiment({ record })), { total: 5 });
  const shown = withRest({ ...list("d", "a"), version: 2 }, list("a", "b", "c", "d"));
  assert.deepEqual(shown.experiments.map(({ record }) => record), ["d", "a", "b", "c"]);
  assert.equal(shown.version, 2);
  assert.equal(withRest(list("x", "y"), list("a", "b", "c")).experiments.length, 3);
  assert.equal(withRest({ ...list("a"), total: 1 }, list("a", "b")).experiments.length, 1);
});

test("the filter to the config's own line follows the config", async () => {
  const asked: ExperimentsParams[] = [];
  const send = (params: ExperimentsParams): Promise<ReturnType<typeof experiments>> => {
    asked.push(params);
    return Promise.resolve(experiments([]));
  };
  const choice = withOwnLine(NO_CHOICE, true);
  await ask(URI, choice, undefined, undefined, send);
  assert.deepEqual(asked.map(({ filter }) => filter), [{}, { researchLine: "ship-sounds" }]);
  asked.length = 0;
  await ask(URI, choice, 50, "ship-sounds", send);
  assert.deepEqual(asked, [{ textDocument: { uri: URI }, limit: 50, filter: { researchLine: "ship-sounds" }, sort: "score" }]);
  asked.length = 0;
  await ask(URI, NO_CHOICE, undefined, undefined, send);
  assert.equal(asked.length, 1);
});

test("without a server there is no answer, which is not an empty one", async () => {
  assert.equal(await ask(URI, withOwnLine(NO_CHOICE, true), undefined, undefined, () => Promise.resolve(undefined)), undefined);
  assert.equal(await ask(URI, NO_CHOICE, undefined, undefined, () => Promise.resolve(null)), null);
});

test("an answer that comes late never replaces one to a later question", async () => {
  const newest = new Newest();
  const shown: string[] = [];
  const show = (answer: string): void => void shown.push(answer);
  const gates = new Map<string, (answer: string) => void>();
  const question = (name: string) => (): Promise<string> => new Promise((resolve) => gates.set(name, resolve));
  const first = newest.ask(question("first"), show);
  const second = newest.ask(question("second"), show);
  gates.get("second")?.("second");
  await second;
  gates.get("first")?.("first");
  await first;
  assert.deepEqual(shown, ["second"]);
  const third = newest.ask(question("third"), show);
  newest.forget();
  gates.get("third")?.("third");
  await third;
  assert.deepEqual(shown, ["second"]);
});
