import assert from "node:assert/strict";
import { test } from "node:test";
import { OUTCOMES, ago, bar, outcomeWords, percent, score } from "../../src/views/words";

test("a bar has 20 cells for 1, an eighth of a cell fine", () => {
  assert.equal(bar(1), "█".repeat(20));
  assert.equal(bar(0.4), "█".repeat(8));
  assert.equal(bar(0.1), "██");
  assert.equal(bar(1 / 160), "▏");
  assert.equal(bar(7 / 160), "▉");
  assert.equal(bar(0.05 + 1 / 40), "█▌");
  assert.equal(bar(0), "");
  assert.equal(bar(0.001), "");
});

test("a bar is never longer than its cells, and says when it is negative", () => {
  assert.equal(bar(7, 8), "█".repeat(8));
  assert.equal(bar(-0.05), "−█");
  assert.equal(bar(Number.NaN), "");
});

test("a score has three digits and a sign, but for nothing", () => {
  assert.deepEqual([0.7123, -0.05, -0.0004, 0, -0, 1.25].map((value) => score(value)), ["0.712", "−0.050", "0.000", "0.000", "0.000", "1.250"]);
  assert.deepEqual([score(-0.014, 2), score(-0.004, 2)], ["−0.01", "0.00"]);
});

test("shares are neither none nor all unless they are", () => {
  assert.deepEqual([0, 0.001, 0.254, 0.999, 1].map(percent), ["0 %", "< 1 %", "25 %", "> 99 %", "100 %"]);
});

test("ages are told in few words", () => {
  const now = new Date("2026-11-30T12:00:00Z");
  const told = ["2026-11-30T11:59:30Z", "2026-11-30T11:15:00Z", "2026-11-30T10:00:00Z", "2026-11-29T11:00:00Z", "2026-11-20T12:00:00Z"].map((one) => ago(one, now));
  assert.deepEqual(told, ["just now", "45 min ago", "2 h ago", "yesterday", "10 days ago"]);
  assert.deepEqual([ago("2026-11-08T12:00:00Z", now), ago("2026-06-01T12:00:00Z", now), ago("2020-11-30T12:00:00Z", now)], ["3 weeks ago", "5 months ago", "6 years ago"]);
});

test("a moment in the future or none at all is shown as its date", () => {
  const now = new Date("2026-11-30T12:00:00Z");
  assert.equal(ago("2027-01-01T00:00:00Z", now), "2027-01-01");
  assert.equal(ago("whenever", now), "whenever");
});

test("outcomes differ in shape as well as in colour", () => {
  const icons = Object.values(OUTCOMES).map(({ icon }) => icon.name);
  assert.equal(new Set(icons).size, 5);
  assert.equal(outcomeWords("dead_end", "out_of_memory"), "dead end: out of memory");
  assert.equal(outcomeWords("works", null), "works");
});
