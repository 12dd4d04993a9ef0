"""Ranks records against a query: the one scoring path of editor, command line, explanation and replay.

    score = 0.40·lexical + 0.25·structural + 0.15·recency + 0.20·importance

Additive, so no signal can veto. A signal that cannot apply to a query gives its weight to the others, in proportion.
Two phases: all candidates are scored in arrays, with recency up to its last bits; then those that can be among the
first `limit` are scored by the formula itself, which makes their breakdown, and sorted.

Invariant: no I/O, no clock, no random numbers; ties break on record id.
Invariant: `score` is the left-to-right sum of the terms' values, and each value is weight · signal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import numpy as np

from tried.pool.record import Direction, ExperimentRecord
from tried.ranking.bag import FIELD_LIMIT
from tried.ranking.breakdown import ScoreComponents, ScoredRecord, Term
from tried.ranking.candidates import Candidates, candidates_of
from tried.ranking.index import RankingIndex
from tried.ranking.policy import DEFAULT_POLICY, Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.segment import NO_ARCHITECTURE, Segment, moment_of
from tried.ranking.signals import (
    COSINE_SHARE,
    LEXICAL_SHARE,
    Column,
    approximate_recency,
    bm25,
    cosines,
    in_utc,
    recency,
    structural,
)
from tried.ranking.tokenizer import tokenize

Likeness: TypeAlias = Callable[[str], Hashable]
"""For the id of a record something that is equal for records that are alike."""

_MARGIN: Final = 1e-9
"""More than twice what an approximate score can be off: a record this far below the limit cannot be above it."""

_MANY_ALIKE: Final = 5_000
"""Records of one score up to which a place among them is told to the last bit."""


def rank(
    query: RetrievalQuery,
    candidates: RankingIndex | Iterable[ExperimentRecord],
    *,
    now: datetime,
    limit: int | None = None,
    policy: Policy = DEFAULT_POLICY,
    directions: Mapping[str, Direction] | None = None,
    also: Collection[str] = (),
    among: Collection[str] | None = None,
    alike: Likeness | None = None,
) -> list[ScoredRecord]:
    """The candidates that pass the query's filters, best first, ties by id, at most `limit` of them.

    The records of the ids in `also` come after those, wherever they rank, if they pass too: to explain their scores.
    `among` is one more filter: only records of these ids. `alike` gives for an id something that is equal for records
    of which only the best is to be listed.
    `now` is the time that ages count from (naive: UTC). `directions` (metric → min or max) are for records that come
    without an index; an index has its own. Raises ValueError for a negative limit and for directions other than those
    of the index.
    """
    if limit is not None and limit < 0:
        raise ValueError(f"limit is {limit}: give a number of results of at least 0, or None for all")
    if isinstance(candidates, RankingIndex) and directions not in (None, candidates.directions):
        raise ValueError("these directions are not those of the index: make it by RankingIndex.of(records, directions)")
    index = candidates if isinstance(candidates, RankingIndex) else RankingIndex.of(candidates, directions)
    now = in_utc(now)
    parts = _parts(query, index, now, among)
    if not parts or limit == 0:
        return []
    scoring = _Scoring.of(query, parts, now, policy)
    results = scoring.best(limit) if alike is None else scoring.best_of_each(limit, alike)
    listed = {result.id for result in results}
    places = [scoring.place_of(record_id) for record_id in sorted(set(also) - listed)]
    others = sorted((scoring.result(place) for place in places if place is not None), key=_order)
    return [_scored(result, index) for result in (*results, *others)]


def passing(
    query: RetrievalQuery, index: RankingIndex, *, now: datetime, among: Collection[str] | None = None
) -> list[str]:
    """The ids of all records that pass the query's filters, in no order that means anything."""
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
    among: Collection[str] | None = None,
) -> Placing | None:
    """Where the best of these records stands in the whole ranking; None where none of them passes the filters."""
    now = in_utc(now)
    parts = _parts(query, index, now, among)
    if not parts:
        return None
    scoring = _Scoring.of(query, parts, now, policy)
    places = [place for record_id in record_ids if (place := scoring.place_of(record_id)) is not None]
    if not places:
        return None
    best = min(map(scoring.result, places), key=_order)
    scores = scoring.approximate_scores()
    clear = np.flatnonzero(scores > best.score + _MARGIN).tolist()
    near = np.flatnonzero(np.abs(scores - best.score) <= _MARGIN).tolist()
    if len(near) <= _MANY_ALIKE:
        close = [result.id for place in near if _order(result := scoring.result(place)) < _order(best)]
    else:  # a pool of copies: their last bits are not worth the wait
        close = [record_id for place in near if (record_id := scoring.id_at(place)) < best.id]
    return Placing(_scored(best, index), (*map(scoring.id_at, clear), *close))


