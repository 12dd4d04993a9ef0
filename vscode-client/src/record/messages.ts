/** What the extension and the page of the record panel say to each other. */

import type { RecordView, Verdict } from "../protocol";

/** `revealed`: the part that the page scrolls to, once. */
export type ToPage =
  | { type: "record"; view: RecordView; revealed?: "parameters" }
  | { type: "loading"; short: string }
  | { type: "problem"; text: string; remedy: "restart" | "none" }
  | { type: "conclusion"; state: "saved" | "failed"; text: string; record: string };

export type FromPage =
  | { type: "ready" }
  | { type: "show"; record: string }
  | { type: "openPage" | "openFolder" | "openStored" | "restart" | "showLogs" }
  | { type: "conclude"; record: string; text: string; verdict: Verdict | null };

/** What the page keeps over a reload of the window, and what the panel is brought back from. */
export interface PageState {
  record?: string;
  uri?: string;
  scroll?: number;
  /** Sections that a person opened or closed. */
  sections?: Record<string, boolean>;
  showsAll?: boolean;
  /** A conclusion that was begun and not sent. */
  begun?: { record: string; text: string; verdict: Verdict | null };
}

const LONGEST_CONCLUSION = 20_000;
const PLAIN = new Set(["ready", "openPage", "openFolder", "openStored", "restart", "showLogs"]);

/** A message of the page, checked: whatever else arrives is null. */
export function fromPage(message: unknown): FromPage | null {
  if (!isTable(message) || typeof message.type !== "string") return null;
  if (PLAIN.has(message.type)) return { type: message.type } as FromPage;
  const record = message.record;
  if (typeof record !== "string" || record === "") return null;
  if (message.type === "show") return { type: "show", record };
  const { text, verdict } = message;
  if (message.type !== "conclude" || typeof text !== "string" || text.length > LONGEST_CONCLUSION) return null;
  if (verdict !== null && verdict !== "dead_end" && verdict !== "works" && verdict !== "inconclusive") return null;
  return { type: "conclude", record, text, verdict };
}

/** Which record a panel showed before the window was loaded anew. */
export function keptRecord(state: unknown): { record: string; uri?: string } | null {
  if (!isTable(state) || typeof state.record !== "string" || state.record === "") return null;
  const uri = state.uri;
  return typeof uri === "string" ? { record: state.record, uri } : { record: state.record };
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
