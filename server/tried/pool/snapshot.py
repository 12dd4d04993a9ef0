"""The pool at one moment: records that are decoded on demand, with what is known of all of them at once.

Invariant: a snapshot is immutable, and so are the records, history and index that it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from types import MappingProxyType
from typing import Final

from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.outcome import Directions
from tried.pool.record import ExperimentRecord
from tried.pool.record_facts import Coverage, RecordFacts, Totals, facts_of
from tried.pool.sources.source import Skipped
from tried.pool.spool import Place, Spool
from tried.ranking.index import RankingIndex

FOUND_LIMIT: Final = 10
"""How many ids `PoolSnapshot.find` gives for a text that fits several."""


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What a source gave. `skipped` lists what could not be used, amendments that wait for their record included; it
    is cut at a limit and then says how many more there are, as is `remarks`, on values in records that are used
    otherwise. `research_line` is that of all its records, if they share one. `amendments` are all that it has, those
    that wait included.

    `merged`: how many of its records are one run with a record of another source. `roles`: how many are no
    experiments, by what they are. `newest`: the latest time that a record names (start, or last write). `seconds`: how
    long the last scan took that had anything to say. `total`: while it is being read, about how many records there
    will be; None when all are there, or when nobody knows.
    """

    path: str
    kind: str
    records: int
    dead_ends: int
    skipped: tuple[Skipped, ...]
    coverage: Coverage
    research_line: str | None = None
    amendments: int = 0
    waiting_amendments: int = 0
    remarks: tuple[Skipped, ...] = ()
    merged: int = 0
    roles: Mapping[str, int] = field(default_factory=dict)
    newest: datetime | None = None
    seconds: float = field(default=0.0, compare=False)
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What is in memory of a record: where it lies, and its facts."""

    place: Place
    facts: RecordFacts


class SpooledRecords(Mapping[str, ExperimentRecord]):
    """Records by id. Ids cost nothing; a record is decoded when it is asked for, and a few are kept.

    Looping over all of them decodes all of them: `PoolSnapshot.facts` is there for what must be known of each.
    """

    def __init__(self, entries: Mapping[str, Entry], spool: Spool) -> None:
        self._entries = entries
        self._spool = spool

    def __getitem__(self, record_id: str) -> ExperimentRecord:
        return self._spool.record(self._entries[record_id].place)

    def __call__(self, record_id: str, /) -> ExperimentRecord:
        """The same: a `RecordReader`."""
        return self[record_id]

    def __contains__(self, record_id: object) -> bool:
        return record_id in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def facts(self, record_id: str) -> RecordFacts:
        return self._entries[record_id].facts


@dataclass(frozen=True)
class PoolSnapshot:
    """The pool at one moment. `records` are in the order of the sources; `aliases` maps other ids to theirs.

    `children` maps what records name as their parent (an id or alias, there or not) to their ids. `research_lines`:
    how many records each named one has. `notes` are about the pool as a whole.
    """

    generation: int = 0
    records: Mapping[str, ExperimentRecord] = field(default_factory=lambda: MappingProxyType({}))
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sources: tuple[SourceReport, ...] = ()
    history: ParameterHistory = field(default_factory=ParameterHistory.empty)
    index: RankingIndex = field(default_factory=RankingIndex.empty)
    directions: Directions | None = None
    children: Mapping[str, Mapping[str, None]] = field(default_factory=lambda: MappingProxyType({}))
    research_lines: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    totals: Totals = field(default_factory=Totals)
    notes: tuple[Skipped, ...] = ()

    def get(self, record_id: str) -> ExperimentRecord | None:
        """The record of an id or of an alias."""
        return self.records.get(record_id) or self.records.get(self.aliases.get(record_id, ""))

    def facts(self) -> Iterator[tuple[str, RecordFacts]]:
        """(id, facts) of all records, in their order, without decoding any."""
        records = self.records
        if isinstance(records, SpooledRecords):
            for record_id in records:
                yield record_id, records.facts(record_id)
        else:
            for record_id, record in records.items():
                yield record_id, facts_of(record, self.directions)

    def facts_of(self, record_id: str) -> RecordFacts:
        """Of one record, by its id; KeyError for an id that there is not."""
        records = self.records
        if isinstance(records, SpooledRecords):
            return records.facts(record_id)
        return facts_of(records[record_id], self.directions)

    def children_of(self, record_id: str) -> tuple[str, ...]:
        """The ids of the records that name this one, or one of its aliases, as their parent."""
        record = self.get(record_id)
        if record is None:
            return tuple(self.children.get(record_id, ()))
        named = dict.fromkeys([record.id, *(a for a in record.aliases if self.aliases.get(a) == record.id)])
        return tuple(dict.fromkeys(child for name in named for child in self.children.get(name, ())))

    def find(self, text: str) -> tuple[str, ...]:
        """The ids that a person may mean: that of the record with this id or alias, else those that end in it after a
        `:` or `/` (a run's id in its tracker, a commit), in the order of the pool, at most FOUND_LIMIT."""
        if not text:
            return ()
        if (record := self.get(text)) is not None:
            return (record.id,)
        ends = (f":{text}", f"/{text}")
        named = {self.aliases[alias] for alias in self.aliases if alias.endswith(ends)}
        found = (record_id for record_id in self.records if record_id.endswith(ends) or record_id in named)
        return tuple(islice(found, FOUND_LIMIT))

    def __len__(self) -> int:
        return len(self.records)
