/** A tree view of rows. */

import * as vscode from "vscode";
import { withDistinctIds, type Icon, type Row } from "./row";

/**
 * Invariant: a row's id in the tree is made of those of the rows above it, so what the user opened stays open when the
 * same rows are shown again.
 */
export class RowView implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  readonly onDidChangeVisibility: vscode.Event<unknown>;
  readonly onDidChangeTreeData: vscode.Event<undefined>;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #view: vscode.TreeView<Row>;
  readonly #paths = new WeakMap<Row, string>();
  #rows: Row[] = [];

  constructor(id: string) {
    this.onDidChangeTreeData = this.#changed.event;
    this.#view = vscode.window.createTreeView(id, { treeDataProvider: this, showCollapseAll: true });
    this.onDidChangeVisibility = this.#view.onDidChangeVisibility;
  }

  get isVisible(): boolean {
    return this.#view.visible;
  }

  /** Also above the icon of the sidebar. */
  set badge(badge: vscode.ViewBadge | undefined) {
    this.#view.badge = badge;
  }

  show(rows: Row[]): void {
    if (rows.length === 0 && this.#rows.length === 0) return;
    this.#rows = rows;
    this.#changed.fire(undefined);
  }

  /**
   * `description`: beside the title; `message`: above the rows. After `show`, and only if it is another one: VS Code
   * takes a message for a change of the tree, and lets the next change wait for 200 ms.
   */
  say(description: string, message: string): void {
    if ((this.#view.description ?? "") !== description) this.#view.description = description;
    if ((this.#view.message ?? "") !== message) this.#view.message = message;
  }

  complain(message: string): void {
    this.say(this.#view.description ?? "", message);
  }

  getChildren(parent?: Row): Row[] {
    const path = parent === undefined ? "" : `${this.#paths.get(parent) ?? ""}\n`;
    const rows = withDistinctIds(parent === undefined ? this.#rows : (parent.children?.() ?? []));
    for (const row of rows) this.#paths.set(row, path + row.id);
    return rows;
  }

  getTreeItem(row: Row): vscode.TreeItem {
    const item = new vscode.TreeItem(row.label, stateOf(row));
    item.id = this.#paths.get(row) ?? row.id;
    item.description = row.description;
    item.contextValue = row.context;
    if (row.icon !== undefined) item.iconPath = themeIcon(row.icon);
    item.accessibilityInformation = { label: row.spoken ?? [row.label, row.description].filter((part) => part !== "").join(", ") };
    if (row.command !== undefined) {
      item.command = { command: row.command.id, title: row.command.title, arguments: [...row.command.arguments] };
    }
    return item;
  }

  /** A string: VS Code would read a MarkdownString as markup. */
  resolveTreeItem(item: vscode.TreeItem, row: Row): vscode.TreeItem {
    item.tooltip = row.tooltip();
    return item;
  }

  dispose(): void {
    this.#view.dispose();
    this.#changed.dispose();
  }
}

function stateOf(row: Row): vscode.TreeItemCollapsibleState {
  if (row.children === undefined) return vscode.TreeItemCollapsibleState.None;
  return row.isOpen === true ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed;
}

function themeIcon(icon: Icon): vscode.ThemeIcon {
  return icon.color === undefined ? new vscode.ThemeIcon(icon.name) : new vscode.ThemeIcon(icon.name, new vscode.ThemeColor(icon.color));
}
