/** "Why is this run not in the list?" */

import * as vscode from "vscode";
import { pickRecord } from "../commands/pickRecord";
import { ABSENCE, type Absence } from "../protocol";
import { inert, line } from "../text";
import type { Tried } from "../tried";
import { filterInForce, withoutFilters } from "./relatedQuery";
import { reasonOf } from "../reason";
import type { RelatedView } from "./relatedView";

const SHOW_RECORD = "Show Record";
const CLEAR_FILTERS = "Clear Filters";
const SHOW_MORE = "Show More";

export async function whyNot(tried: Tried, view: RelatedView): Promise<void> {
  const uri = tried.activeConfig.document?.uri.toString();
  if (uri === undefined) {
    void vscode.window.showInformationMessage("Open an experiment config first: the list is about the config in the editor.");
    return;
  }
  const record = await pickRecord(tried, "Why Is a Run Not Here? Choose the run");
  if (record === undefined) return;
  const answer = await absence(tried, view, uri, record);
  if (answer === undefined) return;
  const actions = [
    ...(answer.record === null ? [] : [SHOW_RECORD]),
    ...(answer.dropped_by === "filter" ? [CLEAR_FILTERS] : answer.dropped_by === "cut" ? [SHOW_MORE] : []),
  ];
  const about = answer.record === null ? "" : `${line(answer.record, 80)}: `;
  const action = await vscode.window.showInformationMessage(inert(about + line(answer.answer, 600)), ...actions);
  if (action === SHOW_RECORD) await vscode.commands.executeCommand("tried.showRecord", { record: answer.record, uri });
  else if (action === CLEAR_FILTERS) view.choose(withoutFilters(view.choice));
  else if (action === SHOW_MORE) view.showMore(answer.rank ?? 0);
}

async function absence(tried: Tried, view: RelatedView, uri: string, record: string): Promise<Absence | undefined> {
  const ownLine = view.answer?.uri === uri ? view.answer.query.research_line : null;
  const limit = view.answer?.uri === uri ? view.answer.experiments.length : undefined;
  const params = { textDocument: { uri }, record, filter: filterInForce(view.choice, ownLine), ...(limit === undefined || limit === 0 ? {} : { limit }) };
  try {
    return await tried.sendRequest<Absence>(ABSENCE, params);
  } catch (error) {
    void vscode.window.showWarningMessage(inert(line(reasonOf(error), 300)));
    return undefined;
  }
}
