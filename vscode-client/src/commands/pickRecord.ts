import * as vscode from "vscode";
import type { Tried } from "../tried";

interface Symbol {
  name: string;
  containerName?: string;
  data?: { record?: string };
}

interface Item extends vscode.QuickPickItem {
  record: string;
}

/** Lets one search the pool for a record, by anything that is said of it; its id, or undefined. */
export function pickRecord(tried: Tried): Promise<string | undefined> {
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<Item>();
    pick.title = "Tried";
    pick.placeholder = "Search past experiments: an id, a name, words of a conclusion";
    pick.onDidAccept(() => {
      resolve(pick.activeItems[0]?.record);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    void tried.sendRequest<Symbol[]>("workspace/symbol", { query: "" });
    pick.show();
  });
}
