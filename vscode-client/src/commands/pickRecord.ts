/** Search the pool from the palette. */

import * as vscode from "vscode";
import { reasonOf } from "../reason";
import { inert, line } from "../text";
import type { Tried } from "../tried";

const PAUSE_MS = 120;

/** What is used of a workspace symbol of the server's. */
interface FoundSymbol {
  name: string;
  containerName?: string | null;
  data?: { record?: unknown } | null;
}

/** A record that is offered before anything is typed. */
export interface LikelyRecord {
  record: string;
  label: string;
  description: string;
}

interface Item extends vscode.QuickPickItem {
  record?: string;
}

/**
 * Lets one search for a record by anything that is said of it; its id, or undefined if none was chosen.
 *
 * `askLikely`: those that stand first as long as nothing is typed.
 */
export function pickRecord(tried: Tried, title: string, askLikely?: () => Promise<readonly LikelyRecord[]>): Promise<string | undefined> {
  const asked = askLikely?.().catch((error: unknown) => {
    tried.log.warn(`the runs of this config are not known: ${reasonOf(error)}`);
    return [];
  });
  return new Promise((resolve) => {
    const pick = vscode.window.createQuickPick<Item>();
    pick.title = title;
    pick.placeholder = "Search past experiments: an id, a name, words of a conclusion, a tag";
    let timer: NodeJS.Timeout | undefined;
    let request: vscode.CancellationTokenSource | undefined;

    async function search(): Promise<void> {
      request?.cancel();
      const own = (request = new vscode.CancellationTokenSource());
      pick.busy = true;
      try {
        const found = await tried.sendRequest<FoundSymbol[] | null>("workspace/symbol", { query: pick.value }, own.token);
        const likely = pick.value.trim() === "" ? ((await asked) ?? []) : [];
        if (request === own) pick.items = itemsOf(found ?? [], likely);
      } catch (error) {
        if (request === own) pick.items = [notice(reasonOf(error))];
      } finally {
        if (request === own) pick.busy = false;
        own.dispose();
      }
    }

    pick.onDidChangeValue(() => {
      clearTimeout(timer);
      timer = setTimeout(() => void search(), PAUSE_MS);
    });
    pick.onDidAccept(() => {
      // What was chosen may have been replaced a moment ago by what a search found.
      const record = (pick.selectedItems[0] ?? pick.activeItems[0])?.record;
      if (record === undefined) return;
      resolve(record);
      pick.hide();
    });
    pick.onDidHide(() => {
      clearTimeout(timer);
      request?.cancel();
      request = undefined;
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
    void search();
  });
}

/** Each record once, those of the config in the editor first. */
export function itemsOf(found: readonly FoundSymbol[], likely: readonly LikelyRecord[]): Item[] {
  const first: Item[] = likely.map(({ record, label, description }) => ({
    label: inert(line(label)),
    description: inert(line(description)),
    alwaysShow: true,
    record,
  }));
  const named = new Set(likely.map(({ record }) => record));
  const items: Item[] = [];
  for (const { name, containerName, data } of found) {
    if (typeof data?.record !== "string" || named.has(data.record)) continue;
    // the server has searched: what it found is not searched again by VS Code
    items.push({ label: inert(line(name)), description: inert(line(containerName ?? "")), alwaysShow: true, record: data.record });
  }
  if (first.length === 0) return items.length > 0 ? items : [notice("No past experiment was found.")];
  return [separator("of the config in the editor"), ...first, ...(items.length > 0 ? [separator("all"), ...items] : [])];
}

function separator(label: string): Item {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

function notice(text: string): Item {
  return { label: inert(line(text)), alwaysShow: true };
}
