"""What one source has said so far, as the pool keeps it: places in the spool, and counts.

Invariant: what a source says again, word for word, is no news.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from tried.pool.amendments import Amendment
from tried.pool.merging import Runs, Statement
from tried.pool.record import ExperimentRecord, parse_time
from tried.pool.record_facts import RecordFacts, Tally
from tried.pool.snapshot import SourceReport
from tried.pool.sources.source import REMARKS_LIMIT, Delta, Skipped, Source, checked, limited
from tried.pool.sources.trailers import COMMIT
from tried.pool.spool import Place, Spool

_NEVER: Final = float("-inf")
_LAST: Final = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
"""Beyond it a float is rounded up to a year that there is not."""


class SourceState:
    """One source of a pool. `rank` is its place among the sources, `statements` its records in its order."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.rank = 0
        self.statements: dict[str, Statement] = {}
        self.amendments: list[Amendment] = []
        self.waiting: tuple[Amendment, ...] = ()
        """Those whose record no source has."""
        self._cursor: object | None = None
        self._before: dict[str, Statement] = {}
        """While all is read anew: what was said before and was not said again yet."""
        self._last_number = self._highest_number = -1
        self._skipped: list[Skipped] = []
        self._remarks: list[Skipped] = []
        self._tally = Tally()
        self._merged = 0
        self._newest: float | None = _NEVER
        self._seconds = self._spent = 0.0
        self._total: int | None = None
        self._report: SourceReport | None = None

    def line_of(self, record_id: str) -> int | None:
        """The line of a record in the source's file; None also where the source fails at that."""
        try:
            line = self.source.line_of(record_id)
        except (Exception, SystemExit):
            return None
        return line if isinstance(line, int) else None

    @property
    def is_read_anew(self) -> bool:
        """What it has said is half void: no moment for a snapshot."""
        return bool(self._before)

    @property
    def standing(self) -> Mapping[str, Statement]:
        """What is part of the pool, in the order of the source: while all is read anew, also what was said before."""
        if not self._before:
            return self.statements
        together = {**self._before, **self.statements}
        return dict(sorted(together.items(), key=lambda each: each[1].number))

    @property
    def expected(self) -> int | None:
        """While it is being read, about how many records there will be."""
        return self._total

    def take(self, runs: Runs, spool: Spool, fresh: dict[Place, ExperimentRecord]) -> Taken:
        """Scan once; records that are news go to `runs`, to `spool`, and for a moment to `fresh`."""
        started = time.perf_counter()
        try:
            delta = checked(self.source.scan(self._cursor))
        except (Exception, SystemExit) as error:
            why = Skipped("the source", f"could not be read: {type(error).__name__}: {error}"[:500])
            delta = Delta(skipped=() if why in self._skipped else (why,), cursor=self._cursor)
        self._cursor = delta.cursor
        is_news = not delta.is_empty or self._total is not None or bool(self._before)
        amended = delta.reset and bool(self.amendments)
        if is_news:
            amended |= self._apply(delta, runs, spool, fresh)
        self._spent += time.perf_counter() - started
        if not delta.more:
            if is_news:
                self._seconds = self._spent
            self._spent = 0.0
        return Taken(is_news, delta.is_empty, delta.more, amended, delta.reset)

    def _apply(self, delta: Delta, runs: Runs, spool: Spool, fresh: dict[Place, ExperimentRecord]) -> bool:
        """True if there are new amendments."""
        if delta.reset:
            self._before = {**self._before, **self.statements}
            self.statements, self.amendments, self._skipped, self._remarks = {}, [], [], []
            self._last_number = -1
        for record_id in delta.removed:
            if (statement := self.statements.pop(record_id, None)) is not None:
                self._drop(statement, runs)
        for record in delta.upserts:
            if record.kind == "amendment":
                place, amendment = spool.put(record)
                self.amendments.append(Amendment.of(amendment, place))
            else:
                self._say(record, runs, spool, fresh)
        if not delta.more:
            for statement in self._before.values():
                self._drop(statement, runs)
            self._before = {}
        self._total = delta.total if delta.more else None
        self._skipped.extend(delta.skipped)
        self._remarks.extend(delta.remarks)
        self._report = None
        return any(record.kind == "amendment" for record in delta.upserts)

    def _say(self, record: ExperimentRecord, runs: Runs, spool: Spool, fresh: dict[Place, ExperimentRecord]) -> None:
        known = self.statements.get(record.id)
        if known is None and (known := self._before.pop(record.id, None)) is not None:
            self.statements[record.id] = known
            if known.number < self._last_number:  # it stands in another place now
                known.number = self._new_number()
            self._last_number = known.number
        number = known.number if known is not None else self._new_number()
        place, record = spool.put(record, known.place if known is not None else None)
        if known is not None and known.place == place:
            return
        fresh[place] = record
        statement = Statement(self, record, place, _newest_time(record), number)
        if known is not None and known.keys == statement.keys:
            self._forget_time(known)
            known.place, known.time = place, statement.time
            runs.touch(known.id)
        else:
            if known is not None:
                self._drop(known, runs)
            self.statements[record.id] = statement
            runs.add(statement)
        if self._newest is not None:
            self._newest = max(self._newest, statement.time)

    def _new_number(self) -> int:
        self._last_number = self._highest_number = self._highest_number + 1
        return self._last_number

    def _drop(self, statement: Statement, runs: Runs) -> None:
        runs.remove(statement)
        self._forget_time(statement)
        self.count(statement, None, is_merged=False)

    def leave(self, runs: Runs) -> None:
        """The source is read no more."""
        for statement in self.standing.values():
            self._drop(statement, runs)

    def _forget_time(self, statement: Statement) -> None:
        if self._newest is not None and statement.time >= self._newest:
            self._newest = None

    def count(self, statement: Statement, facts: RecordFacts | None, *, is_merged: bool) -> None:
        """Count a statement as what its run is now; None once it is not to be counted."""
        if statement.facts is not facts:
            if statement.facts is not None:
                self._tally.add(statement.facts, -1)
            if facts is not None:
                self._tally.add(facts)
            statement.facts = facts
            self._report = None
        if statement.is_merged != is_merged:
            self._merged += 1 if is_merged else -1
            statement.is_merged = is_merged
            self._report = None

    def report(self, waiting: tuple[Amendment, ...]) -> SourceReport:
        """The very same as last time if nothing has changed."""
        if self._report is None or waiting != self.waiting:
            self.waiting = waiting
            self._report = SourceReport(
                path=str(self.source.path),
                kind=self.source.kind,
                records=len(self.standing),
                dead_ends=self._tally.dead_ends,
                skipped=limited((*self._skipped, *map(_waits, waiting))),
                coverage=self._tally.coverage,
                research_line=self._tally.research_line,
                amendments=len(self.amendments),
                waiting_amendments=len(waiting),
                remarks=limited(self._remarks, REMARKS_LIMIT),
                merged=self._merged,
                roles=self._tally.other_roles,
                newest=self._newest_moment(),
                seconds=self._seconds,
                total=self._total,
            )
        return self._report

    def move(self, moved: dict[Place, Place]) -> None:
        """Take over the places of a spool that was made smaller."""
        for statement in self.standing.values():
            statement.place = moved[statement.place]
        self.amendments = [replace(each, place=moved[each.place]) for each in self.amendments]

    def places(self) -> Iterator[Place]:
        for statement in self.standing.values():
            yield statement.place
        for amendment in self.amendments:
            yield amendment.place

    def _newest_moment(self) -> datetime | None:
        if self._newest is None:
            self._newest = max((statement.time for statement in self.standing.values()), default=_NEVER)
        return datetime.fromtimestamp(min(self._newest, _LAST), UTC) if self._newest != _NEVER else None


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a scan: whether there is anything to take over, whether the scan itself said nothing, whether there
    is more at once, whether amendments came or went, and whether its records may stand in another order now."""

    is_news: bool
    is_empty: bool
    more: bool
    amended: bool
    reordered: bool


def _newest_time(record: ExperimentRecord) -> float:
    """Seconds since 1970 of the latest time that a record names."""
    times = [moment for moment in (record.time, parse_time(record.last_written)) if moment is not None]
    return max(times).timestamp() if times else _NEVER


def _waits(amendment: Amendment) -> Skipped:
    if amendment.named.startswith(COMMIT):
        why = f"concludes no run: of the pool's none, or several, came from {amendment.named[:19]}"
        return Skipped(f"amendment {amendment.id[:19]}", why)
    named = amendment.id.removeprefix("amendment:")
    return Skipped(f"amendment {named}", f"waits for {amendment.named!r}, which no source of the pool has")
