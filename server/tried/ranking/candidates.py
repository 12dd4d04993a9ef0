"""Which records of a segment pass a query's filters, before anything is scored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tried.ranking.bag import FIELD_LIMIT
from tried.ranking.postings import Mask
from tried.ranking.query import RetrievalQuery
from tried.ranking.segment import Label, Segment, microseconds
from tried.ranking.tokenizer import tokenize

WORD_LIMIT: Final = 64
"""Words that a record must contain, the first ones: nobody searches for more, but somebody may paste a log."""

_DAY_MICROSECONDS: Final = 86_400_000_000


@dataclass(frozen=True, eq=False)
class Candidates:
    """The rows of one segment that pass the filters, as a mask over all its rows and as ascending numbers."""

    segment: Segment
    mask: Mask
    rows: NDArray[np.intp]

    @property
    def ids(self) -> list[str]:
        ids = self.segment.ids
        return [ids[row] for row in self.rows.tolist()]


def candidates_of(
    segment: Segment, query: RetrievalQuery, now: datetime, among: Collection[str] | None = None
) -> Candidates:
    """`now` is aware. `among`: only records of these ids."""
    mask = segment.alive.copy()
    for label in labels_of(query):
        mask &= _labelled(segment, label)
    if query.ttl_days is not None:
        age = microseconds(now) - segment.times
        mask &= ~segment.timed | (age <= query.ttl_days * _DAY_MICROSECONDS)
    for word, is_beginning in words_of(query.containing):
        mask &= segment.terms.rows_with_beginning(word, len(mask)) if is_beginning else _containing(segment, word)
    if among is not None:
        mask &= _among(segment, among)
    return Candidates(segment, mask, np.flatnonzero(mask))


def labels_of(query: RetrievalQuery) -> list[Label]:
    labels = [("tag", tag) for tag in query.tags]
    labels += [("research_line", query.research_line)] if query.research_line is not None else []
    labels += [("source", query.source)] if query.source is not None else []
    return labels


def words_of(text: str) -> Sequence[tuple[str, bool]]:
    """The terms that a record must hold, each once; of the last one, which may still be typed, the beginning is enough
    (True)."""
    terms = tokenize(text[:FIELD_LIMIT])[:WORD_LIMIT]
    whole = dict.fromkeys(terms[:-1])
    return [*((term, False) for term in whole), *((term, True) for term in terms[-1:])]


def _labelled(segment: Segment, label: Label) -> Mask:
    wanted = np.zeros(len(segment.ids), np.bool_)
    if (found := segment.labels.find(label)) is not None:
        wanted[found[0]] = True
    return wanted


def _containing(segment: Segment, term: str) -> Mask:
    wanted = np.zeros(len(segment.ids), np.bool_)
    if (found := segment.terms.find(term)) is not None:
        wanted[found[0]] = True
    return wanted


def _among(segment: Segment, among: Collection[str]) -> Mask:
    wanted = np.zeros(len(segment.ids), np.bool_)
    if len(among) < len(segment.ids):
        wanted[[row for record_id in among if (row := segment.rows.get(record_id)) is not None]] = True
    else:
        ids = among if isinstance(among, set | frozenset) else frozenset(among)
        wanted[:] = [record_id in ids for record_id in segment.ids]
    return wanted
