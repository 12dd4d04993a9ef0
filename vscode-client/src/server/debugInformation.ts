/** "Tried: Debug Information": which server was chosen and why, versions, settings in force, sources. No secrets. */

import * as vscode from "vscode";
import { type FolderStatus, STATUS, type Status } from "../protocol";
import type { ServerState, Tried } from "../tried";
import { type Chosen, surroundings } from "./choose";
import { settingsFor } from "./configuration";
import { foldersOnPath } from "./paths";
import { cell, code, withoutSecrets } from "./redact";
import { MINIMUM_PYTHON, MINIMUM_SERVER } from "./versions";

type Asked = Pick<Tried, "context" | "sendRequest" | "state">;

export interface Facts {
  chosen: Chosen | undefined;
  pid: number | undefined;
  failure: string | undefined;
}

const MOST_PROBLEMS = 20;
const MOST_FOLDERS = 60;
const PATIENCE_MS = 3_000;

export async function debugInformation(tried: Asked, facts: Facts): Promise<string> {
  const { extension } = tried.context;
  const manifest = extension.packageJSON as { version: string };
  const status = await Promise.race([
    tried.sendRequest<Status>(STATUS, {}).catch(() => undefined),
    new Promise<undefined>((resolve) => {
      setTimeout(() => {
        resolve(undefined);
      }, PATIENCE_MS);
    }),
  ]);
  return [
    "# Tried: Debug Information",
    "",
    "## Server",
    "",
    ...server(tried.state, facts),
    "",
    "## Versions",
    "",
    "| | |",
    "|---|---|",
    ...[
      ["extension", manifest.version],
      ["server", `${facts.chosen?.server ?? "none"} (${MINIMUM_SERVER} or newer is needed)`],
      ["Python of the server", `${facts.chosen?.python ?? "not asked"} (${MINIMUM_PYTHON} or newer is needed)`],
      ["VS Code", `${vscode.version}, ${vscode.env.appName}, ${vscode.env.remoteName ?? "local"}`],
      ["platform", `${process.platform} ${process.arch}, Node.js ${process.versions.node}`],
      ["workspace", `${vscode.workspace.isTrusted ? "trusted" : "Restricted Mode"}, ${folders()}`],
    ].map((row) => `| ${row.map((text) => cell(text)).join(" | ")} |`),
    "",
    "## Settings",
    "",
    "What is set in the editor, as the server gets it; all else is as docs/settings.md says.",
    "",
    ...settings(extension),
    "## Sources",
    "",
    ...(status === undefined ? ["The server does not tell."] : sources(status)),
    "",
  ].join("\n");
}

function server(state: ServerState, { chosen, pid, failure }: Facts): string[] {
  const lines = [`State: **${state}**${pid === undefined ? "" : `, process ${pid}`}`, ""];
  if (failure !== undefined) lines.push(`Failure: ${cell(failure)}`, "");
  if (chosen === undefined) return [...lines, "No server was looked for yet."];
  const { launch } = chosen;
  if (launch === undefined) lines.push(`None: ${chosen.reason}.`);
  else lines.push(`Chosen: ${code([launch.command, ...launch.args].join(" "))}`, "", `Because: ${chosen.reason}.`);
  if (chosen.rejected.length > 0) {
    lines.push("", "Passed over:", "", ...chosen.rejected.map(({ what, why }) => `- ${cell(what)}: ${cell(why)}`));
  }
  if (chosen.rejected.some(({ origin }) => origin === "onPath")) lines.push("", ...onPath(foldersOnPath(surroundings())));
  return lines;
}

/** An editor that was not started from a terminal often has another PATH than one expects. */
function onPath(folders: readonly string[]): string[] {
  if (folders.length === 0) return ["The PATH of VS Code names no folder."];
  const lines = folders.slice(0, MOST_FOLDERS).map((folder) => `- ${code(folder)}`);
  if (folders.length > MOST_FOLDERS) lines.push(`- and ${folders.length - MOST_FOLDERS} more`);
  return ["The PATH of VS Code, which can be another than that of a terminal:", "", ...lines];
}

function folders(): string {
  const count = vscode.workspace.workspaceFolders?.length ?? 0;
  return count === 1 ? "1 folder" : `${count} folders`;
}

function settings(extension: vscode.Extension<unknown>): string[] {
  const scopes = vscode.workspace.workspaceFolders ?? [undefined];
  const client = vscode.workspace.getConfiguration("tried");
  const choosing = ["path", "interpreter", "importStrategy", "logLevel", "trace.server"];
  const own = Object.fromEntries(choosing.map((name) => [name, client.get<unknown>(name) ?? null]));
  return [
    ...fenced("this window", own),
    ...scopes.flatMap((folder) =>
      fenced(folder === undefined ? "no folder" : folder.uri.fsPath, settingsFor(extension, folder?.uri)),
    ),
  ];
}

function fenced(title: string, value: unknown): string[] {
  const text = JSON.stringify(withoutSecrets(value), null, 2).replaceAll("```", "'''");
  return [`For ${code(title)}:`, "", "```json", text, "```", ""];
}

function sources(status: Status): string[] {
  if (status.folders.length === 0) return ["No folder has been looked at."];
  return status.folders.flatMap((folder) => [
    `### ${code(folder.path)}`,
    "",
    `${folder.state}; ${folder.totals === null ? "nothing read" : `${folder.totals.records} records`}`,
    "",
    "| source | kind | records | newest | not read |",
    "|---|---|---|---|---|",
    ...folder.sources.map((source) => {
      const rest = [source.kind, String(source.records), source.newest ?? "", String(source.skipped.length)];
      return `| ${[code(source.path), ...rest.map((text) => cell(text))].join(" | ")} |`;
    }),
    "",
    ...problems(folder),
  ]);
}

function problems(folder: FolderStatus): string[] {
  const all = [...folder.notes, ...folder.sources.flatMap((source) => source.skipped)];
  const lines = all.slice(0, MOST_PROBLEMS).map(({ where, why }) => `- ${code(where)}: ${cell(why)}`);
  if (all.length > MOST_PROBLEMS) lines.push(`- and ${all.length - MOST_PROBLEMS} more`);
  return lines.length > 0 ? ["Not read:", "", ...lines, ""] : [];
}
