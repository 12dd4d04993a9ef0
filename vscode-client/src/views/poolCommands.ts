/** What one can do with the pool: add a source, look for runs anew, open the journal, see what could not be read. */

import * as vscode from "vscode";
import type { CommandId } from "../commands/descriptions";
import { registerAll } from "../commands/register";
import { SERVER_COMMANDS, STATUS, type FolderStatus, type Status } from "../protocol";
import { inert, line } from "../text";
import type { Tried } from "../tried";
import { addSource } from "./addSource";
import { problemsText } from "./poolRows";
import type { PoolView } from "./poolView";
import { reasonOf } from "../reason";
import type { Row } from "./row";

const PROBLEMS_SCHEME = "tried-problems";
const PROBLEMS = vscode.Uri.from({ scheme: PROBLEMS_SCHEME, path: "/What could not be read.txt" });

export function registerPoolCommands(tried: Tried, view: PoolView): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  const provider: vscode.TextDocumentContentProvider = {
    onDidChange: changed.event,
    provideTextDocumentContent: async () => {
      const status = await statusOf(tried);
      return status === undefined ? "The server of Tried does not run.\n" : problemsText(status);
    },
  };
  const commands: Partial<Record<CommandId, (row?: Row) => unknown>> = {
    "tried.pool.addSource": (row) => addSource(row?.folder),
    "tried.pool.rescanNow": () => rescan(tried, view),
    "tried.pool.openJournal": (row) => openJournal(tried, row?.folder),
    "tried.pool.showProblems": async () => {
      changed.fire(PROBLEMS);
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(PROBLEMS), { preview: true });
    },
  };
  return vscode.Disposable.from(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(PROBLEMS_SCHEME, provider),
    registerAll(commands),
  );
}

async function statusOf(tried: Tried): Promise<Status | undefined> {
  try {
    return await tried.sendRequest<Status>(STATUS, {});
  } catch (error) {
    tried.log.error(`${STATUS}: ${reasonOf(error)}`);
    return undefined;
  }
}

async function rescan(tried: Tried, view: PoolView): Promise<void> {
  try {
    await view.during(tried.sendRequest("workspace/executeCommand", { command: SERVER_COMMANDS.rescan, arguments: [{}] }));
  } catch (error) {
    void vscode.window.showWarningMessage(inert(`The sources could not be looked through: ${line(reasonOf(error), 300)}`));
  }
}

async function openJournal(tried: Tried, folder: string | undefined): Promise<void> {
  const folders = (await statusOf(tried))?.folders ?? unasked();
  const chosen = await pickFolder(tried, folders, folder);
  if (chosen === undefined) return;
  const journal = vscode.Uri.file(chosen.journal ?? vscode.Uri.joinPath(vscode.Uri.file(chosen.path), ".tried", "pool.jsonl").fsPath);
  try {
    await vscode.workspace.fs.stat(journal);
  } catch {
    await tellOfNoJournal();
    return;
  }
  await vscode.window.showTextDocument(journal, { preview: true });
}

async function tellOfNoJournal(): Promise<void> {
  const [conclude, guide] = ["Record a Conclusion…", "Open the Guide"];
  const message = "There is no journal yet: it begins with the first conclusion that you record, in .tried/pool.jsonl.";
  const action = await vscode.window.showInformationMessage(message, conclude, guide);
  if (action === conclude) await vscode.commands.executeCommand("tried.conclude");
  else if (action === guide) await vscode.commands.executeCommand("tried.openGuide");
}

/** Without a server: the folders of the workspace. */
function unasked(): Pick<FolderStatus, "path" | "journal">[] {
  return (vscode.workspace.workspaceFolders ?? []).map((folder) => ({ path: folder.uri.fsPath }));
}

/** The given one, the only one, else one that is chosen. */
async function pickFolder(
  tried: Tried,
  folders: readonly Pick<FolderStatus, "path" | "journal">[],
  path: string | undefined,
): Promise<Pick<FolderStatus, "path" | "journal"> | undefined> {
  const given = folders.find((folder) => folder.path === path);
  if (given !== undefined || folders.length < 2) return given ?? folders[0];
  const active = tried.activeConfig.document?.uri.fsPath;
  const items = folders.map((folder) => ({
    label: inert(line(folder.path, 200)),
    description: active?.startsWith(folder.path) === true ? "of the config in the editor" : "",
    folder,
  }));
  return (await vscode.window.showQuickPick(items, { title: "Open the journal of" }))?.folder;
}
