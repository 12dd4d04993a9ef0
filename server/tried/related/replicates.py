"""Which runs are one experiment, run again: equal in all that makes another one.

Invariant: a run that logs no parameters is the replicate of none but itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tried.pool.history.line_history import LineHistory
from tried.pool.history.run import Run
from tried.pool.record_facts import RecordFacts, facts_of
from tried.pool.snapshot import PoolSnapshot, SpooledRecords

MOST_DECODED: Final = 500
"""Records whose architectures are compared in full; of further ones the components must do."""


def replicates_of(run: Run, line: LineHistory, snapshot: PoolSnapshot) -> list[Run]:
    """The runs of its research line with the same parameters, change, architecture and stated commit, itself among
    them, from the earliest to the latest."""
    if not line.logs_anything[run.place]:
        return [run]
    columns = line.columns
    same = columns.signatures == columns.signatures[run.place]
    same &= columns.shapes == run.shape
    same &= columns.facts["changes"] == run.change_set
    rows = line.in_time(np.flatnonzero(same)).tolist()
    if len(rows) == 1:
        return [run]
    own = facts_at(snapshot, run.id)
    close = [row for row in rows if row == run.place or _is_alike(facts_at(snapshot, columns.ids[row]), own)]
    if own.components:
        digest = _digest(run)
        first = len(close) - MOST_DECODED
        close = [
            row
            for place, row in enumerate(close)
            if row == run.place or place < first or _digest(line.run_at(row)) == digest
        ]
    return [line.run_at(row) for row in close]


def facts_at(snapshot: PoolSnapshot, record_id: str) -> RecordFacts:
    """Decodes nothing where the pool keeps facts. Raises KeyError for an id that is not in it."""
    records = snapshot.records
    if isinstance(records, SpooledRecords):
        return records.facts(record_id)
    return facts_of(records[record_id], snapshot.directions)


def _is_alike(facts: RecordFacts, own: RecordFacts) -> bool:
    return facts.commit == own.commit and facts.components == own.components


def _digest(run: Run) -> str:
    architecture = run.record.architecture
    return architecture.digest if architecture is not None else ""
