/**
 * Ids of records as links that open the record panel.
 *
 * VS Code asks for links when the text changes, and has no way to be told that they have changed otherwise; and a click on
 * a link that also has a definition opens both.
 */

import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { DID_ANALYSE, type DidAnalyse, type RecordArguments } from "../protocol";
import { inert } from "../text";
import type { Tried } from "../tried";
import { DOCUMENT_SELECTOR } from "./selector";

/** Of a click the link and the definition come to us one after the other, but not always in the same order. */
const SAME_CLICK_MS = 600;
const PAUSE_MS = 300;
const OPEN = "tried.openLink";

interface Known {
  version: number;
  links: readonly vscode.DocumentLink[];
}

export class RecordLinks implements vscode.Disposable {
  readonly #known = new WeakMap<vscode.TextDocument, Known>();
  readonly #subscriptions: vscode.Disposable[];
  #opened = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  constructor(tried: Pick<Tried, "onNotification">) {
    this.#subscriptions = [
      vscode.commands.registerCommand(OPEN, (given: RecordArguments) => {
        this.#opened = performance.now();
        return vscode.commands.executeCommand("tried.showRecord", given);
      }),
      tried.onNotification<DidAnalyse>(DID_ANALYSE, ({ uri, version }) => {
        const document = this.#visible(vscode.Uri.parse(uri).toString());
        const known = document && this.#known.get(document);
        // Links of this very text were asked for before the pool was what it is now.
        if (known !== undefined && known.version >= version) this.#askAgain();
      }),
    ];
  }

  readonly provideDocumentLinks: NonNullable<Middleware["provideDocumentLinks"]> = async (document, token, next) => {
    const { version } = document;
    const given = (await next(document, token)) ?? [];
    const links = given.filter((link) => {
      const record = recordOf(link);
      if (record === undefined) return false; // a target of another kind is none of ours
      const named = { record, uri: document.uri.toString() } satisfies RecordArguments;
      if (link.tooltip !== undefined) link.tooltip = inert(link.tooltip);
      link.target = vscode.Uri.parse(`command:${OPEN}?${encodeURIComponent(JSON.stringify(named))}`);
      return true;
    });
    this.#known.set(document, { version, links });
    return links;
  };

  readonly provideDefinition: NonNullable<Middleware["provideDefinition"]> = async (document, position, token, next) => {
    const isLink = this.#known.get(document)?.links.some((link) => link.range.contains(position)) ?? false;
    if (!isLink) return next(document, position, token);
    const [definition] = await Promise.all([next(document, position, token), pause(SAME_CLICK_MS)]);
    return performance.now() - this.#opened < 2 * SAME_CLICK_MS ? undefined : definition;
  };

  dispose(): void {
    clearTimeout(this.#timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #visible(uri: string): vscode.TextDocument | undefined {
    return vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri)?.document;
  }

  /** That another provider comes and goes makes VS Code ask all of them. */
  #askAgain(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      vscode.languages.registerDocumentLinkProvider(DOCUMENT_SELECTOR, { provideDocumentLinks: () => [] }).dispose();
    }, PAUSE_MS);
  }
}

/** The client keeps a link's `data` on the link that it makes of it. */
function recordOf(link: vscode.DocumentLink): string | undefined {
  const { data } = link as vscode.DocumentLink & { data?: { record?: unknown } };
  return typeof data?.record === "string" ? data.record : undefined;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
