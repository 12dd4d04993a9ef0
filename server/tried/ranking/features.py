"""What is known of a query, and of each candidate given that query: stable facts, which a policy turns into a score.

Invariant: nothing here depends on a policy, but for `Decay`, which holds the exponentials that a policy asks for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tried.pool.outcome import Fact, importance_of
from tried.ranking.policy import Policy

TtlState = Literal["unlimited", "within", "untimed"]
"""Of a candidate: there is no time to live; it is no older than that; it has no age, and so passes any."""

COSINE_SHARE: Final = 0.5
LEXICAL_SHARE: Final = 0.5
_LN2: Final = math.log(2.0)


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """What is the same for all candidates of a query.

    `terms` are the query's different terms in their order, `best_bm25` the best among the candidates, and `missing`
    says of each signal that does not apply (`lexical`, `structural`, `recency`) why.
    """

    terms: tuple[str, ...]
    best_bm25: float
    missing: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of one candidate.

    `bm25` is not bounded, `words` is it over the best among the candidates (0 where that is 0); `cosine` in [0, 1],
    None where no vectors can be compared; `structural` in [0, 1], None where the record has no architecture. `age_days`
    is negative for the future, None without a timestamp. Bit i of `matched` is set if the record holds term i of the
    query; None where nobody asked. `hits` and `last_hit_age_days` (None without a hit) tell of its use.
    """

    bm25: float
    words: float
    cosine: float | None
    structural: float | None
    age_days: float | None
    facts: Fact
    matched: int | None
    hits: int
    last_hit_age_days: float | None
    ttl: TtlState

    @property
    def lexical(self) -> float:
        if self.cosine is None:
            return self.words
        return LEXICAL_SHARE * self.words + COSINE_SHARE * self.cosine

    @property
    def importance(self) -> float:
        return importance_of(self.facts)

    @property
    def dead_end(self) -> bool:
        return Fact.DEAD_END in self.facts

    def overlap(self, terms: int, cap: int) -> float:
        """The share of the query's different terms, of which there are so many, that the record holds, in [0, 1]: of
        the first `cap`; 0 without terms."""
        counted = min(terms, cap)
        if not counted or self.matched is None:
            return 0.0
        return (self.matched & ((1 << counted) - 1)).bit_count() / counted


@dataclass(frozen=True, slots=True)
class Decay:
    """The exponentials of a candidate under a policy, each in [0, 1]: its recency; how fresh its last hit is; what its
    age has left of it. None for those that the policy does not use."""

    recency: float
    last_hit: float | None = None
    age: float | None = None


def decay_of(features: Features, policy: Policy) -> Decay:
    """Recency is exp(−ln 2 · age / half-life), the others exp(−age / tau). Without an age there is no recency, and
    nothing is lost by it."""
    boost, penalty = policy.hit_boost, policy.decay_penalty
    return Decay(
        recency=halved(features.age_days, policy.half_life_days),
        last_hit=faded(features.last_hit_age_days, boost.tau_days) if boost.enabled else None,
        age=(1.0 if features.age_days is None else faded(features.age_days, penalty.tau_days))
        if penalty.enabled
        else None,
    )


def halved(age_days: float | None, half_life_days: float) -> float:
    """exp(−ln 2 · age / half-life), in [0, 1]; 1 for the future and for a half-life ≤ 0, 0 without an age."""
    if age_days is None:
        return 0.0
    if age_days <= 0 or half_life_days <= 0:
        return 1.0
    return math.exp(-_LN2 * age_days / half_life_days)


def faded(age_days: float | None, tau_days: float) -> float:
    """exp(−age / tau), in [0, 1]; 1 for the future and for a tau of 0, 0 without an age."""
    if age_days is None:
        return 0.0
    if age_days <= 0 or tau_days == 0:
        return 1.0
    return math.exp(-age_days / tau_days)
