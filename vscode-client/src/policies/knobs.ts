/** Knobs of policies as people name and write them: dotted names, `knob=value`, lines of `tried.toml`. */

import type { Knobs, NamedPolicy, PolicyChoice } from "../protocol";
import { line } from "../text";

export type Value = boolean | number | string | null;

/** A knob of a policy whose value is another one in the policy that it is compared with; undefined: there it has none. */
export interface ChangedKnob {
  knob: string;
  value: Value;
  before: Value | undefined;
}

/** What stands beside the knobs of a policy and is none. */
const NO_KNOBS = new Set(["schema", "name", "policy_id"]);

/** By their dotted names, in the order of the policy. */
export function flatKnobs(policy: Knobs): Map<string, Value> {
  const flat = new Map<string, Value>();
  for (const [name, value] of Object.entries(policy)) {
    if (NO_KNOBS.has(name)) continue;
    if (typeof value === "object" && value !== null) for (const [inner, one] of flatKnobs(value)) flat.set(`${name}.${inner}`, one);
    else flat.set(name, value);
  }
  return flat;
}

export function changedKnobs(policy: Knobs, from: Knobs | undefined): ChangedKnob[] {
  const before = flatKnobs(from ?? {});
  return [...flatKnobs(policy)].flatMap(([knob, value]) => (value === before.get(knob) ? [] : [{ knob, value, before: before.get(knob) }]));
}

/** The policy that others are told from: the one of the design, with what the settings say. */
export function defaultOf(policies: readonly NamedPolicy[]): NamedPolicy | undefined {
  return policies.find(({ name }) => name === "default");
}

export function valueText(value: Value | undefined): string {
  return value === null || value === undefined ? "none" : line(String(value), 60);
}

export function knobText({ knob, value }: Pick<ChangedKnob, "knob" | "value">): string {
  return `${line(knob, 60)} = ${valueText(value)}`;
}

/** `weights.lexical=0.5, half_life_days = 90`, or what is wrong with it; of what the values may be the server knows. */
export function readChanges(text: string): { set: NonNullable<PolicyChoice["set"]> } | { problem: string } {
  const parts = text.replace(/\s*=\s*/g, "=").split(/[\s,;]+/).filter((part) => part !== "");
  if (parts.length === 0) return { problem: "Write a knob and its value, such as half_life_days=90." };
  const pairs: [string, string][] = [];
  for (const part of parts) {
    const [, knob = "", value = ""] = /^([^=]+)=(.+)$/s.exec(part) ?? [];
    if (knob === "") return { problem: `“${line(part, 60)}” is no knob with a value: write knob=value, such as half_life_days=90.` };
    if (pairs.some(([name]) => name === knob)) return { problem: `${line(knob, 60)} is there twice.` };
    pairs.push([knob, value]);
  }
  return { set: Object.fromEntries(pairs) };
}

/** Lines of `tried.toml` that make a policy of these knobs, and the one that is used. */
export function tomlLines(changes: readonly ChangedKnob[], name: string): string[] {
  const lines = changes.filter(({ value }) => value !== null).map(({ knob, value }) => `${line(knob, 60)} = ${typeof value === "string" ? JSON.stringify(value) : String(value)}`);
  return [`[policies.${name}]`, ...lines, "", "[ranking]", `policy = ${JSON.stringify(name)}`];
}
