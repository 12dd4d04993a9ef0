"""How an experiment ended, in the five words that lists and icons know."""

from __future__ import annotations

from typing import Final, Literal

from tried.pool.record import ExperimentRecord
from tried.pool.record_facts import is_running
from tried.pool.snapshot import PoolSnapshot

Outcome = Literal["dead_end", "works", "inconclusive", "running", "unknown"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("dead_end", "works", "inconclusive", "running", "unknown")


def outcome_of(record: ExperimentRecord, snapshot: PoolSnapshot) -> Outcome:
    """A verdict first, then whether it still runs, then what the pool judges of it."""
    if record.verdict == "inconclusive":
        return "inconclusive"
    if is_running(record):
        return "running"
    run = snapshot.history.run(record.id)
    ending = run.ending if run is not None else "open"
    return "dead_end" if ending == "dead_end" else "works" if ending == "worked" else "unknown"
