/** The context keys that menus and welcome views go by. */

import * as vscode from "vscode";

const known = new Map<string, unknown>();

export function setContext(key: "tried.hasFilters" | "tried.poolIsEmpty" | "tried.isUnrelated", value: boolean): void {
  if (known.get(key) === value) return;
  known.set(key, value);
  void vscode.commands.executeCommand("setContext", key, value);
}
