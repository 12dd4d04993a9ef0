/** Adds a source of runs to the `tried.toml` of a folder, as an edit that the user sees, may undo, and saves. */

import * as path from "node:path";
import * as vscode from "vscode";
import { inert, line } from "../text";
import { addSource as editFor } from "./tomlSource";

interface Kind extends vscode.QuickPickItem {
  readonly takes: "file" | "folder" | "text";
  readonly extensions?: Record<string, string[]>;
}

const DATABASE = { "SQLite": ["db", "sqlite", "sqlite3"] };
const KINDS: Kind[] = [
  { label: "MLflow database", description: "mlflow.db", takes: "file", extensions: DATABASE },
  { label: "MLflow folder", description: "mlruns", takes: "folder" },
  { label: "Weights & Biases run folders", description: "wandb", takes: "folder" },
  { label: "Hydra outputs", description: "outputs, multirun", takes: "folder" },
  { label: "Optuna storage", description: "SQLite or a journal file", takes: "file" },
  { label: "Results table", description: "TSV or CSV", takes: "file", extensions: { Tables: ["tsv", "csv"] } },
  { label: "Journal", description: "JSON Lines", takes: "file", extensions: { "JSON Lines": ["jsonl"] } },
  { label: "Sacred runs", description: "folder of the file observer", takes: "folder" },
  { label: "Lightning logs", description: "lightning_logs", takes: "folder" },
  { label: "Another file…", takes: "file" },
  { label: "Another folder…", description: "a store, or a folder to look in", takes: "folder" },
  { label: "A path or glob…", description: "such as logs/*.jsonl", takes: "text" },
];

export async function addSource(folderPath?: string): Promise<void> {
  const folder = folderPath === undefined ? await pickFolder() : vscode.Uri.file(folderPath);
  if (folder === undefined) return;
  const kind = await vscode.window.showQuickPick(KINDS, {
    title: "Add a source",
    placeHolder: "What holds the runs? Its kind is known by what it holds; this chooses what to pick.",
    matchOnDescription: true,
  });
  if (kind === undefined) return;
  const source = await pickSource(kind, folder);
  if (source !== undefined) await write(folder, source);
}

async function pickFolder(): Promise<vscode.Uri | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length < 2) return folders[0]?.uri;
  return (await vscode.window.showWorkspaceFolderPick({ placeHolder: "Whose tried.toml names the source" }))?.uri;
}

async function pickSource(kind: Kind, folder: vscode.Uri): Promise<string | undefined> {
  if (kind.takes === "text") {
    const text = await vscode.window.showInputBox({
      title: "Add a source",
      prompt: "A path or glob, relative to the folder of tried.toml",
      validateInput: (value) => (value.trim() === "" ? "Type a path, such as runs/*.jsonl" : undefined),
    });
    return text?.trim();
  }
  const isFile = kind.takes === "file";
  const picked = await vscode.window.showOpenDialog({
    title: `Add a source: ${kind.label}`,
    openLabel: "Add",
    defaultUri: folder,
    canSelectFiles: isFile,
    canSelectFolders: !isFile,
    ...(kind.extensions === undefined ? {} : { filters: { ...kind.extensions, "All files": ["*"] } }),
  });
  return picked?.[0] === undefined ? undefined : named(picked[0].fsPath, folder.fsPath);
}

/** Relative where it lies inside. */
function named(target: string, folder: string): string {
  const relative = path.relative(folder, target);
  const isInside = relative !== "" && relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
  return (isInside ? relative : target).split(path.sep).join("/");
}

async function write(folder: vscode.Uri, source: string): Promise<void> {
  const file = vscode.Uri.joinPath(folder, "tried.toml");
  const edit = new vscode.WorkspaceEdit();
  const isThere = await vscode.workspace.fs.stat(file).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    edit.createFile(file, { ignoreIfExists: true });
    await vscode.workspace.applyEdit(edit);
  }
  const document = await vscode.workspace.openTextDocument(file);
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  const change = editFor(document.getText(), source);
  if (change.kind === "present") {
    void vscode.window.showInformationMessage(inert(`tried.toml names ${line(source, 200)} already.`));
    return;
  }
  if (change.kind === "by hand") {
    void vscode.window.showWarningMessage(inert(line(change.advice, 400)));
    return;
  }
  const position = document.positionAt(change.offset);
  const insertion = new vscode.WorkspaceEdit();
  insertion.insert(file, position, change.text);
  if (!(await vscode.workspace.applyEdit(insertion))) {
    void vscode.window.showWarningMessage(inert(`tried.toml could not be changed. Add ${line(source, 200)} to sources of [pool] there.`));
    return;
  }
  const written = new vscode.Range(position, document.positionAt(change.offset + change.text.length));
  editor.selection = new vscode.Selection(written.end, written.end);
  editor.revealRange(written, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  const save = "Save and Read";
  const action = await vscode.window.showInformationMessage(inert(`${line(source, 200)} was added to tried.toml. It is read once the file is saved.`), save);
  if (action === save) await document.save();
}
