"""All records of all sources of a workspace folder, as snapshots that never change.

A refresh asks each source for what is new, batch by batch, makes the records of what that touches (`assembly`), and
hands the same small delta to the parameter history and to the ranking index: nothing is loaded twice. Records
themselves lie in a spool; what is in memory of each are a few columns.

Invariant: a snapshot is immutable; as long as nothing changes, `refresh` returns the very same one.
Invariant: one run in several sources is one record; each source counts it.
"""

from __future__ import annotations

import gc
import math
import threading
import time
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tried.pool.assembly import CHUNK, Assembly
from tried.pool.collector import collector_paused
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.outcome import Directions
from tried.pool.record_facts import Coverage, RecordFacts, Totals
from tried.pool.snapshot import PoolSnapshot, SourceReport, SpooledRecords
from tried.pool.source_state import SourceState
from tried.pool.sources.source import Skipped, Source
from tried.pool.spool import Spool, length_at
from tried.ranking.index import RankingIndex

__all__ = ["Coverage", "Pool", "PoolSnapshot", "Progress", "Published", "RecordFacts", "SourceReport", "Totals"]

Progress = Callable[[int, int, str], None]
"""(done, total, what is being done now)"""

Published = Callable[[PoolSnapshot], None]
"""Told of a snapshot that has a part of what is being read, from the thread that reads."""

PUBLISH_SECONDS: Final = 1.0
"""`Published` is called at most so often."""

COMPACT_FROM: Final = 64 * 1024 * 1024
"""Bytes of a spool from which on it is looked whether most of it is out of date."""

FREEZE_FROM: Final = 10_000
"""New records in one refresh from which on they are kept out of the garbage collector's sight."""

EMPTY_BATCHES: Final = 100
"""After so many batches in a row with nothing in them a source has its turn again with the next refresh."""


