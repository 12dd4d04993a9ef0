/** The rows of *Pool*: folders where there are several, their sources, and what is in the way. */

import type { FolderStatus, Skipped, SourceStatus, Status } from "../protocol";
import { counted, line } from "../text";
import type { Icon, Row } from "./row";
import { ago, bar, percent } from "./words";

const MOST_PROBLEMS = 50;
const HOW_TO_CONSENT = "You are asked when the server starts: choose “Allow” there, or run `tried allow`.";
/** Length of a bar for 100 %. */
const CELLS = 8;
/** As wide as a digit: bars behind it begin at the same place. */
const FIGURE_SPACE = "\u2007";
const WIDEST_SHARE = "100 %".length;

const KIND_ICONS: Record<string, string> = { journal: "book", "results-table": "table", commits: "git-commit", dvc: "git-branch" };
const PROBLEM: Icon = { name: "warning", color: "problemsWarningIcon.foreground" };
/** Records that are no experiments, one and many. */
const ROLES: Record<string, readonly [string, string]> = {
  launcher: ["launcher", "launchers"],
  step: ["pipeline step", "pipeline steps"],
  sweep: ["search as a whole", "searches as a whole"],
};
const COVERAGE = {
  conclusion: "say what came of them",
  lineage: "say what they come from",
  architecture: "state an architecture",
  timestamp: "have a time",
} as const;

export function poolRows(status: Status, now: Date): Row[] {
  const [only, ...others] = status.folders;
  if (only === undefined) return [];
  if (others.length === 0) return folderContent(only, now);
  return status.folders.map((folder) => ({
    id: folder.path,
    label: line(baseName(folder.path)),
    description: folderWords(folder),
    tooltip: () => line(folder.path, 500),
    icon: { name: "root-folder" },
    context: `folder.${folder.state}`,
    isOpen: true,
    children: () => {
      const rows = folderContent(folder, now);
      return rows.length > 0 ? rows : [noSource(folder.path)];
    },
    folder: folder.path,
  }));
}

/** Of a single folder the view itself says so. */
function noSource(folder: string): Row {
  return {
    id: "\0none",
    label: "No source was found",
    description: "Add one",
    tooltip: () => "No runs were found in this folder. Click to name a place where they are.",
    icon: { name: "circle-large-outline" },
    context: "empty",
    folder,
    command: { id: "tried.pool.addSource", title: "Add a Source", arguments: [{ folder }] },
  };
}

/** "1,204 records · 57 dead ends", beside the view's title. */
export function poolDescription({ folders }: Status): string {
  const totals = folders.flatMap((folder) => (folder.totals === null ? [] : [folder.totals]));
  if (totals.length === 0) return "";
  const records = totals.reduce((sum, one) => sum + one.records, 0);
  const deadEnds = totals.reduce((sum, one) => sum + one.dead_ends, 0);
  return `${counted(records, "record")} · ${counted(deadEnds, "dead end")}`;
}

function folderWords(folder: FolderStatus): string {
  if (folder.state === "unread") return "not read yet";
  if (folder.state === "reading") return "reading …";
  return folder.totals === null ? "" : counted(folder.totals.records, "record");
}

function folderContent(folder: FolderStatus, now: Date): Row[] {
  return [
    ...stateRows(folder),
    ...folder.consents.map(consentRow),
    ...folder.sources.map((source) => sourceRow(source, folder.path, now)),
    ...problemRows("notes", "Notes about the search", folder.notes),
  ];
}

function stateRows({ state, progress, path }: FolderStatus): Row[] {
  if (state === "unread") {
    return [
      {
        id: "\0state",
        label: "Not read yet",
        description: "Read it now",
        tooltip: () => "A folder is read when a config in it is opened. Click to read it now.",
        icon: { name: "circle-large-outline" },
        context: "unread",
        folder: path,
        command: { id: "tried.pool.rescanNow", title: "Rescan Sources", arguments: [] },
      },
    ];
  }
  if (state !== "reading") return [];
  const words = progress === null || progress.total <= 0 ? "" : `${progress.done.toLocaleString("en-US")} of ${progress.total.toLocaleString("en-US")}`;
  const what = progress === null ? "" : line(progress.what, 120);
  return [
    {
      id: "\0state",
      label: "Reading …",
      description: [words, what].filter((part) => part !== "").join(" · "),
      tooltip: () => ["Reading past experiments", words, what].filter((part) => part !== "").join("\n"),
      icon: { name: "sync" },
      context: "reading",
    },
  ];
}

function consentRow({ path, named_by: namedBy }: { path: string; named_by: string }): Row {
  const place = line(path, 200);
  return {
    id: `consent:${path}`,
    label: place,
    description: "not read without your consent",
    tooltip: () => `${place} lies outside of the workspace and is named by ${line(namedBy, 200)}.\n${HOW_TO_CONSENT}`,
    icon: { name: "shield" },
    context: "consent",
  };
}

