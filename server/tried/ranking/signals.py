"""The signals of a score, each in [0, 1]: what they are, and for all candidates at once.

Every number here is computed by elementwise float64 operations in one fixed order, so it has the bits that the scalar
formula has. Only `ages_in_days` and `approximate_halved` are approximations, and only for choosing what to score
exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tried.architecture import EDGE_WEIGHT, NODE_WEIGHT, ArchitectureFingerprint
from tried.ranking.candidates import Candidates
from tried.ranking.features import halved
from tried.ranking.policy import DEFAULT_HALF_LIFE_DAYS
from tried.ranking.postings import Counts, Postings, Rows
from tried.ranking.query import RetrievalQuery
from tried.ranking.segment import microseconds

K1: Final = 1.2
B: Final = 0.75

QUERY_TERM_LIMIT: Final = 10_000
"""Terms of a query that are looked up, the first ones: a config that holds a log still answers at once."""

_DAY: Final = timedelta(days=1)
_DAY_MICROSECONDS: Final = 86_400_000_000
_LN2: Final = math.log(2.0)

Column = NDArray[np.float64]


def bm25(terms: Sequence[str], parts: Sequence[Candidates]) -> list[Column]:
    """Okapi BM25 of each candidate (k1 = 1.2, b = 0.75), not bounded; one column for each part.

    Σ over the query's terms, repeated ones again, of idf·tf·(k1 + 1) / (tf + k1·(1 − b + b·length/average length)) with
    idf = max(0, ln(1 + (N − df + 0.5)/(df + 0.5))); N, df and the average length are those of the candidates.
    """
    terms = terms[:QUERY_TERM_LIMIT]
    size = sum(len(part.rows) for part in parts)
    total = sum(int(part.segment.lengths[part.rows].sum()) for part in parts)
    if not total:
        return [np.zeros(len(part.rows)) for part in parts]
    average = total / size
    distinct = list(dict.fromkeys(terms))
    found = [{term: hit for term in distinct if (hit := part.segment.terms.find(term)) is not None} for part in parts]
    idf = {term: _idf(size, _document_frequency(term, parts, found)) for term in distinct}
    columns = []
    for part, postings in zip(parts, found, strict=True):
        saturation = K1 * (1.0 - B + B * part.segment.lengths / average)
        scores = np.zeros(len(part.mask))
        gains: dict[str, Column] = {}
        places: dict[str, Rows | slice] = {}
        for term in terms:
            if term not in postings:
                continue
            if term not in gains:
                rows, counts = postings[term]
                # what all records hold is added without looking any of them up
                places[term] = slice(None) if len(rows) == len(scores) else rows.astype(np.intp)
                gains[term] = idf[term] * (counts * (K1 + 1.0)) / (counts + saturation[places[term]])
            scores[places[term]] += gains[term]
        columns.append(scores[part.rows])
    return columns


def _document_frequency(term: str, parts: Sequence[Candidates], found: Sequence[dict[str, tuple[Rows, Counts]]]) -> int:
    return sum(
        int(np.count_nonzero(part.mask[postings[term][0]]))
        for part, postings in zip(parts, found, strict=True)
        if term in postings
    )


def _idf(size: int, frequency: int) -> float:
    return max(0.0, math.log(1.0 + (size - frequency + 0.5) / (frequency + 0.5)))


def cosines(query: RetrievalQuery, part: Candidates) -> Column:
    """The cosine of each candidate, clamped to [0, 1]; NaN where no vector of the query's model can be compared.

    Comparable are vectors with the query's `embedder_id`, as many dimensions, and a direction (finite, not zero).
    """
    column = np.full(len(part.mask), np.nan)
    if query.vector is not None and query.embedder_id is not None:
        block = part.segment.vectors.get((query.embedder_id, len(query.vector)))
        values = block.cosines(query.vector) if block is not None else None
        if block is not None and values is not None:
            column[block.rows] = values
    return column[part.rows]


def structural(architecture: ArchitectureFingerprint, part: Candidates) -> Column:
    """`structural_similarity` of each candidate's architecture, once for each distinct one; 0 without one."""
    structures = part.segment.structures
    nodes = _jaccard(architecture.node_tokens, structures.nodes, structures.node_totals)
    edges = _jaccard(architecture.edge_tokens, structures.edges, structures.edge_totals)
    similarity = np.append(NODE_WEIGHT * nodes + EDGE_WEIGHT * edges, 0.0)
    return similarity[part.segment.architecture[part.rows]]


def _jaccard(tokens: dict[str, int], postings: Postings[str], totals: NDArray[np.int64]) -> Column:
    """The multiset Jaccard of `tokens` and each row: Σ min over Σ max, where Σ max = both totals − Σ min."""
    shared = np.zeros(len(totals), np.int64)
    for token, count in tokens.items():
        if (found := postings.find(token)) is not None:
            rows, counts = found
            shared[rows] += np.minimum(counts.astype(np.int64), count)
    union = totals + sum(tokens.values()) - shared
    return np.where(union > 0, shared / np.maximum(union, 1), 1.0)


def recency(timestamp: datetime | None, now: datetime, half_life_days: float = DEFAULT_HALF_LIFE_DAYS) -> float:
    """exp(−ln 2 · age in days / half-life), in [0, 1]; 1 for the future and for a half-life ≤ 0, 0 without a timestamp.

    Naive times are taken as UTC.
    """
    return halved(age_in_days(timestamp, now) if timestamp is not None else None, half_life_days)


def age_in_days(moment: datetime, now: datetime) -> float:
    """Negative for the future; naive times are UTC."""
    return (in_utc(now) - in_utc(moment)) / _DAY


def ages_in_days(part: Candidates, now: datetime) -> Column:
    """`age_in_days` of each candidate but for the last bits; NaN without a timestamp."""
    segment = part.segment
    ages = (microseconds(now) - segment.times[part.rows]) / _DAY_MICROSECONDS
    return np.where(segment.timed[part.rows], ages, np.nan)


def approximate_halved(ages_in_days: Column, half_life_days: float) -> Column:
    """`halved` of each age but for the last bits: numpy's exponential is not the C library's."""
    if half_life_days <= 0:
        decay = np.ones(len(ages_in_days))
    else:
        with np.errstate(over="ignore"):
            decay = np.exp(-_LN2 * np.maximum(ages_in_days, 0.0) / half_life_days)
    return np.where(np.isnan(ages_in_days), 0.0, decay)


def approximate_faded(ages_in_days: Column, tau_days: float) -> Column:
    """What `faded` leaves of each but for the last bits; all of what has no age."""
    with np.errstate(over="ignore"):
        left = np.exp(-np.maximum(ages_in_days, 0.0) / tau_days)
    return np.where(np.isnan(ages_in_days), 1.0, left)


def in_utc(moment: datetime) -> datetime:
    """The same moment, aware: a naive one is UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
