/** What each command does, in a line: the one source for docs/editors/vscode.md (scripts/commands-table.mjs). */

export const DESCRIPTIONS = {
  "tried.restart": "Looks for the server and starts it, ending the one that runs.",
  "tried.showLogs": "Opens the log of the extension and of the server.",
  "tried.debugInformation": "Says which server was chosen and why, versions, settings and sources, without secrets; for a report.",
  "tried.installServer": "Installs the server into an environment of the extension's own, after showing the commands.",
  "tried.openGuide": "Opens the guide that came with the extension.",
  "tried.openSettings": "Opens the settings of Tried.",
  "tried.showRecord": "Searches past experiments and opens the record of one.",
  "tried.compare": "The same, at the parameters that differ from the config in the editor.",
  "tried.conclude": "Writes down what came of a run, in two steps: a verdict, and why.",
  "tried.related.filter": "Lists only an outcome, a research line, a tag or a source.",
  "tried.related.deadEndsOnly": "Lists dead ends only; once more lists all.",
  "tried.related.thisLineOnly": "Lists only the research line of the config in the editor; once more lists all.",
  "tried.related.clearFilters": "Lists all related experiments again.",
  "tried.related.sort": "Most related, newest, or best result first.",
  "tried.related.search": "Lists only experiments in which the words occur, while you type them.",
  "tried.related.whyNot": "Says why a run that you miss is not in the list, and what would bring it there.",
  "tried.tryPolicy": "Shows how another policy, or another value of a knob, would rank the experiments, beside how they are ranked; nothing is kept.",
  "tried.related.showMore": "Lists more related experiments.",
  "tried.related.copyId": "Copies the id of the record.",
  "tried.related.openRun": "Opens the run's page at its tracker, in the browser.",
  "tried.related.openSource": "Opens the folder of the run, or its line in the pool.",
  "tried.findings.reveal": "Selects the value that the finding is about.",
  "tried.findings.fix": "Offers what can be done about the finding.",
  "tried.pool.addSource": "Adds a place where runs are to the `tried.toml` of the folder, as an edit that you save.",
  "tried.pool.rescanNow": "Looks for runs anew.",
  "tried.pool.openJournal": "Opens the conclusions that were recorded, `.tried/pool.jsonl`.",
  "tried.pool.showProblems": "Lists what could not be read, and why.",
} as const;

export type CommandId = keyof typeof DESCRIPTIONS;
