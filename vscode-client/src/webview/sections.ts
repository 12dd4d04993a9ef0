/** The parts of the page that are words and tables. Each takes what the model worked out, and answers with elements. */

import { barPlace, isDifference, type MetricModel, type NameModel, type PanelModel, type ParameterModel, type TermModel } from "../record/model";
import { clippedBlock, clippedValue } from "./clippedText";
import { button, data, element, type Child } from "./dom";
import { outcomeIcon, outcomeMark } from "./marks";
import { focusName, keep, kept, send } from "./page";

const LONGEST_VALUE = 140;
const FIRST_METRICS = 12;
const LONG_HEADLINE = 160;

export function header(model: PanelModel): Child[] {
  const { links } = model;
  return [
    element(
      "div",
      { class: "title-row" },
      element("h1", {}, data(model.short)),
      model.name !== "" && model.name !== model.short && data(model.name, "run-name"),
    ),
    element(
      "p",
      { class: `outcome ${model.outcome}` },
      outcomeIcon(model.outcome),
      element("strong", {}, model.outcomeWord),
      model.outcomeNote !== "" && element("span", { class: "quiet" }, " · ", model.outcomeNote),
      model.result !== null && data(model.result, "result"),
    ),
    element("p", { class: `headline ${model.headlineKind}${model.headline.length > LONG_HEADLINE ? " long" : ""}`, dir: "auto" }, model.headline),
    model.headlineNote !== "" && element("p", { class: "quiet" }, model.headlineNote),
    element(
      "dl",
      { class: "facts" },
      ...model.facts.map(({ label, text }) => element("div", {}, element("dt", {}, label), element("dd", {}, data(text)))),
    ),
    model.tags.length > 0 && element("ul", { class: "tags", "aria-label": "Tags" }, ...model.tags.map((tag) => element("li", {}, data(tag)))),
    (links.page !== null || links.folder || links.stored) &&
      element(
        "p",
        { class: "links" },
        links.page !== null && button("page", "link", () => { send({ type: "openPage" }); }, "Open the run’s page (", data(links.page), ")"),
        links.folder && button("folder", "link", () => { send({ type: "openFolder" }); }, "Show its folder"),
        links.stored && button("stored", "link", () => { send({ type: "openStored" }); }, "Open where it is stored"),
      ),
  ];
}

export function parameters(model: PanelModel): Child[] {
  const { rows, differing, same, total } = model.parameters;
  if (rows.length === 0) return [element("p", { class: "quiet" }, "The record names no parameters.")];
  if (!model.isCompared) {
    return [
      element("p", { class: "quiet" }, "No config is open beside it. Open one to see here what differs from it."),
      parameterTable(rows, false, model.short),
      leftOut(total - rows.length),
    ];
  }
  const table = parameterTable(rows, true, model.short);
  const said = element("p", { class: "quiet" }, differing === 0 ? "Nothing that is compared differs." : `${differing} of ${total} differ.`);
  if (same === 0) return [said, table, leftOut(total - rows.length)];
  const box = element("input", { type: "checkbox", "data-focus": "all-parameters" });
  const draw = (): void => {
    table.classList.toggle("all", box.checked);
    table.hidden = differing === 0 && !box.checked;
  };
  box.checked = kept().showsAll ?? false;
  box.addEventListener("change", () => {
    keep({ showsAll: box.checked });
    draw();
  });
  draw();
  const toggle = element("label", { class: "toggle" }, box, ` Show all (${same} more, equal or not compared)`);
  return [element("div", { class: "bar" }, said, toggle), table, leftOut(total - rows.length)];
}

function leftOut(count: number): HTMLElement | null {
  return count > 0 ? element("p", { class: "quiet" }, `${count} more are not listed.`) : null;
}

function parameterTable(rows: readonly ParameterModel[], isCompared: boolean, short: string): HTMLTableElement {
  const heads = [
    element("th", { scope: "col" }, "parameter"),
    isCompared && element("th", { scope: "col" }, "here"),
    element("th", { scope: "col" }, "there", element("span", { class: "unseen" }, ` (${short})`)),
  ];
  return element(
    "table",
    { class: `parameters${isCompared ? "" : " all alone"}` },
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...rows.map((row) => parameterRow(row, isCompared))),
  );
}

function parameterRow(row: ParameterModel, isCompared: boolean): HTMLTableRowElement {
  const cell = (side: "here" | "there", text: string | null): HTMLElement =>
    element(
      "td",
      { class: side },
      text === null ? element("span", { class: "quiet" }, "not set") : clippedValue(`${side}:${row.key}`, text, LONGEST_VALUE),
    );
  return element(
    "tr",
    { class: `${isDifference(row.status) ? "different" : "same"} ${row.status}` },
    element(
      "th",
      { scope: "row" },
      isCompared && element("span", { class: "sign", title: row.word, "aria-hidden": "true" }, row.mark),
      data(row.key),
      isCompared && element("span", { class: "unseen" }, ` (${row.word})`),
    ),
    isCompared && cell("here", row.here),
    cell("there", row.there),
  );
}

export function metrics(model: PanelModel): Child[] {
  const { hasBefore } = model;
  const table = element(
    "table",
    { class: "metrics" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        element("th", { scope: "col" }, "metric"),
        element("th", { scope: "col", class: "number" }, "value"),
        hasBefore && element("th", { scope: "col", class: "number" }, "before"),
        hasBefore && element("th", { scope: "col" }, "change"),
      ),
    ),
    element("tbody", {}, ...model.metrics.map((row, index) => metricRow(row, hasBefore, index))),
  );
  if (model.metrics.length <= FIRST_METRICS) return [table];
  const more = button("all-metrics", "link", () => {
    const isOpen = table.classList.toggle("all");
    more.textContent = isOpen ? "show fewer" : `show all ${model.metrics.length}`;
  });
  more.textContent = `show all ${model.metrics.length}`;
  return [table, more];
}

