"""Files in run folders, read with bounds: what is no plain file, too large or broken is refused in words.

Invariant: nothing is waited for, and `Unreadable` is all that is raised.
Invariant: no link is followed, be it a file's or that of a folder below the run folder.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, Final, Literal, TypeVar

from tried.pool.sources.common.yaml_text import UnreadableYaml, load_yaml
from tried.storage.paths import NotPlain, is_link, plain_descriptor

T = TypeVar("T")

FILE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a file that is read whole."""

_BLOCK: Final = 1 << 20


class Unreadable(ValueError):
    """What is wrong with a file, in words for the user. `half`: it may be half written."""

    half = False


class _Half(Unreadable):
    half = True


@dataclass(slots=True)
class FolderReader:
    """A run folder as it is read. `key` is what it is called in words for the user; `broken` holds, by file, why it
    could not be read; `half_written`: when the newest one that may be half written was written, in seconds since 1970.
    """

    folder: Path
    key: str
    broken: dict[str, str] = field(default_factory=dict)
    half_written: float = 0.0

    def read(self, name: str, how: Callable[[Path], T | None]) -> T | None:
        """What `how` makes of a file; None where there is none or it cannot be read."""
        path = self.folder / name
        try:
            if "/" in name and any(is_link(self.folder / above) for above in PurePath(name).parents[:-1]):
                raise Unreadable("lies behind a link and is not read")
            return how(path)
        except Unreadable as error:
            self.broken[f"{self.key}/{name}"] = str(error)
            if error.half:
                self.half_written = max(self.half_written, modified(path) or 0.0)
            return None

    def json(self, name: str, limit: int = FILE_LIMIT) -> Any:
        return self.read(name, lambda path: json_of(path, limit))

    def yaml(self, name: str, limit: int = FILE_LIMIT) -> Any:
        return self.read(name, lambda path: yaml_of(path, limit))

    def text(self, name: str, limit: int = FILE_LIMIT) -> str | None:
        return self.read(name, lambda path: text_of(path, limit))

    def names(self, limit: int = 2_000) -> list[str]:
        """What lies in the folder, sorted; nothing where it cannot be listed."""
        return _listed(self.folder, limit)


def names_in(folder: Path, limit: int = 2_000) -> list[str]:
    """What lies in a folder, sorted; nothing where it cannot be listed, or is a link."""
    return [] if is_link(folder) else _listed(folder, limit)


def _listed(folder: Path, limit: int) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, limit))
    except (OSError, ValueError):
        return []


def modified(path: Path) -> float | None:
    """When a plain file was written, in seconds since 1970; None for anything else."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return None
    return status.st_mtime if stat.S_ISREG(status.st_mode) else None


def moment_of(seconds: float | None) -> datetime | None:
    """A time in seconds since 1970, None where there is no such year."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def bytes_of(path: str | os.PathLike[str], limit: int = FILE_LIMIT) -> bytes | None:
    """All of a file, None where there is none. Raises `Unreadable`."""
    return _read(path, limit, "whole")


def start_of(path: str | os.PathLike[str], limit: int) -> bytes | None:
    """The first `limit` bytes of a file, None where there is none. Raises `Unreadable`."""
    return _read(path, limit, "start")


def end_of(path: str | os.PathLike[str], limit: int) -> bytes | None:
    """The last `limit` bytes of a file, None where there is none. Raises `Unreadable`."""
    return _read(path, limit, "end")


def text_of(path: str | os.PathLike[str], limit: int = FILE_LIMIT) -> str | None:
    """All of a text file, None where there is none; bytes that are no UTF-8 are replaced. Raises `Unreadable`."""
    data = bytes_of(path, limit)
    return None if data is None else data.decode("utf-8-sig", "replace")


def json_of(path: str | os.PathLike[str], limit: int = FILE_LIMIT) -> Any:
    """The data of a JSON file (NaN and Infinity are read), None where there is none. Raises `Unreadable`."""
    text = text_of(path, limit)
    return None if text is None else json_in(text)


def json_in(text: str) -> Any:
    """Raises `Unreadable`."""
    try:
        return json.loads(text, parse_int=_integer)
    except RecursionError:
        raise Unreadable("is nested too deep") from None
    except json.JSONDecodeError as error:
        raise _Half(f"is no JSON: line {error.lineno}: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except ValueError as error:
        raise _Half(f"is no JSON: {str(error)[:100]}") from None


def yaml_of(path: str | os.PathLike[str], limit: int = FILE_LIMIT) -> Any:
    """The data of a YAML file, None where there is none or nothing in it. Raises `Unreadable`."""
    text = text_of(path, limit)
    try:
        return None if text is None else load_yaml(text)
    except UnreadableYaml as error:
        raise _Half(str(error)) from None


def _read(path: str | os.PathLike[str], limit: int, part: Literal["whole", "start", "end"]) -> bytes | None:
    try:
        descriptor = plain_descriptor(path, follow=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (NotPlain, IsADirectoryError) as error:
        raise Unreadable("is a link and is not read" if error.errno == errno.ELOOP else "is no file") from None
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from None
    try:
        status = os.fstat(descriptor)
        if part == "whole" and status.st_size > limit:
            raise Unreadable(f"has {status.st_size / 1024**2:.0f} MiB; files of up to {limit // 1024**2} MiB are read")
        if part == "end" and status.st_size > limit:
            os.lseek(descriptor, status.st_size - limit, os.SEEK_SET)
        blocks: list[bytes] = []
        left = limit
        while left > 0 and (block := os.read(descriptor, min(left, _BLOCK))):
            blocks.append(block)
            left -= len(block)
        return b"".join(blocks)
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or error}") from None
    finally:
        os.close(descriptor)


def _integer(digits: str) -> int | str:
    """A number of more digits than Python reads stays the text that it is."""
    try:
        return int(digits)
    except ValueError:
        return digits
