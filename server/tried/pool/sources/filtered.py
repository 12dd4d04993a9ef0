"""What settings say of one source: which of its runs count, what research line they belong to, what names a parent.

Invariant: what no longer passes is taken back, as if the source had removed it: a filter never leaves half a state.
Invariant: amendments pass always; they are about records of other sources, too.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tried.pool.record import ExperimentRecord, parse_time
from tried.pool.sources.source import Delta, Source, checked, touched

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Rules:
    """Which records of a source count, and what is set in them. Globs after a `!` rule out; empty rules let all pass.

    `statuses` are outcomes; a record without one passes only where there are none. `parent_key` names a parameter or a
    tag `KEY=ID`, whose value is the id of a run in the tracker or in the pool.
    """

    research_line: str | None = None
    experiments: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    max_age_days: float | None = None
    parent_key: str | None = None

    def passes(self, record: ExperimentRecord) -> bool:
        """All but the age."""
        if self.experiments and not _fits(self.experiments, [record.experiment or ""]):
            return False
        if self.tags and not _fits(self.tags, record.tags):
            return False
        return not self.statuses or (record.outcome or "").strip().lower() in self.statuses

    def applied(self, record: ExperimentRecord) -> ExperimentRecord:
        """With the research line that is set, and the parent that the record names."""
        update: dict[str, Any] = {}
        if self.research_line is not None and record.research_line != self.research_line:
            update["research_line"] = self.research_line
        if self.parent_key is not None and not record.parent and (parent := _named(self.parent_key, record)):
            update["parent"] = parent
        return record.model_copy(update=update) if update else record


@dataclass(frozen=True, slots=True)
class FilteredCursor:
    """That of the source inside; `times`: when each record was last alive, if they age; `oldest` of them."""

    inner: object
    times: Mapping[str, datetime]
    oldest: datetime | None = None


@dataclass(frozen=True)
class FilteredSource:
    """A source as settings want it."""

    inner: Source
    rules: Rules
    clock: Clock = utc_now

    @property
    def kind(self) -> str:
        return self.inner.kind

    @property
    def path(self) -> Path:
        return self.inner.path

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, FilteredCursor) else FilteredCursor(None, {})
        delta = checked(self.inner.scan(known.inner))
        if self.rules.max_age_days is None:
            cursor_now = FilteredCursor(delta.cursor, {})
            if not delta.upserts:
                return replace(delta, cursor=cursor_now)
            passing, failing = self._parted(delta.upserts)
            return replace(delta, upserts=passing, removed=(*delta.removed, *failing), cursor=cursor_now)
        return self._aged(delta, known, self.clock() - timedelta(days=self.rules.max_age_days))

    def touched(self, cursor: object, paths: Collection[Path]) -> object:
        if not isinstance(cursor, FilteredCursor):
            return cursor
        return replace(cursor, inner=touched(self.inner, cursor.inner, paths))

    def line_of(self, record_id: str) -> int | None:
        return self.inner.line_of(record_id)

    def _parted(self, records: Iterable[ExperimentRecord]) -> tuple[tuple[ExperimentRecord, ...], tuple[str, ...]]:
        """(those that pass, with what is set in them; ids of those that do not); of an id the last record decides."""
        passing: dict[object, ExperimentRecord] = {}
        failing: dict[str, None] = {}
        for number, record in enumerate(records):
            if record.kind == "amendment":
                passing[number] = record
            elif self.rules.passes(record):
                passing[record.id] = self.rules.applied(record)
                failing.pop(record.id, None)
            else:
                passing.pop(record.id, None)
                failing[record.id] = None
        return tuple(passing.values()), tuple(failing)

    def _aged(self, delta: Delta, known: FilteredCursor, limit: datetime) -> Delta:
        passing, failing = self._parted(delta.upserts)
        removed = [*delta.removed, *failing]
        times = known.times
        if delta.reset or removed or passing:
            changed = {} if delta.reset else dict(times)
            for record_id in removed:
                changed.pop(record_id, None)
            for record in passing:
                if record.kind != "amendment" and (alive := _last_alive(record)) is not None:
                    changed[record.id] = alive
            times = changed
        elif known.oldest is None or known.oldest >= limit:
            return replace(delta, cursor=replace(known, inner=delta.cursor))
        too_old = {record_id for record_id, alive in times.items() if alive < limit}
        if too_old:
            times = {record_id: alive for record_id, alive in times.items() if record_id not in too_old}
            passing = tuple(record for record in passing if record.kind == "amendment" or record.id not in too_old)
            removed += sorted(too_old)
        cursor = FilteredCursor(delta.cursor, times, min(times.values(), default=None))
        return replace(delta, upserts=passing, removed=tuple(dict.fromkeys(removed)), cursor=cursor)


def filtered(source: Source, rules: Rules, clock: Clock = utc_now) -> Source:
    """The source itself where there are no rules."""
    return source if rules == Rules() else FilteredSource(source, rules, clock)


def _fits(globs: Sequence[str], texts: Sequence[str]) -> bool:
    """Some text fits one of the globs, if any of them is without `!`, and none one after a `!`."""
    wanted = [glob for glob in globs if not glob.startswith("!")]
    unwanted = [glob[1:] for glob in globs if glob.startswith("!")]
    if any(fnmatch.fnmatchcase(text, glob) for text in texts for glob in unwanted):
        return False
    return not wanted or any(fnmatch.fnmatchcase(text, glob) for text in texts for glob in wanted)


def _named(key: str, record: ExperimentRecord) -> str | None:
    """The id that a parameter or a tag `KEY=ID` states; with the tracker's prefix where it has none of its own."""
    stated = record.params.get(key)
    if stated is None:
        stated = next((tag[len(key) + 1 :] for tag in record.tags if tag.startswith(f"{key}=")), None)
    if not isinstance(stated, str | int) or isinstance(stated, bool) or not str(stated).strip():
        return None
    parent = str(stated).strip()
    prefix = f"{record.source}:" if record.source and record.id.startswith(f"{record.source}:") else ""
    parent = parent if ":" in parent else prefix + parent
    return parent if parent != record.id else None


def _last_alive(record: ExperimentRecord) -> datetime | None:
    """When it was last written, else when it was started; a record without any time does not age."""
    written = parse_time(record.last_written)
    if written is not None and record.time is not None:
        return max(written, record.time)
    return written or record.time
