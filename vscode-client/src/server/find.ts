/**
 * Which server is started, and why. Decides only; looking and running are given.
 *
 * Invariant: in a workspace that is not trusted nothing but the server inside the extension is looked at.
 */

import type { Command } from "./paths";
import { isOlder, MINIMUM_PYTHON, MINIMUM_SERVER } from "./versions";

export type Origin = "setting" | "interpreter" | "pythonExtension" | "onPath" | "private" | "bundled";

export interface Candidate {
  origin: Origin;
  path: string;
  /** What stands between the program and our own arguments. */
  args: readonly string[];
  /** A Python that has tried as a module, not the program itself. */
  isInterpreter: boolean;
}

/** What running a candidate told. */
export interface Probe {
  server?: string;
  python?: string;
  problem?: string;
}

export interface Rejected {
  origin: Origin;
  /** What it is, in a person's words. */
  what: string;
  why: string;
  isTooOld: boolean;
}

export interface Found {
  candidate: Candidate | undefined;
  server: string | undefined;
  python: string | undefined;
  reason: string;
  rejected: Rejected[];
}

export interface Places {
  isTrusted: boolean;
  prefersBundled: boolean;
  /** `tried.path` and `tried.interpreter`; undefined: not set. */
  path: Command | undefined;
  interpreter: Command | undefined;
  /** Asked only where it matters. */
  pythonExtension: () => Promise<Command>;
  onPath: string | undefined;
  privateServer: string | undefined;
  bundled: string | undefined;
}

const WORDS: Record<Origin, { what: string; reason: string }> = {
  setting: { what: "tried.path", reason: "tried.path names it" },
  interpreter: { what: "tried.interpreter", reason: "tried.interpreter has it" },
  pythonExtension: { what: "the Python extension's interpreter", reason: "the Python extension's interpreter has it" },
  onPath: { what: "tried on PATH", reason: "it is on PATH" },
  private: { what: "the extension's own environment", reason: "it was installed for this extension" },
  bundled: { what: "the server inside the extension", reason: "it came with the extension" },
};

/** Why there is nothing to be looked at. */
const ABSENT = {
  onPath: "there is no program tried in the folders of PATH",
  private: "nothing is installed there",
  bundled: "this extension came without one",
} satisfies Partial<Record<Origin, string>>;

export async function findServer(
  places: Places,
  probe: (candidate: Candidate) => Promise<Probe>,
  signal: AbortSignal,
): Promise<Found> {
  const rejected: Rejected[] = [];
  for (const step of steps(places)) {
    const candidate = await step(rejected);
    if (candidate === undefined) continue;
    signal.throwIfAborted();
    const told = await probe(candidate);
    signal.throwIfAborted();
    const fault = faultOf(candidate, told);
    if (fault === undefined) {
      const reason = places.isTrusted
        ? WORDS[candidate.origin].reason
        : `${WORDS.bundled.reason}; in Restricted Mode no other is looked at`;
      return { candidate, server: told.server, python: told.python, reason, rejected };
    }
    rejected.push({ origin: candidate.origin, what: `${WORDS[candidate.origin].what} (${candidate.path})`, ...fault });
  }
  const reason = places.isTrusted
    ? "no server was found"
    : "in Restricted Mode only the server inside the extension is started, and this one came without";
  return { candidate: undefined, server: undefined, python: undefined, reason, rejected };
}

type Step = (rejected: Rejected[]) => Promise<Candidate | undefined> | Candidate | undefined;

function steps(places: Places): Step[] {
  const program = (origin: keyof typeof ABSENT, path: string | undefined): Step => {
    return (rejected) => {
      if (path !== undefined) return { origin, path, args: [], isInterpreter: false };
      if (places.isTrusted) rejected.push({ origin, what: WORDS[origin].what, why: ABSENT[origin], isTooOld: false });
      return undefined;
    };
  };
  const bundled = program("bundled", places.bundled);
  if (!places.isTrusted) return [bundled];
  const expanded = (origin: Origin, isInterpreter: boolean, ask: () => Promise<Command> | Command | undefined): Step => {
    return async (rejected) => {
      const value = await ask();
      if (value === undefined) return undefined;
      if ("path" in value) return { origin, ...value, isInterpreter };
      rejected.push({ origin, what: WORDS[origin].what, why: value.problem, isTooOld: false });
      return undefined;
    };
  };
  return [
    expanded("setting", false, () => places.path),
    ...(places.prefersBundled ? [bundled] : []),
    places.interpreter === undefined
      ? expanded("pythonExtension", true, places.pythonExtension)
      : expanded("interpreter", true, () => places.interpreter),
    program("onPath", places.onPath),
    program("private", places.privateServer),
    ...(places.prefersBundled ? [] : [bundled]),
  ];
}

function faultOf(candidate: Candidate, told: Probe): { why: string; isTooOld: boolean } | undefined {
  if (told.server !== undefined && isOlder(told.server, MINIMUM_SERVER)) {
    return { why: `it is tried ${told.server}; ${MINIMUM_SERVER} or newer is needed`, isTooOld: true };
  }
  if (candidate.isInterpreter && told.python !== undefined && isOlder(told.python, MINIMUM_PYTHON)) {
    return { why: `it is Python ${told.python}; ${MINIMUM_PYTHON} or newer is needed`, isTooOld: true };
  }
  if (told.server === undefined) {
    return { why: told.problem ?? "it does not say which version of tried it is", isTooOld: false };
  }
  return undefined;
}

/** What a person should be told of: what a setting names and will not do, and what is too old. */
export function complaints(found: Found): Rejected[] {
  const asked: Origin[] = ["setting", "interpreter"];
  return found.rejected.filter((one) => asked.includes(one.origin) || (one.isTooOld && one.origin !== "bundled"));
}
