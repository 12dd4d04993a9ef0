/** The server's stderr, line by line, each with the level that it was logged at. */

export type Level = "error" | "warn" | "info" | "debug";

const MAXIMUM_LINE = 4_000;
const LEVELS: Record<string, Level> = { CRITICAL: "error", ERROR: "error", WARNING: "warn", INFO: "info", DEBUG: "debug" };
const LOGGED = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (CRITICAL|ERROR|WARNING|INFO|DEBUG) (.*)$/;

export function parseLine(line: string): { level: Level; text: string } {
  const [, name, text] = LOGGED.exec(line) ?? [];
  const level = name === undefined ? undefined : LEVELS[name];
  return level === undefined ? { level: "info", text: line } : { level, text: text ?? "" };
}

/** Cuts chunks into lines; the last ones are kept for a message about an unexpected end. */
export class LineSplitter {
  readonly #last: string[] = [];
  #rest = "";

  constructor(
    private readonly onLine: (line: string) => void,
    private readonly keep = 20,
  ) {}

  push(chunk: string): void {
    const lines = (this.#rest + chunk).split(/\r?\n/);
    this.#rest = (lines.pop() ?? "").slice(0, MAXIMUM_LINE);
    for (const line of lines) this.#take(line);
  }

  end(): void {
    if (this.#rest !== "") this.#take(this.#rest);
    this.#rest = "";
  }

  get last(): readonly string[] {
    return this.#last;
  }

  #take(line: string): void {
    const short = line.slice(0, MAXIMUM_LINE);
    this.#last.push(short);
    if (this.#last.length > this.keep) this.#last.shift();
    this.onLine(short);
  }
}
