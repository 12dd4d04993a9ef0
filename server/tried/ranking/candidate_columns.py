"""All candidates of one query in arrays: their features, and their scores up to the last bits of the exponentials.

Columns have an entry for each candidate, part after part; a candidate's place is its number among all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tried.pool.outcome import Fact
from tried.ranking.bag import FIELD_LIMIT
from tried.ranking.candidates import Candidates
from tried.ranking.features import COSINE_SHARE, LEXICAL_SHARE, Features, QueryFeatures, TtlState, faded, halved
from tried.ranking.hits import Hits
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.scoring import WeightInForce, hit_boost, weights_in_force
from tried.ranking.segment import IMPORTANCE, NO_ARCHITECTURE, Segment, moment_of
from tried.ranking.signals import (
    QUERY_TERM_LIMIT,
    Column,
    age_in_days,
    ages_in_days,
    approximate_faded,
    approximate_halved,
    bm25,
    cosines,
    structural,
)
from tried.ranking.tokenizer import tokenize

ACCURACY: Final = 1e-12
"""Far more than two exponentials can be off, for a weight of 1."""
ROUNDING: Final = 1e-14
"""Some forty times the last bit of a sum, for one of 1."""

_NO_TIME: Final = np.iinfo(np.int64).min

_AT_ONCE: Final = 256
"""Candidates of which terms are looked up together."""


@dataclass(frozen=True, eq=False)
class CandidateColumns:
    """Made by `of`, for at least one candidate. `words` are BM25 over the best, `cosine` is NaN where there is none."""

    parts: Sequence[Candidates]
    now: datetime
    policy: Policy
    hits: Hits
    query: QueryFeatures
    bm25: Column
    words: Column
    cosine: Column
    structural: Column
    is_limited: bool

    @classmethod
    def of(
        cls, query: RetrievalQuery, parts: Sequence[Candidates], now: datetime, policy: Policy, hits: Hits
    ) -> CandidateColumns:
        """`now` is aware; the query's `ttl_days` is the one in force."""
        terms = tokenize(query.text[:FIELD_LIMIT])
        raw = np.concatenate(bm25(terms, parts))
        best = float(raw.max())
        cosine = np.concatenate([cosines(query, part) for part in parts])
        architecture = query.architecture if query.architecture is not None and query.architecture.nodes else None
        missing: dict[str, str] = {}
        if best <= 0 and np.isnan(cosine).all():
            missing["lexical"] = "no candidate holds a term of the query" if terms else "the query has no terms"
        if architecture is None:
            missing["structural"] = "the query has no architecture"
        if not any(part.segment.timed[part.rows].any() for part in parts):
            missing["recency"] = "no candidate has a timestamp"
        return cls(
            parts=parts,
            now=now,
            policy=policy,
            hits=hits,
            query=QueryFeatures(tuple(dict.fromkeys(terms[:QUERY_TERM_LIMIT])), best, missing),
            bm25=raw,
            words=raw / best if best > 0 else raw,
            cosine=cosine,
            structural=np.concatenate([structural(architecture, part) for part in parts])
            if architecture is not None
            else np.zeros(len(raw)),
            is_limited=query.ttl_days is not None,
        )

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def weights(self) -> dict[str, WeightInForce]:
        return weights_in_force(self.policy, self.query.missing)

    @cached_property
    def margin(self) -> float:
        """A record whose approximate score lies so far below another's cannot be above it: last bits of exponentials,
        and what they can change in the rounding of the sum."""
        policy = self.policy
        optional = (policy.lexical_bonus, policy.hit_boost, policy.decay_penalty)
        most = 1.0 + sum(each.weight for each in optional if each.enabled)
        penalty = policy.decay_penalty.weight if policy.decay_penalty.enabled else 0.0
        return ACCURACY * (1.0 + penalty) + ROUNDING * most

    @cached_property
    def approximate_scores(self) -> Column:
        """Of all candidates, but for the last bits of exponentials: numpy's are not the C library's."""
        ages = self._ages_of_all
        return self._scores(
            slice(None),
            approximate_halved(ages, self.policy.half_life_days),
            approximate_faded(ages, self.policy.decay_penalty.tau_days) if self.policy.decay_penalty.enabled else None,
        )

    def exact_scores(self, places: Sequence[int]) -> Column:
        """Of the candidates at these places, to the last bit what the formula gives."""
        chosen = np.array(places, np.intp)
        times, inverse = np.unique(self._times_of_all[chosen], return_inverse=True)
        known = [None if time == _NO_TIME else age_in_days(moment_of(time), self.now) for time in times.tolist()]
        penalty, half_life = self.policy.decay_penalty, self.policy.half_life_days
        recencies = np.array([halved(age, half_life) for age in known], np.float64)[inverse]
        left = [1.0 if age is None else faded(age, penalty.tau_days) for age in known] if penalty.enabled else None
        return self._scores(chosen, recencies, np.array(left, np.float64)[inverse] if left is not None else None)

    def _scores(self, chosen: NDArray[np.intp] | slice, recencies: Column, left: Column | None) -> Column:
        """The terms' values, added in their order; `left` is what age has left of each."""
        policy, words, cosine = self.policy, self.words[chosen], self.cosine[chosen]
        signals = {
            "lexical": np.where(np.isnan(cosine), words, LEXICAL_SHARE * words + COSINE_SHARE * cosine),
            "structural": self.structural[chosen],
            "recency": recencies,
            "importance": self._importance[chosen],
        }
        scores = np.zeros(len(words))
        for name, signal in signals.items():
            scores += self.weights[name].value * signal
        if policy.lexical_bonus.enabled:
            scores += self._bonuses[chosen]
        if policy.hit_boost.enabled:
            scores += self._boosts[chosen]
        if left is not None:
            scores += 0.0 - policy.decay_penalty.weight * (1.0 - left)
        return scores

    @cached_property
    def _ages_of_all(self) -> Column:
        return np.concatenate([ages_in_days(part, self.now) for part in self.parts])

    @cached_property
    def _times_of_all(self) -> NDArray[np.int64]:
        """Microseconds since 1970; _NO_TIME without a timestamp."""
        segments = [(part.segment, part.rows) for part in self.parts]
        return np.concatenate(
            [np.where(segment.timed[rows], segment.times[rows], _NO_TIME) for segment, rows in segments]
        )

    @cached_property
    def _importance(self) -> Column:
        return np.concatenate([IMPORTANCE[part.segment.facts[part.rows]] for part in self.parts])

    @cached_property
    def _bonuses(self) -> Column:
        knobs = self.policy.lexical_bonus
        terms = self.query.terms[: knobs.term_cap]
        if not terms:
            return np.zeros(len(self))
        ratios = np.concatenate([_held(terms, part) for part in self.parts]) / len(terms)
        if knobs.min_ratio >= 1.0:
            return np.where(ratios >= 1.0, knobs.weight, 0.0)
        return knobs.weight * np.clip((ratios - knobs.min_ratio) / (1.0 - knobs.min_ratio), 0.0, 1.0)

    @cached_property
    def _boosts(self) -> Column:
        """Of each candidate that was of use to somebody, by the formula itself; there are few of them."""
        knobs, boosts = self.policy.hit_boost, np.zeros(len(self))
        for part, before in zip(self.parts, self._starts, strict=True):
            found = [(row, hit) for id, hit in self.hits.items() if (row := part.segment.rows.get(id)) is not None]
            rows = np.array([row for row, _ in found], np.intp)
            at = before + np.searchsorted(part.rows, rows)
            for (_, hit), place, passes in zip(found, at.tolist(), part.mask[rows].tolist(), strict=True):
                if passes:
                    freshness = faded(age_in_days(hit.last, self.now), knobs.tau_days)
                    boosts[place] = hit_boost(hit.count, freshness, knobs)
        return boosts

    def first(self, limit: int | None) -> list[int]:
        """The places of the first `limit` candidates, best first, ties by id."""
        size = len(self)
        contenders = list(range(size))
        if limit is not None and limit < size:
            scores = self.approximate_scores
            threshold = np.partition(scores, size - limit)[size - limit]
            contenders = np.flatnonzero(scores >= threshold - self.margin).tolist()
        return self.ordered(contenders)[:limit]

    def ordered(self, places: Sequence[int]) -> list[int]:
        """Best first, ties by id."""
        ranked = zip((-self.exact_scores(places)).tolist(), map(self.id_at, places), places, strict=True)
        return [place for _, _, place in sorted(ranked)]

    def place_of(self, record_id: str) -> int | None:
        """None if it is no candidate."""
        for part, before in zip(self.parts, self._starts, strict=True):
            row = part.segment.rows.get(record_id)
            if row is not None and part.mask[row]:
                return before + int(np.searchsorted(part.rows, row))
        return None

    def ids_at(self, places: Sequence[int]) -> list[str]:
        """Of many at once."""
        return [self._ids[place] for place in places]

    @cached_property
    def _ids(self) -> list[str]:
        return [record_id for part in self.parts for record_id in part.ids]

    def id_at(self, place: int) -> str:
        segment, row = self._row(place)
        return segment.ids[row]

    def features(self, places: Sequence[int], *, detailed: bool = False) -> list[Features]:
        """Of the candidates at these places. Which terms each holds is looked up where the policy asks for it, and for
        all terms if `detailed`."""
        bonus = self.policy.lexical_bonus
        terms = self.query.terms if detailed else self.query.terms[: bonus.term_cap] if bonus.enabled else None
        found: list[Features] = []
        for few in (places[start : start + _AT_ONCE] for start in range(0, len(places), _AT_ONCE)):
            matched = self._matched(terms, few) if terms is not None else [None] * len(few)
            found += map(self._features, few, matched)
        return found

    def _features(self, place: int, matched: int | None) -> Features:
        segment, row = self._row(place)
        timed = bool(segment.timed[row])
        cosine = float(self.cosine[place])
        hit = self.hits.get(segment.ids[row])
        state: TtlState = "unlimited" if not self.is_limited else "within" if timed else "untimed"
        return Features(
            bm25=float(self.bm25[place]),
            words=float(self.words[place]),
            cosine=cosine if cosine == cosine else None,  # NaN is not
            structural=None if segment.architecture[row] == NO_ARCHITECTURE else float(self.structural[place]),
            age_days=age_in_days(moment_of(int(segment.times[row])), self.now) if timed else None,
            facts=Fact(int(segment.facts[row])),
            matched=matched,
            hits=hit.count if hit is not None else 0,
            last_hit_age_days=age_in_days(hit.last, self.now) if hit is not None else None,
            ttl=state,
        )

    def _matched(self, terms: Sequence[str], places: Sequence[int]) -> list[int | None]:
        """For each place the terms that its record holds, as bits."""
        rows = [self._row(place) for place in places]
        held = np.zeros((len(places), len(terms)), np.bool_)
        for part in self.parts:
            mine = [number for number, (segment, _) in enumerate(rows) if segment is part.segment]
            wanted = np.array([rows[number][1] for number in mine], np.intp)
            if not len(wanted):
                continue
            for column, term in enumerate(terms):
                if (found := part.segment.terms.find(term)) is not None:
                    at = np.minimum(np.searchsorted(found[0], wanted), len(found[0]) - 1)
                    held[mine, column] = found[0][at] == wanted
        packed: NDArray[np.uint8] = np.packbits(held, axis=1, bitorder="little")
        return [int.from_bytes(line.tobytes(), "little") for line in packed]

    def document_frequency(self, term: str) -> int:
        """How many of the candidates hold the term."""
        found = ((part, part.segment.terms.find(term)) for part in self.parts)
        return sum(int(np.count_nonzero(part.mask[hit[0]])) for part, hit in found if hit is not None)

    @cached_property
    def _starts(self) -> list[int]:
        """The place of each part's first candidate."""
        return list(accumulate((len(part.rows) for part in self.parts[:-1]), initial=0))

    def _row(self, place: int) -> tuple[Segment, int]:
        for part, before in zip(self.parts, self._starts, strict=True):
            if place < before + len(part.rows):
                return part.segment, int(part.rows[place - before])
        raise IndexError(place)


def _held(terms: Sequence[str], part: Candidates) -> Column:
    """How many of the terms each candidate holds."""
    counts = np.zeros(len(part.mask))
    for term in terms:
        if (found := part.segment.terms.find(term)) is not None:
            counts[found[0]] += 1.0
    return counts[part.rows]
