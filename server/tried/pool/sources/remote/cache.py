"""What was fetched from a server, kept on disk so that it is there offline and after a restart.

A file of lines (JSON): a header, then a line for each run each time that it was new or had changed, and for each run
that is gone. Beside it stands a small file that says how far fetching has come.

Invariant: the files can be read by their owner alone and hold no credentials.
Invariant: lines are only appended, under a lock; a file with much that is out of date is replaced by a new one.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from tried.storage.files import StorageError, locked, reason_of

FORMAT: Final = 1
LINE_LIMIT: Final = 64 * 1024 * 1024
COMPACT_FROM: Final = 1_000
"""Lines that are out of date, and more of them than others: then the file is written anew."""

SIZE_LIMIT: Final = 2 * 1024**3
"""Bytes of the file: no server that is in its right mind has more."""

_HEADER_LIMIT: Final = 200
LOCK_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class CachedRun:
    """`run` is None for one that is gone."""

    run_id: str
    run: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class CacheState:
    """`made` names the file: another one is to be read from the start."""

    made: str
    size: int


class RemoteCache:
    """Runs of one server; `path` is the file of lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digests: dict[str, bytes] = {}
        self._read_to = 0
        self._made: str | None = None
        self._lines = 0

    @property
    def known(self) -> frozenset[str]:
        """The runs that are there, as far as `catch_up` has read."""
        return frozenset(self._digests)

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Hold the cache against other processes. False if one of them has it, and so fetches. Raises StorageError."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise StorageError(f"{self.path.parent}: the folder cannot be made: {reason_of(error)}") from error
        entered = False
        try:
            with locked(self.path, LOCK_SECONDS):
                entered = True
                yield True
        except StorageError as error:
            if entered or "another process" not in str(error):
                raise
            yield False

    def catch_up(self) -> None:
        """Learn what is there; only while the cache is held. Mends a torn end and makes the file if there is none."""
        state = state_of(self.path)
        if state is None or state.size == 0:
            _create(self.path)
            state = state_of(self.path)
        if state is None:
            raise StorageError(f"{self.path}: cannot be made")
        if state.made != self._made:
            self._digests, self._read_to, self._lines, self._made = {}, 0, 0, state.made
        try:
            with self.path.open("rb") as file:
                for line, end in lines_from(file, self._read_to):
                    self._read_to = end
                    self._lines += 1
                    if (cached := parse(line)) is not None:
                        self._learn(cached.run_id, None if cached.run is None else _digest(line))
            if self._read_to == 0:  # not even a header
                _create(self.path)
                self._made = None
                return self.catch_up()
            if self._read_to < state.size:
                os.truncate(self.path, self._read_to)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be read: {reason_of(error)}") from error
        if self._lines - len(self._digests) > max(COMPACT_FROM, len(self._digests)):
            self._compact()
        return None

    def add(self, runs: Mapping[str, Mapping[str, Any] | None]) -> int:
        """Append those that are new, changed or gone (None); how many they are."""
        parts: list[bytes] = []
        for run_id, run in runs.items():
            if run is None:
                if run_id in self._digests:
                    parts.append(_line({"id": run_id, "gone": True}))
                    self._learn(run_id, None)
                continue
            line = _line({"id": run_id, "run": run})
            digest = _digest(line)
            if self._digests.get(run_id) != digest:
                parts.append(line)
                self._learn(run_id, digest)
        if parts:
            self._append(b"".join(part + b"\n" for part in parts))
            self._lines += len(parts)
        return len(parts)

    def progress(self) -> dict[str, Any]:
        """How far fetching has come, as it was kept; empty if nobody knows, or it belongs to another file."""
        try:
            found = json.loads(self._progress_path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) and found.get("made") == self._made else {}

    def keep_progress(self, progress: Mapping[str, Any]) -> None:
        _write_private(self._progress_path, _line({**progress, "made": self._made}))

    @property
    def _progress_path(self) -> Path:
        return self.path.with_suffix(".progress.json")

    def _learn(self, run_id: str, digest: bytes | None) -> None:
        if digest is None:
            self._digests.pop(run_id, None)
        else:
            self._digests[run_id] = digest

    def _append(self, data: bytes) -> None:
        if self._read_to + len(data) > SIZE_LIMIT:
            raise StorageError(f"{self.path}: has grown to {SIZE_LIMIT // 1024**3} GiB; fetch fewer projects")
        try:
            with self.path.open("ab") as file:
                file.write(data)
                file.flush()
                self._read_to = file.tell()
        except OSError as error:
            self._made = None  # read it again before anything else
            raise StorageError(f"{self.path}: nothing was kept: {reason_of(error)}") from error

    def _compact(self) -> None:
        progress = self.progress()
        last: dict[str, tuple[int, int]] = {}
        with self.path.open("rb") as file:
            start = 0
            for line, end in lines_from(file, 0):
                cached = parse(line)
                if cached is not None:
                    last.pop(cached.run_id, None)
                    if cached.run is not None:
                        last[cached.run_id] = (start, end)
                start = end
            parts = [_header()]
            for begin, end in last.values():
                file.seek(begin)
                parts.append(file.read(end - begin))
        _write_private(self.path, b"".join(parts))
        state = state_of(self.path)
        self._made = state.made if state is not None else None
        self._read_to = state.size if state is not None else 0
        self._lines = len(last) + 1
        self.keep_progress({key: value for key, value in progress.items() if key != "made"})


def cache_path(folder: Path, kind: str, server: str, projects: tuple[str, ...]) -> Path:
    """The file for a server and what is fetched of it."""
    name = hashlib.sha256("\0".join((kind, server, *sorted(projects))).encode()).hexdigest()[:24]
    return folder / f"{kind}-{name}.jsonl"


def state_of(path: Path) -> CacheState | None:
    """None where there is no such file. Inodes are used again, so the file says itself which one it is."""
    try:
        with path.open("rb") as file:
            return CacheState(file.readline(_HEADER_LIMIT).decode("utf-8", "replace"), file.seek(0, os.SEEK_END))
    except (OSError, ValueError):
        return None


def lines_from(file: BinaryIO, offset: int) -> Iterator[tuple[bytes, int]]:
    """(whole line without its end, where the next one begins); what is not whole yet is left."""
    file.seek(offset)
    while line := file.readline(LINE_LIMIT):
        offset += len(line)
        if line.endswith(b"\n"):
            yield line[:-1], offset


def parse(line: bytes) -> CachedRun | None:
    """None for a header and for what is no line of ours."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(run_id := found.get("id"), str) or not run_id:
        return None
    run = found.get("run")
    return CachedRun(run_id, run if isinstance(run, dict) else None)


def _line(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True).encode()


def _digest(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=12).digest()


def _header() -> bytes:
    return _line({"format": FORMAT, "made": secrets.token_hex(8)}) + b"\n"


def _create(path: Path) -> None:
    _write_private(path, _header())


def _write_private(path: Path, data: bytes) -> None:
    """In one step, for the owner alone. Raises StorageError."""
    name = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            name.replace(path)
        except BaseException:
            name.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise StorageError(f"{path}: cannot be written: {reason_of(error)}") from error
