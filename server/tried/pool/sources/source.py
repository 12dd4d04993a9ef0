"""What every source of records is: something that can be scanned again and again, each time for what is new."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from tried.pool.record import ExperimentRecord

SKIPPED_LIMIT: Final = 200
"""How many things that could not be read one source lists; of more it says how many."""

BATCH: Final = 2_000
"""Records that a source gives at once."""

REMARKS_LIMIT: Final = 100
"""The same for remarks on values."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """What could not be read as it stands: `where` ("line 17") and `why` ("no id: …"), in words for the user."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Delta:
    """What a source says that it did not say before `cursor` was taken.

    `upserts` are in the order of the source and may hold amendments (kind `amendment`), which nothing replaces.
    `skipped` are the new ones; `remarks` are about values that stay in their records and that nobody can use.
    `reset`: all that the source said before is void, this delta is everything. `more`: the source has more to say and
    is to be scanned again at once with this cursor, so that a large store comes in batches (BATCH records or so);
    `total` is then about how many records there will be, if the source knows.
    """

    upserts: tuple[ExperimentRecord, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    cursor: object = None
    reset: bool = False
    remarks: tuple[Skipped, ...] = ()
    more: bool = False
    total: int | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.upserts or self.removed or self.skipped or self.remarks or self.reset)


class Source(Protocol):
    """`kind` is the prefix of its records' ids or the name of its format, `path` the file or folder that it reads."""

    @property
    def kind(self) -> str: ...

    @property
    def path(self) -> Path: ...

    def scan(self, cursor: object | None) -> Delta:
        """What is new since `cursor`, a former delta's (None: everything). Never raises for bad data or a missing
        file: that becomes a `Skipped`."""
        ...

    def line_of(self, record_id: str) -> int | None:
        """The line, from 1, where a record stands in a text file; None if it does not, or there are no lines."""
        ...


@runtime_checkable
class TouchableSource(Protocol):
    """A source that looks at old runs only now and then, and that can be told which of them somebody has written to."""

    def touched(self, cursor: object, paths: Collection[Path]) -> object:
        """The cursor, with which the next scan looks at the runs that these files belong to."""
        ...


def touched(source: object, cursor: object, paths: Collection[Path]) -> object:
    """The same for any source: most find out by themselves."""
    return source.touched(cursor, paths) if paths and isinstance(source, TouchableSource) else cursor


def checked(delta: object) -> Delta:
    """What a source said, which may be a plug-in. Raises TypeError, whose words name what is no part of a `Delta`."""
    if not isinstance(delta, Delta):
        raise TypeError(f"its scan gave a {type(delta).__name__} for a Delta")
    members: tuple[tuple[str, object, type], ...] = (
        ("upserts", delta.upserts, ExperimentRecord),
        ("removed", delta.removed, str),
        ("skipped", delta.skipped, Skipped),
        ("remarks", delta.remarks, Skipped),
    )
    for name, several, kind in members:
        if not isinstance(several, tuple | list):
            raise TypeError(f"its Delta has a {type(several).__name__} for {name}")
        for one in several:
            if not isinstance(one, kind):
                raise TypeError(f"its Delta has a {type(one).__name__} among {name}")
    if not isinstance(delta.total, int | None):
        raise TypeError(f"its Delta has a {type(delta.total).__name__} for total")
    return delta


def limited(skipped: Iterable[Skipped], limit: int = SKIPPED_LIMIT) -> tuple[Skipped, ...]:
    """At most `limit` of them, the last one of which then counts the rest."""
    every = tuple(skipped)
    if len(every) <= limit:
        return every
    rest = len(every) - (limit - 1)
    return (*every[: limit - 1], Skipped("further on", f"{rest:,} more like these"))
