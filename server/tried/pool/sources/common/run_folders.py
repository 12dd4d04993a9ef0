"""The scan of every source whose runs are folders: what is new, changed, gone, broken or still being written.

A source says where its run folders are (`found`), what makes up one of them (`signature`) and what stands in it
(`read`); the rest is here: batches, restless and settled folders (`folder_watch`), skips that are taken back.

Invariant: a folder that cannot be read costs no other; what is said of it is taken back when it can be read.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tried.pool.record import ExperimentRecord
from tried.pool.sources.common.folder_watch import FolderWatch, Signature, look_at
from tried.pool.sources.common.run_files import FolderReader
from tried.pool.sources.source import BATCH, Delta, Skipped, limited
from tried.pool.sources.tracked_run import TrackedRun, record_of

FRESH_SECONDS: Final = 5.0
"""What is broken and younger is still being written: it is read again without a word."""


@dataclass(frozen=True, slots=True)
class Found:
    """`keys` of run folders, oldest first, and `state` for the next search. `skipped`, by place: what could not be
    searched. `failure`: why there is nothing to be read at all."""

    keys: Sequence[str] = ()
    state: Any = None
    skipped: Mapping[str, str] = field(default_factory=dict)
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in a run folder: a run, and perhaps others that are parts of it (`members`).

    `broken`: what of it could not be read, and why, by file; `half_written`: when the newest file was written that may
    be half written.
    """

    run: TrackedRun | None = None
    broken: Mapping[str, str] = field(default_factory=dict)
    half_written: float = 0.0
    members: Sequence[TrackedRun] = ()

    @classmethod
    def of(cls, run: TrackedRun | None, reader: FolderReader, members: Sequence[TrackedRun] = ()) -> Reading:
        return cls(run, reader.broken, reader.half_written, members)


class RunFolders(Protocol):
    """What a source of run folders gives. `found` is given the state of the last search and the time in seconds."""

    def found(self, before: Any, now: float) -> Found: ...

    def signature(self, key: str) -> Signature | None: ...

    def read(self, key: str) -> Reading: ...

    def record_id(self, key: str) -> str: ...


@dataclass(frozen=True, slots=True)
class FoldersCursor:
    """`broken` holds, by key, what was said of a run folder, `members` the ids of the parts that it has; `unsearched`
    what was said of places."""

    watch: FolderWatch | None = None
    state: Any = None
    broken: Mapping[str, tuple[Skipped, ...]] = field(default_factory=dict)
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unsearched: Mapping[str, str] = field(default_factory=dict)
    failure: str | None = None


def scan_folders(source: RunFolders, cursor: object | None, now: float | None = None, limit: int = BATCH) -> Delta:
    """What is new since `cursor`; never raises for what lies in the folders."""
    moment = time.time() if now is None else now
    known = cursor if isinstance(cursor, FoldersCursor) else FoldersCursor()
    found = source.found(known.state, moment)
    if found.failure is not None:
        if known.failure == found.failure:
            return Delta(cursor=known)
        failed = FoldersCursor(failure=found.failure)
        return Delta(skipped=(Skipped("the folder", found.failure),), cursor=failed, reset=True)
    taken_back = bool(known.failure) or not known.unsearched.items() <= found.skipped.items()
    look = look_at(known.watch, found.keys, source.signature, moment, limit)
    taken_back = taken_back or any(key in known.broken for key in look.gone)
    upserts: list[ExperimentRecord] = []
    skipped = [Skipped(*item) for item in found.skipped.items() if item[0] not in known.unsearched]
    removed = [each for key in look.gone for each in (source.record_id(key), *known.members.get(key, ()))]
    members: dict[str, tuple[str, ...]] = {}
    broken: dict[str, tuple[Skipped, ...]] = {}
    running: list[str] = []
    unfinished: list[str] = []
    for key in look.due:
        reading = _reading(source, key)
        if reading.broken and abs(moment - reading.half_written) < FRESH_SECONDS:
            unfinished.append(key)
            continue
        said = tuple(Skipped(where, why) for where, why in reading.broken.items())
        before = known.broken.get(key, ())
        if before and before != said:
            taken_back = True
        if said:
            broken[key] = said
            skipped += said if said != before else ()
        if reading.run is None:
            known_before = known.watch is not None and key in known.watch.seen
            removed += [source.record_id(key), *known.members.get(key, ())] if known_before else []
            continue
        record = record_of(reading.run)
        parts = [record_of(member) for member in reading.members]
        upserts += [record, *parts]
        if parts:
            members[key] = tuple(part.id for part in parts)
        removed += set(known.members.get(key, ())).difference(members.get(key, ()))
        if record.outcome in (None, "running"):
            running.append(key)
    if taken_back and known.watch is not None:
        return _anew(source, moment, limit)
    read = {*look.due, *look.gone}.difference(unfinished)
    kept = {key: said for key, said in known.broken.items() if key not in read} | broken
    parts_kept = {key: ids for key, ids in known.members.items() if key not in read} | members
    watch = look.then(running, unfinished)
    next_cursor = FoldersCursor(watch, found.state, kept, parts_kept, found.skipped)
    return Delta(
        tuple(upserts),
        tuple(removed),
        limited(skipped),
        next_cursor,
        reset=bool(known.failure),
        more=look.more,
        total=look.total,
    )


def _anew(source: RunFolders, now: float, limit: int) -> Delta:
    """Everything once more: the only way to take back what was said of what could not be read."""
    delta = scan_folders(source, None, now, limit)
    return Delta(delta.upserts, (), delta.skipped, delta.cursor, reset=True, more=delta.more, total=delta.total)


def _reading(source: RunFolders, key: str) -> Reading:
    try:
        return source.read(key)
    except Exception as error:  # whatever lies there, it costs no other
        return Reading(None, {key: f"could not be read: {type(error).__name__}: {error}"[:300]})