function metricRow(row: MetricModel, hasBefore: boolean, index: number): HTMLTableRowElement {
  return element(
    "tr",
    { class: `${row.isObjective ? "objective" : ""}${index >= FIRST_METRICS ? " further" : ""}` },
    element(
      "th",
      { scope: "row" },
      data(row.name),
      row.isObjective && element("span", { class: "badge" }, "objective"),
      row.goal !== "" && element("span", { class: "quiet goal" }, row.goal === "higher is better" ? "↑ better" : "↓ better"),
    ),
    element("td", { class: "number" }, row.value),
    hasBefore && element("td", { class: "number quiet" }, row.before),
    hasBefore && element("td", {}, delta(row)),
  );
}

function delta(row: MetricModel): HTMLElement | null {
  const parts = [row.arrow, row.delta, row.judgement].filter((part) => part !== "");
  return parts.length > 0 ? element("span", { class: `delta ${row.judgement}` }, parts.join(" ")) : null;
}

export function change({ change: { summary, changes, effects } }: PanelModel): Child[] {
  return [
    summary !== null && element("p", { dir: "auto" }, summary),
    changes.length > 0 && element("ul", { class: "changes" }, ...changes.map((line) => element("li", {}, data(line)))),
    effects.length > 0 &&
      element(
        "p",
        { class: "effects" },
        element("span", { class: "quiet" }, "What it did: "),
        ...effects.flatMap((row, index) => [
          index > 0 && ", ",
          data(row.name),
          ` ${row.before} → ${row.value} `,
          delta(row),
        ]),
      ),
  ];
}

export function texts(model: PanelModel): Child[] {
  return model.texts.map(({ key, title, text, preview }) =>
    element("div", { class: `text ${key}` }, element("h3", {}, title), clippedBlock(`${model.id}:${key}`, text, preview)),
  );
}

export function lineage(model: PanelModel): Child[] {
  const { ancestors, children, more } = model.lineage;
  return [
    element(
      "ol",
      { class: "lineage", "aria-label": "From the oldest ancestor to the children" },
      ...[...ancestors].reverse().map((name) => element("li", {}, nameButton("ancestor", name))),
      element(
        "li",
        { class: "self", "aria-current": "true" },
        outcomeMark(model.outcome),
        data(model.short, "short"),
        element("span", { class: "quiet" }, "this record"),
      ),
      ...children.map((name) => element("li", { class: "child" }, nameButton("child", name))),
    ),
    more > 0 && element("p", { class: "quiet" }, `${more} more children are not listed.`),
  ];
}

function nameButton(place: string, name: NameModel): HTMLButtonElement {
  return button(
    focusName(place, name.id),
    "row",
    () => { send({ type: "show", record: name.id }); },
    outcomeMark(name.outcome),
    data(name.short, "short"),
    data(name.headline, "line"),
  );
}

export function replicates(model: PanelModel): Child[] {
  if (model.replicates === null) return [];
  const { title, runs, more } = model.replicates;
  return [
    element("p", {}, data(title, "figure"), " ", element("span", { class: "quiet" }, "equal but for seeds and the like")),
    element(
      "ul",
      { class: "replicates" },
      ...runs.map((run) =>
        element(
          "li",
          { class: run.isThis ? "self" : null },
          run.isThis
            ? data(run.label, "short")
            : button(focusName("replicate", run.id), "link", () => { send({ type: "show", record: run.id }); }, data(run.label)),
          element("span", { class: "figure" }, run.value),
          run.isThis && element("span", { class: "quiet" }, "this record"),
        ),
      ),
    ),
    more > 0 && element("p", { class: "quiet" }, `${more} more are not listed.`),
  ];
}

export function breakdown({ breakdown: found }: PanelModel): Child[] {
  if (found === null) return [];
  const { below } = found;
  return [
    element(
      "p",
      {},
      element("span", { class: "quiet" }, "score "),
      element("strong", { class: "figure" }, found.score),
      found.rank !== "" && element("span", { class: "quiet" }, ` · ${found.rank}`),
      element("span", { class: "quiet" }, below > 0 ? ` · bars go from −${below} to 1` : " · a full bar is 1"),
    ),
    element(
      "table",
      { class: "breakdown" },
      element(
        "thead",
        { class: "unseen" },
        element("tr", {}, ...["term", "share", "value", "signal times weight"].map((name) => element("th", { scope: "col" }, name))),
      ),
      element("tbody", {}, ...found.terms.map((term) => termRow(term, below))),
    ),
  ];
}

function termRow(term: TermModel, below: number): HTMLTableRowElement {
  const bar = element("span", { class: `fill${term.isNegative ? " negative" : ""}` });
  const { start, width } = barPlace(term, below);
  bar.style.width = `${width * 100}%`;
  bar.style.marginInlineStart = `${start * 100}%`;
  return element(
    "tr",
    { class: term.applies ? null : "idle" },
    element("th", { scope: "row" }, data(term.name)),
    element("td", { class: "track", "aria-hidden": "true" }, element("span", { class: "rail" }, bar)),
    element("td", { class: "number figure" }, term.applies ? term.value : "–"),
    element("td", { class: "quiet" }, element("span", { class: "figure" }, term.working), term.working !== "" && term.note !== "" && " · ", term.note !== "" && data(term.note)),
  );
}
