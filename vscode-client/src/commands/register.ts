import * as vscode from "vscode";
import { reasonOf } from "../reason";
import { inert, line } from "../text";
import type { CommandId } from "./descriptions";

/** Takes what a menu or a link hands over: arguments, a row of a view, an address, or nothing. */
type Run = (given: never) => unknown;

/** Registers a command of package.json. Of what it throws VS Code would make a message with links in it. */
export function registerCommand(id: CommandId, run: Run): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (given: unknown) => {
    try {
      return await run(given as never);
    } catch (error) {
      void vscode.window.showErrorMessage(inert(line(reasonOf(error), 500)));
      return undefined;
    }
  });
}

export function registerAll(commands: Partial<Record<CommandId, Run>>): vscode.Disposable {
  return vscode.Disposable.from(...Object.entries(commands).map(([id, run]) => registerCommand(id as CommandId, run)));
}
