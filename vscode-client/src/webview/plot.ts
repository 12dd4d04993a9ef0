/** One plot: a parameter's value against the objective, each run a point that can be pointed at, walked to and opened. */

import type { Outcome, Plot } from "../protocol";
import { OUTCOMES } from "../views/words";
import { numberText } from "../record/numbers";
import { isFinite, NO_RESULT, plotLayout, pointText, walkingOrder, type Placed, type PlotLayout } from "../record/plotLayout";
import { data, element, svgElement } from "./dom";
import { outcomeIcon, outcomeShape } from "./marks";
import { send } from "./page";

/** A pointer this near to a point, in pixels, points at it. */
const REACH = 16;

export interface DrawnPlot {
  figure: HTMLElement;
  /** Where the line of the current value stands; null without one. */
  draftAt: number | null;
  hasMiddles: boolean;
}

export function drawPlot(plot: Plot, size: { width: number; height: number; fontSize: number }, before: number | null): DrawnPlot {
  const layout = plotLayout(plot, size);
  const points = layout.points.map((placed, index) => pointElement(plot, placed, index));
  const canvas = svgElement(
    "svg",
    {
      class: "canvas",
      width: size.width,
      height: size.height,
      viewBox: `0 0 ${size.width} ${size.height}`,
      role: "group",
      "aria-label": summary(plot, layout),
    },
    axes(layout),
    middles(layout),
    draftElement(layout, size.fontSize, before),
    svgElement("g", { class: "points" }, ...points),
    layout.best && svgElement("text", { class: "best", x: layout.best.x, y: layout.best.y, "aria-hidden": "true" }, layout.best.text),
  );
  const tip = element("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const stage = element("div", { class: "stage" }, canvas, tip);
  const figure = element("figure", { class: "plot" }, caption(plot), stage, remarks(layout));
  listen(plot, layout, stage, canvas, points, tip);
  return { figure, draftAt: layout.draft?.x ?? null, hasMiddles: layout.medians.length + layout.trend.length > 0 };
}

function summary(plot: Plot, layout: PlotLayout): string {
  const draft = layout.draft ? ` The current config has ${layout.draft.text.replace(/^here /, "")}.` : "";
  return `${plot.key} against ${plot.metric}, ${layout.points.length} runs.${draft} Arrow keys walk through the runs, Enter opens one.`;
}

function caption(plot: Plot): HTMLElement {
  const goal =
    plot.direction === null
      ? []
      : [element("span", { class: "goal" }, plot.direction === "max" ? "↑ better" : "↓ better")];
  return element(
    "figcaption",
    {},
    keyName(plot.key),
    element("span", { class: "plot-metric" }, data(plot.metric), ...goal),
  );
}

/** The last part of a key tells it from others: where room is short, what stands before it gives way. */
function keyName(key: string): HTMLElement {
  const start = key.lastIndexOf(".") + 1;
  return element("span", { class: "plot-key", title: key }, start > 0 && data(key.slice(0, start), "prefix"), data(key.slice(start), "last"));
}

function remarks(layout: PlotLayout): HTMLElement | null {
  const parts = [
    layout.offScale > 0 && `${layout.offScale} off the scale, drawn at the edge`,
    layout.omitted > 0 && `${layout.omitted} more runs are not drawn`,
  ].filter((part) => part !== false);
  return parts.length > 0 ? element("p", { class: "remark" }, parts.join("; ")) : null;
}

function axes({ left, right, top, bottom, lane, xTicks, yTicks }: PlotLayout): SVGElement {
  const foot = lane === null ? bottom : lane + (lane - bottom);
  return svgElement(
    "g",
    { class: "axes", "aria-hidden": "true" },
    ...yTicks.map(({ at }) => svgElement("path", { class: "grid", d: `M${left} ${at}H${right}` })),
    ...yTicks.map(({ at, text }) => svgElement("text", { x: left - 6, y: at, class: "y-label" }, text)),
    ...xTicks.map(({ at }) => svgElement("path", { class: "tick", d: `M${at} ${foot}v4` })),
    ...xTicks.map(({ at, text }) => svgElement("text", { x: at, y: foot + 6, class: "x-label" }, text)),
    svgElement("path", { class: "axis", d: `M${left} ${top}V${foot}H${right}` }),
    lane !== null && svgElement("path", { class: "lane", d: `M${left} ${bottom}H${right}` }),
    lane !== null && svgElement("text", { x: left - 6, y: lane, class: "y-label" }, NO_RESULT),
  );
}

function draftElement(layout: PlotLayout, fontSize: number, before: number | null): SVGElement | null {
  const { draft, bottom, lane } = layout;
  if (draft === null) return null;
  const foot = lane === null ? bottom : lane + (lane - bottom);
  const height = Math.round(fontSize * 1.5);
  const group = svgElement(
    "g",
    { class: "draft", "aria-hidden": "true" },
    svgElement("path", { class: "draft-line", d: `M${draft.x} ${height}V${foot}` }),
    svgElement("rect", { class: "draft-box", x: draft.labelLeft, y: 0.5, width: draft.labelWidth, height, rx: 3 }),
    svgElement("text", { class: "draft-label", x: draft.labelLeft + draft.labelWidth / 2, y: height / 2 + 0.5 }, draft.text),
  );
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches || document.body.classList.contains("vscode-reduce-motion");
  if (before !== null && before !== draft.x && !isStill) {
    group.animate([{ transform: `translateX(${before - draft.x}px)` }, { transform: "none" }], { duration: 180, easing: "ease-out" });
  }
  return group;
}

function middles({ medians, trend }: PlotLayout): SVGElement {
  return svgElement(
    "g",
    { class: "middles", "aria-hidden": "true" },
    ...medians.map(({ from, to, y }) => svgElement("path", { d: `M${from} ${y}H${to}` })),
    trend.length > 0 && svgElement("path", { d: `M${trend.map(({ x, y }) => `${x} ${y}`).join("L")}` }),
  );
}

function pointElement(plot: Plot, placed: Placed, index: number): SVGGElement {
  const { point, place, x, y } = placed;
  const isTick = place === "lane" && point.outcome !== "dead_end";
  const shape = isTick ? svgElement("path", { class: `shape ${point.outcome}`, d: "M0-5V5" }) : outcomeShape(point.outcome);
  const edge = place === "above" ? "M-4-7 0-11 4-7" : place === "below" ? "M-4 7 0 11 4 7" : null;
  return svgElement(
    "g",
    {
      class: `point ${point.outcome}${point.is_this ? " this" : ""}${placed.isBest ? " is-best" : ""}`,
      transform: `translate(${x} ${y})`,
      role: "link",
      tabindex: -1,
      "aria-label": pointText(plot, point, wordOf),
      "data-index": index,
      "data-focus": `plot:${plot.key}:${point.record}`,
      "data-record": point.record,
    },
    svgElement("circle", { class: "halo", r: 8 }),
    point.is_this && svgElement("circle", { class: "ring", r: 9 }),
    shape,
    edge !== null && svgElement("path", { class: "edge", d: edge }),
  );
}

function wordOf(outcome: Outcome): string {
  return OUTCOMES[outcome].words;
}

/** On the stage, since a drawing that listens for the focus would take it itself. */
function listen(
  plot: Plot,
  layout: PlotLayout,
  stage: HTMLElement,
  canvas: SVGSVGElement,
  points: readonly SVGGElement[],
  tip: HTMLElement,
): void {
  const order = walkingOrder(layout);
  const start = order.find((index) => layout.points[index]?.point.is_this) ?? order[0];
  if (start !== undefined) points[start]?.setAttribute("tabindex", "0");
  let active: number | null = null;

  const point = (index: number | null): void => {
    if (index === active) return;
    if (active !== null) points[active]?.classList.remove("pointed");
    active = index;
    const placed = index === null ? undefined : layout.points[index];
    canvas.classList.toggle("pointing", placed !== undefined);
    if (!placed || index === null) {
      tip.hidden = true;
      return;
    }
    points[index]?.classList.add("pointed");
    showTip(tip, plot, placed, canvas.clientWidth);
  };
  const nearest = (event: MouseEvent): number | null => {
    const box = canvas.getBoundingClientRect();
    return nearestPoint(layout, event.clientX - box.left, event.clientY - box.top);
  };
  const indexOf = (target: EventTarget | null): number | null => {
    const group = target instanceof Element ? target.closest("[data-index]") : null;
    return group ? Number(group.getAttribute("data-index")) : null;
  };
  const open = (index: number | null): void => {
    const placed = index === null ? undefined : layout.points[index];
    if (placed && !placed.point.is_this) send({ type: "show", record: placed.point.record });
  };

  stage.addEventListener("pointermove", (event) => {
    point(nearest(event));
  });
  stage.addEventListener("pointerleave", () => {
    point(indexOf(document.activeElement));
  });
  stage.addEventListener("click", (event) => {
    open(nearest(event));
  });
  stage.addEventListener("focusin", (event) => {
    point(indexOf(event.target));
  });
  stage.addEventListener("focusout", () => {
    point(null);
  });
  stage.addEventListener("keydown", (event) => {
    const index = indexOf(event.target);
    if (index === null) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      open(index);
      return;
    }
    if (event.key === "Escape") {
      point(null);
      return;
    }
    const next = steppedTo(event.key, order.indexOf(index), order.length);
    if (next === null) return;
    event.preventDefault();
    const target = points[order[next] ?? 0];
    points[index]?.setAttribute("tabindex", "-1");
    target?.setAttribute("tabindex", "0");
    target?.focus();
  });
}

