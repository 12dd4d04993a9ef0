"""How rooms that keep columns instead of records ask for a record itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from tried.pool.record import ExperimentRecord


class RecordReader(Protocol):
    """The record of an id as one snapshot has it, decoded on demand; KeyError for an id that the snapshot does not
    have. May be called from any thread."""

    def __call__(self, record_id: str, /) -> ExperimentRecord: ...


class HeldRecords:
    """A reader of records that are simply held: for tests, benchmarks and pools without a spool."""

    def __init__(self, records: Mapping[str, ExperimentRecord] | None = None) -> None:
        self._records = records or {}

    def __call__(self, record_id: str, /) -> ExperimentRecord:
        return self._records[record_id]

    def updated(self, removed: Iterable[str], upserts: Iterable[ExperimentRecord]) -> HeldRecords:
        records = dict(self._records)
        for record_id in removed:
            records.pop(record_id, None)
        records.update((record.id, record) for record in upserts)
        return HeldRecords(records)


def reader_after(
    before: RecordReader | None,
    given: RecordReader | None,
    removed: Iterable[str],
    upserts: Iterable[ExperimentRecord],
) -> RecordReader:
    """The reader of the next snapshot: the one that was given, else the one before with the delta held in memory."""
    if given is not None:
        return given
    held = before if isinstance(before, HeldRecords) else HeldRecords()
    return held.updated(removed, upserts)
