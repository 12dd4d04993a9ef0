"""Ranks records against a query under a policy: the one way of editor, command line, explanation and evaluation.

Two phases: all candidates are scored in arrays (`candidate_columns.py`), which puts them in order; then the first
`limit` are scored by the formula itself (`scoring.py`), which makes their breakdown.

Invariant: no I/O, no clock, no random numbers; ties break on record id.
Invariant: `score` is the left-to-right sum of the terms' values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

import numpy as np

from tried.pool.record import Direction, ExperimentRecord
from tried.ranking.breakdown import ScoredRecord
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
    ranked = columns.first(limit) if alike is None else _best_of_each(columns, limit, alike)
    asked = {place for record_id in also if (place := columns.place_of(record_id)) is not None}
    places = [*ranked, *columns.ordered(sorted(asked.difference(ranked)))]
    return _scored(columns, places, index, detailed)


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
    """The best of some records, and the ids of all candidates that rank above it, in no order. `held`: which of the
    query's different terms it holds, in their order, where details were asked for, of so many `terms`."""

    best: ScoredRecord
    above: tuple[str, ...]
    held: tuple[str, ...] = ()
    terms: int = 0


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
    first = columns.ordered(places)[0]
    (best,) = _scored(columns, [first], index, detailed)
    scores = columns.approximate_scores
    clear = np.flatnonzero(scores > best.score + columns.margin).tolist()
    near = columns.ordered(np.flatnonzero(np.abs(scores - best.score) <= columns.margin).tolist())
    close = near[: near.index(first)]
    held = _held(columns, first) if detailed else ()
    return Placing(best, tuple(columns.ids_at((*clear, *close))), held, len(columns.query.terms))


def _held(columns: CandidateColumns, place: int) -> tuple[str, ...]:
    """The query's terms that a candidate holds, those first that the fewest candidates hold."""
    matched = columns.features([place], detailed=True)[0].matched or 0
    terms = (term for number, term in enumerate(columns.query.terms) if matched >> number & 1)
    return tuple(sorted(terms, key=columns.document_frequency))


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


def _scored(
    columns: CandidateColumns, places: Sequence[int], index: RankingIndex, detailed: bool = False
) -> list[ScoredRecord]:
    """The formula itself, for the candidates at these places, in their order."""
    found = []
    for place, features in zip(places, columns.features(places, detailed=detailed), strict=True):
        decay = decay_of(features, columns.policy)
        terms = terms_of(features, decay, columns.query, columns.weights, columns.policy, detailed=detailed)
        record = index.reader(columns.id_at(place))
        found.append(ScoredRecord(record, score_of(terms), components_of(features, decay), terms))
    return found


def _best_of_each(columns: CandidateColumns, limit: int | None, alike: Likeness) -> list[int]:
    """The places of the first candidates of which no two are alike: each is the best of its kind.

    Down from the highest score; of a kind only those are looked at again that can be its best.
    """
    scores = columns.approximate_scores
    highest: dict[Hashable, float] = {}
    contenders: dict[int, Hashable] = {}
    least = -math.inf
    for place in np.argsort(-scores).tolist():
        score = float(scores[place])
        if score < least:
            break
        kind = alike(columns.id_at(place))
        if highest.setdefault(kind, score) - score <= columns.margin:
            contenders[place] = kind
        if len(highest) == limit and least == -math.inf:
            least = score - columns.margin
    first: dict[Hashable, int] = {}
    for place in columns.ordered(list(contenders)):
        first.setdefault(contenders[place], place)
    return list(first.values())[:limit]
