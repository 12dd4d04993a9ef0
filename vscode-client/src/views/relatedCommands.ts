/** What one can do with the list of related experiments: filter, sort, search, ask why a run is not in it. */

import * as vscode from "vscode";
import type { CommandId } from "../commands/descriptions";
import { registerAll } from "../commands/register";
import { countHit } from "../hits";
import { EXPERIMENTS, RECORD, SERVER_COMMANDS, type Experiments, type Facet, type Outcome, type RecordView, type Sort } from "../protocol";
import { counted, inert, line } from "../text";
import type { Tried } from "../tried";
import { SORTS, hasFilters, toggled, withOwnLine, withText, withoutFilters, type Choice } from "./relatedQuery";
import { reasonOf } from "../reason";
import type { RelatedView } from "./relatedView";
import type { Row } from "./row";
import { whyNot } from "./whyNot";
import { OUTCOMES } from "./words";

/** While one types a search, the list follows after so long a pause. */
const PAUSE_MS = 150;

interface Chosen extends vscode.QuickPickItem {
  choice?: Choice;
}

export function registerRelatedCommands(tried: Tried, view: RelatedView): vscode.Disposable {
  const commands: Partial<Record<CommandId, (row?: Row) => unknown>> = {
    "tried.related.filter": () => filter(tried, view),
    "tried.related.deadEndsOnly": () => choose(view, toggled(view.choice, "outcome", "dead_end")),
    "tried.related.thisLineOnly": () => choose(view, withOwnLine(view.choice, !view.choice.ownLine)),
    "tried.related.clearFilters": () => choose(view, withoutFilters(view.choice)),
    "tried.related.sort": () => sort(view),
    "tried.related.search": () => search(view),
    "tried.related.whyNot": () => whyNot(tried, view),
    "tried.related.showMore": () => {
      view.showMore();
    },
    "tried.related.copyId": (row) => (row?.record === undefined ? undefined : vscode.env.clipboard.writeText(row.record)),
    "tried.related.openRun": (row) => openRun(tried, row),
    "tried.related.openSource": (row) => openSource(tried, row?.record, row?.uri),
  };
  return registerAll(commands);
}

/** A list that nobody sees would change unseen. */
async function choose(view: RelatedView, choice: Choice): Promise<void> {
  if (!view.isVisible) await vscode.commands.executeCommand("tried.related.focus");
  view.choose(choice);
}

async function filter(tried: Tried, view: RelatedView): Promise<void> {
  const facets = view.answer?.facets ?? (await facetsOf(tried));
  const { choice } = view;
  const item = (label: string, count: number | undefined, isOn: boolean, next: Choice): Chosen => ({
    label: inert(line(label, 80)),
    description: [count === undefined ? "" : counted(count, "record"), isOn ? "in force" : ""].filter((part) => part !== "").join(" · "),
    choice: next,
    ...(isOn ? { iconPath: new vscode.ThemeIcon("check") } : {}),
  });
  const group = (title: string, name: "researchLine" | "tag" | "source", found: readonly Facet[] | undefined): Chosen[] =>
    found === undefined || found.length === 0
      ? []
      : [separator(title), ...found.map((facet) => item(facet.name, facet.count, choice.filter[name] === facet.name, toggled(choice, name, facet.name)))];
  const items: Chosen[] = [
    ...(hasFilters(choice) ? [{ label: "Clear filters", iconPath: new vscode.ThemeIcon("clear-all"), choice: withoutFilters(choice) }] : []),
    separator("Outcome"),
    ...(Object.keys(OUTCOMES) as Outcome[]).map((outcome) =>
      item(OUTCOMES[outcome].words, undefined, choice.filter.outcome === outcome, toggled(choice, "outcome", outcome)),
    ),
    separator("Research line"),
    item("that of this config", undefined, choice.ownLine, withOwnLine(choice, !choice.ownLine)),
    ...group("", "researchLine", facets?.research_lines).slice(1),
    ...group("Tag", "tag", facets?.tags),
    ...group("Source", "source", facets?.sources),
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: "Filter related experiments",
    placeHolder: "Choose what is listed; choose it again to take the filter away",
    matchOnDescription: true,
  });
  if (picked?.choice !== undefined) await choose(view, picked.choice);
}

