/** "Record a Conclusion": what came of a run, in two steps; Escape leaves either of them with nothing written. */

import * as vscode from "vscode";
import { RECORD, SERVER_COMMANDS, type RecordView, type Verdict } from "../protocol";
import { reasonOf } from "../reason";
import { inert, line } from "../text";
import type { Tried } from "../tried";
import { recordArguments } from "./arguments";
import { likelyRecords } from "./likelyRecords";
import { pickRecord } from "./pickRecord";

const SHOWN_MS = 6_000;

interface VerdictItem extends vscode.QuickPickItem {
  verdict: Verdict | null;
}

const VERDICTS: VerdictItem[] = [
  { verdict: "dead_end", label: "$(circle-slash) Dead end", description: "not worth doing again; warn of it" },
  { verdict: "works", label: "$(pass) Works", description: "worth building on" },
  { verdict: "inconclusive", label: "$(question) Inconclusive", description: "says nothing either way" },
  { verdict: null, label: "$(note) No verdict", description: "only words" },
];

const WORDS: Record<Verdict, string> = { dead_end: "a dead end", works: "works", inconclusive: "inconclusive" };

export async function conclude(tried: Tried, given: unknown): Promise<void> {
  const named = recordArguments(given);
  const record = named?.record ?? (await pickRecord(tried, "Record a Conclusion: of which run?", () => likelyRecords(tried)));
  if (record === undefined) return;
  const document = named?.uri ?? tried.activeConfig.document?.uri.toString();
  try {
    const params = document === undefined ? { record } : { record, textDocument: { uri: document } };
    const view = await tried.sendRequest<RecordView | null>(RECORD, params);
    if (view === undefined) throw new Error("the server of Tried does not run");
    if (view === null) throw new Error(`there is no record ${record} in the pool`);
    const short = inert(line(view.short, 60));
    const verdict = await askVerdict(short, view);
    if (verdict === undefined) return;
    const reason = await askWords(short, view, verdict);
    if (reason === undefined) return;
    const table = { uri: view.document, record: view.id, reason, ...(verdict === null ? {} : { verdict }) };
    const done = await tried.sendRequest("workspace/executeCommand", { command: SERVER_COMMANDS.mark, arguments: [table] });
    if (done === undefined) throw new Error("the server of Tried does not run");
    const what = verdict === null ? "" : `: ${WORDS[verdict]}`;
    vscode.window.setStatusBarMessage(`$(check) Recorded on ${short}${what}`, SHOWN_MS);
  } catch (error) {
    void vscode.window.showErrorMessage(inert(line(`Nothing was recorded: ${reasonOf(error)}`, 500)));
  }
}

/** First the verdict that stands or is proposed, else what the outcome says; a dead end is never the first guess. */
export function verdictItems({ verdict, conclusion, outcome }: Pick<RecordView, "verdict" | "conclusion" | "outcome">): VerdictItem[] {
  const likely = verdict ?? conclusion.verdict ?? (outcome === "works" ? "works" : null);
  return [...VERDICTS.filter((item) => item.verdict === likely), ...VERDICTS.filter((item) => item.verdict !== likely)];
}

/** null: none; undefined: not to be done. */
async function askVerdict(short: string, view: RecordView): Promise<Verdict | null | undefined> {
  const chosen = await vscode.window.showQuickPick(verdictItems(view), {
    title: `What came of ${short}? (1 of 2)`,
    placeHolder: inert(line(view.headline.text, 120)) || "A verdict; the next step asks why",
    ignoreFocusOut: true,
  });
  return chosen?.verdict;
}

function askWords(short: string, view: RecordView, verdict: Verdict | null): Thenable<string | undefined> {
  const box = vscode.window.showInputBox({
    title: `Why? One line about ${short} (2 of 2)`,
    prompt: verdict === null ? "It becomes the headline of the run." : "It becomes the headline of the run; may be left empty.",
    value: line(view.conclusion.prefill, 2_000),
    ignoreFocusOut: true,
    validateInput: (text) => (verdict === null && text.trim() === "" ? "Without a verdict, say it in words." : undefined),
  });
  return box.then((text) => text?.trim());
}
