/** The rows of *Related*: an experiment each, and below it why, what differs, how its score came about, its links. */

import type { Difference, Experiment, Experiments, Term } from "../protocol";
import { clipped, counted, line, visibleLines } from "../text";
import { nextLimit } from "./relatedQuery";
import type { Row } from "./row";
import { OUTCOMES, bar, causeWords, doesApply, outcomeWords, score, termName } from "./words";

const NOT_SET = "(not set)";
/** Here comes first, as in the hover. */
export const READING = "here → there: the value in this config, then that of the experiment";

export function relatedRows(answer: Experiments): Row[] {
  const rows = answer.experiments.map((experiment) => experimentRow(experiment, answer.uri));
  const next = nextLimit(answer);
  if (next !== undefined) rows.push(showMore(answer, next));
  return rows;
}

export function experimentRow(experiment: Experiment, uri: string): Row {
  const { record, url } = experiment;
  const name = line(experiment.name || experiment.short);
  return {
    id: record,
    label: name,
    description: summary(experiment),
    tooltip: () => tooltip(experiment),
    icon: OUTCOMES[experiment.outcome].icon,
    context: `experiment.${experiment.outcome}${url === null ? "" : ".url"}`,
    spoken: [outcomeWords(experiment.outcome, experiment.cause), name, closenessWords(experiment), resultWords(experiment), `rank ${experiment.rank}`, line(experiment.age, 40)]
      .filter((part) => part !== "")
      .join(", "),
    children: () => details(experiment, uri),
    command: { id: "tried.showRecord", title: "Show Record", arguments: [{ record, uri }] },
    record,
    uri,
    ...(url === null ? {} : { url }),
  };
}

/** "0.912 ± 0.004, 5 runs" */
export function resultWords({ result, runs }: Experiment): string {
  const text = result === null ? "" : line(result.text, 60);
  if (runs < 2) return text;
  return text === "" ? counted(runs, "run") : `${text}, ${counted(runs, "run")}`;
}

/** Why a row stands first whatever its score. */
function closenessWords({ closeness }: Experiment): string {
  return closeness === "repeat" ? "this config" : closeness === "nearest" ? "nearest" : "";
}

function summary(experiment: Experiment): string {
  const cause = experiment.cause === null || experiment.cause === "unknown" ? "" : line(causeWords(experiment.cause), 40);
  const parts = [closenessWords(experiment), resultWords(experiment), cause, `score ${score(experiment.score, 2)}`, line(experiment.age, 40)];
  return parts.filter((part) => part !== "").join(" · ");
}

function tooltip(experiment: Experiment): string {
  const { name, short, result, tags } = experiment;
  const lines = [
    outcomeWords(experiment.outcome, experiment.cause),
    name && name !== short ? `${line(name)} (${line(short)})` : line(short),
    result === null ? "" : `${line(result.metric, 60)}: ${resultWords(experiment)}${directionWords(result.direction)}`,
    `rank ${experiment.rank}, score ${score(experiment.score)}`,
    [line(experiment.age, 40), experiment.time === null ? "" : line(experiment.time, 40)].filter((part) => part !== "").join(", "),
    line(experiment.why, 500),
    tags.length === 0 ? "" : `tags: ${line(tags.join(", "), 300)}`,
  ];
  return lines.filter((part) => part !== "").join("\n");
}

function directionWords(direction: "min" | "max" | null): string {
  return direction === null ? "" : direction === "min" ? " (lower is better)" : " (higher is better)";
}

function details(experiment: Experiment, uri: string): Row[] {
  return [
    whyRow(experiment, uri),
    differencesRow(experiment, uri),
    scoreRow(experiment),
    ...replicates(experiment, uri),
    ...facts(experiment),
    ...links(experiment, uri),
  ];
}

function whyRow(experiment: Experiment, uri: string): Row {
  const { record, why, why_kind: kind } = experiment;
  const outcome = outcomeWords(experiment.outcome, experiment.cause);
  const isSaid = kind !== "none" && why !== "";
  const row = {
    id: "why",
    label: isSaid ? line(why, 300) : "Nobody wrote why",
    description: isSaid ? "" : outcome,
    icon: { name: kind === "written" ? "quote" : isSaid ? "note" : "edit" },
    context: "why",
    record,
    uri,
  };
  if (!isSaid) {
    return {
      ...row,
      tooltip: () => `${outcome}; click to record a conclusion`,
      command: { id: "tried.conclude", title: "Record a Conclusion", arguments: [{ record, uri }] },
    };
  }
  const author = kind === "written" ? "written down for this experiment" : "told from what the run left; nobody wrote a conclusion";
  return { ...row, tooltip: () => `${visibleLines(clipped(why, 500))}\n\n${outcome}; ${author}`, spoken: `why: ${line(why, 300)}` };
}

function differencesRow(experiment: Experiment, uri: string): Row {
  const { differences, record } = experiment;
  const total = Math.max(experiment.differences_total, differences.length);
  const row = { description: "", icon: { name: "diff" }, context: "differences", record, uri };
  // Ids of their own: VS Code would keep a row closed that had nothing below it before
  if (!experiment.is_compared) {
    return { ...row, id: "not compared", label: "Cannot be compared", tooltip: () => "This config and the experiment have no parameters that could be compared." };
  }
  if (total === 0) {
    return { ...row, id: "equal", label: "No compared parameter differs", tooltip: () => "Seeds, run names, paths and hardware are not compared." };
  }
  return {
    ...row,
    id: "differences",
    label: `Differs in ${counted(total, "parameter")}`,
    description: "here → there",
    tooltip: () => READING,
    isOpen: true,
    children: () => {
      const rows = differences.map((difference, place) => differenceRow(difference, place, record, uri));
      if (total > differences.length) rows.push(moreDifferences(total - differences.length, record, uri));
      return rows;
    },
  };
}

