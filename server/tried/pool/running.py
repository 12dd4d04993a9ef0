"""Runs that nobody will end: what is said to be running and was not written to for two days has stopped.

Invariant: a pure function of the records and of `now`; no clock is read.
"""

from __future__ import annotations

import heapq
from datetime import datetime, timedelta
from typing import Any, Final

from tried.pool.record import ExperimentRecord, parse_time
from tried.pool.record_facts import is_running

SILENCE: Final = timedelta(days=2)
"""How long a running run may be silent."""


def deadline_of(record: ExperimentRecord) -> datetime | None:
    """When a running record will have been silent too long; None for one that is not running, or never says when it
    was written."""
    if not is_running(record):
        return None
    written = parse_time(record.last_written)
    try:
        return written + SILENCE if written is not None else None
    except OverflowError:
        return None


def stopped(record: ExperimentRecord) -> ExperimentRecord:
    """The record of a run that has been silent too long; a headline that somebody wrote stays."""
    conclusion = record.conclusion
    assert conclusion is not None  # it says that it is running
    written = parse_time(record.last_written)
    update: dict[str, Any] = {"conclusion": conclusion.model_copy(update={"outcome": "stopped"}), "cause": "stopped"}
    if written is not None:
        update["generated_headline"] = f"stopped: nothing written since {written.date().isoformat()}"
    return record.model_copy(update=update)


class Deadlines:
    """Which running records are overdue, asked in the order of time. One that ran on has a later deadline, too."""

    def __init__(self) -> None:
        self._heap: list[tuple[datetime, str]] = []
        self._due: dict[str, datetime] = {}

    def set(self, record_id: str, deadline: datetime | None) -> None:
        """The deadline of a record from now on; None if it has none."""
        if deadline is None:
            self._due.pop(record_id, None)
        elif self._due.get(record_id) != deadline:
            self._due[record_id] = deadline
            heapq.heappush(self._heap, (deadline, record_id))

    def take(self, now: datetime) -> list[str]:
        """The records whose deadline has come, each once."""
        found: list[str] = []
        while self._heap and self._heap[0][0] <= now:
            deadline, record_id = heapq.heappop(self._heap)
            if self._due.get(record_id) == deadline:
                del self._due[record_id]
                found.append(record_id)
        return found
