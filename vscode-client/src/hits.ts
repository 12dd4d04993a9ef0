/** Hits: that a person opened a record, compared with it or used a value of it. The server keeps count; being shown is no hit. */

import { SERVER_COMMANDS, type CountHit } from "./protocol";
import { reasonOf } from "./reason";
import type { Tried } from "./tried";

/** A double click runs a row's command twice. */
const SAME_GESTURE_MS = 500;

let last: { gesture: string; at: number } | undefined;

/**
 * Tells the server, once for a gesture. Never fails: an older server knows no hits, and who opens a record is not to be
 * bothered with a folder that cannot be written.
 *
 * Not for what a command of the server does that counts by itself.
 */
export async function countHit(tried: Pick<Tried, "sendRequest" | "log">, hit: CountHit, now = performance.now()): Promise<void> {
  const gesture = JSON.stringify([hit.record, hit.how]);
  const isSame = last?.gesture === gesture && now - last.at < SAME_GESTURE_MS;
  last = { gesture, at: now };
  if (isSame) return;
  try {
    const done = await tried.sendRequest<{ problem?: unknown } | null>("workspace/executeCommand", { command: SERVER_COMMANDS.countHit, arguments: [hit] });
    if (typeof done?.problem === "string") tried.log.warn(`the hit of ${hit.record} was not counted: ${done.problem}`);
  } catch (error) {
    tried.log.warn(`the hit of ${hit.record} was not counted: ${reasonOf(error)}`);
  }
}
