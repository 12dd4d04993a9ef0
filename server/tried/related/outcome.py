"""How an experiment ended, in the five words that lists and icons know.

Invariant: what `outcomes_in` says of all runs of a line is what `outcome_of_run` says of each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from tried.pool.history.line_history import LineHistory
from tried.pool.history.run import Run
from tried.pool.history.run_row import DEAD_END, OPEN, WORKED, Flag
from tried.pool.record import ExperimentRecord
from tried.pool.record_facts import is_running
from tried.pool.snapshot import PoolSnapshot

Outcome = Literal["dead_end", "works", "inconclusive", "running", "unknown"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("dead_end", "works", "inconclusive", "running", "unknown")

_DEAD_END, _WORKS, _INCONCLUSIVE, _RUNNING, _UNKNOWN = range(5)


def outcome_of(record: ExperimentRecord, snapshot: PoolSnapshot) -> Outcome:
    """A verdict first, then whether it still runs, then what the pool judges of it. What is no experiment, such as a
    search as a whole, may run, but comes to nothing."""
    run = snapshot.history.run(record.id)
    if run is None:
        return "running" if is_running(record) else "unknown"
    return outcome_of_run(run)


def outcome_of_run(run: Run) -> Outcome:
    if run.running:
        return "running"
    if run.ending == "open":
        return "inconclusive" if run.judged else "unknown"
    return "dead_end" if run.ending == "dead_end" else "works"


def outcomes_in(line: LineHistory) -> NDArray[np.int8]:
    """The place in OUTCOMES of each run of a line, by row."""
    facts = line.columns.facts
    ending, flags = facts["ending"], facts["flags"]
    found = np.full(len(line), _UNKNOWN, np.int8)
    found[ending == DEAD_END] = _DEAD_END
    found[ending == WORKED] = _WORKS
    found[(ending == OPEN) & ((flags & Flag.JUDGED) != 0)] = _INCONCLUSIVE
    found[(flags & Flag.RUNNING) != 0] = _RUNNING
    return found


def ids_with(outcome: Outcome, snapshot: PoolSnapshot) -> frozenset[str]:
    """The ids of all records of the pool that came to this."""
    number = OUTCOMES.index(outcome)
    found: set[str] = set()
    for line in snapshot.history.lines.values():
        ids = line.columns.ids
        found.update([ids[row] for row in np.flatnonzero(outcomes_in(line) == number).tolist()])
    line_of = snapshot.history.line_of
    if outcome in ("running", "unknown") and len(line_of) < len(snapshot):
        others = ((record_id, facts.running) for record_id, facts in snapshot.facts() if record_id not in line_of)
        found.update(record_id for record_id, runs in others if runs == (outcome == "running"))
    return frozenset(found)


def common_outcome(runs: Sequence[Run]) -> Outcome:
    """Of replicates, the best-ranked first: what somebody judged of the first that was judged, else what most of them
    came to, of equals what the first did."""
    if len(runs) == 1:
        return outcome_of_run(runs[0])
    judged = next((run for run in runs if run.judged), None)
    if judged is not None:
        return outcome_of_run(judged)
    return Counter(map(outcome_of_run, runs)).most_common(1)[0][0]
