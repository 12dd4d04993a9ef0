/** Policies and rankings as the server answers them, made up. */

import type { Knobs, NamedPolicy, Policies, Ranked, Ranking, Term } from "../../src/protocol";
import { URI } from "./viewData";

export const DEFAULT: Knobs = {
  schema: "tried.policy/v1",
  weights: { lexical: 0.4, structural: 0.25, recency: 0.15, importance: 0.2 },
  half_life_days: 30,
  lexical_bonus: { enabled: false, weight: 0.05, min_ratio: 0.3, term_cap: 64 },
  hit_boost: { enabled: false, weight: 0.05, half_saturation: 8, tau_days: 14 },
  decay_penalty: { enabled: false, weight: 0.05, tau_days: 30 },
  ttl_days: null,
};

export const STEADY: Knobs = {
  ...DEFAULT,
  lexical_bonus: { ...(DEFAULT.lexical_bonus as Knobs), enabled: true },
  hit_boost: { ...(DEFAULT.hit_boost as Knobs), enabled: true },
  decay_penalty: { ...(DEFAULT.decay_penalty as Knobs), enabled: true },
};

export function named(name: string, policy: Knobs, given: Partial<NamedPolicy> = {}): NamedPolicy {
  return { name, policy_id: `id-of-${name}`, is_active: false, is_preset: name === "default" || name === "steady", policy, ...given };
}

export const POLICIES: Policies = {
  schema: "tried.policies/v1",
  active: "default",
  policies: [named("default", DEFAULT, { is_active: true }), named("steady", STEADY), named("fresh", { ...DEFAULT, half_life_days: 3, ttl_days: 365 })],
};

export function ranked(id: string, score: number, given: Partial<Ranked> = {}): Ranked {
  const terms: Term[] = [
    { name: "lexical", value: score, signal: 1, weight: score },
    { name: "structural", value: 0, signal: null, weight: 0, note: "the query has no architecture" },
  ];
  return { rank: 1, id, name: `run ${id}`, score, dead_end: false, terms, ...given };
}

export function ranking(results: Ranked[], given: Partial<Ranking> = {}): Ranking {
  return {
    schema: "tried.ranking/v1",
    now: "2026-11-30T12:00:00Z",
    policy_id: "id-of-default",
    query: { text: "", terms: [], architecture: null },
    results: results.map((one, place) => ({ ...one, rank: place + 1 })),
    uri: URI,
    version: 1,
    ...given,
  };
}
