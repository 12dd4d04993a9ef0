"""What every source of somebody's SQLite database does around the reading: look only when the files have changed, wait
out locks, say once what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from tried.pool.sources.common.sqlite_file import Locked, State, UnreadableDatabase
from tried.pool.sources.source import Delta, Skipped

IS_LOCKED: Final = "is locked by another program: tried looks again at the next scan"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCursor:
    """What the cursors of such sources share. `is_loaded`: everything was read once; `told` is what was said of the
    database as a whole; `has_pending`: the last scan left something for the next."""

    state: State | None = None
    is_loaded: bool = False
    told: tuple[Skipped, ...] = ()

    @property
    def has_pending(self) -> bool:
        return False


Cursor = TypeVar("Cursor", bound=StoreCursor)


def scan_database(
    where: str, known: Cursor, state: State, read_on: Callable[[Cursor, State], Delta], without_pending: Cursor
) -> Delta:
    """What `read_on` gives if the files are in another state than when they were last read; locks and damage told.

    What was read before damage stays; once the database can be read again all of it is, and what was told is taken
    back. `without_pending` is `known` with nothing left to do.
    """
    if known.state == state and not known.has_pending:
        return Delta(cursor=known)
    try:
        return read_on(known, state)
    except Locked:
        told = (Skipped(where, IS_LOCKED),)
        if known.is_loaded or known.told == told:
            return Delta(cursor=known)
        return Delta(skipped=told, cursor=replace(known, told=told), reset=bool(known.told))
    except UnreadableDatabase as error:
        told = (Skipped(where, str(error)),)
        failed = replace(without_pending, state=state, told=told)
        return Delta(skipped=() if known.told == told else told, cursor=failed, reset=not known.is_loaded)
