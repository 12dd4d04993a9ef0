/** Looks at the places where a server may be, and says which is started and why. */

import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as vscode from "vscode";
import { type Candidate, findServer, type Found, type Places } from "./find";
import { pythonInterpreter } from "./interpreter";
import { type Command, expandCommand, findOnPath, type Surroundings } from "./paths";
import { probe, serverEnvironment } from "./probe";
import type { Launch } from "./run";

export interface Chosen extends Found {
  launch: Launch | undefined;
  /** What the Python extension said, if it was asked. */
  asked: Command | undefined;
}

export async function chooseServer(context: vscode.ExtensionContext, signal: AbortSignal): Promise<Chosen> {
  const cwd = await neutralFolder(context);
  let asked: Command | undefined;
  const places: Places = {
    ...placesOf(context),
    pythonExtension: async () => (asked = await pythonInterpreter(vscode.workspace.workspaceFolders?.[0]?.uri)),
  };
  const found = await findServer(places, (candidate) => probe(candidate, cwd, signal), signal);
  return { ...found, launch: found.candidate && launchOf(found.candidate, cwd), asked };
}

const LEVELS = ["debug", "info", "warning", "error", "off"];

/** Programs are run here, where nothing lies that Python could import by mistake. */
export async function neutralFolder(context: vscode.ExtensionContext): Promise<string> {
  const folder = path.join(context.globalStorageUri.fsPath, "empty");
  await fs.promises.mkdir(folder, { recursive: true });
  return folder;
}

function launchOf(candidate: Candidate, cwd: string): Launch {
  const set = vscode.workspace.getConfiguration("tried").get<string>("logLevel") ?? "warning";
  const level = LEVELS.includes(set) ? set : "warning";
  return {
    command: candidate.path,
    args: [...candidate.args, ...(candidate.isInterpreter ? ["-m", "tried"] : []), "serve", "--log-level", level],
    cwd,
    env: serverEnvironment(),
  };
}

function placesOf(context: vscode.ExtensionContext): Omit<Places, "pythonExtension"> {
  const isTrusted = vscode.workspace.isTrusted;
  const around = surroundings();
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const settings = vscode.workspace.getConfiguration("tried", folder ?? null);
  const setting = (name: string): Command | undefined => {
    return isTrusted ? expandCommand(settings.get<unknown>(name), around) : undefined;
  };
  return {
    isTrusted,
    prefersBundled: isTrusted && settings.get<string>("importStrategy") === "useBundled",
    path: setting("path"),
    interpreter: setting("interpreter"),
    onPath: isTrusted ? findOnPath("tried", around) : undefined,
    privateServer: existing(privateProgram(context)),
    bundled: existing(path.join(context.extensionPath, "bundled", "server", withSuffix("tried"))),
  };
}

export function surroundings(): Surroundings {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return {
    home: os.homedir(),
    folders: folders.map((folder) => ({ name: folder.name, path: folder.uri.fsPath })),
    env: process.env,
    isWindows: process.platform === "win32",
    isProgram,
  };
}

/** The environment that "Install the Server" makes. */
export function privateEnvironment(context: vscode.ExtensionContext): string {
  return path.join(context.globalStorageUri.fsPath, "server");
}

export function programIn(environment: string, name: string): string {
  return path.join(environment, process.platform === "win32" ? "Scripts" : "bin", withSuffix(name));
}

function privateProgram(context: vscode.ExtensionContext): string {
  return programIn(privateEnvironment(context), "tried");
}

function withSuffix(name: string): string {
  return process.platform === "win32" ? `${name}.exe` : name;
}

function existing(file: string): string | undefined {
  return isFile(file) ? file : undefined;
}

/** One that cannot be executed does not hide one further down the PATH. */
function isProgram(file: string): boolean {
  try {
    fs.accessSync(file, fs.constants.X_OK);
    return isFile(file);
  } catch {
    return false;
  }
}

function isFile(file: string): boolean {
  try {
    return fs.statSync(file).isFile();
  } catch {
    return false;
  }
}