function separator(label: string): Chosen {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}

/** For a view that was not shown yet. */
async function facetsOf(tried: Tried): Promise<Experiments["facets"] | undefined> {
  const uri = tried.activeConfig.document?.uri.toString();
  if (uri === undefined) return undefined;
  try {
    return (await tried.sendRequest<Experiments | null>(EXPERIMENTS, { textDocument: { uri }, limit: 1 }))?.facets;
  } catch (error) {
    tried.log.error(`${EXPERIMENTS}: ${reasonOf(error)}`);
    return undefined;
  }
}

async function sort(view: RelatedView): Promise<void> {
  const items = (Object.keys(SORTS) as Sort[]).map((name) => ({
    label: SORTS[name].charAt(0).toUpperCase() + SORTS[name].slice(1),
    description: view.choice.sort === name ? "in force" : "",
    name,
  }));
  const picked = await vscode.window.showQuickPick(items, { title: "Sort related experiments" });
  if (picked !== undefined) await choose(view, { ...view.choice, sort: picked.name });
}

/** The list follows while one types; Escape brings back what was. */
async function search(view: RelatedView): Promise<void> {
  const before = view.choice;
  if (!view.isVisible) await vscode.commands.executeCommand("tried.related.focus");
  const box = vscode.window.createInputBox();
  box.title = "Search related experiments";
  box.prompt = "Words that must occur in the record: its name, conclusion, notes, tags, parameters. Empty shows all.";
  box.value = before.filter.text ?? "";
  let timer: NodeJS.Timeout | undefined;
  let isAccepted = false;
  box.onDidChangeValue((text) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      view.choose(withText(view.choice, text));
    }, PAUSE_MS);
  });
  box.onDidAccept(() => {
    isAccepted = true;
    box.hide();
  });
  box.onDidHide(() => {
    clearTimeout(timer);
    view.choose(withText(view.choice, isAccepted ? box.value : (before.filter.text ?? "")));
    box.dispose();
  });
  box.show();
}

async function openRun(tried: Tried, row: Row | undefined): Promise<void> {
  const { url, record, uri } = row ?? {};
  if (url === undefined || !/^https?:\/\//i.test(url)) return;
  await vscode.env.openExternal(vscode.Uri.parse(url, true));
  if (record !== undefined) opened(tried, record, uri);
}

function opened(tried: Tried, record: string, uri: string | undefined): void {
  void countHit(tried, { record, how: "opened", ...(uri === undefined ? {} : { uri }) });
}

/** The run's own folder where it lies in the workspace, else its line in the pool. */
async function openSource(tried: Tried, record: string | undefined, uri: string | undefined): Promise<void> {
  if (record === undefined || uri === undefined) return;
  try {
    const view = await tried.sendRequest<RecordView>(RECORD, { record, textDocument: { uri } });
    const folder = view?.run_dir === null || view?.run_dir === undefined ? undefined : vscode.Uri.parse(view.run_dir, true);
    const isShown = folder?.scheme === "file" && vscode.workspace.getWorkspaceFolder(folder) !== undefined;
    if (isShown && (await exists(folder))) {
      await vscode.commands.executeCommand("revealInExplorer", folder);
      opened(tried, record, uri);
    } else await tried.sendRequest("workspace/executeCommand", { command: SERVER_COMMANDS.open, arguments: [{ uri, record, stored: true }] });
  } catch (error) {
    void vscode.window.showWarningMessage(inert(line(reasonOf(error), 300)));
  }
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(uri).then(
    () => true,
    () => false,
  );
}
