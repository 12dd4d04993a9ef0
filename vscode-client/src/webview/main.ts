/** The page of the record panel: draws what the extension sends, and tells it what a person asks for. */

import type { RecordView } from "../protocol";
import type { ToPage } from "../record/messages";
import { panelModel, type PanelModel } from "../record/model";
import { conclusionBox } from "./conclusion";
import { button, element, setChildren, type Child } from "./dom";
import { keep, kept, send } from "./page";
import { plots } from "./plots";
import { breakdown, change, header, lineage, metrics, parameters, replicates, texts } from "./sections";

interface Section {
  key: string;
  title: (model: PanelModel) => string;
  isThere: (model: PanelModel) => boolean;
  /** What it is drawn from: it is drawn anew only when that changed. */
  from: (model: PanelModel) => unknown;
  draw: (model: PanelModel) => Child[];
}

const box = conclusionBox();
const SECTIONS: readonly Section[] = [
  {
    key: "plots",
    title: (model) => (model.plots.length === 1 ? "What it did" : "What each one did"),
    isThere: (model) => model.plots.length > 0,
    from: (model) => [model.id, model.plots, width()],
    draw: (model) => plots(model, width()),
  },
  {
    key: "parameters",
    title: (model) => (model.isCompared ? "What differs" : "Parameters"),
    isThere: () => true,
    from: (model) => [model.parameters, model.isCompared, model.short],
    draw: parameters,
  },
  { key: "metrics", title: () => "Metrics", isThere: (model) => model.metrics.length > 0, from: (model) => model.metrics, draw: metrics },
  {
    key: "change",
    title: () => "The change that produced it",
    isThere: ({ change: { summary, changes } }) => summary !== null || changes.length > 0,
    from: (model) => model.change,
    draw: change,
  },
  { key: "texts", title: () => "In its own words", isThere: (model) => model.texts.length > 0, from: (model) => [model.id, model.texts], draw: texts },
  {
    key: "lineage",
    title: () => "Lineage",
    isThere: ({ lineage: { ancestors, children } }) => ancestors.length + children.length > 0,
    from: (model) => [model.lineage, model.outcome, model.short],
    draw: lineage,
  },
  { key: "replicates", title: () => "Replicates", isThere: (model) => model.replicates !== null, from: (model) => model.replicates, draw: replicates },
  { key: "breakdown", title: () => "Why it is listed", isThere: (model) => model.breakdown !== null, from: (model) => model.breakdown, draw: breakdown },
];

const main = byId("record");
const notice = byId("notice");
const drawn = new Map<string, { node: HTMLElement; body: HTMLElement; heading: HTMLElement; from: string }>();
let shown: PanelModel | null = null;
let isFirst = true;

