/**
 * Where in a `tried.toml` another source of runs is to be written.
 *
 * Invariant: text that is there stays as it is; something is inserted at one place, or nothing at all.
 */

export type SourceEdit =
  | { readonly kind: "insert"; readonly offset: number; readonly text: string }
  | { readonly kind: "present" }
  /** The file says it in a way that is not to be touched by a program. */
  | { readonly kind: "by hand"; readonly advice: string };

/** `path` as it is to stand in the file: relative to its folder, with forward slashes. */
export function addSource(text: string, path: string): SourceEdit {
  const statements = statementsOf(text);
  if (statements === undefined) return byHand(path, "it has a mistake");
  const end = /\r?\n$/.test(text) || text === "" ? "" : newline(text);
  const eol = newline(text);
  const append = (addition: string): SourceEdit => {
    const gap = text.trim() === "" ? "" : eol;
    return { kind: "insert", offset: text.length, text: `${end}${gap}${addition}` };
  };
  let table = "";
  let header: Statement | undefined;
  let sources: Statement | undefined;
  let isTables = false;
  for (const statement of statements) {
    if (statement.header !== undefined) {
      table = statement.header;
      if (table === "[pool]") header = statement;
      if (table === "[[pool.sources]]") isTables = true;
      if (table.startsWith("[pool.sources")) return byHand(path, "sources is a table");
    } else if (table === "[pool]" && statement.key === "sources") sources = statement;
    else if (table === "" && /^pool(?:\.|$)/.test(statement.key ?? "")) return byHand(path, "pool is set in one line");
    else if (table === "[pool]" && statement.key?.startsWith("sources.") === true) return byHand(path, "sources is a table");
  }
  if (isPresent(statements, path)) return { kind: "present" };
  if (isTables) return append(`[[pool.sources]]${eol}path = ${quoted(path)}${eol}`);
  if (sources !== undefined) return intoList(text, sources, path);
  if (header !== undefined) {
    const after = lineEnd(text, header.end);
    const start = after === text.length && end !== "" ? eol : "";
    return { kind: "insert", offset: after, text: `${start}sources = [${quoted(path)}]${eol}` };
  }
  return append(`[pool]${eol}sources = [${quoted(path)}]${eol}`);
}

function byHand(path: string, why: string): SourceEdit {
  return { kind: "by hand", advice: `tried.toml was left alone, since ${why}. Add ${quoted(path)} to sources of [pool] there.` };
}

/** A value as a basic string of TOML. */
export function quoted(path: string): string {
  return JSON.stringify(path).replaceAll("\u007f", "\\u007F");
}

interface Statement {
  /** "[pool]" or "[[pool.sources]]", without white space and quotes. */
  readonly header?: string;
  readonly key?: string;
  /** Where the value begins, and where the statement ends. */
  readonly value: number;
  readonly end: number;
  readonly strings: readonly string[];
  /** Of a list: the bracket that closes it, and the last character before that which is neither space nor comment. */
  readonly close?: number;
  readonly last?: number;
}

/** Headers and assignments of a text; undefined where it cannot be understood. */
function statementsOf(text: string): Statement[] | undefined {
  const statements: Statement[] = [];
  let at = 0;
  for (;;) {
    at = skipBlank(text, at);
    if (at >= text.length) return statements;
    const statement = text[at] === "[" ? headerAt(text, at) : assignmentAt(text, at);
    if (statement === undefined) return undefined;
    statements.push(statement);
    at = statement.end;
  }
}

