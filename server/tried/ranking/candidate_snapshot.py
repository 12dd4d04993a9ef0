"""What a ranking knew of its candidates, kept so that it can be repeated without the pool, and under other policies.

Invariant: under the policy that the candidates were scored by, no exponential and no logarithm is computed again; under
another one only those whose knobs differ.
Invariant: with all candidates kept, `rank_snapshot` gives the order, scores and terms of `rank`, to the last bit, under
every policy that leaves the same candidates in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from tried.ranking.bag import FIELD_LIMIT
from tried.ranking.breakdown import Term
from tried.ranking.features import Decay, Features, QueryFeatures, decay_of
from tried.ranking.hits import NO_HITS, Hits
from tried.ranking.index import RankingIndex
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import columns_of
from tried.ranking.scoring import WeightInForce, score_of, terms_of, weights_in_force
from tried.ranking.signals import QUERY_TERM_LIMIT
from tried.ranking.tokenizer import tokenize

Pause: TypeAlias = Callable[[], object]
"""Called now and then amid long work, for whoever does it beside something more urgent."""

_PIECE: Final = 128


def no_pause() -> None:
    """For whoever has nothing else to do."""


@dataclass(frozen=True, slots=True)
class CandidateSnapshot:
    """One candidate: all that its score is made of."""

    id: str
    name: str
    features: Features
    decay: Decay


@dataclass(frozen=True, slots=True)
class ScoredCandidates:
    """`candidates` are the best of the `total` that passed the filters, in the order of their scores under `policy`."""

    query: QueryFeatures
    policy: Policy
    total: int
    candidates: tuple[CandidateSnapshot, ...]

    @property
    def is_complete(self) -> bool:
        """False where there were more than were kept: others may then rank among these under another policy."""
        return len(self.candidates) == self.total


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    """A candidate with its score, the left-to-right sum of its terms' values; the terms have their inputs."""

    candidate: CandidateSnapshot
    score: float
    terms: tuple[Term, ...]


def scored_candidates(
    query: RetrievalQuery,
    index: RankingIndex,
    *,
    now: datetime,
    policy: Policy,
    hits: Hits = NO_HITS,
    cap: int | None = None,
    pause: Pause = no_pause,
) -> ScoredCandidates:
    """The first `cap` candidates of a ranking (None: all), with everything that another policy may ask for.

    No breakdown is made of them: `best_of` makes those of the few that are results.
    """
    columns = columns_of(query, index, now=now, policy=policy, hits=hits)
    if columns is None:
        terms = tokenize(query.text[:FIELD_LIMIT])[:QUERY_TERM_LIMIT]
        return ScoredCandidates(QueryFeatures(tuple(dict.fromkeys(terms)), 0.0, {}), policy, 0, ())
    pause()
    places = columns.first(cap)
    found: list[CandidateSnapshot] = []
    for start in range(0, len(places), _PIECE):
        pause()
        piece = places[start : start + _PIECE]
        for place, features in zip(piece, columns.features(piece, detailed=True), strict=True):
            record_id = columns.id_at(place)
            name = index.reader(record_id).name
            found.append(CandidateSnapshot(record_id, name, features, decay_of(features, policy)))
    return ScoredCandidates(columns.query, policy, len(columns), tuple(found))


def best_of(scored: ScoredCandidates, limit: int | None = None) -> list[RankedCandidate]:
    """The first `limit` under the policy that they were scored by: they stand in that order already."""
    weights = weights_in_force(scored.policy, scored.query.missing)
    return [_ranked(each, scored, weights, scored.policy) for each in scored.candidates[:limit]]


def rank_snapshot(scored: ScoredCandidates, policy: Policy, limit: int | None = None) -> list[RankedCandidate]:
    """The candidates under a policy, best first, ties by id, at most `limit` of them.

    Filters and TTL have chosen the candidates already: those of `policy` must be those of `scored.policy`.
    """
    weights = weights_in_force(policy, scored.query.missing)
    ranked = [_ranked(each, scored, weights, policy) for each in scored.candidates]
    return sorted(ranked, key=lambda each: (-each.score, each.candidate.id))[:limit]


def _ranked(
    candidate: CandidateSnapshot, scored: ScoredCandidates, weights: dict[str, WeightInForce], policy: Policy
) -> RankedCandidate:
    decay = decay_under(candidate, scored.policy, policy)
    terms = terms_of(candidate.features, decay, scored.query, weights, policy, detailed=True)
    return RankedCandidate(candidate, score_of(terms), terms)


def decay_under(candidate: CandidateSnapshot, before: Policy, policy: Policy) -> Decay:
    """The exponentials under a policy; those that `before` has the same knobs for are taken as they were kept."""
    kept = candidate.decay
    boost, penalty = policy.hit_boost, policy.decay_penalty
    has_recency = policy.half_life_days == before.half_life_days
    has_last_hit = not boost.enabled or (kept.last_hit is not None and boost.tau_days == before.hit_boost.tau_days)
    has_age = not penalty.enabled or (kept.age is not None and penalty.tau_days == before.decay_penalty.tau_days)
    fresh = kept if has_recency and has_last_hit and has_age else decay_of(candidate.features, policy)
    return Decay(
        recency=kept.recency if has_recency else fresh.recency,
        last_hit=(kept if has_last_hit else fresh).last_hit if boost.enabled else None,
        age=(kept if has_age else fresh).age if penalty.enabled else None,
    )
