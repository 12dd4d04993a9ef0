import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ranked } from "../../src/protocol";
import { type Comparison, texts } from "../../src/policies/rankingText";
import { DEFAULT, named, ranked, ranking, STEADY } from "./policyData";

const ACTIVE = named("default", DEFAULT, { is_active: true });
const CHOSEN = named("steady", STEADY);

function comparison(before: Ranked[], after: Ranked[], given: Partial<Comparison> = {}): Comparison {
  return {
    file: "configs/base.yaml",
    limit: 50,
    active: ACTIVE,
    standard: DEFAULT,
    chosen: CHOSEN,
    used: STEADY,
    usedId: "id-of-steady",
    before: ranking(before),
    after: ranking(after),
    ...given,
  };
}

/** The lines behind the header. */
function list(text: string): string[] {
  const lines = text.split("\n");
  return lines.slice(lines.findIndex((each) => each.includes(" related to ")) + 2);
}

test("each record has a line with its place and one with its terms", () => {
  const terms = [
    { name: "lexical", value: 0.4, signal: 1, weight: 0.4 },
    { name: "structural", value: 0, signal: null, weight: 0, note: "the query has no architecture" },
    { name: "lexical_bonus", value: 0, signal: null, weight: null },
    { name: "decay_penalty", value: -0.05, signal: null, weight: null },
  ];
  const one = ranked("hydra:HYD-005", 0.35, { name: "learning rate 0.01", dead_end: true, terms });
  const architecture = { name: "structural", value: 0.2, signal: 0.8, weight: 0.25 };
  const other = ranked("hydra:HYD-006", 0.2, { name: "", terms: [architecture] });
  const { title, before, after } = texts(comparison([one, other], [one]));
  assert.equal(title, "default ↔ steady: configs/base.yaml");
  assert.deepEqual(list(before), [
    "1. HYD-005  learning rate 0.01  · dead end",
    "   0.350  = lexical 0.400   structural –       lexical bonus 0.000   decay penalty −0.050",
    "2. HYD-006  (not on the other side)",
    "   0.200  = lexical –       structural 0.200   lexical bonus –       decay penalty –",
  ]);
  assert.equal(list(after)[1], "   0.350  = lexical 0.400   lexical bonus 0.000   decay penalty −0.050", "what applies to no record is left out");
});

test("the headers say which policies these are, that nothing was changed, and how to use the other one", () => {
  const { before, after } = texts(comparison([ranked("a", 1)], [ranked("a", 1)]));
  assert.deepEqual(before.split("\n").slice(0, 3), [
    "Ranked by the policy in force: default (id-of-default)",
    "It differs from the default in nothing.",
    "1 record related to configs/base.yaml: the same order by both.",
  ]);
  assert.deepEqual(after.split("\n").slice(0, 8), [
    "Ranked for once by: steady (id-of-steady)",
    "It differs from the default in:",
    "    lexical_bonus.enabled = true (there false)",
    "    hit_boost.enabled = true (there false)",
    "    decay_penalty.enabled = true (there false)",
    "The policy in force is still default: nothing was changed or kept.",
    'To use this one: policy = "steady" under [ranking] in tried.toml, or the setting tried.ranking.policy.',
    "1 record related to configs/base.yaml: the same order by both.",
  ]);
});

test("single knobs are named in the title, and their table for tried.toml in the header", () => {
  const used = { name: "default", policy_id: "x", ...DEFAULT, half_life_days: 90 };
  const { title, after } = texts(comparison([ranked("a", 1)], [ranked("a", 1)], { chosen: undefined, used, usedId: "x" }));
  assert.equal(title, "default ↔ default with half_life_days = 90: configs/base.yaml");
  assert.match(after, /^Ranked for once by: default with half_life_days = 90 \(x\)\nIt differs from the default in:\n {4}half_life_days = 90 \(there 30\)\n/);
  assert.match(after, /\n {4}\[policies\.mine\]\n {4}half_life_days = 90\n\n {4}\[ranking\]\n {4}policy = "mine"\n/);
});

