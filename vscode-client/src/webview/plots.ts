/** The plots side by side, their legend, and the same values as a table. */

import type { Plot } from "../protocol";
import type { PanelModel } from "../record/model";
import { OUTCOMES } from "../views/words";
import { numberText } from "../record/numbers";
import { button, data, element, setChildren, svgElement, type Child } from "./dom";
import { outcomeIcon } from "./marks";
import { focusName, send } from "./page";
import { drawPlot, type DrawnPlot } from "./plot";

const LEAST_WIDTH = 240;
const MOST_WIDTH = 620;
const GAP = 16;
const HEIGHT = 200;

/** The plots as they stand: one whose values did not change is not drawn anew, and a line moves from where it stood. */
let standing = new Map<string, DrawnPlot & { from: string; width: number }>();
const grid = element("div", { class: "plots" });
let hasTable = false;

export function plots(model: PanelModel, width: number): Child[] {
  const count = model.plots.length;
  const fitting = Math.max(1, Math.min(3, Math.floor((width + GAP) / (LEAST_WIDTH + GAP))));
  const columns = Math.ceil(count / Math.ceil(count / fitting));
  const each = Math.min(MOST_WIDTH, Math.floor((width - GAP * (columns - 1)) / columns));
  const fontSize = labelSize();
  const size = { width: each, height: HEIGHT, fontSize };
  const next = new Map<string, DrawnPlot & { from: string; width: number }>();
  for (const plot of model.plots) {
    const name = `${model.id}:${plot.key}`;
    const from = JSON.stringify([plot, size]);
    const before = standing.get(name);
    if (before?.from === from) next.set(name, before);
    else next.set(name, { ...drawPlot(plot, size, before?.width === each ? before.draftAt : null), from, width: each });
  }
  standing = next;
  const drawn = [...next.values()];
  setChildren(grid, drawn.map(({ figure }) => figure));
  grid.style.gridTemplateColumns = `repeat(${columns}, ${each}px)`;
  return [legend(model, drawn.some(({ hasMiddles }) => hasMiddles)), grid, table(model)];
}

function labelSize(): number {
  const size = Number.parseFloat(getComputedStyle(document.body).fontSize);
  return Math.max(9, (Number.isFinite(size) ? size : 13) * 0.85);
}

function legend(model: PanelModel, hasMiddles: boolean): HTMLElement {
  const hasDraft = model.plots.some((plot) => plot.draft !== null);
  const hasThis = model.plots.some((plot) => plot.points.some((point) => point.is_this));
  const sample = (...content: SVGElement[]): SVGElement => svgElement("svg", { class: "icon", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, ...content);
  return element(
    "ul",
    { class: "legend", "aria-label": "Legend" },
    ...model.outcomes.map((outcome) => element("li", {}, outcomeIcon(outcome), OUTCOMES[outcome].words)),
    hasMiddles && element("li", {}, sample(svgElement("g", { class: "middles" }, svgElement("path", { d: "M-7 0H7" }))), "median"),
    hasThis && element("li", {}, sample(svgElement("circle", { class: "ring", r: 5.5 })), "this record"),
    hasDraft && element("li", {}, sample(svgElement("path", { class: "draft-line", d: "M0-7V7" })), "the current config"),
  );
}

/** Drawn when it is first opened: it may be thousands of rows. */
function table(model: PanelModel): HTMLElement {
  const node = element("details", { class: "values" }, element("summary", { "data-focus": "values" }, "The same as a table"));
  const fill = (): void => {
    if (node.childElementCount > 1) return;
    node.append(...model.plots.map((plot) => valueTable(plot)));
  };
  node.addEventListener("toggle", () => {
    hasTable = node.open;
    if (node.open) fill();
  });
  if (hasTable) {
    fill();
    node.open = true;
  }
  return node;
}

function valueTable(plot: Plot): HTMLElement {
  const points = [...plot.points].sort((a, b) => a.x - b.x || (a.y ?? Infinity) - (b.y ?? Infinity));
  return element(
    "table",
    {},
    element("caption", {}, data(plot.key), " against ", data(plot.metric)),
    element("thead", {}, element("tr", {}, ...["run", plot.key, plot.metric, "outcome"].map((name) => element("th", { scope: "col" }, data(name))))),
    element(
      "tbody",
      {},
      ...points.map((point) =>
        element(
          "tr",
          { class: point.is_this ? "self" : null },
          element(
            "th",
            { scope: "row" },
            point.is_this
              ? data(point.short)
              : button(focusName(`value:${plot.key}`, point.record), "link", () => { send({ type: "show", record: point.record }); }, data(point.short)),
          ),
          element("td", {}, data(plot.scale === "category" ? (plot.categories?.[point.x] ?? "?") : numberText(point.x))),
          element("td", { class: "figure" }, point.y === null ? "no result" : numberText(point.y)),
          element("td", {}, outcomeIcon(point.outcome), ` ${OUTCOMES[point.outcome].words}`),
        ),
      ),
    ),
  );
}
