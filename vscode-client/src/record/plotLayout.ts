/**
 * Where the parts of a plot stand: one parameter's value (x) against the objective (y), over the related records.
 *
 * Invariant: pure; no DOM, no clock, no chance. The same plot and size give the same places.
 */

import type { Outcome, Plot, PlotPoint } from "../protocol";
import { clipped } from "../text";
import { numberText, roundLogValues, roundValues } from "./numbers";

/** Of one plot; of more points every n-th is drawn, and the plot says so. */
export const MOST_POINTS = 1000;
/** Room for the runs without a result, under the values. */
const LANE = 18;
/** Between the frame and the outermost value. */
const INSET = 12;
/** The same above, and below where lower is better: room for the label of the best. */
const HEAD = 14;
const FOOT = { max: 6, min: 18 };
/** How far runs with one value are spread, so that none hides another; they stand at their value all the same. */
const SPREAD = 6;
/** From a point to its label. */
const LABEL_GAP = 7;
/** Of this many values at most the results are summed up one by one. */
const MOST_VALUES_WITH_MEDIANS = 12;
/** Labels of the draft and of the best run are bold. */
const BOLD = 1.16;
const MOST_VALUES_AS_TICKS = 7;
export const NO_RESULT = "no result";
/** Values this many quartile distances away would squeeze all others into a line: they are drawn at the edge. */
const FAR_OUT = 3;

export interface PlotSize {
  width: number;
  height: number;
  /** Of the labels; widths of texts are estimated by it. */
  fontSize: number;
}

export interface Tick {
  at: number;
  text: string;
}

/** `place`: at its value, in the lane of runs without a result, or beyond the upper or lower edge. */
export interface Placed {
  point: PlotPoint;
  x: number;
  y: number;
  place: "value" | "lane" | "above" | "below";
  isBest: boolean;
}

export interface PlotLayout {
  left: number;
  right: number;
  top: number;
  /** Of the values; the lane lies below it. */
  bottom: number;
  /** The middle of the lane; null where every run has a result. */
  lane: number | null;
  xTicks: Tick[];
  yTicks: Tick[];
  /** In the order in which they are drawn: this record last, above the others. */
  points: Placed[];
  draft: { x: number; text: string; labelLeft: number; labelWidth: number } | null;
  /** The middle result of each category with at least three. */
  medians: { from: number; to: number; y: number }[];
  /** On a scale of numbers: the middle results from value to value; empty where few runs share a value. */
  trend: { x: number; y: number }[];
  /** Where the best result is written; null where it would hide a run. */
  best: { x: number; y: number; text: string } | null;
  omitted: number;
  offScale: number;
}

interface Axis {
  place(value: number): number;
  ticks: Tick[];
}

export function plotLayout(plot: Plot, size: PlotSize): PlotLayout {
  const points = thinned(plot.points, MOST_POINTS);
  const results = points.flatMap((point) => (isFinite(point.y) ? [point.y] : []));
  const hasLane = points.some((point) => !isFinite(point.y));
  const characterWidth = size.fontSize * 0.58;
  const top = Math.round(size.fontSize * 2.2);
  const foot = Math.round(size.fontSize * 1.9);
  const bottom = size.height - foot - (hasLane ? LANE : 0);
  const upright = vertical(results, top + HEAD, bottom - FOOT[plot.direction ?? "max"], points.find((point) => point.is_this)?.y ?? null);
  const longest = Math.max(hasLane ? NO_RESULT.length : 2, ...upright.axis.ticks.map((tick) => tick.text.length));
  const left = Math.round(longest * characterWidth + 10);
  const right = size.width - 6;
  const level = horizontal(plot, points, left, right, characterWidth);
  const lane = hasLane ? bottom + LANE / 2 : null;
  const best = bestOf(points, plot.direction);
  const placed = points.map((point): Placed => {
    const x = round(level.place(point.x) + level.jitter(point));
    const isBest = point === best;
    if (!isFinite(point.y)) return { point, x, y: lane ?? bottom, place: "lane", isBest };
    if (point.y > upright.high) return { point, x, y: top + 5, place: "above", isBest };
    if (point.y < upright.low) return { point, x, y: bottom - 5, place: "below", isBest };
    return { point, x, y: round(upright.axis.place(point.y)), place: "value", isBest };
  });
  const drawn = [...placed].sort((a, b) => rankOf(a) - rankOf(b));
  const line = draftLine(plot, level, left, right, characterWidth);
  const hasFew = plot.scale === "category" || new Set(points.map((point) => point.x)).size <= MOST_VALUES_WITH_MEDIANS;
  const middles = hasFew ? medians(placed, level) : [];
  return {
    left,
    right,
    top,
    bottom,
    lane,
    xTicks: level.ticks,
    yTicks: upright.axis.ticks,
    points: drawn,
    draft: line,
    medians: plot.scale === "category" ? middles.map(({ x, y }) => ({ from: round(x - level.reach), to: round(x + level.reach), y })) : [],
    trend: plot.scale === "category" || middles.length < 3 ? [] : middles,
    best: bestLabel(placed, line?.x ?? null, { left, right, top, bottom }, size.fontSize),
    omitted: plot.points.length - points.length,
    offScale: placed.filter((one) => one.place === "above" || one.place === "below").length,
  };
}

