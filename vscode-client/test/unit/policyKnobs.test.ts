import assert from "node:assert/strict";
import { test } from "node:test";
import { changedKnobs, flatKnobs, knobText, readChanges, tomlLines } from "../../src/policies/knobs";
import { DEFAULT, STEADY } from "./policyData";

test("knobs have dotted names, and what names a policy is none", () => {
  const flat = flatKnobs({ name: "x", policy_id: "0", schema: "s", half_life_days: 30, weights: { lexical: 0.4 }, ttl_days: null });
  assert.deepEqual([...flat], [["half_life_days", 30], ["weights.lexical", 0.4], ["ttl_days", null]]);
});

test("what a policy changes is told knob by knob, with what it was", () => {
  assert.deepEqual(changedKnobs(DEFAULT, DEFAULT), []);
  assert.deepEqual(
    changedKnobs({ ...DEFAULT, half_life_days: 90, ttl_days: 365 }, DEFAULT),
    [
      { knob: "half_life_days", value: 90, before: 30 },
      { knob: "ttl_days", value: 365, before: null },
    ],
  );
  assert.deepEqual(changedKnobs(STEADY, DEFAULT).map(knobText), ["lexical_bonus.enabled = true", "hit_boost.enabled = true", "decay_penalty.enabled = true"]);
  assert.equal(knobText({ knob: "ttl_days", value: null }), "ttl_days = none");
});

test("without a policy to compare with every knob is told", () => {
  assert.equal(changedKnobs(DEFAULT, undefined).length, 17);
});

test("changes are separated by spaces, commas or both, with spaces around the sign or none", () => {
  const wanted = { set: { half_life_days: "90", "weights.lexical": "0.5" } };
  for (const text of ["half_life_days=90 weights.lexical=0.5", " half_life_days = 90,weights.lexical= 0.5 ", "half_life_days=90, weights.lexical =0.5;"]) {
    assert.deepEqual(readChanges(text), wanted, text);
  }
});

test("a value goes to the server as it was written: only there it is known what it may be", () => {
  assert.deepEqual(readChanges("half_life_days=many ttl_days=null a=b=c"), { set: { half_life_days: "many", ttl_days: "null", a: "b=c" } });
});

test("what is no change is told apart from what the server does not know", () => {
  const problem = (text: string): string => {
    const read = readChanges(text);
    return "problem" in read ? read.problem : "";
  };
  assert.match(problem(""), /^Write a knob and its value/);
  assert.match(problem("  , "), /^Write a knob and its value/);
  assert.match(problem("half_life_days"), /^“half_life_days” is no knob with a value/);
  assert.match(problem("half_life_days="), /^“half_life_days=” is no knob with a value/);
  assert.match(problem("=90"), /^“=90” is no knob with a value/);
  assert.match(problem("a=1 a=2"), /^a is there twice/);
  assert.match(problem("\u202eevil\u001b"), /^“⟨202E⟩evil␛”/);
});

test("a policy of one's own is a table of tried.toml", () => {
  assert.deepEqual(tomlLines(changedKnobs({ ...STEADY, ttl_days: 365 }, DEFAULT), "mine"), [
    "[policies.mine]",
    "lexical_bonus.enabled = true",
    "hit_boost.enabled = true",
    "decay_penalty.enabled = true",
    "ttl_days = 365",
    "",
    "[ranking]",
    'policy = "mine"',
  ]);
});
