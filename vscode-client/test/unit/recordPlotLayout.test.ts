/**
 * Places are worked out by hand for 320 × 200 with labels of 10: the values stand between y = 36 and y = 175 (frame 22 to 181), and
 * between x = left + 12 and x = 302, with left = 5.8 × the longest label's letters + 10.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Outcome, Plot, PlotPoint } from "../../src/protocol";
import { numberText, roundLogValues, roundStep, roundValues, signedText } from "../../src/record/numbers";
import { MOST_POINTS, plotLayout, pointText, scatter, walkingOrder } from "../../src/record/plotLayout";

const SIZE = { width: 320, height: 200, fontSize: 10 };

function point(record: string, x: number, y: number | null, outcome: Outcome = "works", isThis = false): PlotPoint {
  return { record, short: record, x, y, outcome, is_this: isThis };
}

function plot(points: PlotPoint[], rest: Partial<Plot> = {}): Plot {
  return {
    key: "lr",
    metric: "val_f1",
    direction: "max",
    scale: "linear",
    categories: null,
    draft: null,
    draft_text: null,
    record: null,
    points,
    ...rest,
  };
}

function placesOf(layout: ReturnType<typeof plotLayout>): Record<string, [number, number]> {
  return Object.fromEntries(layout.points.map(({ point: { record }, x, y }) => [record, [x, y]]));
}

test("a linear scale puts values at their share of the room", () => {
  const layout = plotLayout(plot([point("a", 0, 0), point("b", 10, 1), point("c", 5, 0.5)]), SIZE);
  assert.equal(layout.left, 27); // "0.2": 3 × 5.8 + 10 = 27.4
  assert.equal(layout.right, 314);
  assert.equal(layout.top, 22);
  assert.equal(layout.bottom, 181);
  assert.equal(layout.lane, null);
  assert.deepEqual(placesOf(layout), { a: [39, 175], b: [302, 36], c: [170.5, 105.5] });
  assert.deepEqual(layout.yTicks, [
    { at: 175, text: "0" },
    { at: 147.2, text: "0.2" },
    { at: 119.4, text: "0.4" },
    { at: 91.6, text: "0.6" },
    { at: 63.8, text: "0.8" },
    { at: 36, text: "1" },
  ]);
  assert.deepEqual(layout.xTicks, [
    { at: 39, text: "0" },
    { at: 170.5, text: "5" },
    { at: 302, text: "10" },
  ]);
});

test("a logarithmic scale gives each decade the same room, and a tick to each value where they are few", () => {
  const layout = plotLayout(plot([point("a", 0.001, 0), point("b", 0.1, 1), point("c", 0.01, 1)], { scale: "log" }), SIZE);
  assert.deepEqual(
    layout.xTicks,
    [
      { at: 39, text: "0.001" },
      { at: 170.5, text: "0.01" },
      { at: 302, text: "0.1" },
    ],
  );
});

test("zero on a logarithmic scale stands at the left, apart from the rest", () => {
  const layout = plotLayout(plot([point("a", 0, 0), point("b", 0.01, 1), point("c", 0.1, 1)], { scale: "log" }), SIZE);
  assert.deepEqual(placesOf(layout), { a: [39, 175], b: [79, 36], c: [302, 36] });
});

test("a logarithmic scale with values below zero is drawn as a linear one", () => {
  const layout = plotLayout(plot([point("a", -1, 0), point("b", 1, 1), point("c", 0, 1)], { scale: "log" }), SIZE);
  assert.deepEqual(placesOf(layout), { a: [39, 175], b: [302, 36], c: [170.5, 36] });
});

test("categories stand in bands of one width, and their runs within three tenths of a band", () => {
  const points = Array.from({ length: 40 }, (_, index) => point(`run-${index}`, index % 4, index));
  const layout = plotLayout(plot(points, { scale: "category", categories: ["adam", "lion", "sgd", "a-very-long-name"] }), SIZE);
  const band = (314 - layout.left) / 4;
  for (const placed of layout.points) {
    const middle = layout.left + band * (placed.point.x + 0.5);
    assert.ok(Math.abs(placed.x - middle) <= band * 0.3 + 0.01, `${placed.point.record} at ${placed.x}, its band's middle ${middle}`);
  }
  assert.ok(new Set(layout.points.map(({ x }) => x)).size > 30, "runs of one category are spread");
  assert.equal(layout.xTicks[3]?.text.endsWith("…"), true);
  assert.deepEqual(plotLayout(plot(points, { scale: "category", categories: ["adam", "lion", "sgd", "x"] }), SIZE).points[7]?.x, layout.points[7]?.x);
});

test("the spread of runs hangs on their ids alone, and uses the whole room", () => {
  const shifts = Array.from({ length: 1000 }, (_, index) => scatter(`mlflow:${index}`));
  assert.deepEqual(shifts, Array.from({ length: 1000 }, (_, index) => scatter(`mlflow:${index}`)));
  assert.ok(shifts.every((shift) => shift >= -1 && shift <= 1));
  for (let part = -1; part < 1; part += 0.25) {
    const count = shifts.filter((shift) => shift >= part && shift < part + 0.25).length;
    assert.ok(count > 70 && count < 180, `${count} of 1000 in [${part}, ${part + 0.25})`);
  }
});

test("runs without a result stand in a lane below the values", () => {
  const layout = plotLayout(plot([point("a", 0, 0), point("b", 10, 1), point("died", 10, null, "dead_end"), point("runs", 0, null, "running")]), SIZE);
  assert.equal(layout.bottom, 163);
  assert.equal(layout.lane, 172);
  assert.equal(layout.left, 62); // "no result": 9 × 5.8 + 10 = 62.2
  assert.deepEqual(
    layout.points.map(({ point: { record }, place }) => [record, place]),
    [["a", "value"], ["runs", "lane"], ["died", "lane"], ["b", "value"]],
  );
  assert.equal(placesOf(layout).died?.[1], 172);
});

test("this record is drawn above all, the best below it, then dead ends", () => {
  const points = [point("mine", 1, 0.5, "dead_end", true), point("best", 2, 0.9), point("dead", 3, 0.95, "dead_end"), point("else", 4, 0.1)];
  const layout = plotLayout(plot(points), SIZE);
  assert.deepEqual(layout.points.map(({ point: { record } }) => record), ["else", "dead", "best", "mine"]);
  assert.deepEqual(layout.points.filter(({ isBest }) => isBest).map(({ point: { record } }) => record), ["best"]);
});

test("what is best hangs on the direction, and is not said without one", () => {
  const points = [point("low", 1, 0.1), point("high", 2, 0.9), point("dead", 3, 0.01, "dead_end")];
  const best = (direction: Plot["direction"]): string[] =>
    plotLayout(plot(points, { direction }), SIZE).points.filter(({ isBest }) => isBest).map(({ point: { record } }) => record);
  assert.deepEqual([best("max"), best("min"), best(null)], [["high"], ["low"], []]);
});

test("the draft's value is a line with its label, kept inside the frame", () => {
  const points = [point("a", 0.001, 0), point("b", 0.1, 1)];
  const middle = plotLayout(plot(points, { scale: "log", draft: 0.01, draft_text: "0.01" }), SIZE).draft;
  // "here 0.01": 9 bold letters of 5.8 × 1.16, and 12 around them
  assert.deepEqual(middle, { x: 170.5, text: "here 0.01", labelLeft: 134, labelWidth: 73 });
  const edge = plotLayout(plot(points, { scale: "log", draft: 1, draft_text: "1.0" }), SIZE).draft;
  assert.equal(edge?.x, 302);
  assert.equal(edge.labelLeft + edge.labelWidth, 314);
  assert.equal(plotLayout(plot(points), SIZE).draft, null);
});

test("a draft beyond all runs widens the scale", () => {
  const layout = plotLayout(plot([point("a", 0, 0), point("b", 5, 1)], { draft: 10, draft_text: "10" }), SIZE);
  assert.deepEqual([placesOf(layout).b?.[0], layout.draft?.x], [170.5, 302]);
});

test("a result that is far out does not squeeze the others: it is drawn at the edge and counted", () => {
  const points = Array.from({ length: 9 }, (_, index) => point(`r${index}`, index, index + 1));
  const layout = plotLayout(plot([...points, point("huge", 4, 1000)]), SIZE);
  const huge = layout.points.find((placed) => placed.point.record === "huge");
  assert.deepEqual([huge?.place, huge?.y, layout.offScale], ["above", 27, 1]);
  assert.equal(placesOf(layout).r8?.[1], 36);
  const own = plotLayout(plot([...points, point("huge", 4, 1000, "dead_end", true)]), SIZE);
  assert.equal(own.offScale, 0, "the record itself is never off the scale");
});

test("results that span decades get a logarithmic scale", () => {
  const layout = plotLayout(plot([1e-3, 1e-2, 1e-1, 1, 10].map((y, index) => point(`r${index}`, index, y))), SIZE);
  assert.deepEqual(layout.points.map(({ y }) => y).sort((a, b) => a - b), [36, 70.75, 105.5, 140.25, 175]);
});

test("where lower is better there is room for the best's label below", () => {
  const layout = plotLayout(plot([point("a", 0, 0), point("b", 10, 1), point("c", 5, 0.5)], { direction: "min" }), SIZE);
  assert.deepEqual(placesOf(layout).a, [39, 163]);
  assert.equal(layout.best?.text, "best 0");
});

test("equal results and a single value stand in the middle", () => {
  const layout = plotLayout(plot([point("a", 3, 0.5), point("b", 3, 0.5, "works", true)]), SIZE);
  assert.equal(placesOf(layout).b?.[1], 105.5);
  assert.equal(placesOf(layout).b?.[0], (layout.left + 12 + 302) / 2);
});

test("a value that many runs share is summed up by its middle result", () => {
  const points = [0, 1, 2].flatMap((x) => [0.1, 0.2, 0.9].map((y, index) => point(`${x}-${index}`, x, y + x)));
  const { trend, medians } = plotLayout(plot(points), SIZE);
  const y = (value: number): number => Math.round((175 - ((value - 0.1) / 2.8) * 139) * 100) / 100;
  assert.deepEqual(trend.map((one) => one.y), [y(0.2), y(1.2), y(2.2)]);
  assert.deepEqual(medians, []);
  const grouped = plotLayout(plot(points, { scale: "category", categories: ["a", "b", "c"] }), SIZE);
  assert.deepEqual(grouped.medians.map((one) => one.y), [y(0.2), y(1.2), y(2.2)]);
  assert.deepEqual(grouped.trend, []);
});

test("labels do not touch each other", () => {
  const points = [0.0001, 0.00011, 0.00012, 0.5, 0.51, 1].map((x, index) => point(`r${index}`, x, index));
  const { xTicks } = plotLayout(plot(points), SIZE);
  for (const [index, tick] of xTicks.slice(1).entries()) {
    const before = xTicks[index];
    assert.ok(before && tick.at - before.at > ((tick.text.length + before.text.length) / 2) * 5.8, `${before?.text} and ${tick.text}`);
  }
  assert.equal(xTicks.at(-1)?.text, "1");
});

test("the best result's label hides no run", () => {
  const crowd = Array.from({ length: 400 }, (_, index) => point(`r${index}`, index % 20, Math.floor(index / 20)));
  const { best, points } = plotLayout(plot([point("top", 10, 20), ...crowd]), SIZE);
  if (best === null) { assert.ok(points.length === 401); return; }
  assert.ok(points.every((one) => one.isBest || Math.abs(one.y - best.y) >= 5 || Math.abs(one.x - best.x) >= 15));
});

test("of very many runs every n-th is drawn, rare outcomes and this record among them", () => {
  const points = Array.from({ length: 5000 }, (_, index) =>
    point(`r${index}`, index, index, index % 500 === 3 ? "dead_end" : "works", index === 4321),
  );
  const layout = plotLayout(plot(points), SIZE);
  assert.ok(layout.points.length <= MOST_POINTS + 2, `${layout.points.length} points`);
  assert.equal(layout.points.length + layout.omitted, 5000);
  assert.equal(layout.points.filter(({ point: { outcome } }) => outcome === "dead_end").length, 2); // of ten, every fifth
  assert.equal(layout.points.at(-1)?.point.record, "r4321");
});

test("no number that reaches a plot makes a place that is none", () => {
  const odd = [NaN, Infinity, -Infinity, 0, -0, 5e-324, 1.7e308, -1.7e308, 1e-12];
  const points = odd.flatMap((x, i) => odd.map((y, j) => point(`${i}-${j}`, x, y)));
  for (const scale of ["linear", "log", "category"] as const) {
    const layout = plotLayout(plot(points, { scale, categories: scale === "category" ? ["a"] : null, draft: NaN }), SIZE);
    for (const { x, y } of layout.points) assert.ok(Number.isFinite(x) && Number.isFinite(y), `${scale}: ${x}, ${y}`);
    for (const { at } of [...layout.xTicks, ...layout.yTicks]) assert.ok(Number.isFinite(at), `${scale}: tick at ${at}`);
  }
  assert.deepEqual(plotLayout(plot([]), SIZE).points, []);
});

test("arrow keys walk from left to right, and a point says what it is", () => {
  const points = [point("c", 3, 1), point("a", 1, 1), point("b", 2, null, "dead_end"), point("m", 0, 2, "works", true)];
  const drawn = plot(points);
  const layout = plotLayout(drawn, SIZE);
  assert.deepEqual(walkingOrder(layout).map((index) => layout.points[index]?.point.record), ["m", "a", "b", "c"]);
  const say = (index: number): string => pointText(drawn, points[index] ?? point("", 0, 0), (outcome) => outcome);
  assert.equal(say(2), "b: lr 2, no result, dead_end");
  assert.equal(say(3), "m (this record): lr 0, val_f1 2, works");
});

test("numbers are written as people write them", () => {
  const written = [0, 0.05, 0.001, 0.0003, 4096, 131072, 0.91237, -2.5, 1.5e-7, 1e6, "nan", "-inf", null] as const;
  assert.deepEqual(
    written.map((value) => numberText(value)),
    ["0", "0.05", "0.001", "3e-4", "4096", "1.311e5", "0.9124", "−2.5", "1.5e-7", "1e6", "nan", "−inf", "–"],
  );
  assert.deepEqual([signedText(0.01), signedText(-2), signedText(0)], ["+0.01", "−2", "0"]);
});

test("steps are round", () => {
  assert.deepEqual([roundStep(1, 5), roundStep(1, 3), roundStep(97, 4), roundStep(0.003, 5)], [0.2, 0.5, 50, 0.001]);
  assert.deepEqual(roundValues(0.13, 0.41, 4), [0.2, 0.3, 0.4]);
  assert.deepEqual(roundValues(5, 5, 4), [5]);
  assert.deepEqual(roundValues(1e17, 1e17 + 64, 4), [1e17]);
  assert.deepEqual(roundValues(-1.7e308, 1.7e308, 4), [-1.7e308, 1.7e308]);
  assert.deepEqual(roundLogValues(1e-4, 1e-1, 5), [1e-4, 1e-3, 1e-2, 1e-1]);
  assert.deepEqual(roundLogValues(1, 10, 5), [1, 2, 5, 10]);
  assert.deepEqual(roundLogValues(1e-8, 1, 4), [1e-8, 1e-5, 1e-2]);
});