/** A point's neighbours for somebody who walks through them by arrow keys: left to right, then top to bottom. */
export function walkingOrder(layout: PlotLayout): number[] {
  return layout.points
    .map((_, index) => index)
    .sort((a, b) => {
      const [one, two] = [layout.points[a], layout.points[b]];
      return one && two ? one.point.x - two.point.x || one.y - two.y || a - b : 0;
    });
}

/** What a point is, in words: for a tooltip and for those who hear the plot. */
export function pointText(plot: Plot, point: PlotPoint, word: (outcome: Outcome) => string): string {
  const value = plot.scale === "category" ? (plot.categories?.[point.x] ?? "?") : numberText(point.x);
  const result = isFinite(point.y) ? `${plot.metric} ${numberText(point.y)}` : "no result";
  return `${point.short}${point.is_this ? " (this record)" : ""}: ${plot.key} ${value}, ${result}, ${word(point.outcome)}`;
}

export function isFinite(value: number | null): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function rankOf(placed: Placed): number {
  if (placed.point.is_this) return 3;
  if (placed.isBest) return 2;
  return placed.point.outcome === "dead_end" ? 1 : 0;
}

/** Every n-th of each outcome, so that rare ones stay; this record always. */
function thinned(points: readonly PlotPoint[], most: number): PlotPoint[] {
  const known = points.filter((point) => Number.isFinite(point.x));
  if (known.length <= most) return known;
  const every = Math.ceil(known.length / most);
  const seen = new Map<Outcome, number>();
  return known.filter((point) => {
    const count = seen.get(point.outcome) ?? 0;
    seen.set(point.outcome, count + 1);
    return point.is_this || count % every === 0;
  });
}

function bestOf(points: readonly PlotPoint[], direction: Plot["direction"]): PlotPoint | null {
  if (direction === null) return null;
  let best: PlotPoint | null = null;
  for (const point of points) {
    if (!isFinite(point.y) || point.outcome === "dead_end") continue;
    const isBetter = best === null || (direction === "max" ? point.y > (best.y ?? 0) : point.y < (best.y ?? 0));
    if (isBetter) best = point;
  }
  return best;
}

function vertical(
  results: readonly number[],
  top: number,
  bottom: number,
  own: number | null,
): { axis: Axis; low: number; high: number } {
  const sorted = [...results].sort((a, b) => a - b);
  if (sorted.length === 0) return { axis: { place: () => (top + bottom) / 2, ticks: [] }, low: 0, high: 0 };
  const most = Math.max(2, Math.floor((bottom - top) / 26));
  const quartiles = [quantile(sorted, 0.25), quantile(sorted, 0.75)] as const;
  const isLogarithmic = at(sorted, 0) > 0 && at(sorted, -1) / at(sorted, 0) >= 1000 && quartiles[1] / quartiles[0] >= 10;
  if (isLogarithmic) {
    const [low, high] = [at(sorted, 0), at(sorted, -1)];
    const place = scale(Math.log10(low), Math.log10(high), bottom, top);
    const ticks = roundLogValues(low, high, most).map((value) => ({ at: round(place(Math.log10(value))), text: numberText(value) }));
    return { axis: { place: (value) => place(Math.log10(value)), ticks }, low, high };
  }
  const [low, high] = withoutFarOut(sorted, quartiles, own);
  const margin = high > low ? 0 : Math.abs(low) * 0.05 || 1;
  const place = scale(low - margin, high + margin, bottom, top);
  const ticks = roundValues(low - margin, high + margin, most).map((value) => ({ at: round(place(value)), text: numberText(value) }));
  return { axis: { place, ticks }, low, high };
}

