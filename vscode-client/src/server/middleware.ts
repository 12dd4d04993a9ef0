/** What is changed of the messages between VS Code and the server. */

import * as vscode from "vscode";
import type { Middleware, ShowDocumentResult } from "vscode-languageclient/node";
import { type RecordArguments, SERVER_COMMANDS } from "../protocol";
import { countHit } from "../hits";
import { reasonOf } from "../reason";
import { inert, line } from "../text";
import type { Tried } from "../tried";
import { askReason } from "../commands/askReason";
import { settingsFor } from "./configuration";
import { selectingReasons } from "./reasonSelection";
import type { RecordLinks } from "./recordLinks";

interface ConclusionArguments {
  reason?: string;
  verdict?: string;
}

/** Server commands that take a reason, which the protocol cannot ask for. */
const WITH_REASON: Record<string, string> = {
  [SERVER_COMMANDS.mark]: "What came of this run, and why?",
  [SERVER_COMMANDS.conclude]: "What came of these runs, and why?",
  [SERVER_COMMANDS.silence]: "Why should this not be told any more?",
};

/** Of a command's error VS Code makes a message, with links in it. */
async function told(answer: unknown): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    throw new Error(inert(line(reasonOf(error), 500)), { cause: error });
  }
}

/** Of a value that was used, or a completion that was taken: that it could not be counted is nobody's business there. */
async function counted(answer: unknown, log: Tried["log"]): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    log.warn(`a hit was not counted: ${reasonOf(error)}`);
    return undefined;
  }
}

export function middleware(tried: Pick<Tried, "context" | "log" | "sendRequest">, links: RecordLinks): Middleware {
  return {
    workspace: {
      configuration: (params, token, next) =>
        Promise.resolve(next(params, token)).then((answers) =>
          params.items.map((item, position) =>
            item.section === "tried"
              ? settingsFor(tried.context.extension, item.scopeUri === undefined ? undefined : vscode.Uri.parse(item.scopeUri))
              : Array.isArray(answers)
                ? (answers[position] as unknown)
                : null,
          ),
        ),
      didChangeConfiguration: (_sections, next) => next(undefined), // the server asks for what it needs
    },
    window: {
      showDocument: (params, next) =>
        // An address may come from a record: nothing but pages of the web and files is opened.
        /^(https?|file):/i.test(params.uri)
          ? (next(params, new vscode.CancellationTokenSource().token) as Promise<ShowDocumentResult>)
          : Promise.resolve({ success: false }),
    },
    // The status bar shows it, and what is being read has names of its own.
    handleWorkDoneProgress: (token, params, next) => {
      if ("title" in params) params.title = inert(params.title);
      if (params.message !== undefined) params.message = inert(line(params.message, 200));
      next(token, params);
    },
    executeCommand: async (command, args: unknown[], next) => {
      const given = (args[0] ?? {}) as RecordArguments & ConclusionArguments;
      if (command === SERVER_COMMANDS.open) return vscode.commands.executeCommand("tried.showRecord", given);
      if (command === SERVER_COMMANDS.compare) return vscode.commands.executeCommand("tried.compare", given);
      if (command === SERVER_COMMANDS.countHit) return counted(next(command, args), tried.log);
      const question = WITH_REASON[command];
      if (question === undefined || (given.reason ?? "") !== "") return told(next(command, args));
      const reason = await askReason(question, given.verdict !== undefined || command === SERVER_COMMANDS.silence);
      if (reason === undefined) return undefined;
      return told(next(command, [{ ...given, reason }, ...args.slice(1)]));
    },
    provideCodeActions: async (document, range, context, token, next) => {
      const actions = await next(document, range, context, token);
      return actions ? selectingReasons(actions) : actions;
    },
    // VS Code draws an icon where these say `$(name)`, and what they say comes from records.
    provideCodeLenses: async (document, token, next) => {
      const lenses = await next(document, token);
      for (const lens of lenses ?? []) if (lens.command) lens.command.title = inert(lens.command.title);
      return lenses;
    },
    provideWorkspaceSymbols: async (query, token, next) => {
      const symbols = await next(query, token);
      for (const symbol of symbols ?? []) {
        symbol.name = inert(symbol.name);
        symbol.containerName = inert(symbol.containerName);
      }
      return symbols;
    },
    // Asked for the one that somebody goes to
    resolveWorkspaceSymbol: (symbol, token, next) => {
      const { data } = symbol as vscode.SymbolInformation & { data?: { record?: unknown } | null };
      if (typeof data?.record === "string") void countHit(tried, { record: data.record, how: "opened" });
      return next(symbol, token);
    },
    provideDocumentLinks: links.provideDocumentLinks,
    provideDefinition: links.provideDefinition,
  };
}