function byId(id: string): HTMLElement {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no ${id}`);
  return node;
}

function width(): number {
  const style = getComputedStyle(main);
  return Math.floor(main.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight));
}

function show(view: RecordView, revealed?: "parameters"): void {
  const model = panelModel(view);
  const isOther = shown?.id !== model.id;
  const top = isOther ? 0 : window.scrollY;
  shown = model;
  if (kept().record !== model.id) keep({ record: model.id });
  if (view.document !== null && kept().uri !== view.document) keep({ uri: view.document });
  draw(model);
  main.setAttribute("aria-busy", "false");
  notice.replaceChildren();
  window.scrollTo(0, isFirst ? (kept().scroll ?? 0) : top);
  isFirst = false;
  if (revealed) reveal(revealed);
}

/** Each part anew whose content changed; the rest, what is open, and the focus stay. */
function draw(model: PanelModel): void {
  const focused = document.activeElement?.getAttribute("data-focus") ?? null;
  part("header", () => element("header", {}), JSON.stringify(headerOf(model)), () => header(model));
  part("conclude", () => section("conclude", "Record a conclusion", true), "", () => [box.node]);
  box.update(model);
  for (const { key, title, isThere, from, draw: content } of SECTIONS) {
    if (!isThere(model)) {
      drawn.get(key)?.node.remove();
      drawn.delete(key);
      continue;
    }
    const name = title(model);
    part(key, () => section(key, name, true), JSON.stringify(from(model)), () => content(model));
    const heading = drawn.get(key)?.heading;
    if (heading && heading.textContent !== name) heading.textContent = name;
  }
  for (const key of ["header", "conclude", ...SECTIONS.map((one) => one.key)]) {
    const node = drawn.get(key)?.node;
    if (node && node.parentElement !== main) main.insertBefore(node, following(key));
  }
  if (focused !== null && document.activeElement?.getAttribute("data-focus") !== focused) {
    document.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }
}

function headerOf({ id, name, outcome, outcomeNote, result, headline, headlineKind, facts, tags, links }: PanelModel): unknown {
  return [id, name, outcome, outcomeNote, result, headline, headlineKind, facts, tags, links];
}

function following(key: string): HTMLElement | null {
  const keys = ["header", "conclude", ...SECTIONS.map((one) => one.key)];
  for (const later of keys.slice(keys.indexOf(key) + 1)) {
    const node = drawn.get(later)?.node;
    if (node?.parentElement === main) return node;
  }
  return null;
}

function part(key: string, make: () => HTMLElement, from: string, content: () => Child[]): void {
  let found = drawn.get(key);
  if (found?.from === from) return;
  if (!found) {
    const node = make();
    const heading = node.querySelector<HTMLElement>("h2") ?? node;
    found = { node, heading, body: node.querySelector<HTMLElement>(".body") ?? node, from };
    drawn.set(key, found);
  }
  found.from = from;
  setChildren(found.body, content());
}

function section(key: string, title: string, isOpen: boolean): HTMLElement {
  const node = element(
    "details",
    { class: "part", open: kept().sections?.[key] ?? isOpen },
    element("summary", { "data-focus": `summary:${key}` }, element("h2", { id: `title-${key}` }, title)),
    element("div", { class: "body" }),
  );
  node.addEventListener("toggle", () => {
    if (node.open !== (kept().sections?.[key] ?? isOpen)) keep({ sections: { ...kept().sections, [key]: node.open } });
  });
  return element("section", { id: key, "aria-labelledby": `title-${key}` }, node);
}

function reveal(key: string): void {
  const node = drawn.get(key)?.node;
  const details = node?.querySelector("details");
  if (details) details.open = true;
  node?.scrollIntoView({ block: "start" });
}

function tell(text: string, remedy: "restart" | "none"): void {
  main.setAttribute("aria-busy", "false");
  notice.replaceChildren(
    element(
      "div",
      { class: "notice" },
      element("p", { dir: "auto" }, text),
      remedy === "restart" && button("restart", "primary", () => { send({ type: "restart" }); }, "Restart Server"),
      remedy === "restart" && button("logs", "link", () => { send({ type: "showLogs" }); }, "Show Logs"),
    ),
  );
}

window.addEventListener("message", (event: MessageEvent<ToPage>) => {
  const message = event.data;
  switch (message.type) {
    case "record":
      show(message.view, message.revealed);
      break;
    case "loading":
      main.setAttribute("aria-busy", "true");
      if (!shown) notice.replaceChildren(element("p", { class: "quiet waiting" }, `Looking up ${message.short} …`));
      break;
    case "problem":
      tell(message.text, message.remedy);
      break;
    case "conclusion":
      box.finished(message.state, message.text, message.record);
      break;
  }
});

let scrolling: ReturnType<typeof setTimeout> | undefined;
window.addEventListener(
  "scroll",
  () => {
    clearTimeout(scrolling);
    scrolling = setTimeout(() => { keep({ scroll: window.scrollY }); }, 150);
  },
  { passive: true },
);

let resizing = 0;
new ResizeObserver(() => {
  cancelAnimationFrame(resizing);
  resizing = requestAnimationFrame(() => {
    if (shown) draw(shown);
  });
}).observe(main);

send({ type: "ready" });
