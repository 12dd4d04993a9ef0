/**
 * Elements made by hand.
 *
 * Invariant: text enters the page as text nodes and attribute values alone; no markup is ever parsed, and no attribute runs or styles
 * anything.
 */

export type Child = Node | string | null | undefined | false;
export type Attributes = Record<string, string | number | boolean | null | undefined>;

const SVG = "http://www.w3.org/2000/svg";
const FORBIDDEN = /^(?:on|style$|href$|src|action$|formaction$|xlink)/i;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  assign(node, attributes);
  append(node, children);
  return node;
}

export function svgElement<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Tag] {
  const node = document.createElementNS(SVG, tag);
  assign(node, attributes);
  append(node, children);
  return node;
}

/** Data of a record: its direction of writing stays its own. */
export function data(text: string, className?: string): HTMLElement {
  return element("bdi", { class: className }, text);
}

/** A button whose focus is found again when what holds it is drawn anew: `focus` names it. */
export function button(focus: string, className: string, press: () => void, ...children: Child[]): HTMLButtonElement {
  const node = element("button", { type: "button", class: className, "data-focus": focus }, ...children);
  node.addEventListener("click", press);
  return node;
}

/** Makes these the children; those that are there already are not touched, which keeps their focus and costs nothing. */
export function setChildren(parent: Element, children: readonly Child[]): void {
  const wanted = children.filter((child): child is Node | string => child instanceof Node || (typeof child === "string" && child !== ""));
  const staying = new Set<unknown>(wanted);
  for (const child of [...parent.childNodes]) {
    if (!staying.has(child)) child.remove();
  }
  for (const [index, child] of wanted.entries()) {
    const there = parent.childNodes.item(index) as ChildNode | null;
    if (there === child) continue;
    parent.insertBefore(typeof child === "string" ? document.createTextNode(child) : child, there);
  }
}

function assign(node: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (FORBIDDEN.test(name)) throw new Error(`${name} is not an attribute that this page sets`);
    if (value === null || value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(node: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
}
