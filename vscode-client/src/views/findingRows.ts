/** The rows of *In this file*: a finding each, and below it the reasons and the record. */

import type { Finding, Findings } from "../protocol";
import { clipped, counted, line, visibleLines } from "../text";
import type { Icon, Row } from "./row";
import { causeWords } from "./words";

interface SeverityWords {
  readonly words: string;
  readonly icon: Icon;
}

const SEVERITIES: Record<Finding["severity"], SeverityWords> = {
  warning: { words: "warning", icon: { name: "warning", color: "problemsWarningIcon.foreground" } },
  information: { words: "information", icon: { name: "info", color: "problemsInfoIcon.foreground" } },
  hover: { words: "remark", icon: { name: "comment" } },
};
const MOST_BLAMED = 3;

export function findingRows({ findings, uri }: Findings): Row[] {
  return [...findings]
    .sort((one, other) => one.range.start.line - other.range.start.line || one.range.start.character - other.range.start.character)
    .map((finding) => findingRow(finding, uri));
}

function findingRow(finding: Finding, uri: string): Row {
  const { code, evidence, message, range, record } = finding;
  const { words, icon } = SEVERITIES[finding.severity];
  const label = line(message, 400);
  const row = {
    // Not the line: what is open stays open while lines are added above
    id: `${code}/${evidence}/${record}/${finding.blamed.join(",")}`,
    label,
    description: place(finding),
    icon,
    context: `finding.${finding.severity}`,
    spoken: `${words}, line ${range.start.line + 1}: ${label}`,
    record,
    uri,
    range,
  };
  return {
    ...row,
    tooltip: () => [line(message, 500), ...finding.why.map((why) => line(why, 500)), `${words} · ${code} (${evidence})`].join("\n"),
    children: () => reasons(finding, uri),
    command: { id: "tried.findings.reveal", title: "Go to the Value", arguments: [{ uri, range }] },
  };
}

/** "line 7 · optimizer.lr" */
function place({ range, blamed }: Finding): string {
  const keys = blamed.slice(0, MOST_BLAMED).map((key) => line(key, 60));
  if (blamed.length > MOST_BLAMED) keys.push(`+ ${blamed.length - MOST_BLAMED} more`);
  return [`line ${range.start.line + 1}`, keys.join(", ")].filter((part) => part !== "").join(" · ");
}

function reasons(finding: Finding, uri: string): Row[] {
  const { record, count, cause } = finding;
  return [
    ...finding.why.map((why, place) => ({
      id: `why${place}`,
      label: line(why, 300),
      description: "",
      tooltip: () => visibleLines(clipped(why, 500)),
      icon: { name: "quote" },
      context: "why",
    })),
    {
      id: "record",
      label: line(record),
      description: [count > 1 ? `the last of ${counted(count, "run")}` : "", cause === null ? "" : causeWords(cause)].filter((part) => part !== "").join(" · "),
      tooltip: () => [line(record, 500), ...finding.records.filter((one) => one !== record).map((one) => line(one, 500))].join("\n"),
      icon: { name: "history" },
      context: "run",
      record,
      uri,
      command: { id: "tried.showRecord", title: "Show Record", arguments: [{ record, uri }] },
    },
  ];
}
