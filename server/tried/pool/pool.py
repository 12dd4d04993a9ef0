"""All records of all sources of a workspace folder, amendments folded in, as snapshots that never change.

A refresh asks each source for what is new, folds what that touches, and hands the same small delta to the parameter
history and to the ranking index: nothing is loaded twice.

Invariant: a snapshot is immutable; as long as nothing changes, `refresh` returns the very same one.
Invariant: of sources that give the same id the first has the record; each counts it.
"""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from tried.pool.amendments import Amendments, assign
from tried.pool.history import ParameterHistory
from tried.pool.journal import fold
from tried.pool.outcome import Directions, has_conclusion, is_dead_end
from tried.pool.record import ExperimentRecord
from tried.pool.sources.source import REMARKS_LIMIT, Delta, Skipped, Source, limited
from tried.ranking.index import RankingIndex

Progress = Callable[[int, int, str], None]
"""(done, total, what is being done now)"""

FOUND_LIMIT: Final = 10
"""How many ids `PoolSnapshot.find` gives for a text that fits several."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of records, 0 to 1: with a conclusion that somebody drew, naming what they came from, with an
    architecture, with a timestamp that can be read."""

    conclusion: float = 0.0
    lineage: float = 0.0
    architecture: float = 0.0
    timestamp: float = 0.0

    @classmethod
    def of(cls, records: Collection[ExperimentRecord]) -> Coverage:
        if not records:
            return cls()
        count = len(records)
        return cls(
            sum(has_conclusion(record.conclusion) for record in records) / count,
            sum(bool(record.parent or (record.derivation and record.derivation.from_)) for record in records) / count,
            sum(bool(record.architecture and record.architecture.nodes) for record in records) / count,
            sum(record.time is not None for record in records) / count,
        )


@dataclass(frozen=True, slots=True)
class SourceReport:
    """What a source gave. `skipped` lists what could not be used, amendments that wait for their record included; it
    is cut at a limit and then says how many more there are, as is `remarks`, on values in records that are used
    otherwise. `research_line` is that of all its records, if they share one. `amendments` are all that it has, those
    that wait included."""

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


@dataclass(frozen=True, slots=True)
class Totals:
    records: int
    dead_ends: int
    coverage: Coverage


@dataclass(frozen=True)
class PoolSnapshot:
    """The pool at one moment. `records` are in the order of the sources; `aliases` maps other ids to theirs."""

    generation: int = 0
    records: Mapping[str, ExperimentRecord] = field(default_factory=lambda: MappingProxyType({}))
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sources: tuple[SourceReport, ...] = ()
    history: ParameterHistory = field(default_factory=ParameterHistory.empty)
    index: RankingIndex = field(default_factory=RankingIndex.empty)
    directions: Directions | None = None

    def get(self, record_id: str) -> ExperimentRecord | None:
        """The record of an id or of an alias."""
        return self.records.get(record_id) or self.records.get(self.aliases.get(record_id, ""))

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

    @cached_property
    def research_lines(self) -> Mapping[str, int]:
        """How many records each named research line has, in the order of the pool."""
        return MappingProxyType(Counter(r.research_line for r in self.records.values() if r.research_line))

    @cached_property
    def totals(self) -> Totals:
        """Over the records of the pool, each counted once."""
        records = self.records.values()
        return Totals(len(records), sum(is_dead_end(r, self.directions) for r in records), Coverage.of(records))


