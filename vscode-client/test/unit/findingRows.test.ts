import assert from "node:assert/strict";
import { test } from "node:test";
import { findingRows } from "../../src/views/findingRows";
import { withDistinctIds } from "../../src/views/row";
import { URI, finding } from "./viewData";

function rows(...findings: ReturnType<typeof finding>[]): ReturnType<typeof findingRows> {
  return findingRows({ schema: "tried.findings/v1", uri: URI, version: 1, total: findings.length, findings });
}

function at(line: number): { range: ReturnType<typeof finding>["range"] } {
  return { range: { start: { line, character: 0 }, end: { line, character: 3 } } };
}

test("findings stand in the order of their lines, counted from 1", () => {
  assert.deepEqual(
    rows(finding(at(9)), finding(at(2)), finding(at(6))).map((row) => row.description),
    ["line 3 · optimizer.lr", "line 7 · optimizer.lr", "line 10 · optimizer.lr"],
  );
});

test("a finding says how loud it is by an icon and in words, and leads to its value", () => {
  const [row] = rows(finding());
  assert.equal(row?.icon?.name, "warning");
  assert.equal(row.spoken, "warning, line 7: lr 0.5: diverged after 5 min (HYD-005)");
  assert.equal(row.context, "finding.warning");
  assert.deepEqual(row.command, { id: "tried.findings.reveal", title: "Go to the Value", arguments: [{ uri: URI, range: finding().range }] });
  assert.deepEqual(rows(finding({ severity: "information" }), finding({ severity: "hover" })).map((one) => one.icon?.name), ["info", "comment"]);
});

test("below it stand the reasons and the run", () => {
  const [row] = rows(finding({ count: 3, why: ["first", "second"] }));
  assert.deepEqual(
    row?.children?.().map((one) => `${one.label}|${one.description}`),
    ["first|", "second|", "hydra:HYD-005|the last of 3 runs · diverged"],
  );
});

test("many blamed keys are cut", () => {
  assert.equal(rows(finding({ blamed: ["a", "b", "c", "d", "e"] }))[0]?.description, "line 7 · a, b, c, + 2 more");
  assert.equal(rows(finding({ blamed: [] }))[0]?.description, "line 7");
});

test("a finding is the same one when lines are added above it", () => {
  assert.equal(rows(finding(at(2)))[0]?.id, rows(finding(at(90)))[0]?.id);
});

test("two findings that look the same are two rows", () => {
  const ids = withDistinctIds(rows(finding(at(1)), finding(at(2)), finding(at(3)))).map((row) => row.id);
  assert.equal(new Set(ids).size, 3);
});

test("hostile text is shown as text", () => {
  const evil = `\u001b[2J\u202e$(error)\n${"B".repeat(50_000)}`;
  const [row] = rows(finding({ message: evil, why: [evil], blamed: [evil], record: evil, records: [evil] }));
  assert.ok(row !== undefined);
  for (const one of [row, ...(row.children?.() ?? [])]) {
    assert.ok(one.label.length <= 400 && one.description.length <= 400);
    assert.ok(!/[\u0000-\u001f\u202e]/.test(`${one.label}${one.description}${one.spoken ?? ""}`), one.context);
    assert.ok(!/[\u0000-\u0009\u000b-\u001f\u202e]/.test(one.tooltip()), one.context);
  }
});
