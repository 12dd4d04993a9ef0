"""SQLite files of others, looked at without ever writing and without being in a writer's way.

Invariant: nothing is written to the file or beside it by us, but for the marks of readers in a `-shm` file that is
there: databases are opened read-only, one in WAL mode that nobody has open as it lies, and one that was copied or left
with its log alone in a copy of ours. No read transaction is longer than one batch.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tried.storage.paths import exists, is_file, is_link, open_plain

SUFFIXES: Final = (".db", ".sqlite", ".sqlite3", ".db3")
"""Names of files that may be SQLite databases end in one of these."""

LOCK_SECONDS: Final = 0.4
"""How long a locked database is waited for at one scan."""

COPY_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of a database and its log that are copied to be read."""

MAGIC: Final = b"SQLite format 3\0"
_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_HEADER: Final = 100
_WRITE_VERSION: Final = 18
"""Where the header says whether there is a write-ahead log (2)."""

_IN_A_WRITE: Final = "was left in the middle of a write: the program that writes to it mends it when it next opens it"

State = tuple[object, ...]
"""Of a database's files: equal as long as nobody has written."""


class Locked(Exception):
    """Somebody is writing: to be tried again."""


class UnreadableDatabase(Exception):
    """Why a file cannot be read, in words for the user."""


def state_of(path: Path) -> State:
    """What changes with each commit: sizes and times of the file, its log and its journal, and the file's header, which
    counts the changes."""
    state: list[object] = []
    for name in (path, _beside(path, "-wal"), _beside(path, "-journal")):
        try:
            found = name.stat()
            state.append((found.st_ino, found.st_size, found.st_mtime_ns))
        except (OSError, ValueError):
            state.append(None)
    return (*state, _header(path))


def is_sqlite(path: Path) -> bool:
    return _header(path)[: len(MAGIC)] == MAGIC


def databases_with(tables: Sequence[str], folder: Path, files: Sequence[str], limit: int = 20) -> list[Path]:
    """Those of a folder's files that are databases with all of these tables; at most `limit` are looked into."""
    named = sorted(name for name in files if name.lower().endswith(SUFFIXES))[:limit]
    return [folder / name for name in named if is_sqlite(folder / name) and has_tables(folder / name, tables)]


def has_tables(path: Path, tables: Sequence[str]) -> bool:
    """Whether all of these are there. One that is locked is not waited for, but looked at as it lies: what was
    committed before is in the file, and of that only the names of its tables are taken."""
    try:
        with read(path, seconds=0.0) as connection:
            return len(columns_of(connection, tables)) == len(tables)
    except Locked:
        pass
    except UnreadableDatabase:
        return False
    try:
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return len(columns_of(connection, tables)) == len(tables)
    except (sqlite3.Error, ValueError):
        return False


@contextmanager
def read(path: Path, seconds: float = LOCK_SECONDS) -> Iterator[sqlite3.Connection]:
    """A connection in one read transaction, which ends with the block. `seconds`: how long a lock is waited for.

    Raises `Locked` and `UnreadableDatabase`, also for what the block reads.
    """
    if (why := _unusable(path)) is not None:
        raise UnreadableDatabase(why)
    try:
        with (
            _lying_still(path) as address,
            closing(sqlite3.connect(address, uri=True, timeout=seconds, isolation_level=None)) as connection,
        ):
            connection.execute("BEGIN")
            yield connection
    except sqlite3.Error as error:
        raise _explained(error, path) from error
    except UnicodeDecodeError as error:  # the text of an error that quotes a damaged schema
        raise UnreadableDatabase(_damaged("its schema is no text", path)) from error