class _SourceState:
    """What one source has said so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.cursor: object | None = None
        self.records: dict[str, ExperimentRecord] = {}
        self.amendments: list[ExperimentRecord] = []
        self.skipped: list[Skipped] = []
        self.remarks: list[Skipped] = []
        self.report: SourceReport | None = None
        self.waiting: tuple[ExperimentRecord, ...] = ()
        """The amendments that `report` says are waiting."""

    def take(self, dirty: dict[str, None]) -> bool:
        """Scan and apply; adds the ids that it touches to `dirty`. True if the source said anything new."""
        try:
            delta = self.source.scan(self.cursor)
        except Exception as error:
            why = Skipped("the source", f"could not be read: {type(error).__name__}: {error}"[:500])
            delta = Delta(skipped=() if why in self.skipped else (why,), cursor=self.cursor)
        self.cursor = delta.cursor
        if delta.is_empty:
            return False
        if delta.reset:
            dirty.update(dict.fromkeys(self.records))
            self.records, self.amendments, self.skipped, self.remarks = {}, [], [], []
        for record_id in delta.removed:
            if self.records.pop(record_id, None) is not None:
                dirty[record_id] = None
        for record in delta.upserts:
            if record.kind == "amendment":
                self.amendments.append(record)
            else:
                self.records[record.id] = record
                dirty[record.id] = None
        self.skipped.extend(delta.skipped)
        self.remarks.extend(delta.remarks)
        self.report = None
        return True


class Pool:
    """The only owner of what sources have said. All methods may be called from any thread."""

    def __init__(self, sources: Iterable[Source] = (), directions: Directions | None = None) -> None:
        self._lock: Final = threading.Lock()
        self._directions = directions
        self._states = [_SourceState(source) for source in _distinct(sources)]
        self._unfolded = bool(self._states)
        self._left: dict[str, None] = {}
        self._amendments = Amendments()
        self._snapshot = PoolSnapshot(
            history=ParameterHistory.empty(directions), index=RankingIndex.empty(directions), directions=directions
        )

    @property
    def snapshot(self) -> PoolSnapshot:
        """The pool as of the last refresh; empty before the first."""
        return self._snapshot

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(state.source for state in self._states)

    def use(self, sources: Iterable[Source]) -> None:
        """Read these sources from the next refresh on; those that stay keep what they have said."""
        with self._lock:
            wanted = _distinct(sources)
            known = {_identity(state.source): state for state in self._states}
            states: list[_SourceState] = []
            for source in wanted:
                state = known.pop(_identity(source), None)
                states.append(state if state is not None else _SourceState(source))
            if [_identity(state.source) for state in self._states] == [_identity(source) for source in wanted]:
                return
            for state in known.values():
                self._left.update(dict.fromkeys(state.records))
            # Of an id that several sources give another may come first now.
            self._left.update(dict.fromkeys(_shared(states)))
            self._states, self._unfolded = states, True

    def refresh(self, progress: Progress | None = None) -> PoolSnapshot:
        """Ask all sources for what is new; the same snapshot if there is nothing."""
        with self._lock, _collector_paused():
            dirty = self._left
            total = len(self._states) + 1
            for number, state in enumerate(self._states):
                if progress is not None:
                    progress(number, total, f"reading {state.source.path.name}")
                # Kept where it outlives a `progress` that raises: a source says what is new only once.
                self._unfolded |= state.take(dirty)
            if self._unfolded:
                if progress is not None:
                    progress(total - 1, total, "indexing what is new")
                self._snapshot = self._advanced(dirty)
            self._left, self._unfolded = {}, False
            if progress is not None:
                progress(total, total, "ready")
            return self._snapshot

    def place_of(self, record_id: str) -> tuple[Path, int] | None:
        """(file, line from 1) of a record or alias; None if no source knows. Reads the file."""
        record_id = self._snapshot.aliases.get(record_id, record_id)
        for state in self._states:
            if record_id in state.records and (line := state.source.line_of(record_id)) is not None:
                return state.source.path, line
        return None

    def _advanced(self, dirty: dict[str, None]) -> PoolSnapshot:
        old = self._snapshot
        owned: dict[str, ExperimentRecord] = {}
        for state in self._states:
            for record_id, record in state.records.items():
                owned.setdefault(record_id, record)
        amendments = assign([state.amendments for state in self._states], owned, _aliases(owned.values()))
        for record_id in {**amendments.by_record, **self._amendments.by_record}:
            if not _same_objects(amendments.of(record_id), self._amendments.of(record_id)):
                dirty[record_id] = None
        self._amendments = amendments
        records: dict[str, ExperimentRecord] = {}
        upserts: list[ExperimentRecord] = []
        for record_id, record in owned.items():
            before = old.records.get(record_id)
            if before is not None and record_id not in dirty:
                records[record_id] = before
                continue
            now = _folded(record, amendments.of(record_id))
            if before is not None and _says_the_same(before, now):
                records[record_id] = before
            else:
                records[record_id] = now
                upserts.append(now)
        removed = [record_id for record_id in old.records if record_id not in records] if dirty else []
        reports = self._reports(records, {*removed, *(record.id for record in upserts)})
        if not upserts and not removed and reports == old.sources and list(records) == list(old.records):
            return old
        return PoolSnapshot(
            generation=old.generation + 1,
            records=MappingProxyType(records),
            aliases=MappingProxyType(_aliases(records.values())),
            sources=reports,
            history=old.history.updated(removed, upserts) if upserts or removed else old.history,
            index=old.index.updated(removed, upserts) if upserts or removed else old.index,
            directions=self._directions,
        )

    def _reports(self, records: Mapping[str, ExperimentRecord], changed: set[str]) -> tuple[SourceReport, ...]:
        reports: list[SourceReport] = []
        for place, state in enumerate(self._states):
            waiting = self._amendments.waiting.get(place, ())
            report = state.report
            if report is None or not _same_objects(waiting, state.waiting) or not changed.isdisjoint(state.records):
                own = [records[record_id] for record_id in state.records]
                lines = {record.research_line for record in own}
                report = SourceReport(
                    path=str(state.source.path),
                    kind=state.source.kind,
                    records=len(own),
                    dead_ends=sum(is_dead_end(record, self._directions) for record in own),
                    skipped=limited((*state.skipped, *map(_waits, waiting))),
                    coverage=Coverage.of(own),
                    research_line=lines.pop() if len(lines) == 1 else None,
                    amendments=len(state.amendments),
                    waiting_amendments=len(waiting),
                    remarks=limited(state.remarks, REMARKS_LIMIT),
                )
                state.report, state.waiting = report, waiting
            reports.append(report)
        return tuple(reports)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Loading makes objects that stay; looking for garbage among them again and again takes a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _folded(record: ExperimentRecord, amendments: tuple[ExperimentRecord, ...]) -> ExperimentRecord:
    try:
        return fold(record, amendments)
    except ValidationError:  # what fits in each of them does not fit together; the record itself is not lost
        return record


def _waits(amendment: ExperimentRecord) -> Skipped:
    return Skipped(
        f"amendment {amendment.id}", f"waits for {amendment.amends or amendment.id!r}, which no source of the pool has"
    )


def _aliases(records: Iterable[ExperimentRecord]) -> dict[str, str]:
    found: dict[str, str] = {}
    for record in records:
        for alias in record.aliases:
            found.setdefault(alias, record.id)
    return found


def _same_objects(left: tuple[ExperimentRecord, ...], right: tuple[ExperimentRecord, ...]) -> bool:
    return len(left) == len(right) and all(one is other for one, other in zip(left, right, strict=True))


def _says_the_same(left: ExperimentRecord, right: ExperimentRecord) -> bool:
    """NaN is unequal to itself, so what would be written down decides."""
    return left is right or left == right or left.to_json() == right.to_json()


def _identity(source: Source) -> tuple[str, str]:
    return source.kind, str(source.path.absolute())


def _distinct(sources: Iterable[Source]) -> list[Source]:
    return list({_identity(source): source for source in reversed(list(sources))}.values())[::-1]


def _shared(states: Iterable[_SourceState]) -> list[str]:
    counts = Counter(record_id for state in states for record_id in state.records)
    return [record_id for record_id, count in counts.items() if count > 1]
