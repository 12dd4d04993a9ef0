/** The sidebar: *Related*, *In this file* and *Pool*. */

import * as vscode from "vscode";
import type { Tried } from "../tried";
import { FindingsView, registerFindingsCommands } from "./findingsView";
import { registerRelatedCommands } from "./relatedCommands";
import { RelatedView } from "./relatedView";

export function registerViews(tried: Tried): vscode.Disposable {
  const related = new RelatedView(tried);
  return vscode.Disposable.from(
    related,
    registerRelatedCommands(tried, related),
    new FindingsView(tried),
    registerFindingsCommands(),
  );
}
