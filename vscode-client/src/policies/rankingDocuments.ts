/** Rankings as read-only documents, two of them side by side in the editor that VS Code has for differences. */

import * as vscode from "vscode";
import { inert } from "../text";
import type { Texts } from "./rankingText";

export const RANKING_SCHEME = "tried-ranking";

/** Of so many comparisons the texts are kept; VS Code asks for them anew when a tab is shown again. */
const MOST_COMPARISONS = 30;
const FORGOTTEN = "This comparison is no longer kept. “Tried: Try Another Policy…” makes a new one.\n";

export class RankingDocuments implements vscode.Disposable {
  readonly #texts = new Map<number, Texts>();
  readonly #registration: vscode.Disposable;
  #count = 0;

  constructor() {
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(RANKING_SCHEME, {
      provideTextDocumentContent: (uri) => this.text(uri.path),
    });
  }

  /** `path`: `/1/in force.txt` or `/1/tried.txt` */
  text(path: string): string {
    const [, number = "", side = ""] = path.split("/");
    const kept = this.#texts.get(Number(number));
    return kept === undefined ? FORGOTTEN : side.startsWith("in force") ? kept.before : kept.after;
  }

  async show(texts: Texts): Promise<void> {
    const number = ++this.#count;
    this.#texts.set(number, texts);
    this.#texts.delete(number - MOST_COMPARISONS);
    const uri = (side: string): vscode.Uri => vscode.Uri.from({ scheme: RANKING_SCHEME, path: `/${number}/${side}.txt` });
    await vscode.commands.executeCommand("vscode.diff", uri("in force"), uri("tried"), inert(texts.title), { preview: true });
  }

  dispose(): void {
    this.#registration.dispose();
    this.#texts.clear();
  }
}
