"""Traces of rankings in the user's state folder: files of lines, of which the oldest go when there are too many.

The files are numbered, `trace-00000001.jsonl` and so on; the last one is written to until it has its share of what the
folder may hold, then the next is begun. What a line says is not this room's business.

Invariant: the files never hold more than they may. A trace that would not fit even alone is refused, and nothing is
deleted for it.
Invariant: beside a file of the user's own nothing is left, no lock either.
Invariant: one process at a time writes, and a line is there as a whole or not at all, but for a process that is killed
or a disk that dies in the middle of it: what it left is closed by the next line, so that only its own line is torn.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tried.storage.files import StorageError, append_under_lock, locked, reason_of
from tried.storage.paths import is_folder, open_plain
from tried.storage.user_folders import state_folder

FILES: Final = 8
"""The folder's files are about so many: each gets this part of what all may hold."""

LINE_LIMIT: Final = 512 * 1024**2
"""Bytes of a line up to which it is read."""

LOCK_SECONDS: Final = 1.0
"""So long a person who has their answer waits, at most, for another process that writes."""

MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
_NAME: Final = re.compile(r"trace-(\d{8,})\.jsonl\Z")
_FIRST_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file of traces, its number counted from 1. `data` is None where it is longer than LINE_LIMIT."""

    path: Path
    number: int
    data: bytes | None


def traces_folder() -> Path | None:
    """None without a home."""
    folder = state_folder()
    return folder / "traces" if folder is not None else None


def keep_trace(line: bytes, most_bytes: int, folder: Path | None = None) -> Path:
    """Append a trace (a line without its end) to those in the user's state folder, or in `folder`; the file it went to.

    `most_bytes` is what all files may hold together; the oldest make room. Raises StorageError; nothing was kept then.
    """
    folder = folder or traces_folder()
    if folder is None:
        raise StorageError("there is no home folder to keep traces in: set HOME or XDG_STATE_HOME")
    size = len(line) + 2  # its line end, and one to close a torn line before it
    if size > most_bytes:
        raise StorageError(
            f"a trace of {_megabytes(size)} is more than all traces may take ({_megabytes(most_bytes)});"
            " raise trace.max_mb, or lower trace.candidates"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
    except OSError as error:
        raise StorageError(f"{folder}: the folder cannot be made: {reason_of(error)}") from error
    with locked(folder, LOCK_SECONDS, folder / ".traces.lock"):
        files = _make_room(folder, most_bytes - size)
        path, number, held = files[-1] if files else (None, 0, 0)
        if path is None or held + size > max(most_bytes // FILES, size):
            path = _next(folder, number)
        append_under_lock(path, (line,), MODE)
    return path


def write_trace(line: bytes, path: Path, beginning: bytes) -> None:
    """Append a trace to a file that somebody named, made if need be, in a folder that is there.

    A file that holds something else, so does not begin like a trace (with `beginning`), is left alone. Raises
    StorageError. Its lock is in the user's state folder; where none can be kept there, it is written to without.
    """
    if is_folder(path):
        raise StorageError(f"{path}: nothing was written: it is a folder; name a file")
    if not is_folder(path.parent):
        raise StorageError(f"{path}: nothing was written: there is no folder {path.parent}")
    _refuse_others(path, beginning)
    with _own_lock(path):
        _refuse_others(path, beginning)  # somebody may have written it in the meantime
        append_under_lock(path, (line,), MODE)


def _refuse_others(path: Path, beginning: bytes) -> None:
    try:
        with open_plain(path) as file:
            begins = file.read(max(_FIRST_BYTES, len(beginning)))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"{path}: nothing was written: {reason_of(error)}") from error
    if not (begins.startswith(beginning) or beginning.startswith(begins)):
        raise StorageError(f"{path}: nothing was written: it holds something else than traces; name another file")


def _own_lock(path: Path) -> AbstractContextManager[None]:
    folder = state_folder()
    if folder is None:
        return nullcontext()
    locks = folder / "locks"
    try:
        locks.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        whole = os.fsencode(path.resolve())
    except (OSError, RuntimeError):  # a loop of links
        return nullcontext()
    if not os.access(locks, os.W_OK):
        return nullcontext()
    return locked(path, LOCK_SECONDS, locks / f"trace-{hashlib.sha256(whole).hexdigest()[:16]}.lock")


def trace_files(path: Path) -> list[Path]:
    """The file itself; of a folder the numbered files, the oldest first, or where there is none, *.jsonl by name.
    Raises OSError."""
    if not is_folder(path):
        return [path]
    return [file for file, _, _ in _files(path)] or sorted(path.glob("*.jsonl"))


def lines_of(path: Path) -> Iterator[Line]:
    """The lines of a file without their ends; empty ones are passed over. Raises OSError."""
    with open_plain(path) as file:
        number = 0
        while data := file.readline(LINE_LIMIT + 1):
            number += 1
            is_long = len(data) > LINE_LIMIT and not data.endswith(b"\n")
            while is_long and data and not data.endswith(b"\n"):
                data = file.readline(LINE_LIMIT)
            if is_long:
                yield Line(path, number, None)
            elif line := data.strip(b"\r\n"):
                yield Line(path, number, line)


def _make_room(folder: Path, most_bytes: int) -> list[tuple[Path, int, int]]:
    """Removes the oldest files until the others hold no more than this; those that stay, with number and size."""
    try:
        files = _files(folder)
        held = sum(size for _, _, size in files)
        while files and held > most_bytes:
            path, _, size = files.pop(0)
            path.unlink(missing_ok=True)
            held -= size
            if not files:
                return []
    except OSError as error:
        raise StorageError(f"{folder}: nothing was written: {reason_of(error)}") from error
    return files


def _next(folder: Path, number: int) -> Path:
    """A name that nothing has, no folder or link either."""
    while True:
        number += 1
        path = folder / f"trace-{number:08}.jsonl"
        if not os.path.lexists(path):
            return path


def _files(folder: Path) -> list[tuple[Path, int, int]]:
    """(path, number, size) of each file, in the order of their numbers."""
    found: list[tuple[Path, int, int]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.match(entry.name)
            if match and entry.is_file(follow_symlinks=False):
                try:
                    size = entry.stat(follow_symlinks=False).st_size
                except FileNotFoundError:  # somebody else made room
                    continue
                found.append((Path(entry.path), int(match[1]), size))
    return sorted(found, key=lambda each: each[1])


def _megabytes(size: int) -> str:
    return f"{size / 1024**2:.3g} MB"
