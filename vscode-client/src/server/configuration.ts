/** The settings of the editor, read for the server. */

import * as vscode from "vscode";
import { type Inspected, type Json, settingsToSend } from "./settings";

interface Manifest {
  capabilities?: { untrustedWorkspaces?: { restrictedConfigurations?: string[] } };
  contributes?: { configuration?: Group | Group[] };
}

interface Group {
  properties?: Record<string, unknown>;
}

/** Names of all settings of the extension without `tried.`, as its manifest lists them. */
export function settingNames(extension: vscode.Extension<unknown>): string[] {
  const contributed = (extension.packageJSON as Manifest).contributes?.configuration ?? [];
  return [contributed]
    .flat()
    .flatMap((group) => Object.keys(group.properties ?? {}))
    .filter((name) => name.startsWith("tried."))
    .map((name) => name.slice("tried.".length));
}

/** What the user set for a folder or a file, or for the window. */
export function settingsFor(extension: vscode.Extension<unknown>, scope?: vscode.Uri): Record<string, Json> {
  const configuration = vscode.workspace.getConfiguration("tried", scope ?? null);
  const inspected = new Map<string, Inspected>();
  for (const name of settingNames(extension)) {
    const places = configuration.inspect(name);
    if (places !== undefined) inspected.set(name, places);
  }
  return settingsToSend(inspected, vscode.workspace.isTrusted ? new Set() : restricted(extension));
}

function restricted(extension: vscode.Extension<unknown>): Set<string> {
  const names = (extension.packageJSON as Manifest).capabilities?.untrustedWorkspaces?.restrictedConfigurations ?? [];
  return new Set(names.map((name) => name.slice("tried.".length)));
}
