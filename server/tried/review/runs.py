"""The runs of a snapshot, as everything here looks at them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np

from tried.pool.history import ParameterHistory
from tried.pool.outcome import Directions, has_conclusion
from tried.pool.record import ExperimentRecord
from tried.pool.run import Run, run_of


def runs_in(history: ParameterHistory) -> list[Run]:
    """Every experiment of the pool, in its order."""
    return sorted(chain.from_iterable(line.runs.values() for line in history.lines.values()), key=lambda run: run.order)


def newest_in(history: ParameterHistory) -> Run | None:
    """The run that began last; of those of one time, or without any, the last of the pool. None without runs."""
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
    """Somebody, and not a program, wrote down what came of it or gave a verdict."""
    if record.verdict is not None:
        return True
    conclusion = record.conclusion
    return has_conclusion(conclusion) and bool(conclusion and conclusion.headline and conclusion.headline.strip())
