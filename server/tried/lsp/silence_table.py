"""Adds a `[[silence]]` table to a tried.toml, for files that can hold no comment."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

from tried.storage.files import StorageError, locked, reason_of, replace_file
from tried.storage.paths import open_plain


def add_silence(path: Path, entry: Mapping[str, str]) -> None:
    """Appends the table; what stood in the file stays as it was. Empty fields are left out.

    Raises StorageError if the file cannot be read or written, and ValueError if it holds something that no table can
    follow (a mistake, or `silence = […]` in one line); nothing is written then.
    """
    table = _table(entry)
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(_lock_of(path)):
        _append(path, table)


def _lock_of(path: Path) -> Path:
    """Out of the user's folder, where a lock's file would stay: it cannot be removed while somebody may wait for it."""
    name = hashlib.sha256(os.fsencode(path.parent.resolve() / path.name)).hexdigest()[:16]
    user = os.getuid() if sys.platform != "win32" else "all"  # another user's file could not be opened
    return Path(tempfile.gettempdir()) / f"tried-{user}-{name}"


def _append(path: Path, table: str) -> None:
    before = _read(path)
    joint = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    after = before + joint + table
    try:
        tomllib.loads(after)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} was left as it is ({error}); mend it, or add by hand: {table}") from error
    replace_file(path, after.encode("utf-8"))


def _read(path: Path) -> str:
    try:
        with open_plain(path) as file:
            return file.read().decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8; nothing was written") from error
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {reason_of(error)}") from error


def _table(entry: Mapping[str, str]) -> str:
    lines = [f"{name} = {_string(value)}" for name, value in entry.items() if value]
    return "\n".join(["[[silence]]", *lines]) + "\n"


def _string(value: str) -> str:
    """A TOML basic string: JSON's, but for DEL, which TOML does not allow as it is."""
    plain = value.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")
