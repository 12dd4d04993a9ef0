import * as vscode from "vscode";
import type { Session } from "./session";
import type { Launch } from "./run";

export interface Chosen {
  launch: Launch | undefined;
  reason: string;
}

export async function chooseServer(session: Session, signal: AbortSignal): Promise<Chosen> {
  signal.throwIfAborted();
  const path = vscode.workspace.getConfiguration("tried").get<string>("path") ?? "";
  const cwd = session.context.globalStorageUri;
  await vscode.workspace.fs.createDirectory(cwd);
  const command = path === "" ? "tried" : path;
  return { launch: { command, args: ["serve"], cwd: cwd.fsPath, env: process.env }, reason: "tried.path or PATH" };
}
