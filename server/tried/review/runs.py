"""The runs of a snapshot, as everything here looks at them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, overload

import numpy as np

from tried.pool.causes import cause_in
from tried.pool.headline import is_noted_afterwards
from tried.pool.history.parameter_history import LineHistory, ParameterHistory
from tried.pool.history.run import Run, run_of
from tried.pool.history.run_row import NO_TIME
from tried.pool.outcome import Directions, has_conclusion, is_broken
from tried.pool.record import ExperimentRecord

RESULTS_TABLE: Final = "results-table"
"""The source of rows that have one description for what was tried and what came of it."""

_SAYS_MORE: Final = re.compile(r"[:;(—–]\s*\w|\s-+\s*\w|\b(?:because|since|due to|but)\b", re.IGNORECASE)


class RunsInOrder(Sequence[Run]):
    """Every experiment of a history, in the order of the pool. A run is made when it is asked for, and not kept."""

    def __init__(self, history: ParameterHistory) -> None:
        self._lines: Final[list[LineHistory]] = list(history.lines.values())
        sizes = [len(line) for line in self._lines]
        orders = [line.columns.facts["order"] for line in self._lines]
        line = np.repeat(np.arange(len(sizes)), sizes)
        row = np.concatenate([np.arange(size) for size in sizes]) if sizes else np.zeros(0, dtype=np.intp)
        sorting = np.argsort(np.concatenate(orders), kind="stable") if orders else row
        pairs = zip(line[sorting].tolist(), row[sorting].tolist(), strict=True)
        self._places: Final[list[tuple[int, int]]] = list(pairs)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...
    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        if isinstance(index, slice):
            return [self._lines[line].run_at(row) for line, row in self._places[index]]
        line, row = self._places[index]
        return self._lines[line].run_at(row)

    def __iter__(self) -> Iterator[Run]:
        for line, row in self._places:
            yield self._lines[line].run_at(row)


def runs_in(history: ParameterHistory) -> RunsInOrder:
    """Every experiment of the pool, in its order."""
    return RunsInOrder(history)


def newest_in(history: ParameterHistory) -> Run | None:
    """The run that began last; of those of one time, or without any, the last of the pool. None without runs.

    A row that stands behind it in the same results table and has no time was written later, and is newer; of other
    records without a time nobody knows, and none is newer than one with a time.
    """
    best = _latest_in(history)
    if best is None:
        return None
    found, place = best, _table_of(best.id)
    for line in history.lines.values() if place is not None else ():
        facts = line.columns.facts
        for row in np.flatnonzero((facts["time"] == NO_TIME) & (facts["order"] > found.order)).tolist():
            if int(facts["order"][row]) > found.order and _table_of(line.columns.ids[row]) == place:
                found = line.run_at(row)
    return found


def last_without_time(history: ParameterHistory) -> Run | None:
    """The last run of the pool that has no time, where others have one; None if there is none."""
    found: Run | None = None
    timed = False
    for line in history.lines.values():
        facts = line.columns.facts
        rows = np.flatnonzero(facts["time"] == NO_TIME)
        timed |= len(rows) < len(line)
        if len(rows):
            run = line.run_at(int(rows[np.argmax(facts["order"][rows])]))
            found = run if found is None or run.order > found.order else found
    return found if timed else None


def _table_of(record_id: str) -> str | None:
    """The results table in which a record is a row, by its id; None of other records."""
    return record_id.rpartition(":")[0] if record_id.startswith(f"{RESULTS_TABLE}:") else None


def _latest_in(history: ParameterHistory) -> Run | None:
    best: tuple[int, int, Run] | None = None
    for line in history.lines.values():
        facts = line.columns.facts
        if not len(line):
            continue
        row = int(np.lexsort((facts["order"], facts["time"]))[-1])
        found = (int(facts["time"][row]), int(facts["order"][row]), line.run_at(row))
        if best is None or found[:2] > best[:2]:
            best = found
    return best[2] if best is not None else None


def runs_of(
    records: Iterable[ExperimentRecord], history: ParameterHistory, directions: Directions | None = None
) -> list[Run]:
    """The runs of these records; also of such that are no experiments and so no part of the history."""
    found: list[Run] = []
    for order, record in enumerate(records):
        run = history.run(record.id)
        found.append(run if run is not None else run_of(record, order, directions))
    return found


def is_concluded(record: ExperimentRecord) -> bool:
    """Somebody, and not a program, wrote down what came of it or gave a verdict.

    Notes count where people write them afterwards, and where they name a cause; else they may as well say what the run
    was meant to show. So may the description of a table's row that crashed.
    """
    if record.verdict is not None:
        return True
    conclusion = record.conclusion
    if has_conclusion(conclusion) and conclusion and conclusion.headline and conclusion.headline.strip():
        return not _says_only_what_was_tried(record)
    notes = (record.notes or "").strip()
    if not notes:
        return False
    return is_noted_afterwards(record) or cause_in(notes, broken=True, in_passing=True) is not None


def _says_only_what_was_tried(record: ExperimentRecord) -> bool:
    """A row of a results table that broke, and whose description names no cause and says nothing more of what it names
    first, as "weight tying: loss stuck at 10.82" does."""
    headline = (record.headline or "").strip()
    return (
        record.source == RESULTS_TABLE
        and is_broken(record)
        and headline == record.name.strip()
        and record.cause in (None, "unknown")
        and not _SAYS_MORE.search(headline)
        and cause_in(headline, broken=True) is None
        and cause_in(record.notes or "", broken=True, in_passing=True) is None
    )
