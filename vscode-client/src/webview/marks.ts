/** The five outcomes as shapes: told apart without their colours, and the same in a badge, a list and a plot. */

import type { Outcome } from "../protocol";
import { OUTCOMES } from "../views/words";
import { element, svgElement } from "./dom";

/** Around (0, 0), within 5 to each side. */
export function outcomeShape(outcome: Outcome): SVGElement {
  const shape = { class: `shape ${outcome}` };
  switch (outcome) {
    case "dead_end":
      return svgElement("path", { ...shape, d: "M-4-4 4 4M4-4-4 4" });
    case "works":
      return svgElement("circle", { ...shape, r: 4.5 });
    case "inconclusive":
      return svgElement("path", { ...shape, d: "M0-5 5 0 0 5-5 0Z" });
    case "running":
      return svgElement("path", { ...shape, d: "M-3.5-4.5 4.5 0-3.5 4.5Z" });
    case "unknown":
      return svgElement("circle", { ...shape, r: 3.75 });
  }
}

export function outcomeIcon(outcome: Outcome): SVGElement {
  return svgElement("svg", { class: "icon", viewBox: "-7 -7 14 14", "aria-hidden": "true" }, outcomeShape(outcome));
}

/** For lists: the icon, and its word for those who do not see it. */
export function outcomeMark(outcome: Outcome): HTMLElement {
  const word = OUTCOMES[outcome].words;
  return element("span", { class: "mark", title: word }, outcomeIcon(outcome), element("span", { class: "unseen" }, `${word}: `));
}