def columns_of(connection: sqlite3.Connection, tables: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """The columns of those of these tables (or views) that there are."""
    named = f"SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name IN ({marks(tables)})"
    described = "SELECT name FROM pragma_table_info(?)"
    names = [str(row[0]) for row in fetch(connection, named, tables)]
    return {name: frozenset(str(row[0]) for row in fetch(connection, described, (name,))) for name in names}


def fetch(connection: sqlite3.Connection, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """All rows; text that is no UTF-8 is read with replacement characters."""
    try:
        return list(connection.execute(query, values))
    except sqlite3.OperationalError as error:
        if "decode" not in str(error).lower():
            raise
    connection.text_factory = _text
    try:
        return list(connection.execute(query, values))
    finally:
        connection.text_factory = str


def selected(columns: frozenset[str], wanted: Sequence[str], prefix: str = "") -> str:
    """The wanted columns for a SELECT, NULL in place of those that a table lacks. The names are ours."""
    return ", ".join(f'{prefix}"{name}"' if name in columns else f"NULL AS {name}" for name in wanted)


def marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))


def is_locked(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _BUSY


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


@contextmanager
def _lying_still(path: Path) -> Iterator[str]:
    """The address at which opening it makes no file beside it.

    A write-ahead log without its `-shm` file is one that was copied, or whose writer was killed: SQLite would make that
    file, so both are read in a copy. Raises `Locked` and `UnreadableDatabase`.
    """
    wal = _beside(path, "-wal")
    waiting = _size(wal)
    is_open = exists(_beside(path, "-shm"))
    if not waiting or is_open:
        header = _header(path)
        logged = len(header) > _WRITE_VERSION and header[_WRITE_VERSION] == 2
        still = (waiting is None and logged) or (waiting == 0 and not is_open)
        yield f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if still else ''}"
        return
    if waiting + (_size(path) or 0) > COPY_LIMIT:
        raise UnreadableDatabase(_IN_A_WRITE)
    with TemporaryDirectory(prefix="tried-sqlite-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder) / "copy"
        before = state_of(path)
        try:
            for source, target in ((path, copy), (wal, _beside(copy, "-wal"))):
                with open_plain(source) as file:
                    target.write_bytes(file.read(COPY_LIMIT))
        except OSError as error:
            raise UnreadableDatabase(f"cannot be read: {error.strerror or error}") from error
        if state_of(path) != before:
            raise Locked
        yield f"{copy.as_uri()}?mode=ro"


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return None


def _header(path: Path) -> bytes:
    try:
        with open_plain(path) as file:
            return file.read(_HEADER)
    except OSError:
        return b""


def _unusable(path: Path) -> str | None:
    try:
        with open_plain(path) as file:
            header = file.read(len(MAGIC))
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        return "there is no such file"
    except IsADirectoryError:
        return "is a folder, not a database"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if size == 0:
        return "is empty: nothing has been written to it yet"
    if header != MAGIC:
        return "is no SQLite database, or is encrypted: tried reads plain ones only"
    for end in ("-wal", "-journal", "-shm"):
        if is_link(beside := _beside(path, end)) or (exists(beside) and not is_file(beside)):
            return f"cannot be read: SQLite would open {beside.name}, which is no plain file"
    return None


def _beside(path: Path, end: str) -> Path:
    """Where SQLite keeps what belongs to a database: beside the file, not beside a link to it."""
    try:
        return Path(f"{os.path.realpath(path)}{end}")
    except (OSError, ValueError):
        return path.with_name(f"{path.name}{end}")


def _explained(error: sqlite3.Error, path: Path) -> Exception:
    if is_locked(error):
        return Locked()
    code = getattr(error, "sqlite_errorcode", 0)
    if code & 0xFF == sqlite3.SQLITE_READONLY or (
        code & 0xFF == sqlite3.SQLITE_CANTOPEN and exists(_beside(path, "-journal"))
    ):
        return UnreadableDatabase(_IN_A_WRITE)
    if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return UnreadableDatabase(_damaged(str(error), path))
    return UnreadableDatabase(f"cannot be read: {error}")


def _damaged(how: str, path: Path) -> str:
    return f"is damaged ({how}): `sqlite3 {path.name} .recover` may save what is left"
