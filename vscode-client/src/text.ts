/**
 * Text from records, made fit to be shown: on one line, clipped, with nothing hidden in it.
 *
 * VS Code takes labels of trees as text, but not everything: `$(name)` draws an icon in quick picks and prompts, and
 * `[text](command:…)` is a link that can be clicked in messages and prompts. `inert` is for those places.
 */

const ELLIPSIS = "…";
// Controls, and what reorders or hides text; not the joiners that scripts and emoji need, nor a line's end.
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;
const ZERO_WIDTH_SPACE = "\u200b";

/** One line: white space collapsed; what would hide or reorder text stands there as a visible sign. */
export function visible(text: string): string {
  return text.replace(/[\t\n\v\f\r\u0085\u2028\u2029 ]+/g, " ").replace(/^ | $/g, "").replace(HIDDEN, sign);
}

/** The same, but lines stay lines and their indentation stays. */
export function visibleLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map((line) => line.replace(/\t/g, "    ").replace(HIDDEN, sign))
    .join("\n");
}

/** At most `limit` UTF-16 units, cut between characters. */
export function clipped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = isLead(text.charCodeAt(limit - 2)) ? limit - 2 : limit - 1;
  return text.slice(0, end).trimEnd() + ELLIPSIS;
}

/** A label: one visible line of at most `limit` characters; of a longer text only the beginning is looked at. */
export function line(text: string, limit = 200): string {
  return clipped(visible(clipped(text, 8 * limit)), limit);
}

/** For places where VS Code reads `$(icon)` or `[link](command:…)`: quick picks, messages, prompts, the status bar. */
export function inert(text: string): string {
  return text.replaceAll("$(", `$${ZERO_WIDTH_SPACE}(`).replaceAll("](", `]${ZERO_WIDTH_SPACE}(`);
}

/** "1 run", "2 runs", "1,204 runs" */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd";
  return `⟨${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

function isLead(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