function headerAt(text: string, at: number): Statement | undefined {
  const found = /\[\[?[^\]\n]*\]\]?/y;
  found.lastIndex = at;
  const header = found.exec(text)?.[0];
  if (header === undefined || header.startsWith("[[") !== header.endsWith("]]")) return undefined;
  const end = at + header.length;
  return restOfLine(text, end) ? { header: header.replace(/[\s"']/g, ""), value: end, end, strings: [] } : undefined;
}

function assignmentAt(text: string, at: number): Statement | undefined {
  const found = /((?:[\w-]+|"[^"\\\n]*"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[\w-]+|"[^"\\\n]*"|'[^'\n]*'))*)[ \t]*=[ \t]*/y;
  found.lastIndex = at;
  const key = found.exec(text);
  if (key === null) return undefined;
  const value = at + key[0].length;
  const scanned = scanValue(text, value);
  if (scanned === undefined || !restOfLine(text, scanned.end)) return undefined;
  return { key: (key[1] ?? "").replace(/[\s"']/g, ""), value, ...scanned };
}

interface Scanned {
  readonly end: number;
  readonly strings: readonly string[];
  readonly close?: number;
  readonly last?: number;
}

/** To the end of a value: of the line, or of what brackets hold. */
function scanValue(text: string, start: number): Scanned | undefined {
  const strings: string[] = [];
  let depth = 0;
  let last = start;
  for (let at = start; at < text.length; ) {
    const character = text[at] ?? "";
    if (character === '"' || character === "'") {
      const string = stringAt(text, at);
      if (string === undefined) return undefined;
      strings.push(string.value);
      at = string.end;
      last = at - 1;
    } else if (character === "#") {
      if (depth === 0) return { end: at, strings };
      at = lineEnd(text, at);
    } else if (character === "\n" && depth === 0) {
      return { end: at, strings };
    } else {
      if (character === "[" || character === "{") depth += 1;
      if (character === "]" || character === "}") depth -= 1;
      if (depth < 0) return undefined;
      if (depth === 0 && character === "]") return { end: at + 1, strings, close: at, last };
      if (!/\s/.test(character)) last = at;
      at += 1;
    }
  }
  return depth === 0 ? { end: text.length, strings } : undefined;
}

function stringAt(text: string, at: number): { value: string; end: number } | undefined {
  const quote = text[at] ?? "";
  const isLong = text.startsWith(quote.repeat(3), at);
  const mark = isLong ? quote.repeat(3) : quote;
  for (let end = at + mark.length; end < text.length; end += 1) {
    if (quote === '"' && text[end] === "\\") end += 1;
    else if (!isLong && text[end] === "\n") return undefined;
    else if (text.startsWith(mark, end)) {
      const value = text.slice(at + mark.length, end);
      return { value: quote === '"' ? unescaped(value) : value, end: end + mark.length };
    }
  }
  return undefined;
}

function unescaped(value: string): string {
  try {
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return value;
  }
}

function intoList(text: string, { value, close, last }: Statement, path: string): SourceEdit {
  if (text[value] !== "[" || close === undefined || last === undefined) return byHand(path, "sources is no list");
  const inside = text.slice(value + 1, close);
  const holdsTables = /^\s*(?:#[^\n]*\s*)*\{/.test(inside);
  const item = holdsTables ? `{ path = ${quoted(path)} }` : quoted(path);
  if (last === value) return { kind: "insert", offset: value + 1, text: item };
  const hasComma = text[last] === ",";
  const before = text.lastIndexOf("\n", last) + 1;
  if (/"""|'''/.test(inside)) return byHand(path, "sources holds texts of several lines");
  if (before <= value || close < lineEnd(text, last)) return { kind: "insert", offset: last + 1, text: `${hasComma ? " " : ", "}${item}` };
  // One on each line, with the indentation of the last, whose comment stays beside it
  const indent = /^[ \t]*/.exec(text.slice(before))?.[0] ?? "";
  const eol = newline(text);
  if (hasComma) return { kind: "insert", offset: lineEnd(text, last) - eol.length, text: `${eol}${indent}${item},` };
  const isCommented = text.slice(last + 1, lineEnd(text, last)).trimStart().startsWith("#");
  if (isCommented) return { kind: "insert", offset: before + indent.length, text: `${item},${eol}${indent}` };
  return { kind: "insert", offset: last + 1, text: `,${eol}${indent}${item}` };
}

function isPresent(statements: readonly Statement[], path: string): boolean {
  let table = "";
  return statements.some((statement) => {
    table = statement.header ?? table;
    const isSource = (table === "[pool]" && statement.key === "sources") || (table === "[[pool.sources]]" && statement.key === "path");
    return isSource && statement.strings.includes(path);
  });
}

function skipBlank(text: string, start: number): number {
  const blank = /(?:\s|#[^\n]*)*/y;
  blank.lastIndex = start;
  return start + (blank.exec(text)?.[0].length ?? 0);
}

function restOfLine(text: string, at: number): boolean {
  return /^[ \t]*(?:#|\r?$)/.test(text.slice(at, lineEnd(text, at)).replace(/\r?\n$/, ""));
}

/** The place after the line's end. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

function newline(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}
