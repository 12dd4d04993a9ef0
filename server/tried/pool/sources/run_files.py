"""Files in run folders, read with bounds: what is no plain file, too large or broken is refused in words.

Invariant: nothing is waited for, no link is followed, and `Unreadable` is all that is raised.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, Final, Literal

from tried.pool.sources.yaml_text import UnreadableYaml, load_yaml

FILE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a file that is read whole."""

_BLOCK: Final = 1 << 20
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


class Unreadable(ValueError):
    """What is wrong with a file and what to do, in words for the user."""


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
        raise Unreadable(f"is no JSON: line {error.lineno}: {error.msg[:1].lower()}{error.msg[1:]}") from None
    except ValueError as error:
        raise Unreadable(f"is no JSON: {str(error)[:100]}") from None


def yaml_of(path: str | os.PathLike[str], limit: int = FILE_LIMIT) -> Any:
    """The data of a YAML file, None where there is none or nothing in it. Raises `Unreadable`."""
    text = text_of(path, limit)
    try:
        return None if text is None else load_yaml(text)
    except UnreadableYaml as error:
        raise Unreadable(str(error)) from None


def _read(path: str | os.PathLike[str], limit: int, part: Literal["whole", "start", "end"]) -> bytes | None:
    try:
        descriptor = os.open(path, _FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        raise Unreadable("has a name that no file can have") from None
    except OSError as error:
        if Path(path).is_symlink():
            raise Unreadable("is a link and is not read") from None
        raise Unreadable(f"cannot be read: {error.strerror or error}") from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable("is no file")
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
