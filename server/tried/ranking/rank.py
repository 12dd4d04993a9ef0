"""Ranks records against a query under a policy: the one way of editor, command line, explanation and evaluation.

Two phases: all candidates are scored in arrays, up to the last bits (`candidate_columns.py`); then those that can be
among the first `limit` are scored by the formula itself (`scoring.py`), which makes their breakdown, and sorted.

Invariant: no I/O, no clock, no random numbers; ties break on record id.
Invariant: `score` is the left-to-right sum of the terms' values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeAlias

import numpy as np

from tried.pool.record import Direction, ExperimentRecord
from tried.ranking.breakdown import ScoreComponents, ScoredRecord, Term
from tried.ranking.candidate_columns import CandidateColumns
from tried.ranking.candidates import Candidates, candidates_of
from tried.ranking.features import decay_of
from tried.ranking.hits import NO_HITS, Hits
from tried.ranking.index import RankingIndex
from tried.ranking.policy import DEFAULT_POLICY, Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.scoring import components_of, score_of, terms_of
from tried.ranking.signals import in_utc

Likeness: TypeAlias = Callable[[str], Hashable]
"""For the id of a record something that is equal for records that are alike."""

_MANY_ALIKE: Final = 5_000
"""Records of one score up to which a place among them is told to the last bit."""


def rank(
    query: RetrievalQuery,
    candidates: RankingIndex | Iterable[ExperimentRecord],
    *,
    now: datetime,
    limit: int | None = None,
    policy: Policy = DEFAULT_POLICY,
    hits: Hits = NO_HITS,
    directions: Mapping[str, Direction] | None = None,
    also: Collection[str] = (),
    among: Collection[str] | None = None,
    alike: Likeness | None = None,
    detailed: bool = False,
) -> list[ScoredRecord]:
    """The candidates that pass the query's filters and the policy's TTL, best first, ties by id, at most `limit`.

    The records of the ids in `also` come after those, wherever they rank, if they pass too: to explain their scores.
    `among` is one more filter: only records of these ids. `alike` gives for an id something that is equal for records
    of which only the best is to be listed. `hits` tell how often a record was of use. `detailed`: terms with inputs.
    `now` is the time that ages count from (naive: UTC). `directions` (metric → min or max) are for records that come
    without an index; an index has its own. Raises ValueError for a negative limit and for directions other than those
    of the index.
    """
    if limit is not None and limit < 0:
        raise ValueError(f"limit is {limit}: give a number of results of at least 0, or None for all")
    if isinstance(candidates, RankingIndex) and directions not in (None, candidates.directions):
        raise ValueError("these directions are not those of the index: make it by RankingIndex.of(records, directions)")
    index = candidates if isinstance(candidates, RankingIndex) else RankingIndex.of(candidates, directions)
    if limit == 0 or (columns := columns_of(query, index, now=now, policy=policy, hits=hits, among=among)) is None:
        return []
    ranked = _best(columns, limit, detailed) if alike is None else _best_of_each(columns, limit, alike, detailed)
    listed = {result.id for result in ranked}
    places = [columns.place_of(record_id) for record_id in sorted(set(also) - listed)]
    others = sorted(_results(columns, [place for place in places if place is not None], detailed), key=_order)
    return [_scored(result, index) for result in (*ranked, *others)]


def columns_of(
    query: RetrievalQuery,
    index: RankingIndex,
    *,
    now: datetime,
    policy: Policy = DEFAULT_POLICY,
    hits: Hits = NO_HITS,
    among: Collection[str] | None = None,
) -> CandidateColumns | None:
    """The features of all candidates; None if there are none."""
    query, now = within_ttl(query, policy), in_utc(now)
    parts = _parts(query, index, now, among)
    return CandidateColumns.of(query, parts, now, policy, hits) if parts else None


def within_ttl(query: RetrievalQuery, policy: Policy) -> RetrievalQuery:
    """With the stricter of the query's own time to live and the policy's."""
    limits = [limit for limit in (query.ttl_days, policy.ttl_days) if limit is not None]
    return replace(query, ttl_days=min(limits)) if limits else query


def passing(
    query: RetrievalQuery,
    index: RankingIndex,
    *,
    now: datetime,
    policy: Policy = DEFAULT_POLICY,
    among: Collection[str] | None = None,
) -> list[str]:
    """The ids of all records that pass the query's filters and the policy's TTL, in no order that means anything."""
    query = within_ttl(query, policy)
    return [record_id for part in _parts(query, index, in_utc(now), among) for record_id in part.ids]


@dataclass(frozen=True, slots=True)
class Placing:
    """The best of some records, and the ids of all candidates that rank above it, in no order."""

    best: ScoredRecord
    above: tuple[str, ...]


def placing_of(
    record_ids: Iterable[str],
    query: RetrievalQuery,
    index: RankingIndex,
    *,
    now: datetime,
    policy: Policy = DEFAULT_POLICY,
    hits: Hits = NO_HITS,
    among: Collection[str] | None = None,
    detailed: bool = False,
) -> Placing | None:
    """Where the best of these records stands in the whole ranking; None where none of them passes the filters."""
    columns = columns_of(query, index, now=now, policy=policy, hits=hits, among=among)
    if columns is None:
        return None
    places = [place for record_id in record_ids if (place := columns.place_of(record_id)) is not None]
    if not places:
        return None
    best = min(_results(columns, places, detailed), key=_order)
    scores = columns.approximate_scores
    clear = np.flatnonzero(scores > best.score + columns.margin).tolist()
    near = np.flatnonzero(np.abs(scores - best.score) <= columns.margin).tolist()
    if len(near) <= _MANY_ALIKE:
        close = [result.id for result in _results(columns, near) if _order(result) < _order(best)]
    else:  # a pool of copies: their last bits are not worth the wait
        close = [record_id for place in near if (record_id := columns.id_at(place)) < best.id]
    return Placing(_scored(best, index), (*map(columns.id_at, clear), *close))


def rank_of(
    query: RetrievalQuery,
    index: RankingIndex,
    record_id: str,
    *,
    now: datetime,
    policy: Policy = DEFAULT_POLICY,
    hits: Hits = NO_HITS,
) -> tuple[int, ScoredRecord] | None:
    """(place from 1, the record with its score) of one record in the whole ranking; None if it is no candidate."""
    placing = placing_of([record_id], query, index, now=now, policy=policy, hits=hits)
    return (len(placing.above) + 1, placing.best) if placing is not None else None


def _parts(
    query: RetrievalQuery, index: RankingIndex, now: datetime, among: Collection[str] | None
) -> list[Candidates]:
    return [part for segment in index.segments if len((part := candidates_of(segment, query, now, among)).rows)]


@dataclass(frozen=True, slots=True)
class _Result:
    """A scored record of which so far only the id is known."""

    id: str
    score: float
    components: ScoreComponents
    terms: tuple[Term, ...]


def _scored(result: _Result, index: RankingIndex) -> ScoredRecord:
    return ScoredRecord(index.reader(result.id), result.score, result.components, result.terms)


def _order(result: _Result) -> tuple[float, str]:
    return -result.score, result.id


def _results(columns: CandidateColumns, places: Sequence[int], detailed: bool = False) -> list[_Result]:
    """The formula itself, for the candidates at these places, in their order."""
    found = []
    for place, features in zip(places, columns.features(places, detailed=detailed), strict=True):
        decay = decay_of(features, columns.policy)
        terms = terms_of(features, decay, columns.query, columns.weights, columns.policy, detailed=detailed)
        found.append(_Result(columns.id_at(place), score_of(terms), components_of(features, decay), terms))
    return found


def best_places(columns: CandidateColumns, limit: int | None) -> list[int]:
    """The places of all candidates that can be among the first `limit`."""
    size = len(columns)
    if limit is None or limit >= size:
        return list(range(size))
    scores = columns.approximate_scores
    threshold = np.partition(scores, size - limit)[size - limit]
    places: list[int] = np.flatnonzero(scores >= threshold - columns.margin).tolist()
    return places


def _best(columns: CandidateColumns, limit: int | None, detailed: bool) -> list[_Result]:
    """The first `limit` results, in order."""
    return sorted(_results(columns, best_places(columns, limit), detailed), key=_order)[:limit]


def _best_of_each(columns: CandidateColumns, limit: int | None, alike: Likeness, detailed: bool) -> list[_Result]:
    """The same of results of which no two are alike: each is the best of its kind.

    Down from the highest score; of a kind only those are looked at again that can be its best.
    """
    scores = columns.approximate_scores
    highest: dict[Hashable, float] = {}
    contenders: list[tuple[int, Hashable]] = []
    least = -math.inf
    for place in np.argsort(-scores).tolist():
        score = float(scores[place])
        if score < least:
            break
        kind = alike(columns.id_at(place))
        if highest.setdefault(kind, score) - score <= columns.margin:
            contenders.append((place, kind))
        if len(highest) == limit and least == -math.inf:
            least = score - columns.margin
    results = _results(columns, [place for place, _ in contenders], detailed)
    kinds = {result.id: kind for result, (_, kind) in zip(results, contenders, strict=True)}
    first: dict[Hashable, _Result] = {}
    for result in sorted(results, key=_order):
        first.setdefault(kinds[result.id], result)
    return list(first.values())[:limit]
