/** The sidebar: *Related*, *In this file* and *Pool*. */

import * as vscode from "vscode";
import type { Tried } from "../tried";
import { FindingsView, registerFindingsCommands } from "./findingsView";
import { registerPoolCommands } from "./poolCommands";
import { PoolView } from "./poolView";
import { registerRelatedCommands } from "./relatedCommands";
import { RelatedView } from "./relatedView";

export function registerViews(tried: Tried): vscode.Disposable {
  const related = new RelatedView(tried);
  const pool = new PoolView(tried);
  return vscode.Disposable.from(
    related,
    registerRelatedCommands(tried, related),
    new FindingsView(tried),
    registerFindingsCommands(),
    pool,
    registerPoolCommands(tried, pool),
  );
}
