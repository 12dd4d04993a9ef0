"""The score of one candidate from its features and a policy: the one formula of live ranking, explanation and replay.

    score = 0.40·lexical + 0.25·structural + 0.15·recency + 0.20·importance
            [+ lexical_bonus] [+ hit_boost] [− decay_penalty]

A signal that cannot apply to a query gives its weight to the others, in proportion. Each optional term is bounded by
its weight and moves one way only with what it looks at.

Invariant: no exponential and no logarithm is computed here: they come in `Decay`.
Invariant: the score is the left-to-right sum of the terms' values; each of the first four is weight · signal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tried.pool.outcome import Fact
from tried.ranking.breakdown import ScoreComponents, Term
from tried.ranking.features import Decay, Features, QueryFeatures
from tried.ranking.policy import DecayPenalty, HitBoost, LexicalBonus, Policy

SIGNALS: Final = ("lexical", "structural", "recency", "importance")
OPTIONAL_TERMS: Final = ("lexical_bonus", "hit_boost", "decay_penalty")


@dataclass(frozen=True, slots=True)
class WeightInForce:
    """Of a signal, in [0, 1]; `reason` says why it does not apply, if it does not."""

    value: float
    reason: str | None = None


def weights_in_force(policy: Policy, missing: Mapping[str, str]) -> dict[str, WeightInForce]:
    """Each weight over the sum of those whose signal applies; all 0 if that sum is 0."""
    total = 0.0
    for name in SIGNALS:
        if name not in missing:
            total += getattr(policy.weights, name)
    return {
        name: WeightInForce(getattr(policy.weights, name) / total)
        if name not in missing and total > 0
        else WeightInForce(0.0, missing.get(name))
        for name in SIGNALS
    }


def components_of(features: Features, decay: Decay) -> ScoreComponents:
    """The four signals, each in [0, 1]."""
    return ScoreComponents(
        lexical=features.lexical,
        structural=features.structural or 0.0,
        recency=decay.recency,
        importance=features.importance,
    )


def terms_of(
    features: Features,
    decay: Decay,
    query: QueryFeatures,
    weights: Mapping[str, WeightInForce],
    policy: Policy,
    *,
    detailed: bool = False,
) -> tuple[Term, ...]:
    """The four terms in their order, then the optional ones that the policy asks for; `detailed` gives their inputs."""
    signals = components_of(features, decay)
    terms = [
        _term("lexical", signals.lexical, weights),
        _term(
            "structural",
            signals.structural,
            weights,
            "the record has no architecture" if features.structural is None else None,
        ),
        _term(
            "recency", signals.recency, weights, "the record has no timestamp" if features.age_days is None else None
        ),
        _term("importance", signals.importance, weights),
    ]
    if policy.lexical_bonus.enabled:
        ratio = features.overlap(len(query.terms), policy.lexical_bonus.term_cap)
        terms.append(_optional("lexical_bonus", lexical_bonus(ratio, policy.lexical_bonus)))
    if policy.hit_boost.enabled:
        terms.append(_optional("hit_boost", hit_boost(features.hits, decay.last_hit or 0.0, policy.hit_boost)))
    if policy.decay_penalty.enabled:
        left = 1.0 if decay.age is None else decay.age
        note = "the record has no timestamp" if features.age_days is None else None
        terms.append(_optional("decay_penalty", decay_penalty(left, policy.decay_penalty), note))
    if not detailed:
        return tuple(terms)
    inputs = _inputs(features, query, policy)
    return tuple(
        Term(each.name, each.value, each.signal, each.weight, each.note, inputs.get(each.name)) for each in terms
    )


def score_of(terms: Sequence[Term]) -> float:
    """Added from left to right, each sum rounded: `sum` and `fsum` give other bits."""
    score = 0.0
    for term in terms:
        score += term.value
    return score


def lexical_bonus(ratio: float, knobs: LexicalBonus) -> float:
    """weight · clamp((ratio − min_ratio)/(1 − min_ratio), 0, 1) from min_ratio on, in [0, weight]; with a min_ratio of
    1 the weight if all terms are there."""
    if ratio < knobs.min_ratio:
        return 0.0
    if knobs.min_ratio >= 1.0:
        return knobs.weight
    return knobs.weight * min(1.0, max(0.0, (ratio - knobs.min_ratio) / (1.0 - knobs.min_ratio)))


def hit_boost(hits: int, freshness: float, knobs: HitBoost) -> float:
    """weight · hits/(hits + half_saturation) · freshness, in [0, weight]."""
    if hits <= 0:
        return 0.0
    return knobs.weight * (hits / (hits + knobs.half_saturation)) * freshness


def decay_penalty(left: float, knobs: DecayPenalty) -> float:
    """−weight · (1 − left), in [−weight, 0]."""
    return 0.0 - knobs.weight * (1.0 - left)


def _term(name: str, signal: float, weights: Mapping[str, WeightInForce], note: str | None = None) -> Term:
    weight = weights[name]
    if weight.reason is not None:
        return Term(name, value=0.0, signal=None, weight=0.0, note=weight.reason)
    return Term(name, value=weight.value * signal, signal=signal, weight=weight.value, note=note)


def _optional(name: str, value: float, note: str | None = None) -> Term:
    return Term(name, value=value, signal=None, weight=None, note=note)


def _inputs(features: Features, query: QueryFeatures, policy: Policy) -> dict[str, Mapping[str, Any]]:
    lexical: dict[str, Any] = {"bm25": features.bm25, "best_bm25": query.best_bm25, "normalised": features.words}
    if features.cosine is not None:
        lexical["cosine"] = features.cosine
    counted = min(len(query.terms), policy.lexical_bonus.term_cap)
    return {
        "lexical": lexical,
        "recency": {"age_days": features.age_days, "half_life_days": policy.half_life_days},
        "importance": {fact.name.lower(): fact in features.facts for fact in Fact if fact.name is not None},
        "lexical_bonus": {
            "ratio": features.overlap(len(query.terms), policy.lexical_bonus.term_cap),
            "terms": counted,
            "min_ratio": policy.lexical_bonus.min_ratio,
        },
        "hit_boost": {"hits": features.hits, "last_hit_age_days": features.last_hit_age_days},
        "decay_penalty": {"age_days": features.age_days, "tau_days": policy.decay_penalty.tau_days},
    }
