/** The item behind the braces in the status bar: what is being read, what was found, what is wrong. */

import * as vscode from "vscode";
import { STATUS, STATUS_DID_CHANGE, type FolderStatus, type Status } from "../protocol";
import type { Tried } from "../tried";
import { DOCUMENT_SELECTOR } from "./selector";
import { statusWords } from "./statusWords";

const SEVERITIES = {
  information: vscode.LanguageStatusSeverity.Information,
  warning: vscode.LanguageStatusSeverity.Warning,
  error: vscode.LanguageStatusSeverity.Error,
};

export function registerLanguageStatus(tried: Tried): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem("tried.status", DOCUMENT_SELECTOR);
  item.name = "Tried";
  let folders: FolderStatus[] = [];
  let isAsking = false;
  let isAskedAgain = false;

  function show(): void {
    const words = statusWords(tried.state, folders);
    item.text = words.text;
    item.detail = words.detail;
    item.busy = words.isBusy;
    item.severity = SEVERITIES[words.severity];
    item.command = commandFor(tried);
  }

  async function ask(): Promise<void> {
    if (isAsking) {
      isAskedAgain = true;
      return;
    }
    isAsking = true;
    try {
      do {
        isAskedAgain = false;
        const status = await tried.sendRequest<Status>(STATUS, {});
        folders = status?.folders ?? [];
        show();
      } while (isAskedAgain as boolean);
    } catch (error) {
      tried.log.warn(`the server did not tell its status: ${String(error)}`);
    } finally {
      isAsking = false;
    }
  }

  show();
  return vscode.Disposable.from(
    item,
    tried.onNotification(STATUS_DID_CHANGE, () => void ask()),
    tried.onDidChangeState((state) => {
      folders = [];
      show();
      if (state === "running") void ask();
    }),
  );
}

function commandFor(tried: Tried): vscode.Command {
  switch (tried.state) {
    case "running":
      return { command: "tried.pool.focus", title: "Show the Pool" };
    case "missing":
      return { command: "tried.debugInformation", title: "Debug Information" };
    case "failed":
    case "stopped":
      return { command: "tried.restart", title: "Restart" };
    case "starting":
      return { command: "tried.showLogs", title: "Show Logs" };
  }
}
