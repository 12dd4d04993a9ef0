/**
 * A row of a tree view as plain data: what it says, what it opens, what hangs below it.
 *
 * A row is what VS Code hands to a command from its menu, so it carries the arguments that commands look for.
 */

import type { Range } from "vscode-languageserver-types";

export interface Icon {
  /** A codicon. */
  readonly name: string;
  /** A theme colour. */
  readonly color?: string;
}

export interface RowCommand {
  readonly id: string;
  readonly title: string;
  readonly arguments: readonly unknown[];
}

export interface Row {
  /** Unique among its siblings, and the same for the same thing, so that what was open stays open. */
  readonly id: string;
  readonly label: string;
  readonly description: string;
  /** Plain text; made when it is asked for. */
  readonly tooltip: () => string;
  readonly icon?: Icon;
  /** What menus go by. */
  readonly context: string;
  /** What a screen reader says; label and description where it is left out. */
  readonly spoken?: string;
  readonly children?: () => Row[];
  /** Its children are shown until the user closes it. */
  readonly isOpen?: boolean;
  readonly command?: RowCommand;

  readonly record?: string;
  readonly uri?: string;
  readonly url?: string;
  readonly range?: Range;
  readonly folder?: string;
}

/** Gives later rows with an id that is taken another one: VS Code shows nothing at all where two are the same. */
export function withDistinctIds(rows: Row[]): Row[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const count = (seen.get(row.id) ?? 0) + 1;
    seen.set(row.id, count);
    return count === 1 ? row : { ...row, id: `${row.id}\0${count}` };
  });
}