def _parts(
    query: RetrievalQuery, index: RankingIndex, now: datetime, among: Collection[str] | None
) -> list[Candidates]:
    return [part for segment in index.segments if len((part := candidates_of(segment, query, now, among)).rows)]


def rank_of(
    query: RetrievalQuery, index: RankingIndex, record_id: str, *, now: datetime, policy: Policy = DEFAULT_POLICY
) -> tuple[int, ScoredRecord] | None:
    """(place from 1, the record with its score) of one record in the whole ranking; None if it is no candidate."""
    placing = placing_of([record_id], query, index, now=now, policy=policy)
    return (len(placing.above) + 1, placing.best) if placing is not None else None


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


@dataclass(frozen=True, slots=True)
class _Weight:
    """The weight in force of a signal; `reason` says why it does not apply, if it does not."""

    value: float
    reason: str | None = None


@dataclass(frozen=True, eq=False, slots=True)
class _Scoring:
    """One query against all candidates: columns have an entry for each candidate, part after part."""

    parts: Sequence[Candidates]
    now: datetime
    half_life_days: float
    weights: Mapping[str, _Weight]
    words: Column
    cosine: Column
    lexical: Column
    structural: Column
    importance: Column

    @classmethod
    def of(cls, query: RetrievalQuery, parts: Sequence[Candidates], now: datetime, policy: Policy) -> _Scoring:
        terms = tokenize(query.text[:FIELD_LIMIT])
        words = np.concatenate(bm25(terms, parts))
        best = float(words.max())
        if best > 0:
            words = words / best
        cosine = np.concatenate([cosines(query, part) for part in parts])
        comparable = ~np.isnan(cosine)
        architecture = query.architecture if query.architecture is not None and query.architecture.nodes else None
        missing = {
            "lexical": None
            if best > 0 or comparable.any()
            else ("no candidate holds a term of the query" if terms else "the query has no terms"),
            "structural": None if architecture else "the query has no architecture",
            "recency": None
            if any(part.segment.timed[part.rows].any() for part in parts)
            else "no candidate has a timestamp",
            "importance": None,
        }
        return cls(
            parts=parts,
            now=now,
            half_life_days=policy.half_life_days,
            weights=_in_force(policy, missing),
            words=words,
            cosine=cosine,
            lexical=np.where(comparable, LEXICAL_SHARE * words + COSINE_SHARE * cosine, words),
            structural=np.concatenate([structural(architecture, part) for part in parts])
            if architecture
            else np.zeros(len(words)),
            importance=np.concatenate([part.segment.importance[part.rows] for part in parts]),
        )

    def approximate_scores(self) -> Column:
        """Of all candidates; recency up to its last bits."""
        recencies = [approximate_recency(part, self.now, self.half_life_days) for part in self.parts]
        signals = (self.lexical, self.structural, np.concatenate(recencies), self.importance)
        scores = np.zeros(len(self.words))
        for weight, signal in zip(self.weights.values(), signals, strict=True):
            scores += weight.value * signal
        return scores

    def best(self, limit: int | None) -> list[_Result]:
        """The first `limit` results, in order."""
        size = len(self.words)
        contenders: Iterable[int] = range(size)
        if limit is not None and limit < size:
            scores = self.approximate_scores()
            threshold = np.partition(scores, size - limit)[size - limit]
            contenders = np.flatnonzero(scores >= threshold - _MARGIN).tolist()
        return sorted(map(self.result, contenders), key=_order)[:limit]

    def best_of_each(self, limit: int | None, alike: Likeness) -> list[_Result]:
        """The same of results of which no two are alike: each is the best of its kind.

        Down from the highest score; of a kind only those are looked at again that can be its best.
        """
        scores = self.approximate_scores()
        highest: dict[Hashable, float] = {}
        contenders: list[tuple[int, Hashable]] = []
        least = -math.inf
        for place in np.argsort(-scores).tolist():
            score = float(scores[place])
            if score < least:
                break
            kind = alike(self.id_at(place))
            if highest.setdefault(kind, score) - score <= _MARGIN:
                contenders.append((place, kind))
            if len(highest) == limit and least == -math.inf:
                least = score - _MARGIN
        results = sorted(((self.result(place), kind) for place, kind in contenders), key=lambda each: _order(each[0]))
        first: dict[Hashable, _Result] = {}
        for result, kind in results:
            first.setdefault(kind, result)
        return list(first.values())[:limit]

    def place_of(self, record_id: str) -> int | None:
        before = 0
        for part in self.parts:
            row = part.segment.rows.get(record_id)
            if row is not None and part.mask[row]:
                return before + int(np.searchsorted(part.rows, row))
            before += len(part.rows)
        return None

    def id_at(self, place: int) -> str:
        segment, row = self._row(place)
        return segment.ids[row]

    def result(self, place: int) -> _Result:
        """The formula itself, for one candidate."""
        segment, row = self._row(place)
        time = moment_of(int(segment.times[row])) if segment.timed[row] else None
        cosine = float(self.cosine[place])
        components = ScoreComponents(
            lexical=float(self.lexical[place]),
            structural=float(self.structural[place]),
            recency=recency(time, self.now, self.half_life_days),
            importance=float(self.importance[place]),
        )
        terms = (
            self._term(
                "lexical",
                components.lexical,
                inputs=None if math.isnan(cosine) else {"bm25": float(self.words[place]), "cosine": cosine},
            ),
            self._term(
                "structural",
                components.structural,
                note="the record has no architecture" if segment.architecture[row] == NO_ARCHITECTURE else None,
            ),
            self._term(
                "recency",
                components.recency,
                note="the record has no timestamp" if time is None else None,
            ),
            self._term("importance", components.importance),
        )
        score = 0.0
        for term in terms:
            score += term.value
        return _Result(segment.ids[row], score, components, terms)

    def _term(
        self, name: str, signal: float, note: str | None = None, inputs: Mapping[str, float] | None = None
    ) -> Term:
        weight = self.weights[name]
        if weight.reason is not None:
            return Term(name, value=0.0, signal=None, weight=0.0, note=weight.reason)
        return Term(name, value=weight.value * signal, signal=signal, weight=weight.value, note=note, inputs=inputs)

    def _row(self, place: int) -> tuple[Segment, int]:
        for part in self.parts:
            if place < len(part.rows):
                return part.segment, int(part.rows[place])
            place -= len(part.rows)
        raise IndexError(place)


def _in_force(policy: Policy, missing: Mapping[str, str | None]) -> dict[str, _Weight]:
    """Each weight over the sum of those whose signal applies; all 0 if that sum is 0."""
    total = 0.0
    for name, reason in missing.items():
        if reason is None:
            total += getattr(policy, name)
    return {
        name: _Weight(getattr(policy, name) / total if reason is None and total > 0 else 0.0, reason)
        for name, reason in missing.items()
    }
