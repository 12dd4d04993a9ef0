import assert from "node:assert/strict";
import { test } from "node:test";
import { verdictItems } from "../../src/commands/conclude";
import { merged } from "../../src/commands/likelyRecords";
import { itemsOf } from "../../src/commands/pickRecord";

type Given = Parameters<typeof verdictItems>[0];

function order(verdict: Given["verdict"], proposed: Given["conclusion"]["verdict"], outcome: Given["outcome"]): (string | null)[] {
  return verdictItems({ verdict, conclusion: { prefill: "", verdict: proposed }, outcome }).map((item) => item.verdict);
}

function first(...given: Parameters<typeof order>): string | null | undefined {
  return order(...given)[0];
}

test("the verdict that stands comes first, then the one that is proposed, then what the outcome says", () => {
  assert.equal(first("inconclusive", "dead_end", "works"), "inconclusive");
  assert.equal(first(null, "dead_end", "works"), "dead_end");
  assert.equal(first(null, null, "works"), "works");
});

test("where nothing is known no verdict comes first, and no other is left out", () => {
  for (const outcome of ["unknown", "running", "inconclusive", "dead_end"] as const) {
    assert.deepEqual(order(null, null, outcome), [null, "dead_end", "works", "inconclusive"], outcome);
  }
  assert.deepEqual(order(null, null, "works"), ["works", "dead_end", "inconclusive", null]);
});

test("runs that the findings name come before related ones, each once", () => {
  const related = (record: string, name = "") => ({ record, short: record.slice(2), name, outcome: "works" }) as const;
  const found = merged(
    [
      { record: "j:1", message: "ran before" },
      { record: "j:1", message: "again" },
    ],
    [related("j:2", "lion"), related("j:1"), related("j:3")],
  );
  assert.deepEqual(found, [
    { record: "j:1", label: "j:1", description: "ran before" },
    { record: "j:2", label: "lion", description: "2 · works" },
    { record: "j:3", label: "3", description: "works" },
  ]);
});

test("many findings leave room for related runs", () => {
  const findings = Array.from({ length: 40 }, (_, place) => ({ record: `f${place}`, message: "" }));
  const found = merged(findings, [{ record: "r", short: "r", name: "", outcome: "unknown" }]);
  assert.deepEqual(found.map(({ record }) => record), ["f0", "f1", "f2", "f3", "f4", "r"]);
});

test("the picker lists the runs of the config first, and no run twice", () => {
  const symbols = ["a", "b"].map((record) => ({ name: record, data: { record } }));
  const records = (likely: string[]) =>
    itemsOf(symbols, likely.map((record) => ({ record, label: "$(x)", description: "" }))).map((item) => item.record ?? item.label);
  assert.deepEqual(records(["b"]), ["of the config in the editor", "b", "all", "a"]);
  assert.deepEqual(records(["b", "a"]), ["of the config in the editor", "b", "a"]);
  assert.deepEqual(records([]), ["a", "b"]);
  assert.deepEqual(itemsOf([], []).map(({ label }) => label), ["No past experiment was found."]);
  assert.equal(itemsOf([], [{ record: "a", label: "$(x)", description: "" }])[1]?.label, "$\u200b(x)", "no icon is drawn");
});
