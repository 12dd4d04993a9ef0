/** Numbers as people write them, and round steps between them. */

import type { Numeric } from "../protocol";

/** At most four significant digits; an exponent for what is tiny or huge: `0.05`, `4096`, `3e-4`, `1.5e6`. */
export function numberText(value: Numeric | null): string {
  if (value === null) return "–";
  if (typeof value === "string" || !Number.isFinite(value)) return String(value).replace("-", "−").replace("Infinity", "inf");
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(4))).replace("-", "−");
  const [mantissa = "", exponent = ""] = value.toExponential(3).split("e");
  return `${Number(mantissa)}e${Number(exponent)}`.replace(/^-/, "−");
}

/** With a sign, as a change is written: `+0.01`, `−2`. */
export function signedText(value: Numeric | null): string {
  const text = numberText(value);
  return typeof value === "number" && value > 0 ? `+${text}` : text;
}

/** The round step (1, 2 or 5 times a power of ten) that cuts `span` into at most `most` pieces. */
export function roundStep(span: number, most: number): number {
  const rough = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** The multiples of the round step within [low, high]. */
export function roundValues(low: number, high: number, most: number): number[] {
  if (!(high > low)) return [low];
  const step = roundStep(high - low, most);
  const first = Math.ceil(low / step - 1e-9);
  // Beyond what a number can tell apart or hold there is nothing between the ends.
  if (!Number.isSafeInteger(first) || !Number.isFinite(step)) return [low, high];
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return [...new Set(Array.from({ length: count }, (_, index) => Number(((first + index) * step).toPrecision(12))))];
}

/** Round values on a logarithmic scale: 1, 2 and 5 of each decade, else each power of ten, else every n-th. */
export function roundLogValues(low: number, high: number, most: number): number[] {
  const first = Math.floor(Math.log10(low));
  const last = Math.ceil(Math.log10(high));
  const within = (value: number): boolean => value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9);
  const powers: number[] = [];
  for (let exponent = first; exponent <= last; exponent++) powers.push(Number(`1e${exponent}`));
  const fine = powers.flatMap((power) => [power, Number((power * 2).toPrecision(12)), Number((power * 5).toPrecision(12))]).filter(within);
  if (fine.length <= most) return fine.length >= 2 ? fine : roundValues(low, high, most);
  const coarse = powers.filter(within);
  const every = Math.max(1, Math.ceil(coarse.length / Math.max(1, most)));
  return coarse.length >= 2 ? coarse.filter((_, index) => index % every === 0) : fine.slice(0, most);
}
