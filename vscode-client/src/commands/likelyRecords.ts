/** The runs that a conclusion is likely to be about: those that the findings of the config name, then the nearest ones. */

import { EXPERIMENTS, type Experiment, type Experiments, FINDINGS, type Finding, type Findings } from "../protocol";
import type { Tried } from "../tried";
import { OUTCOMES } from "../views/words";
import type { LikelyRecord } from "./pickRecord";

const MOST_FINDINGS = 5;
const MOST_RELATED = 5;

/** None where no config is open. */
export async function likelyRecords(tried: Tried): Promise<LikelyRecord[]> {
  const uri = tried.activeConfig.document?.uri.toString();
  if (uri === undefined) return [];
  const textDocument = { uri };
  const [findings, related] = await Promise.all([
    tried.sendRequest<Findings | null>(FINDINGS, { textDocument }),
    tried.sendRequest<Experiments | null>(EXPERIMENTS, { textDocument, limit: MOST_RELATED }),
  ]);
  return merged(findings?.findings ?? [], related?.experiments ?? []);
}

/** Each record once. */
export function merged(
  findings: readonly Pick<Finding, "record" | "message">[],
  experiments: readonly Pick<Experiment, "record" | "short" | "name" | "outcome">[],
): LikelyRecord[] {
  const byRecord = new Map<string, LikelyRecord>();
  const add = (one: LikelyRecord): void => {
    if (!byRecord.has(one.record)) byRecord.set(one.record, one);
  };
  for (const { record, message } of findings) {
    if (byRecord.size < MOST_FINDINGS) add({ record, label: record, description: message });
  }
  for (const { record, short, name, outcome } of experiments.slice(0, MOST_RELATED)) {
    add({ record, label: name || short, description: [short, OUTCOMES[outcome].words].filter((part) => part !== (name || short)).join(" · ") });
  }
  return [...byRecord.values()];
}
