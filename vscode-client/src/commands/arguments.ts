import type { RecordArguments } from "../protocol";

/** What a command is about: from its own arguments, or from the row of a view; undefined where nothing names a record. */
export function recordArguments(given: unknown): RecordArguments | undefined {
  if (typeof given !== "object" || given === null) return undefined;
  const { record, uri } = given as Record<string, unknown>;
  if (typeof record !== "string" || record === "") return undefined;
  return typeof uri === "string" && uri !== "" ? { record, uri } : { record };
}
