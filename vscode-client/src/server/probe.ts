/** Asks a program or an interpreter which tried it is, by running it in a folder that holds nothing. */

import { execFile, type ExecFileException } from "node:child_process";
import type { Candidate, Probe } from "./find";

const LIMIT_MS = 8_000;
const LONGEST = 10_000;

/** The empty entry would be the current folder. */
const ASK = `
import sys
sys.path[:] = [place for place in sys.path if place]
print("python", ".".join(map(str, sys.version_info[:3])))
try:
    import tried
    print("tried", tried.__version__)
except Exception as error:
    print("problem", type(error).__name__, error)
`;

export function serverEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONSAFEPATH: "1", PYTHONIOENCODING: "utf-8" };
}

export function probe(candidate: Candidate, cwd: string, signal: AbortSignal): Promise<Probe> {
  const args = [...candidate.args, ...(candidate.isInterpreter ? ["-c", ASK] : ["--version"])];
  return new Promise((resolve) => {
    if ([candidate.path, ...candidate.args].some((word) => word.includes("\0"))) {
      resolve({ problem: "that is no path" });
      return;
    }
    const options = { cwd, env: serverEnvironment(), timeout: LIMIT_MS, maxBuffer: LONGEST, windowsHide: true, signal };
    const child = execFile(candidate.path, args, { ...options, killSignal: "SIGKILL" }, (error, stdout, stderr) => {
      const told = parseAnswer(stdout);
      if (error === null || told.server !== undefined) resolve(told);
      else resolve({ ...told, problem: told.problem ?? wordsOf(error, stderr) });
    });
    child.stdin?.end();
  });
}

/** Lines `tried 0.1.0`, `python 3.11.7` and `problem ModuleNotFoundError …`; others are passed over. */
export function parseAnswer(stdout: string): Probe {
  const told: Probe = {};
  for (const line of stdout.split(/\r?\n/)) {
    const [, word, rest] = /^(tried|python|problem) (.+)$/.exec(line) ?? [];
    if (word === undefined || rest === undefined) continue;
    if (word === "problem") {
      told.problem = rest.startsWith("ModuleNotFoundError No module named 'tried'")
        ? "it has no tried"
        : `tried cannot be imported: ${rest}`;
    } else if (/^\d+\.\d/.test(rest)) told[word === "tried" ? "server" : "python"] = rest.trim();
  }
  return told;
}

export function wordsOf(error: ExecFileException, stderr: string): string {
  if (error.code === "ENOENT") return "there is no such file";
  if (error.code === "EACCES") return "it cannot be executed";
  if (error.code === "ABORT_ERR") return "the search was given up";
  if (error.killed === true) return `it did not answer within ${LIMIT_MS / 1000} seconds`;
  const last = stderr.trim().split("\n").at(-1)?.trim().slice(0, 300) ?? "";
  if (last !== "") return `it failed: ${last}`;
  return typeof error.code === "number" ? `it failed with exit status ${error.code}` : `it failed: ${error.message.slice(0, 300)}`;
}
