"""Finding a trace among those of a file or folder: by its number, by its id, or the last one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tried.cli.failure import Failure
from tried.evaluation.trace import Trace
from tried.render.trace_reports import TornTrace, TraceError, object_of, trace_of_object
from tried.render.words import counted
from tried.storage.files import reason_of
from tried.storage.paths import exists
from tried.storage.traces import LINE_LIMIT, Line, lines_of, trace_files, traces_folder

_MOST_TOLD: Final = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that is whole; `number` counts such lines from 1 through all files, `data` is not checked yet."""

    number: int
    line: Line
    data: Any
    problem: str | None = None

    @property
    def id(self) -> str | None:
        named = self.data.get("id") if isinstance(self.data, dict) else None
        return named if isinstance(named, str) else None

    @property
    def place(self) -> str:
        return f"{self.line.path}: line {self.line.number}"

    def trace(self) -> tuple[str, Trace]:
        """(id, trace). Raises TraceError."""
        if self.problem is not None:
            raise TraceError(self.problem)
        return trace_of_object(self.data)


@dataclass(eq=False)
class TraceFiles:
    """`path` is a file or a folder. `torn` says of each line that was passed over where it stands and what is wrong."""

    path: Path
    torn: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Entry]:
        """In the order in which they were written. Raises Failure for what cannot be read."""
        self.torn.clear()
        number = 0
        try:
            for file in trace_files(self.path):
                for line in self._lines(file):
                    entry = self._entry(number + 1, line)
                    if entry is not None:
                        number += 1
                        yield entry
        except OSError as error:
            raise Failure(f"{self.path}: cannot be read: {reason_of(error)}") from error

    def _lines(self, file: Path) -> Iterator[Line]:
        try:
            yield from lines_of(file)
        except FileNotFoundError:
            if file == self.path:  # else another process has made room meanwhile
                raise

    def _entry(self, number: int, line: Line) -> Entry | None:
        if line.data is None:
            return Entry(number, line, None, f"the line is longer than {LINE_LIMIT // 1024**2} MB")
        try:
            return Entry(number, line, object_of(line.data))
        except TornTrace as error:
            self.torn.append(f"{line.path}: line {line.number}: {error}")
            return None
        except TraceError as error:
            return Entry(number, line, None, str(error))

    def notes(self) -> Iterator[str]:
        """What was passed over, a line each."""
        yield from (f"{torn}; passed over" for torn in self.torn[:_MOST_TOLD])
        if len(self.torn) > _MOST_TOLD:
            yield f"and {len(self.torn) - _MOST_TOLD:,} more such lines"

    def find(self, number: int | None, trace_id: str | None) -> tuple[Entry, int]:
        """(the trace that was asked for, how many there are): of that number, of that id or its beginning, or the last.

        Raises Failure if there is none, or if an id begins several.
        """
        found: list[Entry] = []
        count = 0
        for entry in self:
            count = entry.number
            if number is not None:
                wanted = entry.number == number
            elif trace_id is not None:
                wanted = (entry.id or "").startswith(trace_id)
            else:
                wanted, found = True, []
            if wanted:
                found.append(entry)
        if not count:
            raise Failure(f"{self.path}: there is no trace in it{'; see above' if self.torn else ''}")
        if not found:
            asked = f"--number {number}" if number is not None else f"--id {trace_id}"
            raise Failure(f"{asked}: {self.path} has {counted(count, 'trace')}; --list shows them")
        if len({entry.id for entry in found}) > 1:
            raise Failure(f"--id {trace_id}: {counted(len(found), 'trace')} begin so; give more of it, or --number")
        return found[-1], count


def traces_at(path: Path | None) -> TraceFiles:
    """Of a path that was given, or those in the user's state folder. Raises Failure if there is nothing."""
    if path is not None:
        if not exists(path):
            raise Failure(
                f"{path}: there is no such file or folder; `tried replay --list` shows the traces that are kept"
            )
        return TraceFiles(path)
    folder = traces_folder()
    if folder is None or not exists(folder):
        raise Failure(
            "no trace is kept: turn them on ([trace] enabled = true in tried.toml), or write one by"
            " `tried rank … --trace FILE`"
        )
    return TraceFiles(folder)
