"""The runs of a snapshot, as everything here looks at them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from tried.pool.history import ParameterHistory
from tried.pool.outcome import Directions, has_conclusion
from tried.pool.record import ExperimentRecord
from tried.pool.run import Run, run_of


def runs_in(history: ParameterHistory) -> list[Run]:
    """Every experiment of the pool, in its order."""
    return sorted(chain.from_iterable(line.runs.values() for line in history.lines.values()), key=lambda run: run.order)


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
    """Somebody, and not a program, wrote down what came of it or gave a verdict."""
    if record.verdict is not None:
        return True
    conclusion = record.conclusion
    return has_conclusion(conclusion) and bool(conclusion and conclusion.headline and conclusion.headline.strip())
