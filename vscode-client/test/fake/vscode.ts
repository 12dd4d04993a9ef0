/**
 * A stand-in for the API of VS Code in unit tests: everything can be called and does nothing, and what is registered is noted.
 *
 * run-unit.mjs puts it in the place of `vscode`.
 */

export const noted = {
  commands: [] as string[],
  contexts: new Map<string, unknown>(),
  views: [] as string[],
  run: new Map<string, (...given: unknown[]) => unknown>(),
  messages: [] as string[],
};

/** Whatever is asked of it is one more of its kind. */
function anything(): unknown {
  const made = new Map<PropertyKey, unknown>();
  const target = function () {
    // called and constructed alike
  };
  return new Proxy(target, {
    get: (_, name) => {
      if (name === "then" || name === Symbol.iterator) return undefined; // no promise, no list
      if (name === Symbol.toPrimitive) return () => "";
      if (!made.has(name)) made.set(name, anything());
      return made.get(name);
    },
    set: (_, name, value: unknown) => {
      made.set(name, value);
      return true;
    },
    apply: () => anything(),
    construct: () => anything() as object,
  });
}

function over(own: Record<string, unknown>): unknown {
  const rest = anything() as Record<PropertyKey, unknown>;
  return new Proxy(own, { get: (target, name) => (name in target ? target[name as string] : rest[name]) });
}

export class Disposable {
  static from(...parts: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const part of parts) part.dispose();
    });
  }
  constructor(readonly dispose: () => unknown) {}
}

export class EventEmitter<Value> {
  readonly #listeners = new Set<(value: Value) => void>();
  readonly event = (listener: (value: Value) => void): Disposable => {
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };
  fire(value: Value): void {
    for (const listener of this.#listeners) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

const message = (text: string): Promise<undefined> => {
  noted.messages.push(text);
  return Promise.resolve(undefined);
};

export const commands = over({
  registerCommand: (id: string, run: (...given: unknown[]) => unknown): Disposable => {
    noted.commands.push(id);
    noted.run.set(id, run);
    return new Disposable(() => noted.run.delete(id));
  },
  executeCommand: (id: string, ...given: unknown[]): Promise<undefined> => {
    if (id === "setContext") noted.contexts.set(String(given[0]), given[1]);
    return Promise.resolve(undefined);
  },
});

export const window = over({
  activeTextEditor: undefined,
  visibleTextEditors: [],
  createTreeView: (id: string): unknown => {
    noted.views.push(id);
    return anything();
  },
  showErrorMessage: message,
  showWarningMessage: message,
  showInformationMessage: message,
});

export const workspace = over({ workspaceFolders: undefined, isTrusted: true, textDocuments: [] });
export const languages = anything();
export const extensions = anything();
export const env = anything();
export const version = "1.90.0";
export const Uri = anything();
export const Range = anything();
export const Selection = anything();
export const ThemeIcon = anything();
export const ThemeColor = anything();
export const TreeItem = anything();
export const TreeItemCollapsibleState = anything();
export const WorkspaceEdit = anything();
export const CancellationTokenSource = anything();
export const ProgressLocation = anything();
export const QuickPickItemKind = { Separator: -1 };
export const LanguageStatusSeverity = { Information: 0, Warning: 1, Error: 2 };
export const DiagnosticSeverity = { Error: 0, Warning: 1 };
export const TextEditorRevealType = anything();
export const ViewColumn = anything();

/** What classes of the language client's library are made of. */
class Part {
  readonly isPart = true;
}
export {
  Part as CallHierarchyItem,
  Part as CodeAction,
  Part as CodeLens,
  Part as CompletionItem,
  Part as Diagnostic,
  Part as DocumentLink,
  Part as InlayHint,
  Part as SymbolInformation,
  Part as TypeHierarchyItem,
};
export class CancellationError extends Error {}

export const CodeActionKind = anything();
export const CodeActionTriggerKind = anything();
export const CompletionItemKind = anything();
export const CompletionItemTag = anything();
export const CompletionTriggerKind = anything();
export const DiagnosticTag = anything();
export const DocumentHighlightKind = anything();
export const FileType = anything();
export const FoldingRangeKind = anything();
export const InlayHintKind = anything();
export const MarkdownString = anything();
export const NotebookCellKind = anything();
export const Position = anything();
export const RelativePattern = anything();
export const SignatureHelpTriggerKind = anything();
export const SymbolKind = anything();
export const SymbolTag = anything();
export const TextDocumentSaveReason = anything();
