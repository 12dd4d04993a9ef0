/** The language status in words. VS Code makes links and draws icons of what it says, and a path can say anything. */

import type { FolderStatus } from "../protocol";
import { inert, line } from "../text";
import type { ServerState } from "../tried";

export interface StatusWords {
  text: string;
  detail: string;
  severity: "information" | "warning" | "error";
  isBusy: boolean;
}

const count = new Intl.NumberFormat("en");

export function statusWords(state: ServerState, folders: readonly FolderStatus[]): StatusWords {
  switch (state) {
    case "starting":
      return { text: "Tried: starting", detail: "", severity: "information", isBusy: true };
    case "missing":
      return { text: "Tried: no server", detail: "the server is not installed", severity: "warning", isBusy: false };
    case "failed":
      return { text: "Tried: failed", detail: "the server does not run", severity: "error", isBusy: false };
    case "stopped":
      return { text: "Tried: stopped", detail: "the server does not run", severity: "warning", isBusy: false };
    case "running":
      return running(folders);
  }
}

function running(folders: readonly FolderStatus[]): StatusWords {
  const reading = folders.filter((folder) => folder.state === "reading");
  const records = sum(folders, (folder) => folder.totals?.records ?? 0);
  const deadEnds = sum(folders, (folder) => folder.totals?.dead_ends ?? 0);
  const faults = sum(folders, (folder) => folder.notes.length + sum(folder.sources, (source) => source.skipped.length));
  const consents = sum(folders, (folder) => folder.consents.length);
  const problems = [
    ...(faults > 0 ? [`${count.format(faults)} not read`] : []),
    ...(consents > 0 ? [`${count.format(consents)} ${consents === 1 ? "waits" : "wait"} for your consent`] : []),
  ];
  const severity = problems.length > 0 ? "warning" : "information";
  if (reading.length > 0) {
    const done = sum(reading, (folder) => folder.progress?.done ?? 0);
    const total = sum(reading, (folder) => folder.progress?.total ?? 0);
    const text = total > 0 ? `Tried: reading ${count.format(Math.min(done, total))} of ${count.format(total)}` : "Tried: reading";
    const what = reading.find((folder) => folder.progress !== null)?.progress?.what ?? "past experiments";
    return { text, detail: [inert(line(what, 100)), ...problems].join(" · "), severity, isBusy: true };
  }
  if (folders.every((folder) => folder.state === "unread")) {
    return { text: "Tried: ready", detail: "no config was opened yet", severity, isBusy: false };
  }
  return {
    text: records === 0 ? "Tried: no past experiments" : `Tried: ${count.format(records)} ${records === 1 ? "experiment" : "experiments"}`,
    detail: [`${count.format(deadEnds)} ${deadEnds === 1 ? "dead end" : "dead ends"}`, ...problems].join(" · "),
    severity,
    isBusy: false,
  };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
