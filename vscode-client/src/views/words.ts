/** Outcomes, causes, numbers, ages and bars in few words; the same words as the server's. */

import type { Outcome, Term } from "../protocol";
import { line } from "../text";
import type { Icon } from "./row";

interface OutcomeWords {
  readonly words: string;
  readonly icon: Icon;
}

/** Shapes that differ without colour; colours that themes define, high contrast included. */
export const OUTCOMES: Record<Outcome, OutcomeWords> = {
  dead_end: { words: "dead end", icon: { name: "circle-slash", color: "problemsErrorIcon.foreground" } },
  works: { words: "works", icon: { name: "pass", color: "testing.iconPassed" } },
  inconclusive: { words: "inconclusive", icon: { name: "question", color: "problemsWarningIcon.foreground" } },
  running: { words: "running", icon: { name: "sync", color: "problemsInfoIcon.foreground" } },
  unknown: { words: "unknown outcome", icon: { name: "circle-large-outline", color: "descriptionForeground" } },
};

const CAUSES: Record<string, string> = {
  out_of_memory: "out of memory",
  diverged: "diverged",
  worse: "worse",
  code_error: "code error",
  infrastructure: "infrastructure failure",
  stopped: "stopped",
  unknown: "failed",
};

export function causeWords(cause: string): string {
  return CAUSES[cause] ?? cause.replaceAll("_", " ");
}

/** "dead end: out of memory" */
export function outcomeWords(outcome: Outcome, cause: string | null): string {
  return cause === null ? OUTCOMES[outcome].words : `${OUTCOMES[outcome].words}: ${causeWords(cause)}`;
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of block characters, an eighth of a cell fine, `cells` long for 1; a sign before that of a negative value. */
export function bar(value: number, cells = 20): string {
  if (!Number.isFinite(value)) return "";
  const eighths = Math.round(Math.min(Math.abs(value), 1) * cells * 8);
  const blocks = "█".repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? "");
  return value < 0 && blocks !== "" ? `−${blocks}` : blocks;
}

/**
 * A term that is part of the score, even where it adds nothing to it; of the others the server says the reason.
 *
 * The four signals have a weight, 0 where they are left out. The terms that a policy turns on (`lexical_bonus`, `hit_boost`,
 * `decay_penalty`) have neither signal nor weight.
 */
export function doesApply({ signal, weight, value }: Pick<Term, "signal" | "weight" | "value">): boolean {
  return signal !== null || weight === null || value !== 0;
}

/** What is nothing when it is rounded has no sign. */
export function score(value: number, digits = 3): string {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}

/** "lexical bonus" */
export function termName(name: string): string {
  return line(name.replaceAll("_", " "), 60);
}

export function percent(share: number): string {
  const shown = Math.round(share * 100);
  // 1 of 1,000 is not none, nor are 999 all
  if (shown === 0 && share > 0) return "< 1 %";
  if (shown === 100 && share < 1) return "> 99 %";
  return `${shown} %`;
}

const DAY = 86_400;

/** "3 weeks ago"; the date where it lies in the future or is none that can be read. */
export function ago(moment: string, now: Date): string {
  const seconds = (now.getTime() - Date.parse(moment)) / 1000;
  if (!(seconds >= 0)) return moment.slice(0, 10);
  const days = Math.floor(seconds / DAY);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (days < 1) return `${Math.floor(seconds / 3600)} h ago`;
  if (days < 2) return "yesterday";
  if (days < 14) return `${days} days ago`;
  if (days < 61) return `${Math.floor(days / 7)} weeks ago`;
  if (days < 730) return `${Math.floor((days * 12) / 365)} months ago`;
  return `${Math.floor(days / 365)} years ago`;
}
