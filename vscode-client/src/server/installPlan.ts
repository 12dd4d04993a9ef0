/** The commands that install the server into an environment of its own. */

import type { Candidate, Probe } from "./find";
import { isOlder, MINIMUM_PYTHON, MINIMUM_SERVER } from "./versions";

export interface InstallPlan {
  python: string;
  version: string;
  commands: readonly (readonly string[])[];
}

/** Names of interpreters to look for on PATH. */
export const PYTHONS = ["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python"];

/** The first of the interpreters that is new enough; undefined if there is none. */
export async function planInstall(
  pythons: Iterable<string>,
  probe: (candidate: Candidate) => Promise<Probe>,
  where: { environment: string; pythonInside: string; wheel: string | undefined },
): Promise<InstallPlan | { tried: string[] }> {
  const looked: string[] = [];
  for (const python of new Set(pythons)) {
    const { python: version } = await probe({ origin: "interpreter", path: python, args: [], isInterpreter: true });
    looked.push(`${python} (${version === undefined ? "does not answer" : `Python ${version}`})`);
    if (version === undefined || isOlder(version, MINIMUM_PYTHON)) continue;
    const what = where.wheel ?? `tried>=${MINIMUM_SERVER}`;
    return {
      python,
      version,
      commands: [
        [python, "-m", "venv", where.environment],
        [where.pythonInside, "-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--upgrade", what],
      ],
    };
  }
  return { tried: looked };
}

/** As one would type it. */
export function typed(command: readonly string[]): string {
  return command.map((word) => (/^[\w@%+=:,./\\-]+$/.test(word) ? word : `"${word}"`)).join(" ");
}