function steppedTo(key: string, at: number, count: number): number | null {
  switch (key) {
    case "ArrowRight":
    case "ArrowDown":
      return Math.min(count - 1, at + 1);
    case "ArrowLeft":
    case "ArrowUp":
      return Math.max(0, at - 1);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return null;
  }
}

function nearestPoint(layout: PlotLayout, x: number, y: number): number | null {
  let nearest: number | null = null;
  let least = REACH ** 2;
  for (const [index, placed] of layout.points.entries()) {
    const distance = (placed.x - x) ** 2 + (placed.y - y) ** 2;
    // Of two at one place the later, which lies above.
    if (distance <= least) [nearest, least] = [index, distance];
  }
  return nearest;
}

function showTip(tip: HTMLElement, plot: Plot, { point, x, y }: Placed, width: number): void {
  const value = plot.scale === "category" ? (plot.categories?.[point.x] ?? "?") : numberText(point.x);
  tip.replaceChildren(
    element("div", { class: "tip-name" }, outcomeIcon(point.outcome), data(point.short), point.is_this && element("span", { class: "quiet" }, "this record")),
    element("div", {}, data(plot.key, "quiet"), " ", data(value, "figure")),
    element("div", {}, data(plot.metric, "quiet"), " ", element("span", { class: "figure" }, isFinite(point.y) ? numberText(point.y) : "no result")),
  );
  tip.hidden = false;
  const isLeft = x > width / 2;
  tip.style.left = isLeft ? "" : `${x + 14}px`;
  tip.style.right = isLeft ? `${width - x + 14}px` : "";
  tip.style.top = `${Math.max(0, y - 20)}px`;
}
