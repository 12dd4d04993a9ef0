"""What happens to a config and its pool while somebody works on it, as sessions for `stability.observe`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime
from typing import Final

from tried.evaluation.noisy_vectors import EMBEDDER_ID, NOISES, query_vector
from tried.evaluation.perturbations import EDIT_KINDS, edits_of
from tried.evaluation.stability import Session, Situation, Step, days_from
from tried.ranking.index import RankingIndex
from tried.ranking.query import RetrievalQuery
from tried.ranking.segment import moment_of

POOL_GROWN: Final = "pool grown by 1 %"
DAY_LATER: Final = "a day later"
NOISY: Final = "noisy vectors"
AGAIN: Final = "nothing changed"
"""The first situation again: what moves then is moved by hits alone."""

CHANGES: Final = (*EDIT_KINDS, POOL_GROWN, DAY_LATER, NOISY, AGAIN)

Ask = Callable[[str], RetrievalQuery]
"""What a config's text asks of a pool."""


def editing_session(
    name: str, text: str, language: str, ask: Ask, now: datetime, pool: frozenset[str], newcomers: Collection[str]
) -> Session:
    """Each edit alone on the original text, then the pool with `newcomers`, a day later, and the first situation again.

    A step of an edit whose query is that of the original is a step all the same: most edits change nothing, and people
    make them too. On the last day that there is, no day follows.
    """
    first = Situation(ask(text), now, pool)
    steps = [Step(edit.kind, replace(first, query=ask(edit.text))) for edit in edits_of(text, language)]
    if newcomers:
        steps.append(Step(POOL_GROWN, replace(first, among=pool.union(newcomers))))
    if (tomorrow := days_from(now, 1)) is not None:
        steps.append(Step(DAY_LATER, replace(first, now=tomorrow)))
    steps.append(Step(AGAIN, first))
    return Session(name, first, tuple(steps))


def noisy_session(name: str, query: RetrievalQuery, now: datetime, pool: frozenset[str]) -> Session:
    """One query whose vector has another noise each time; the first run has none. For an index of records
    `with_vectors`."""
    calm = Situation(replace(query, vector=query_vector(query.text), embedder_id=EMBEDDER_ID), now, pool)
    steps = (
        Step(NOISY, replace(calm, query=replace(calm.query, vector=query_vector(query.text, noise))))
        for noise in range(NOISES)
    )
    return Session(name, calm, tuple(steps))


def one_percent(count: int) -> int:
    """Of a pool of so many records, rounded up: at least one, none of none."""
    return -(-count // 100)


def moments_in(index: RankingIndex) -> dict[str, datetime | None]:
    """When each record of a pool began (in UTC), the latest first, those without a time last; ties by id."""
    found = [
        (int(time) if timed else None, record_id)
        for segment in index.segments
        for record_id, alive, timed, time in zip(
            segment.ids, segment.alive.tolist(), segment.timed.tolist(), segment.times.tolist(), strict=True
        )
        if alive
    ]
    found.sort(key=lambda each: (each[0] is None, 0 if each[0] is None else -each[0], each[1]))
    return {record_id: None if time is None else moment_of(time) for time, record_id in found}
