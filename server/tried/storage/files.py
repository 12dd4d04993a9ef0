"""Files that are ours: appended and replaced so that no process, reader or crash sees half of a change.

Invariant: an append is one write of whole lines under a lock; if it cannot be finished it is undone.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from tried.storage.paths import exists

LOCK_SECONDS: Final = 10.0


class StorageError(Exception):
    """What could not be written, why, and what to do; the message is meant for the user."""


@contextmanager
def locked(path: Path, seconds: float = LOCK_SECONDS, lock_file: Path | None = None) -> Iterator[None]:
    """Hold the lock of a file (`lock_file`; `.NAME.lock` beside it) against other processes.

    Raises StorageError if somebody else holds it longer than `seconds`, or if the folder cannot be written.
    """
    lock = FileLock(lock_file or path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        raise StorageError(
            f"{path}: another process has held the lock {lock.lock_file} for {seconds:g} s; try again when it is done"
        ) from None
    except OSError as error:
        raise StorageError(f"{path}: cannot be locked: {reason_of(error)}") from error
    except NotImplementedError as error:
        raise StorageError(f"{path}: cannot be locked: its file system has no locks") from error
    try:
        yield
    finally:
        lock.release()


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Append lines (without their line ends) to a file, created with its folder if need be, and sync it to the disk.

    All of them go in at one write, or none does. A last line that an interrupted writer left without a line end is
    closed first, so the two never merge. Raises StorageError; the file is then as it was.
    """
    added = _whole(lines)
    if not added:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{path.parent}: the folder cannot be made: {reason_of(error)}") from error
    with locked(path):
        append_under_lock(path, added)


def append_under_lock(path: Path, lines: Iterable[bytes], mode: int = 0o666) -> None:
    """The same in a folder that is there, for a caller that holds a lock already; a new file gets this mode."""
    added = _whole(lines)
    try:
        is_new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), mode)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "it is a pipe, a socket or a device, not a file")
            _append(descriptor, b"\n".join(added))
        finally:
            os.close(descriptor)
        if is_new:
            _sync_folder(path.parent)
    except OSError as error:
        raise StorageError(f"{path}: nothing was written: {reason_of(error)}") from error


def _whole(lines: Iterable[bytes]) -> tuple[bytes, ...]:
    added = tuple(lines)
    if any(b"\n" in line for line in added):
        raise ValueError("a line cannot contain a line end")
    return added


def _append(descriptor: int, lines: bytes) -> None:
    size = os.fstat(descriptor).st_size
    torn = False
    if size:
        os.lseek(descriptor, size - 1, os.SEEK_SET)
        torn = os.read(descriptor, 1) != b"\n"
    data = (b"\n" if torn else b"") + lines + b"\n"
    try:
        written = os.write(descriptor, data)
        if written != len(data):
            raise OSError(f"only {written} of {len(data)} bytes fitted; is the disk full?")
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def replace_file(path: Path, data: bytes) -> None:
    """Write a file in one step: readers see the old content or the new, never a part. Raises StorageError.

    It keeps its mode; a new one gets the usual one.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        name = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        descriptor = os.open(name, flags, 0o666)
        temporary = name
        with os.fdopen(descriptor, "wb") as file:
            if exists(path):
                temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        temporary = None
        _sync_folder(path.parent)
    except OSError as error:
        raise StorageError(f"{path}: nothing was written: {reason_of(error)}") from error
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def reason_of(error: OSError) -> str:
    """The system's words for what went wrong, without number and path."""
    return (error.strerror or str(error) or type(error).__name__).lower()


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable; where the system cannot (Windows), there is nothing to do."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
