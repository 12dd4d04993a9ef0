"""What the pool knows of each parameter: key → value → the runs that had it, research line by research line.

Invariant: a history is immutable. `updated` shares everything that a delta does not touch, so a snapshot that somebody
holds never changes.
Invariant: it holds columns and no records; after any deltas it is that of the records that are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from tried.pool.history.line_history import LineHistory, LineRuns, PlaceInPool
from tried.pool.history.run import Run
from tried.pool.history.run_row import Flag, RunRow, changes_between, row_of, with_changes
from tried.pool.history.vocabulary import Vocabulary
from tried.pool.outcome import Directions
from tried.pool.record import ExperimentRecord
from tried.pool.record_reader import HeldRecords, RecordReader, reader_after

__all__ = ["LineHistory", "ParameterHistory"]

_RUNNING = "running"


@dataclass(frozen=True, eq=False)
class ParameterHistory:
    """All research lines of a snapshot. `directions` are the declared metric directions that endings rest on.

    `line_of` maps the id of each experiment to its line, `children` the id of a parent to those runs whose changes it
    tells, since their records do not. `running` maps what runs in a search, or a search itself, to the search.
    """

    line_runs: Mapping[str | None, LineRuns] = field(default_factory=dict)
    line_of: Mapping[str, str | None] = field(default_factory=dict)
    children: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    running: Mapping[str, str] = field(default_factory=dict)
    next_order: int = 0
    directions: Directions | None = None
    reader: RecordReader = field(default_factory=HeldRecords)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)

    @classmethod
    def empty(cls, directions: Directions | None = None) -> ParameterHistory:
        return cls(directions=directions)

    @cached_property
    def open_sweeps(self) -> frozenset[str]:
        """The searches that still run, by a member that does or by themselves."""
        return frozenset(self.running.values())

    @cached_property
    def lines(self) -> Mapping[str | None, LineHistory]:
        return {
            name: LineHistory(name, line_runs, self.reader, self.open_sweeps)
            for name, line_runs in self.line_runs.items()
        }

    def run(self, run_id: str | None) -> Run | None:
        if run_id is None or run_id not in self.line_of:
            return None
        return self.lines[self.line_of[run_id]].runs.get(run_id)

    def updated(
        self,
        removed: Iterable[str],
        upserts: Iterable[ExperimentRecord],
        records: RecordReader | None = None,
        order_of: PlaceInPool | None = None,
    ) -> ParameterHistory:
        """The history after a delta.

        `records` reads records of the snapshot to which the history belongs; without one, those handed in are held.
        `order_of` tells where the upserts stand; without it, one of a known id keeps its place, others are the last.
        """
        gone = set(removed)
        handed = list(upserts)
        rows: dict[str, RunRow] = {}
        lines: dict[str, str | None] = {}
        running = dict(self.running)
        children: dict[str, tuple[str, ...]] | None = None
        order = self.next_order
        for record_id in gone:
            running.pop(record_id, None)
        for record in handed:
            running.pop(record.id, None)
            if record.role != "experiment":
                gone.add(record.id)
                if record.role == "sweep" and (record.outcome or "").strip().lower() == _RUNNING:
                    running[record.id] = record.id
                continue
            known = self._order_of(record.id) if order_of is None else order_of(record.id)
            rows[record.id] = row = row_of(record, order if known is None else known, self.vocabulary, self.directions)
            lines[record.id] = record.research_line
            order = max(order, row.order + 1)
            if record.sweep and row.is_running:
                running[record.id] = record.sweep
            if row.flags & Flag.DERIVED and row.origin and record.id not in self.children.get(row.origin, ()):
                children = dict(self.children) if children is None else children
                children[row.origin] = (*children.get(row.origin, ()), record.id)
        gone -= rows.keys()
        now = self.children if children is None else children
        for parent in [*rows, *gone]:
            for child in now.get(parent, ()):
                known_row = None if child in rows or child in gone else self._row(child)
                if known_row is not None and known_row.flags & Flag.DERIVED and known_row.origin == parent:
                    rows[child] = with_changes(known_row, (), self.vocabulary)
                    lines[child] = self.line_of[child]
        for run_id, row in rows.items():
            if row.flags & Flag.DERIVED and row.origin and row.origin not in gone:
                origin = rows.get(row.origin) or self._row(row.origin)
                if origin is not None and lines.get(row.origin, self.line_of.get(row.origin)) == lines[run_id]:
                    rows[run_id] = with_changes(row, changes_between(origin, row), self.vocabulary)
        reader = reader_after(self.reader, records, gone, handed)
        return self._with(gone, rows, lines, running, now, order, reader)

    def placed(self, run_ids: Iterable[str], order_of: PlaceInPool) -> ParameterHistory:
        """With these runs where they stand in the pool now; what is no run of it does not matter."""
        moved = {
            self.line_of[run_id]: None
            for run_id in run_ids
            if run_id in self.line_of and self._order_of(run_id) != order_of(run_id)
        }
        if not moved:
            return self
        line_runs = {**self.line_runs, **{line: self.line_runs[line].placed(order_of) for line in moved}}
        return replace(self, line_runs=line_runs)

    def _with(
        self,
        gone: set[str],
        rows: Mapping[str, RunRow],
        lines: Mapping[str, str | None],
        running: Mapping[str, str],
        children: Mapping[str, tuple[str, ...]],
        order: int,
        reader: RecordReader,
    ) -> ParameterHistory:
        line_of = dict(self.line_of)
        removed: dict[str | None, list[str]] = {}
        added: dict[str | None, list[RunRow]] = {}
        for run_id in gone:
            if run_id in line_of:
                removed.setdefault(line_of.pop(run_id), []).append(run_id)
        for run_id, row in rows.items():
            line = lines[run_id]
            if run_id in line_of and line_of[run_id] != line:
                removed.setdefault(line_of[run_id], []).append(run_id)
            line_of[run_id] = line
            added.setdefault(line, []).append(row)
        remaining = dict(self.line_runs)
        for line in dict.fromkeys([*removed, *added]):
            before = remaining.get(line) or LineRuns.empty(self.vocabulary)
            after = before.updated(removed.get(line, ()), added.get(line, ()))
            if after.is_empty:
                remaining.pop(line, None)
            else:
                remaining[line] = after
        return ParameterHistory(remaining, line_of, children, running, order, self.directions, reader, self.vocabulary)

    def _line_runs(self, run_id: str) -> LineRuns | None:
        return self.line_runs.get(self.line_of[run_id]) if run_id in self.line_of else None

    def _row(self, run_id: str) -> RunRow | None:
        line_runs = self._line_runs(run_id)
        return None if line_runs is None else line_runs.row(run_id)

    def _order_of(self, run_id: str) -> int | None:
        line_runs = self._line_runs(run_id)
        return None if line_runs is None else line_runs.order_of(run_id)