/** Without the few values that lie too far out to share a scale with the rest; all where that is not plain. */
function withoutFarOut(sorted: readonly number[], [lower, upper]: readonly [number, number], own: number | null): [number, number] {
  const all: [number, number] = [at(sorted, 0), at(sorted, -1)];
  const distance = (upper - lower) * FAR_OUT;
  if (sorted.length < 8 || distance === 0) return all;
  const near = sorted.filter((value) => value === own || (value >= lower - distance && value <= upper + distance));
  return near.length < sorted.length * 0.85 ? all : [at(near, 0), at(near, -1)];
}

interface LevelAxis extends Axis {
  jitter(point: PlotPoint): number;
  /** Half the length of a category's middle. */
  reach: number;
}

function horizontal(plot: Plot, points: readonly PlotPoint[], left: number, right: number, characterWidth: number): LevelAxis {
  if (plot.scale === "category") return categories(plot.categories ?? [], left, right, characterWidth);
  const tried = new Set(points.map((point) => point.x));
  const hasDraft = plot.draft !== null && Number.isFinite(plot.draft);
  const distinct = [...new Set([...tried, ...(hasDraft ? [plot.draft ?? 0] : [])])].sort((a, b) => a - b);
  // A logarithm has no place for zero and for what is below it: zero gets one of its own at the left, the rest none.
  const isLogarithmic = plot.scale === "log" && at(distinct, 0) >= 0 && at(distinct, -1) > 0;
  const hasZero = isLogarithmic && distinct[0] === 0;
  const positive = hasZero ? distinct.slice(1) : distinct;
  const low = at(positive, 0);
  const high = at(positive, -1);
  const zeroRoom = hasZero && positive.length > 0 ? Math.min(40, (right - left) * 0.15) : 0;
  const from = left + INSET + zeroRoom;
  const to = right - INSET;
  const measure = isLogarithmic ? Math.log10 : (value: number): number => value;
  const inner = scale(measure(low), measure(high), from, to);
  const place = (value: number): number => (hasZero && value === 0 ? left + INSET : inner(measure(value)));
  const most = Math.max(2, Math.floor((to - from) / (characterWidth * 8)));
  const rounded = isLogarithmic ? roundLogValues(low, high, most) : roundValues(low, high, most);
  // The values that were tried, where they are few; that of the draft has a label of its own.
  const few = distinct.filter((value) => tried.has(value));
  const chosen = few.length <= MOST_VALUES_AS_TICKS ? few : hasZero ? [0, ...rounded] : rounded;
  const ticks = chosen.map((value) => ({ at: round(place(value)), text: numberText(value) }));
  const gaps = distinct.slice(1).map((value, index) => place(value) - place(distinct[index] ?? value));
  const spread = points.length >= tried.size * 2 ? Math.min(SPREAD, Math.min(...gaps) / 4) : 0;
  const jitter = (point: PlotPoint): number => (point.is_this ? 0 : spread * scatter(point.record));
  return { place, ticks: apart(ticks, characterWidth), jitter, reach: 0 };
}

function categories(names: readonly string[], left: number, right: number, characterWidth: number): LevelAxis {
  const band = (right - left) / Math.max(1, names.length);
  const place = (index: number): number => left + band * (Math.min(Math.max(0, index), Math.max(0, names.length - 1)) + 0.5);
  const room = Math.floor((band - 6) / characterWidth);
  const every = room >= 3 ? 1 : Math.ceil((characterWidth * 6) / band);
  const length = Math.max(3, Math.floor((band * every - 6) / characterWidth));
  const ticks = names.flatMap((name, index) => (index % every === 0 ? [{ at: round(place(index)), text: cut(name, length) }] : []));
  const spread = Math.min(band * 0.3, 22);
  return { place, ticks, jitter: (point) => spread * scatter(point.record), reach: Math.min(band * 0.38, 28) };
}

