"""One row of a list of past experiments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tried.pool.record import Cause
from tried.ranking.breakdown import ScoredRecord
from tried.related.closest import Closeness
from tried.related.differences import Differences
from tried.related.outcome import Outcome
from tried.related.record_view import HeadlineKind
from tried.related.result import Result


@dataclass(frozen=True, slots=True)
class Experiment:
    """`scored` is the best-ranked run, with which `records`, all replicates that pass the filter, begin; the others
    follow in the order of the pool. `rank` counts from 1, whatever the list is sorted by. `why` is what somebody wrote
    of one of them, of the best-ranked one before the others, else what that one shows by itself. `time` is that of the
    latest. `differences` None: nothing can be compared. `closeness`: it is the draft itself, or what is nearest to it,
    and stands first for that."""

    scored: ScoredRecord
    rank: int
    records: tuple[str, ...]
    why: str
    why_kind: HeadlineKind
    outcome: Outcome
    cause: Cause | None
    time: datetime | None
    result: Result | None
    differences: Differences | None
    closeness: Closeness | None = None