test("what the server remarks upon stands above the list", () => {
  const given = comparison([ranked("a", 1)], [ranked("a", 1)], { chosen: undefined, used: { ...DEFAULT, half_life_days: 90 } });
  const remarks = ["hit_boost.weight is set, but hit_boost is off:\u202e hit_boost.enabled=true turns it on"];
  const { before, after } = texts({ ...given, after: { ...given.after, remarks } });
  assert.match(after, /\nMind: hit_boost\.weight is set, but hit_boost is off:[^\n\u202e]* hit_boost\.enabled=true turns it on\.\nThe policy in force/);
  assert.doesNotMatch(before, /Mind/);
});

test("knobs over another policy than the default make a table with all that differs from the default", () => {
  const used = { ...STEADY, half_life_days: 90 };
  const given = comparison([ranked("a", 1)], [ranked("a", 1)], { active: { ...CHOSEN, is_active: true }, chosen: undefined, used });
  const { title, before, after } = texts(given);
  assert.equal(title, "steady ↔ steady with half_life_days = 90: configs/base.yaml");
  assert.match(before, /^Ranked by the policy in force: steady \(id-of-steady\)\nIt differs from the default in:\n {4}lexical_bonus\.enabled = true/);
  assert.match(after, /\[policies\.mine\]\n {4}half_life_days = 90\n {4}lexical_bonus\.enabled = true\n {4}hit_boost\.enabled = true\n/);
  const same = texts({ ...given, used: DEFAULT });
  assert.match(same.after, /It differs from the default in nothing\.\nThe policy in force is still steady: nothing was changed or kept\.\nTo use this one: policy = "default" /);
});

test("records that moved differ in their first lines, and say where they went and came from", () => {
  const { before, after } = texts(comparison([ranked("a", 0.9), ranked("b", 0.8), ranked("c", 0.7)], [ranked("a", 0.5), ranked("c", 0.4), ranked("b", 0.3)]));
  const places = (text: string): string[] => list(text).filter((each) => /^\d+\. /.test(each));
  assert.deepEqual(places(before), ["1. a  run a", "2. b  run b  (goes to 3)", "3. c  run c  (goes to 2)"]);
  assert.deepEqual(places(after), ["1. a  run a", "2. c  run c  (came from 3)", "3. b  run b  (came from 2)"]);
  assert.match(before, /\n3 records related to configs\/base\.yaml: 2 records at another place\.\n/);
});

test("records that only one of the rankings has are counted, on the side where they are", () => {
  const { before, after } = texts(comparison([ranked("a", 0.9), ranked("b", 0.8)], [ranked("a", 0.5), ranked("c", 0.4)], { limit: 2 }));
  assert.match(before, /\nThe first 2 records related to configs\/base\.yaml: 1 record only on the left, 1 record only on the right\.\n/);
  assert.ok(list(before).includes("2. b  run b  (not on the other side)"), before);
  assert.ok(list(after).includes("2. c  run c  (not on the other side)"), after);
});

test("a policy that leaves every record out shows an empty side", () => {
  const { after } = texts(comparison([ranked("a", 0.9)], []));
  assert.deepEqual(list(after), ["No record."]);
});

test("ids are short, but never the same for two records", () => {
  const hash = "0123456789abcdef0123456789abcdef";
  const { before } = texts(comparison([ranked(`mlflow:${hash}`, 0.9), ranked("journal:EXP-1", 0.8), ranked("table:EXP-1", 0.7), ranked("odd:", 0.6)], []));
  const ids = list(before).filter((each) => /^\d/.test(each)).map((each) => each.split(/\s+/)[1]);
  assert.deepEqual(ids, ["01234567", "journal:EXP-1", "table:EXP-1", "odd:"]);
});

test("hostile text of records, policies and files is text on one line", () => {
  const evil = `\u001b[31m$(zap)\u202e[x](command:quit)\n99. EXP-1${"A".repeat(100_000)}`;
  const one = ranked(`x:${evil}`, 1, { name: evil, terms: [{ name: evil, value: 1, signal: 1, weight: 1 }] });
  const { title, before, after } = texts(
    comparison([one], [one], { file: evil, active: named(evil, DEFAULT), chosen: named(evil, { [evil]: evil }), used: { [evil]: evil }, usedId: evil }),
  );
  assert.equal(list(before).length, 2);
  for (const text of [title, before, after]) {
    assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u202e]/);
    assert.ok(text.length < 4_000, `${text.length} characters`);
  }
  assert.doesNotMatch(title, /\n/);
});
