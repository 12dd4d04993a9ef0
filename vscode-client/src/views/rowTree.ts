/** Rows as a tree of VS Code. */

import * as vscode from "vscode";
import { withDistinctIds, type Icon, type Row } from "./row";

/**
 * Invariant: a row's id in the tree is made of those of the rows above it, so what the user opened stays open when the
 * same rows are set again.
 */
export class RowTree implements vscode.TreeDataProvider<Row>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #paths = new WeakMap<Row, string>();
  #roots: Row[] = [];

  get rows(): readonly Row[] {
    return this.#roots;
  }

  show(rows: Row[]): void {
    if (rows.length === 0 && this.#roots.length === 0) return;
    this.#roots = rows;
    this.#changed.fire(undefined);
  }

  getChildren(parent?: Row): Row[] {
    const path = parent === undefined ? "" : `${this.#paths.get(parent) ?? ""}\n`;
    const rows = withDistinctIds(parent === undefined ? this.#roots : (parent.children?.() ?? []));
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