function draftLine(plot: Plot, level: LevelAxis, left: number, right: number, characterWidth: number): PlotLayout["draft"] {
  if (plot.draft === null || !Number.isFinite(plot.draft)) return null;
  const value = plot.draft_text ?? (plot.scale === "category" ? (plot.categories?.[plot.draft] ?? "") : numberText(plot.draft));
  const text = cut(`here ${value}`, 24);
  const x = round(level.place(plot.draft));
  const labelWidth = Math.ceil(text.length * characterWidth * BOLD + 12);
  const labelLeft = Math.max(left, Math.min(right - labelWidth, x - labelWidth / 2));
  return { x, text, labelLeft: round(labelLeft), labelWidth };
}

/** Of each value with at least three results, from left to right. */
function medians(placed: readonly Placed[], level: LevelAxis): { x: number; y: number }[] {
  const groups = new Map<number, number[]>();
  for (const { point, place, y } of placed) {
    if (place !== "value") continue;
    const heights = groups.get(point.x);
    if (heights) heights.push(y);
    else groups.set(point.x, [y]);
  }
  return [...groups]
    .filter(([, heights]) => heights.length >= 3)
    .map(([value, heights]) => ({ x: round(level.place(value)), y: round(quantile(heights.sort((a, b) => a - b), 0.5)) }))
    .sort((a, b) => a.x - b.x);
}

/** Above, below or beside its point, the first of these that hides neither a run nor the draft's line. */
function bestLabel(
  placed: readonly Placed[],
  draft: number | null,
  frame: { left: number; right: number; top: number; bottom: number },
  fontSize: number,
): PlotLayout["best"] {
  const best = placed.find((one) => one.isBest && one.place === "value");
  if (!best || placed.length < 3) return null;
  const text = `best ${numberText(best.point.y)}`;
  const half = (text.length * fontSize * 0.58 * BOLD) / 2;
  const gap = LABEL_GAP + (best.point.is_this ? 5 : 0);
  const rise = fontSize / 2 + gap;
  const side = half + gap;
  for (const [right, down] of [[0, -rise], [side, 0], [-side, 0], [side, -rise / 2], [-side, -rise / 2], [0, rise]] as const) {
    const [x, y] = [best.x + right, best.y + down];
    const isInside = x - half >= frame.left && x + half <= frame.right && y - fontSize / 2 >= frame.top - 5 && y + fontSize / 2 <= frame.bottom;
    const hides = placed.some((one) => one !== best && Math.abs(one.x - x) < half + 4 && Math.abs(one.y - y) < fontSize / 2 + 4);
    if (isInside && !hides && (draft === null || Math.abs(draft - x) > half + 2)) return { x: round(x), y: round(y), text };
  }
  return null;
}

/** From left to right, without those whose labels would touch the one before; the last stays rather than the one before it. */
function apart(ticks: readonly Tick[], characterWidth: number): Tick[] {
  const kept: Tick[] = [];
  const touches = (one: Tick, two: Tick): boolean => two.at - one.at < ((one.text.length + two.text.length) / 2 + 1) * characterWidth;
  for (const [index, tick] of ticks.entries()) {
    let before = kept.at(-1);
    if (index === ticks.length - 1) {
      while (before && kept.length > 1 && touches(before, tick)) {
        kept.pop();
        before = kept.at(-1);
      }
    }
    if (!before || !touches(before, tick)) kept.push(tick);
  }
  return kept;
}

function scale(low: number, high: number, from: number, to: number): (value: number) => number {
  // Halves, since the whole span of two numbers may be too large for one.
  const span = high / 2 - low / 2;
  return span > 0 ? (value) => from + ((value / 2 - low / 2) / span) * (to - from) : () => (from + to) / 2;
}

/** Linear between the two nearest. */
function quantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const lower = at(sorted, Math.floor(position));
  return lower + (at(sorted, Math.ceil(position)) - lower) * (position - Math.floor(position));
}

function at(values: readonly number[], index: number): number {
  return values.at(index) ?? 0;
}

/** In [-1, 1], by the record's id alone (FNV-1a): the same run stands at the same place every time. */
export function scatter(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  // The low bits of FNV-1a differ little between short ids that end alike: mix them once.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
  return ((hash ^ (hash >>> 13)) >>> 0) / 0xffffffff * 2 - 1;
}

function cut(text: string, length: number): string {
  return clipped(text, Math.max(2, length));
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
