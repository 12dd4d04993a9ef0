/** Programs that start others of their own, such as `uv run tried` and pip: a group of processes is ended as a whole. */

import type { ChildProcess } from "node:child_process";

/** To be given to `spawn` as `detached`: Windows has no groups. */
export const HAS_GROUPS = process.platform !== "win32";

/** Nothing where it has ended already. */
export function signalGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    if (HAS_GROUPS && child.pid !== undefined) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // it has ended in between
  }
}