function sourceRow(source: SourceStatus, folder: string, now: Date): Row {
  const name = line(nameOf(source, folder), 200);
  const { newest, kind } = source;
  const fresh = newest === null ? "" : ago(newest, now);
  const facts = [counted(source.records, "record"), counted(source.dead_ends, "dead end"), fresh];
  if (source.expected !== null) facts.push(`still reading, about ${source.expected.toLocaleString("en-US")}`);
  if (source.skipped.length > 0) facts.push(counted(source.skipped.length, "problem"));
  return {
    id: `${kind}:${source.path}`,
    label: name,
    description: facts.filter((part) => part !== "").join(" · "),
    tooltip: () =>
      [
        line(source.address ?? source.path, 500),
        `${line(kind, 40)}: ${counted(source.records, "record")}, ${counted(source.dead_ends, "dead end")}`,
        newest === null ? "" : `newest: ${line(newest, 40)}${fresh === "" ? "" : `, ${fresh}`}`,
        `read in ${source.seconds.toFixed(1)} s`,
      ]
        .filter((part) => part !== "")
        .join("\n"),
    icon: source.address === undefined ? { name: KIND_ICONS[kind] ?? "database" } : { name: "cloud" },
    context: source.address === undefined ? "source.local" : "source.remote",
    spoken: [line(kind, 40), name, ...facts].filter((part) => part !== "").join(", "),
    children: () => sourceDetails(source, now),
    folder,
  };
}

function sourceDetails(source: SourceStatus, now: Date): Row[] {
  const rows: Row[] = [];
  const say = (id: string, label: string, icon: string, tooltip = label): void => {
    rows.push({ id, label, description: "", tooltip: () => tooltip, icon: { name: icon }, context: "fact" });
  };
  if (source.address !== undefined) {
    say("fetched", source.fetched === null || source.fetched === undefined ? "nothing fetched yet" : `fetched ${ago(source.fetched, now)}`, "cloud-download");
  }
  rows.push(...problemRows("problems", "Not read", source.skipped));
  if (source.records > 0) rows.push(...coverageRows(source.coverage));
  if (source.merged > 0) {
    say("merged", `${counted(source.merged, "run")} also known from another source`, "git-merge", "A run with a record of another source, too: both are one record.");
  }
  if (source.amendments > 0) say("amendments", counted(source.amendments, "amendment"), "edit", "Conclusions and the like that were added to records.");
  for (const [role, count] of Object.entries(source.roles)) {
    const [one, many] = ROLES[role] ?? [role, role];
    if (role !== "experiment" && count > 0) say(`role:${role}`, counted(count, line(one, 40), line(many, 40)), "layers", "Records that are no experiments of their own.");
  }
  if (source.research_line !== null) say("line", `research line ${line(source.research_line, 120)}`, "beaker");
  say("kind", line(source.kind, 40), "info", `Kind of source: ${line(source.kind, 40)}`);
  return rows;
}

function coverageRows(coverage: SourceStatus["coverage"]): Row[] {
  return (Object.keys(COVERAGE) as (keyof typeof COVERAGE)[]).map((name) => {
    const share = percent(coverage[name]);
    return {
      id: `coverage:${name}`,
      label: share.padStart(WIDEST_SHARE, FIGURE_SPACE),
      description: [bar(coverage[name], CELLS), COVERAGE[name]].filter((part) => part !== "").join(" "),
      tooltip: () => `${share} of the records ${COVERAGE[name]}.`,
      context: "coverage",
      spoken: `${share} ${COVERAGE[name]}`,
    };
  });
}

function problemRows(id: string, title: string, problems: readonly Skipped[]): Row[] {
  if (problems.length === 0) return [];
  const row = (problem: Skipped, place: number): Row => ({
    id: `${place}`,
    label: line(problem.why, 200),
    description: line(problem.where, 200),
    tooltip: () => `${line(problem.where, 500)}\n${line(problem.why, 500)}`,
    icon: PROBLEM,
    context: "problem",
  });
  return [
    {
      id: `\0${id}`,
      label: title,
      description: counted(problems.length, "place"),
      tooltip: () => "What could not be read, or was left out, and why.",
      icon: PROBLEM,
      context: "problems",
      children: () => {
        const rows = problems.slice(0, MOST_PROBLEMS).map(row);
        if (problems.length > MOST_PROBLEMS) rows.push(moreProblems(problems.length - MOST_PROBLEMS));
        return rows;
      },
    },
  ];
}

function moreProblems(count: number): Row {
  return {
    id: "more",
    label: `+ ${count.toLocaleString("en-US")} more`,
    description: "",
    tooltip: () => "Show all of them",
    icon: { name: "ellipsis" },
    context: "more",
    command: { id: "tried.pool.showProblems", title: "Show What Could Not Be Read", arguments: [] },
  };
}

/** Everything that could not be read, as a text to look through. */
export function problemsText(status: Status): string {
  const parts = status.folders.map((folder) => {
    const groups = [
      ...folder.sources.map((source) => [`${line(nameOf(source, folder.path), 500)} (${line(source.kind, 40)})`, source.skipped] as const),
      ["The search for sources", folder.notes] as const,
      [`Not read without your consent. ${HOW_TO_CONSENT}`, folder.consents.map((one) => ({ where: one.path, why: `named by ${one.named_by}` }))] as const,
    ].filter(([, problems]) => problems.length > 0);
    const told = groups.map(([title, problems]) => [title, ...problems.map(({ where, why }) => `  ${line(where, 500)}: ${line(why, 500)}`)].join("\n"));
    return [line(folder.path, 500), "", told.length === 0 ? "Everything that was found could be read." : told.join("\n\n")].join("\n");
  });
  return `${parts.join("\n\n\n")}\n`;
}

function nameOf(source: SourceStatus, folder: string): string {
  return source.name ?? source.address ?? relative(source.path, folder);
}

function relative(path: string, folder: string): string {
  const start = folder.endsWith("/") || folder.endsWith("\\") ? folder : `${folder}${folder.includes("\\") ? "\\" : "/"}`;
  return path.startsWith(start) && path.length > start.length ? path.slice(start.length) : path;
}

function baseName(path: string): string {
  return path.split(/[\\/]/).filter((part) => part !== "").at(-1) ?? path;
}
