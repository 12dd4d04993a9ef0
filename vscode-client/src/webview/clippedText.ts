/** Long text that starts clipped, with a button that shows all of it; what was opened stays open when it is drawn anew. */

import { clipped } from "../text";
import { button, data, element } from "./dom";

const opened = new Set<string>();

/** A value within a row. */
export function clippedValue(name: string, text: string, most: number): HTMLElement {
  const value = data(text, "value");
  if (text.length <= most) return value;
  return element("span", { class: "clipped" }, value, expander(name, value, text, clipped(text, most)));
}

/** A text of several lines, as it was written. */
export function clippedBlock(name: string, text: string, preview: string): HTMLElement {
  const block = element("pre", { class: "written", dir: "auto", tabindex: 0, "data-focus": `pre:${name}` }, text);
  if (text === preview) return element("div", {}, block);
  return element("div", { class: "clipped" }, block, expander(name, block, text, preview));
}

function expander(name: string, target: HTMLElement, text: string, preview: string): HTMLButtonElement {
  const draw = (): void => {
    const isOpen = opened.has(name);
    target.textContent = isOpen ? text : preview;
    toggle.textContent = isOpen ? "show less" : "show all";
    toggle.setAttribute("aria-expanded", String(isOpen));
  };
  const toggle = button(`more:${name}`, "link", () => {
    if (!opened.delete(name)) opened.add(name);
    draw();
  });
  draw();
  return toggle;
}
