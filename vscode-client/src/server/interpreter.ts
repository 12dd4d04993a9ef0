/** The interpreter that the Python extension has chosen for a folder; the extension is never waited for long. */

import * as vscode from "vscode";
import { reasonOf } from "../reason";
import type { Command } from "./paths";

const PATIENCE_MS = 2_000;

/** The part of the API of ms-python.python that is used. */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable?: { uri?: vscode.Uri } } | undefined>;
    onDidChangeActiveEnvironmentPath?: vscode.Event<unknown>;
  };
}

function extension(): vscode.Extension<PythonApi> | undefined {
  return vscode.extensions.getExtension<PythonApi>("ms-python.python");
}

export async function pythonInterpreter(folder: vscode.Uri | undefined): Promise<Command> {
  if (extension() === undefined) return { problem: "the Python extension is not installed" };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Command>((resolve) => {
    timer = setTimeout(() => {
      resolve({ problem: `the Python extension did not answer within ${PATIENCE_MS / 1000} seconds`, isLate: true });
    }, PATIENCE_MS);
  });
  try {
    return await Promise.race([ask(folder), late]);
  } catch (error) {
    return { problem: `the Python extension failed: ${reasonOf(error)}` };
  } finally {
    clearTimeout(timer);
  }
}

async function ask(folder: vscode.Uri | undefined): Promise<Command> {
  const environments = (await extension()?.activate())?.environments;
  if (environments === undefined) return { problem: "this version of the Python extension cannot be asked" };
  const environment = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(folder));
  const executable = environment?.executable?.uri?.fsPath;
  return executable === undefined ? { problem: "the Python extension has chosen none" } : { path: executable, args: [] };
}

/** Tells of another choice, and of one that came too late. */
export function onDidChooseInterpreter(listener: () => void): vscode.Disposable {
  const subscriptions: vscode.Disposable[] = [];
  void Promise.resolve(extension()?.activate())
    .then((api) => {
      const event = api?.environments?.onDidChangeActiveEnvironmentPath;
      if (event !== undefined) subscriptions.push(event(listener));
      listener();
    })
    .catch(() => undefined); // it is not ours to tell that another extension is broken
  return new vscode.Disposable(() => {
    for (const subscription of subscriptions) subscription.dispose();
  });
}