class Pool:
    """The only owner of what sources have said. All methods may be called from any thread.

    `spool_folder` is where records are kept while the process lives; by default the user's cache folder.
    """

    def __init__(
        self, sources: Iterable[Source] = (), directions: Directions | None = None, spool_folder: Path | None = None
    ) -> None:
        self._lock: Final = threading.Lock()
        self._directions = directions
        self._states: list[SourceState] = []
        self._assembly = Assembly(directions, Spool(spool_folder))
        self._unfolded = self._amended = self._reordered = False
        self._compact_at = COMPACT_FROM
        self._published_at = -math.inf
        self._snapshot = PoolSnapshot(
            history=ParameterHistory.empty(directions), index=RankingIndex.empty(directions), directions=directions
        )
        self.use(sources)

    @property
    def snapshot(self) -> PoolSnapshot:
        """The pool as of the last refresh, or as far as the present one has come; empty before the first."""
        return self._snapshot

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(state.source for state in self._states)

    def use(self, sources: Iterable[Source]) -> None:
        """Read these sources from the next refresh on; those that stay keep what they have said."""
        with self._lock:
            wanted = _distinct(sources)
            known = {_identity(state.source): state for state in self._states}
            if list(known) == [_identity(source) for source in wanted]:
                return
            runs = self._assembly.runs
            states: list[SourceState] = []
            for rank, source in enumerate(wanted):
                state = known.pop(_identity(source)) if _identity(source) in known else SourceState(source)
                state.rank = rank
                states.append(state)
            for state in known.values():
                state.leave(runs)
            runs.touch_merged()
            self._states = states
            self._unfolded = self._amended = self._reordered = True

    def refresh(
        self, progress: Progress | None = None, now: datetime | None = None, published: Published | None = None
    ) -> PoolSnapshot:
        """Ask all sources for what is new; the same snapshot if there is nothing.

        With `now`, runs that are said to be running and that were not written to for two days have stopped. A large
        source comes in batches: `snapshot` grows while it is being read, and `published` is told.
        """
        tell = progress or _tell_nobody
        with self._lock, collector_paused():
            known = len(self._assembly.entries)
            total = len(self._states) + 1
            for number, state in enumerate(self._states):
                self._read(state, partial(tell, number, total), now, published)
            if self._unfolded:
                tell(total - 1, total, "indexing what is new")
            self._advance(now)
            self._compact()
            if len(self._assembly.entries) - known >= FREEZE_FROM:
                # They stay, so the collector need not look at them, which would hold up all threads at each look.
                gc.freeze()
            tell(total, total, "ready")
            return self._snapshot

    def place_of(self, record_id: str) -> tuple[Path, int] | None:
        """(file, line from 1) of a record or alias; None if no source knows. Reads the file."""
        name = self._snapshot.aliases.get(record_id, record_id)
        try:
            statements = self._assembly.runs.statements_of(name)
        except RuntimeError:  # it is just being changed by a refresh, for which nobody is to wait
            return None
        for statement in statements:
            assert isinstance(statement.source, SourceState)
            if (line := statement.source.line_of(statement.id)) is not None:
                return statement.source.source.path, line
        return None

    def _read(
        self, state: SourceState, tell: Callable[[str], None], now: datetime | None, published: Published | None
    ) -> None:
        """All that a source has to say at present, batch by batch."""
        assembly = self._assembly
        tell(f"reading {state.source.path.name}")
        empty = 0
        while True:
            # Kept where it outlives a `progress` that raises: a source says what is new only once.
            taken = state.take(assembly.runs, assembly.spool, assembly.fresh)
            self._unfolded |= taken.is_news
            self._amended |= taken.amended
            self._reordered |= taken.reordered
            empty = empty + 1 if taken.is_empty else 0
            if not taken.more or empty > EMPTY_BATCHES:
                return
            read, expected = len(state.statements), state.expected
            tell(f"reading {state.source.path.name}: {read:,}{f' of {expected:,}' if expected else ''} runs")
            if any(each.is_read_anew for each in self._states):
                if len(assembly.fresh) > CHUNK:
                    assembly.fresh.clear()
            elif len(assembly.fresh) >= CHUNK or time.monotonic() - self._published_at > PUBLISH_SECONDS:
                self._advance(now)
                if published is not None and time.monotonic() - self._published_at > PUBLISH_SECONDS:
                    published(self._snapshot)
                    self._published_at = time.monotonic()

    def _advance(self, now: datetime | None) -> None:
        old = self._snapshot
        assembly = self._assembly
        before = assembly.published
        history, index = old.history, old.index
        for step in assembly.steps(self._states, now, amended=self._amended, reordered=self._reordered):
            records = SpooledRecords(step.entries, assembly.spool)
            if step.removed or step.upserts:
                history = history.updated(step.removed, step.upserts, records, assembly.runs.order_of)
                index = index.updated(step.removed, step.upserts, records)
            history = history.placed(step.moved, assembly.runs.order_of)
        changed = history is not old.history
        self._unfolded = self._amended = self._reordered = False
        waiting = assembly.amendments.waiting
        reports = tuple(state.report(waiting.get(state.rank, ())) for state in self._states)
        problem = assembly.spool.problem
        notes = (_kept_in_memory(problem),) if problem else ()
        entries = step.entries
        is_same = not changed and reports == old.sources and notes == old.notes
        if is_same and (entries is before or list(entries) == list(old.records)):
            return
        lines = assembly.tally.lines
        self._snapshot = PoolSnapshot(
            generation=old.generation + 1,
            records=SpooledRecords(entries, assembly.spool),
            aliases=assembly.aliases,
            sources=reports,
            history=history,
            index=index,
            directions=self._directions,
            children=assembly.children,
            research_lines=MappingProxyType({line: lines[line] for line in sorted(filter(None, lines))}),
            totals=assembly.tally.totals,
            notes=notes,
        )

    def _compact(self) -> None:
        """Leaves out of the spool what no record says any more, once that is most of it."""
        assembly = self._assembly
        if assembly.spool.size < self._compact_at:
            return
        places = [place for state in self._states for place in state.places()]
        places += [entry.place for entry in assembly.entries.values()]
        living = sum(map(length_at, dict.fromkeys(places)))
        self._compact_at = max(COMPACT_FROM, 3 * living)
        if assembly.spool.size < self._compact_at:
            return
        spool, moved = assembly.spool.compacted(places)
        for state in self._states:
            state.move(moved)
        assembly.move(spool, moved)
        self._unfolded = self._reordered = True


def _tell_nobody(done: int, total: int, message: str) -> None:
    pass


def _kept_in_memory(problem: str) -> Skipped:
    return Skipped(
        "the cache folder", f"cannot be written, so records are kept in memory, which takes more of it: {problem}"
    )


def _identity(source: Source) -> tuple[str, str]:
    return source.kind, str(source.path.absolute())


def _distinct(sources: Iterable[Source]) -> list[Source]:
    return list({_identity(source): source for source in reversed(list(sources))}.values())[::-1]
