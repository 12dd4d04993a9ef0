"""How rooms that keep columns instead of records ask for a record itself."""

from __future__ import annotations

from typing import Protocol

from tried.pool.record import ExperimentRecord


class RecordReader(Protocol):
    """The record of an id as one snapshot has it, decoded on demand; KeyError for an id that the snapshot does not
    have. May be called from any thread."""

    def __call__(self, record_id: str, /) -> ExperimentRecord: ...
