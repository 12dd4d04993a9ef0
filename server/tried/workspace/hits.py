"""Which records of a workspace's pool were of use to somebody, by the ids that they have now.

Invariant: the file is looked at once for each question, and read only if it has changed since.
Invariant: what is done with many records at once is no hit on any of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from tried.pool.pool import PoolSnapshot
from tried.ranking.hits import NO_HITS, Hit, Hits
from tried.render.words import counted
from tried.storage.hits import KeptHit, KeptHits, Place, Way, hits_file, hits_of, record_hit

MOST_TOGETHER: Final = 20
"""Who concludes more records at once, a sweep say, did not look at each."""

_Stamp: TypeAlias = tuple[int, int, int] | None
_BARRED: Final[_Stamp] = (-1, -1, -1)
"""Of what cannot be looked at; why, reading tells."""


@dataclass(frozen=True, slots=True)
class _Known:
    stamp: _Stamp
    kept: KeptHits
    snapshot: weakref.ref[PoolSnapshot]
    hits: Hits


class WorkspaceHits:
    """Of one workspace folder, or of the pools that are read instead of its own; None: of documents that lie in no
    folder, which have none. May be asked from any thread, and never raises."""

    def __init__(self, place: Place | None) -> None:
        self._place = place
        self._path: Path | None = None
        self._known: _Known | None = None

    def among(self, snapshot: PoolSnapshot) -> Hits:
        """The hits on the records of a snapshot."""
        if self._place is None:
            return NO_HITS
        if self._path is None:
            self._path = hits_file(self._place)
        stamp, known = _stamp_of(self._path), self._known
        if known is None or known.stamp != stamp:
            kept = hits_of(self._place) if stamp is not None or self._path is None else KeptHits()  # no file, no hits
        elif known.snapshot() is snapshot:
            return known.hits
        else:
            kept = known.kept
        hits = hits_among(kept.hits, snapshot)
        self._known = _Known(stamp, kept, weakref.ref(snapshot), hits)
        return hits

    def count(self, record_ids: Iterable[str], how: Way, now: datetime) -> None:
        """One hit on each of these records, unless they are more than MOST_TOGETHER. Raises StorageError."""
        together = tuple(islice(dict.fromkeys(record_ids), MOST_TOGETHER + 1))
        if self._place is not None and len(together) <= MOST_TOGETHER:
            record_hit(self._place, together, how, now)

    @property
    def problem(self) -> str | None:
        """What of the file could not be read when it was last looked at."""
        kept = self._known.kept if self._known is not None else KeptHits()
        if kept.problem is not None or not kept.unread:
            return kept.problem
        return f"{self._path}: {unread_told(kept.unread)}"


def unread_told(count: int) -> str:
    return f"{counted(count, 'line is', 'lines are')} no hit that can be read, and not counted"


def hits_among(kept: Mapping[str, KeptHit], snapshot: PoolSnapshot) -> Hits:
    """By the ids that the records have in the snapshot; those on others are left out."""
    found: dict[str, Hit] = {}
    for record_id, hit in _present(kept, snapshot):
        other = found.get(record_id)
        if other is None:
            found[record_id] = Hit(hit.count, hit.last)
        else:
            found[record_id] = Hit(other.count + hit.count, max(other.last, hit.last))
    return found or NO_HITS


def present_id(record_id: str, snapshot: PoolSnapshot) -> str | None:
    """The id that a record has now, which may be one of two that became one run; None if it is not in the pool."""
    if record_id in snapshot.records:
        return record_id
    known = snapshot.aliases.get(record_id)
    return known if known is not None and known in snapshot.records else None


def _present(kept: Mapping[str, KeptHit], snapshot: PoolSnapshot) -> Iterator[tuple[str, KeptHit]]:
    for record_id, hit in kept.items():
        if (known := present_id(record_id, snapshot)) is not None:
            yield known, hit


def _stamp_of(path: Path | None) -> _Stamp:
    if path is None:
        return None
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return _BARRED
    return status.st_mtime_ns, status.st_size, status.st_ino
