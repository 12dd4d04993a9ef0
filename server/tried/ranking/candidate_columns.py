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
from tried.ranking.features import COSINE_SHARE, LEXICAL_SHARE, Features, QueryFeatures, TtlState, faded
from tried.ranking.hits import Hit, Hits
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.scoring import WeightInForce, hit_boost, weights_in_force
from tried.ranking.segment import IMPORTANCE, NO_ARCHITECTURE, Segment, moment_of
from tried.ranking.signals import (
    QUERY_TERM_LIMIT,
    Column,
    age_in_days,
    ages_in_days,
    approximate_halved,
    bm25,
    cosines,
    structural,
)
from tried.ranking.tokenizer import tokenize

ACCURACY: Final = 1e-9
"""More than twice what an approximate score can be off, for weights that sum to 1: the last bits of exponentials."""


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
        """A record whose approximate score lies so far below another's cannot be above it."""
        optional = (self.policy.lexical_bonus, self.policy.hit_boost, self.policy.decay_penalty)
        return ACCURACY * (1.0 + sum(each.weight for each in optional if each.enabled))

    @cached_property
    def approximate_scores(self) -> Column:
        """Of all candidates, but for the last bits of exponentials: numpy's are not the C library's."""
        weights, policy = self.weights, self.policy
        ages = np.concatenate([ages_in_days(part, self.now) for part in self.parts])
        comparable = ~np.isnan(self.cosine)
        mixed = LEXICAL_SHARE * self.words + COSINE_SHARE * self.cosine
        facts = np.concatenate([part.segment.facts[part.rows] for part in self.parts])
        signals = {
            "lexical": np.where(comparable, mixed, self.words),
            "structural": self.structural,
            "recency": approximate_halved(ages, policy.half_life_days),
            "importance": IMPORTANCE[facts],
        }
        scores = np.zeros(len(self))
        for name, signal in signals.items():
            scores += weights[name].value * signal
        if policy.lexical_bonus.enabled:
            scores += self._bonuses()
        if policy.hit_boost.enabled:
            for place, hit in self._hit_places:
                freshness = faded(age_in_days(hit.last, self.now), policy.hit_boost.tau_days)
                scores[place] += hit_boost(hit.count, freshness, policy.hit_boost)
        if policy.decay_penalty.enabled:
            with np.errstate(over="ignore"):
                left = np.exp(-np.maximum(ages, 0.0) / policy.decay_penalty.tau_days)
            left = np.where(np.isnan(ages), 1.0, left)
            scores -= policy.decay_penalty.weight * (1.0 - left)
        return scores

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
    def _hit_places(self) -> list[tuple[int, Hit]]:
        found = ((self.place_of(record_id), hit) for record_id, hit in self.hits.items())
        return [(place, hit) for place, hit in found if place is not None]

    def place_of(self, record_id: str) -> int | None:
        """None if it is no candidate."""
        for part, before in zip(self.parts, self._starts, strict=True):
            row = part.segment.rows.get(record_id)
            if row is not None and part.mask[row]:
                return before + int(np.searchsorted(part.rows, row))
        return None

    def id_at(self, place: int) -> str:
        segment, row = self._row(place)
        return segment.ids[row]

    def features(self, places: Sequence[int], *, detailed: bool = False) -> list[Features]:
        """Of the candidates at these places. Which terms each holds is looked up where the policy asks for it, and for
        all terms if `detailed`."""
        bonus = self.policy.lexical_bonus
        terms = self.query.terms if detailed else self.query.terms[: bonus.term_cap] if bonus.enabled else None
        matched = self._matched(terms, places) if terms is not None else [None] * len(places)
        return [self._features(place, found) for place, found in zip(places, matched, strict=True)]

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
