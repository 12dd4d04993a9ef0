/** The context keys that menus and welcome views go by. */

import * as vscode from "vscode";

const known = new Map<string, unknown>();

type Key =
  | "tried.hasFilters"
  | "tried.isReading"
  | "tried.isUnrelated"
  | "tried.poolIsEmpty"
  | "tried.hasNoFindings"
  | "tried.findingsAreOff"
  | "tried.hasNoSources";

export function setContext(key: Key, value: boolean): void {
  if (known.get(key) === value) return;
  known.set(key, value);
  void vscode.commands.executeCommand("setContext", key, value);
}
