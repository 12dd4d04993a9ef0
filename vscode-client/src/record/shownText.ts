/** Text of records as it may be shown: without what steers a terminal or turns the direction of the text around it. */

 
const TERMINAL = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)|\u001b[@-Z\\^_]/g;
 
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** No longer than this, whatever comes: the server cuts at 20,000. */
const MOST_CHARACTERS = 20_000;

/** Line breaks and tabs stay. */
export function shownText(text: string): string {
  const cut = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  return cut.replace(/\r\n?/g, "\n").replace(TERMINAL, "").replace(CONTROL, "");
}

/** On one line, at most `most` characters. */
export function shownLine(text: string, most = 500): string {
  return clipped(shownText(text).replace(/\s+/g, " ").trim(), most);
}

/** Never between the halves of a character. */
export function clipped(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 2)) ? most - 2 : most - 1;
  return `${text.slice(0, Math.max(0, end)).trimEnd()}…`;
}