function differenceRow({ key, draft, record: there }: Difference, place: number, record: string, uri: string): Row {
  const [ours, theirs] = [draft, there].map((value) => (value === null ? NOT_SET : line(value, 80)));
  return {
    id: `${place}:${key}`,
    label: `${line(key, 120)}: ${ours} → ${theirs}`,
    description: "",
    tooltip: () => `${line(key, 500)}\nhere: ${full(draft)}\nthere: ${full(there)}`,
    context: "difference",
    spoken: `${line(key, 120)}: ${ours} here, ${theirs} there`,
    record,
    uri,
  };
}

function full(value: string | null): string {
  return value === null ? "not set" : line(value, 500);
}

function moreDifferences(count: number, record: string, uri: string): Row {
  return {
    id: "more",
    label: `+ ${count.toLocaleString("en-US")} more`,
    description: "",
    tooltip: () => "Show all of them",
    icon: { name: "ellipsis" },
    context: "more",
    command: { id: "tried.compare", title: "Compare with Record", arguments: [{ record, uri }] },
    record,
    uri,
  };
}

function scoreRow({ terms, score: value, rank }: Experiment): Row {
  return {
    id: "score",
    label: `Score ${score(value)}`,
    description: `rank ${rank}`,
    tooltip: () => "The sum of the terms below; a bar of 20 blocks stands for 1. A score is for ordering; it says nothing about how good an experiment was.",
    icon: { name: "graph" },
    context: "score",
    isOpen: true,
    children: () => terms.map(termRow),
  };
}

/** Numbers of one width come first, so that all bars begin at the same place and can be compared. */
function termRow(term: Term, place: number): Row {
  const name = termName(term.name);
  const { signal, weight, note } = term;
  const applies = doesApply(term);
  const value = applies ? score(term.value) : "does not apply";
  return {
    id: `${place}:${term.name}`,
    label: applies ? score(term.value) : "–",
    description: [bar(term.value), name].filter((part) => part !== "").join(" "),
    tooltip: () => {
      const product = signal === null || weight === null ? "" : ` = weight ${score(weight)} × signal ${score(signal)}`;
      return `${name} ${value}${product}${note === undefined ? "" : `\n${line(note, 500)}`}`;
    },
    context: "term",
    spoken: `${name} ${value}`,
  };
}

function replicates({ records, runs }: Experiment, uri: string): Row[] {
  if (runs < 2) return [];
  return [
    {
      id: "runs",
      label: counted(runs, "run"),
      description: "of the same experiment",
      tooltip: () => "Runs that differ in nothing that is compared: their results are averaged.",
      icon: { name: "versions" },
      context: "runs",
      children: () => {
        const rows: Row[] = records.map((record) => ({
          id: record,
          label: line(record),
          description: "",
          tooltip: () => line(record, 500),
          icon: { name: "history" },
          context: "run",
          command: { id: "tried.showRecord", title: "Show Record", arguments: [{ record, uri }] },
          record,
          uri,
        }));
        const rest = runs - records.length;
        if (rest > 0) {
          rows.push({ id: "more", label: `+ ${rest.toLocaleString("en-US")} more`, description: "", tooltip: () => "", icon: { name: "ellipsis" }, context: "more" });
        }
        return rows;
      },
    },
  ];
}

function facts({ tags, research_line: researchLine }: Experiment): Row[] {
  const rows: Row[] = [];
  if (tags.length > 0) {
    const text = tags.map((tag) => line(tag, 60)).join(", ");
    rows.push({ id: "tags", label: text, description: "", tooltip: () => `Tags: ${text}`, icon: { name: "tag" }, context: "tags", spoken: `tags: ${text}` });
  }
  if (researchLine !== null) {
    const text = line(researchLine, 120);
    rows.push({
      id: "line",
      label: text,
      description: "",
      tooltip: () => `Research line: ${text}`,
      icon: { name: "beaker" },
      context: "line",
      spoken: `research line: ${text}`,
    });
  }
  return rows;
}

function links({ record, short, source, url }: Experiment, uri: string): Row[] {
  const place = [...new Set([line(source.kind, 40), line(source.name, 120)])].join(" · ");
  const stored: Row = {
    id: "source",
    label: "Open where it is stored",
    description: place,
    tooltip: () => `${line(short)} is in ${place}`,
    icon: { name: "go-to-file" },
    context: "source",
    record,
    uri,
    command: { id: "tried.related.openSource", title: "Open Where It Is Stored", arguments: [{ record, uri }] },
  };
  if (url === null) return [stored];
  const page: Row = {
    id: "page",
    label: "Open the run's page",
    description: line(url, 120),
    tooltip: () => line(url, 500),
    icon: { name: "link-external" },
    context: "page",
    record,
    uri,
    url,
    command: { id: "tried.related.openRun", title: "Open the Run's Page", arguments: [{ record, uri, url }] },
  };
  return [page, stored];
}

function showMore(answer: Experiments, next: number): Row {
  const { length } = answer.experiments;
  return {
    id: "\0more",
    label: "Show more…",
    description: `${length.toLocaleString("en-US")} of ${answer.total.toLocaleString("en-US")}`,
    tooltip: () => `Show up to ${next.toLocaleString("en-US")}`,
    icon: { name: "ellipsis" },
    context: "more",
    command: { id: "tried.related.showMore", title: "Show More Experiments", arguments: [] },
  };
}
