"""Tables in the manner of autoresearch: `results.tsv`, a row an experiment, with what became of it.

How one is recognised, and what its columns become, is described in docs/results-tables.md. Where a row names a commit
of the repository that the table lies in, that commit says with which parameters it ran and what it came from; see
`table_commits`.

Invariant: an id depends on the row and the table's place in the project, not on the machine, the rows above or below
(but for rows that are alike in both commit and description), or the metrics.
Invariant: a cursor holds a digest for each row, and no record.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import FileState
from tried.pool.sources.source import BATCH, Delta, Skipped, limited
from tried.pool.sources.tables.commits import NOTHING, TableCommits, commits_of
from tried.pool.sources.tables.layout import Layout, layout_of
from tried.pool.sources.tables.rows import KIND as KIND
from tried.pool.sources.tables.rows import PlannedRow, commit_names, planned, record_of_row
from tried.pool.sources.tables.table import Table, read_table
from tried.storage.files import reason_of
from tried.storage.paths import open_plain, shown

SIZE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of a table; a larger one is data, not a log of experiments."""

NOT_A_TABLE: Final = (
    "not a results table: it needs a header and a status column with keep, discard, crash or revert, or an id, a"
    " description and a metric"
)


@dataclass(frozen=True, slots=True)
class TableCursor:
    """`rows`: by id, a digest of all that the record of a row depends on. `pending`: what of the file as it was is
    still to be given out. `unfinished`: commits are still to be looked at."""

    state: FileState | None
    rows: Mapping[str, bytes] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    pending: _Pending | None = None
    unfinished: bool = False


@dataclass(frozen=True, slots=True)
class _Pending:
    rows: Sequence[PlannedRow]
    layout: Layout
    changed: Sequence[int]
    given: int


@dataclass(frozen=True)
class ResultsTableSource:
    """One results table. `project` is the folder that its place is told from, the same on every machine; `state` the
    user's state folder, where what is learnt from commits is kept, if it is another than usual."""

    path: Path
    project: Path | None = None
    kind: str = KIND
    state: Path | None = None

    @property
    def name(self) -> str:
        """The table's place in the project (`phase2/results.tsv`), or its folder and name outside of it."""
        path = self.path.absolute()
        if self.project is not None and path.is_relative_to(self.project.absolute()):
            return shown(path.relative_to(self.project.absolute()).as_posix())
        return shown(f"{path.parent.name}/{path.name}" if path.parent.name else path.name)

    @property
    def research_line(self) -> str:
        return research_line_of(self.path.parent, self.project)

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, TableCursor) else None
        if known is not None and known.pending is not None:
            return self._given(known, known.pending)
        try:
            status = self.path.stat()
            state = FileState.of(status)
            if known is not None and known.state == state and not known.unfinished:
                return Delta(cursor=known)
            if not stat.S_ISREG(status.st_mode):
                return self._failed(
                    "is a folder, not a table" if stat.S_ISDIR(status.st_mode) else "is not a file", known
                )
            if status.st_size > SIZE_LIMIT:
                return self._failed(f"larger than {SIZE_LIMIT // 1024**2} MiB: that is data, not a log", known, state)
            with open_plain(self.path) as file:
                data = file.read(SIZE_LIMIT)
        except FileNotFoundError:
            return self._failed("there is no such file", known)
        except OSError as error:
            return self._failed(f"cannot be read: {reason_of(error)}", known)
        table = read_table(data)
        layout = layout_of(table) if table is not None else None
        if table is None or layout is None:
            return self._failed(NOT_A_TABLE, known, state)
        commits = commits_of(self.path, commit_names(table, layout), self.state)
        return self._delta(table, layout, commits, state, known)

    def line_of(self, record_id: str) -> int | None:
        try:
            with open_plain(self.path) as file:
                table = read_table(file.read(SIZE_LIMIT))
        except OSError:
            return None
        layout = layout_of(table) if table is not None else None
        if table is None or layout is None:
            return None
        rows, _ = planned(table, layout, self.name, NOTHING)
        return next((row.line for row in rows if row.id == record_id), None)

    def _delta(
        self, table: Table, layout: Layout, commits: TableCommits, state: FileState, known: TableCursor | None
    ) -> Delta:
        """Only the rows that are new or other than before; everything where what was skipped is other than before, or
        where a new row does not stand at the end."""
        rows, complaints = planned(table, layout, self.name, commits)
        skipped = limited((*table.skipped, *complaints))
        now = {row.id: row.digest for row in rows}
        anew = known is None or known.skipped != skipped or not _is_appended(now, known.rows)
        before: Mapping[str, bytes] = {} if anew or known is None else known.rows
        changed = [index for index, row in enumerate(rows) if before.get(row.id) != row.digest]
        cursor = TableCursor(state, now, skipped, _Pending(rows, layout, changed, 0), unfinished=not commits.complete)
        delta = self._given(cursor, _Pending(rows, layout, changed, 0))
        return replace(
            delta,
            removed=tuple(record_id for record_id in before if record_id not in now),
            skipped=(*skipped, *delta.skipped) if anew else delta.skipped,
            reset=anew and known is not None,
        )

    def _given(self, cursor: TableCursor, pending: _Pending) -> Delta:
        """The next records, BATCH of them at most."""
        end = pending.given + BATCH
        records: list[ExperimentRecord] = []
        skipped: list[Skipped] = []
        for index in pending.changed[pending.given : end]:
            row = pending.rows[index]
            try:
                records.append(record_of_row(row, pending.rows, pending.layout, self.research_line))
            except Exception as error:
                why = f"could not be read: {type(error).__name__}: {error}"[:200]
                skipped.append(Skipped(f"line {row.line}", why))
        rest = replace(pending, given=end) if end < len(pending.changed) else None
        return Delta(
            upserts=tuple(records),
            skipped=tuple(skipped),
            cursor=replace(cursor, pending=rest),
            more=rest is not None or cursor.unfinished,
            total=len(pending.rows),
        )

    def _failed(self, why: str, known: TableCursor | None, state: FileState | None = None) -> Delta:
        skipped = (Skipped("the file", why),)
        if known is not None and known.skipped == skipped and not known.rows:
            return Delta(cursor=replace(known, state=state))
        return Delta((), (), skipped, TableCursor(state, {}, skipped), reset=known is not None)


def research_line_of(folder: Path, project: Path | None) -> str:
    """The research line of all tables in a folder, and of the scripts beside them: the folder's path in the project,
    or its name where it is the project itself or lies outside."""
    folder = folder.absolute()
    if project is not None and folder.is_relative_to(project.absolute()) and folder != project.absolute():
        return shown(folder.relative_to(project.absolute()).as_posix())
    return shown(folder.name) or "results"


def is_results_table(data: bytes) -> bool:
    """Whether the first bytes of a file are those of a results table. The last, perhaps cut, line is not looked at."""
    table = read_table(data[: data.rfind(b"\n") + 1] or data)
    return table is not None and layout_of(table) is not None


def _is_appended(now: Mapping[str, bytes], known: Mapping[str, bytes]) -> bool:
    stayed = [record_id for record_id in known if record_id in now]
    return all(one == other for one, other in zip(stayed, now, strict=False))
