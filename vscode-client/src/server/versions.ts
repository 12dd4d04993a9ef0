/** The oldest that will do. */

export const MINIMUM_SERVER = "0.1.0";
export const MINIMUM_PYTHON = "3.11";

/** By the leading numbers; what is missing counts as 0, and what follows them (rc1, .dev0) not at all. */
export function isOlder(version: string, minimum: string): boolean {
  const [own, wanted] = [numbers(version), numbers(minimum)];
  for (let position = 0; position < Math.max(own.length, wanted.length); position++) {
    const difference = (own[position] ?? 0) - (wanted[position] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

function numbers(version: string): number[] {
  return (/^\d+(\.\d+)*/.exec(version)?.[0] ?? "0").split(".").map(Number);
}
