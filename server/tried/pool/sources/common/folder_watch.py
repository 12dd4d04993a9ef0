"""Keeping up with thousands of run folders at a cost proportional to what is going on in them.

A source lists its run folders (`listing_of` remembers listings as long as the parent's modification time stays), and
`look` says which of them are to be read: the new ones, those that changed among the running and the young (of many the
newest), and those that changed among a slice of all others, which moves on with each scan. So a run that ended long ago
costs a `stat` every now and then, and what somebody adds to it later is seen some scans later.

    look = look_at(cursor.watch, keys, signature, now)         # keys: run folders, oldest first
    for key in look.due: …                                     # read it: a record, or a skip, or not finished yet
    cursor = Cursor(look.then(running=…, unfinished=…), …)
    Delta(upserts, removed=ids of look.gone, cursor=cursor, more=look.more, total=look.total)

Invariant: values are immutable; a look at the same folders with the same watch says the same.
Invariant: a folder that cannot be listed for a moment loses none of its runs; one that is not there has none.
"""

from __future__ import annotations

import hashlib
import heapq
import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tried.pool.sources.source import BATCH

SLICE: Final = 250
"""Settled folders that are looked at in each scan, in turn."""

RESTLESS_LIMIT: Final = 200
"""Restless folders that are looked at in each scan, the newest; of more the others have their turn with the settled."""

YOUNG_SECONDS: Final = 600.0
"""What was written less long ago is restless."""

RUNNING_SECONDS: Final = 2 * 24 * 3600.0
"""The same for what may still be running: longer without a write it runs no more."""

ENTRY_LIMIT: Final = 200_000
"""Entries of one folder that are listed."""

_TRUST_SECONDS: Final = 3.0
"""A folder may change within the tick of its modification time, so a listing holds only if that lay this far back."""

Signature = tuple[int, int]
"""(newest modification in nanoseconds, a digest of sizes and times) of what makes up a run."""

_UNFINISHED: Final = -1


@dataclass(frozen=True, slots=True)
class FolderWatch:
    """What is known of the run folders of a source; a part of its cursor. `restless`: those that may change soon;
    `turn`: where the next slice begins."""

    seen: Mapping[str, Signature] = field(default_factory=dict)
    running: frozenset[str] = frozenset()
    restless: frozenset[str] = frozenset()
    turn: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """`due` are to be read now, in the order of the keys, at most `limit` of them (`more`: there are others); `gone`
    are there no more; `total` is how many there are in all."""

    due: tuple[str, ...]
    gone: tuple[str, ...]
    more: bool
    total: int
    signatures: Mapping[str, Signature]
    before: FolderWatch
    turn: int
    now: float

    def then(self, running: Collection[str] = (), unfinished: Collection[str] = ()) -> FolderWatch:
        """The watch after `due` was read. `running`: keys of runs that may still be running; `unfinished`: keys of
        what is still being written and is due again in the next look."""
        before = self.before
        if not (self.due or self.gone):
            seen: Mapping[str, Signature] = before.seen
            still = before.running
        else:
            away = set(self.gone)
            seen = {key: value for key, value in before.seen.items() if key not in away} if away else {**before.seen}
            for key in self.due:
                signature = self.signatures[key]
                seen[key] = (signature[0], _UNFINISHED) if key in unfinished else signature
            still = (before.running - away).difference(self.due) | frozenset(running)
        candidates = before.restless.union(self.due, unfinished).intersection(seen)
        restless = frozenset(
            key
            for key in candidates
            if abs(self.now - seen[key][0] / 1e9) < (RUNNING_SECONDS if key in still else YOUNG_SECONDS)
            or seen[key][1] == _UNFINISHED
        )
        return FolderWatch(seen, still, restless, self.turn)


def look_at(
    watch: FolderWatch | None,
    keys: Sequence[str],
    signature: Callable[[str], Signature | None],
    now: float,
    limit: int = BATCH,
) -> Look:
    """What is due among the run folders `keys` (unique, in the order in which they are to be read).

    `signature` of a key is None where there is no run (any more). `now` in seconds since 1970.
    """
    before = watch or FolderWatch()
    seen = before.seen
    due: list[str] = []
    signatures: dict[str, Signature] = {}
    gone: list[str] = []
    more = False
    for key in keys:
        if key in seen:
            continue
        if len(due) >= limit:
            more = True
            break
        found = signature(key)
        if found is not None:
            signatures[key] = found
            due.append(key)
    if len(seen) + len(due) != len(keys) or due:
        gone.extend(seen.keys() - set(keys))
    away = set(gone)
    known = _newest([key for key in before.restless if key in seen and key not in away], seen)
    turn = before.turn
    if not more:
        turn = turn if turn < len(keys) else 0
        looked_at = set(known)
        known += [key for key in keys[turn : turn + SLICE] if key in seen and key not in looked_at]
        turn += SLICE
    changed: list[str] = []
    for key in known:
        found = signature(key)
        if found is None:
            gone.append(key)
        elif found != seen[key]:
            signatures[key] = found
            changed.append(key)
    room = max(0, limit - len(due)) if due else limit
    changed.sort()
    if len(changed) > room:
        more, changed = True, changed[:room]
        turn = before.turn
    return Look((*due, *changed), tuple(sorted(gone)), more, len(keys), signatures, before, turn, now)


def _newest(restless: list[str], seen: Mapping[str, Signature]) -> list[str]:
    """Those to look at in this scan: what was half written before all others."""
    if len(restless) <= RESTLESS_LIMIT:
        return restless
    return heapq.nlargest(RESTLESS_LIMIT, restless, key=lambda key: (seen[key][1] == _UNFINISHED, seen[key][0], key))


def signature_of(paths: Iterable[str | os.PathLike[str]]) -> Signature | None:
    """Of files that make up a run; None if none of them is there, as far as one may look."""
    newest = 0
    told: list[tuple[int, int, int]] = []
    for number, path in enumerate(paths):
        try:
            status = os.stat(path)  # noqa: PTH116 (of many, often)
        except PermissionError:  # whoever reads it then says why it cannot
            told.append((number, -1, -1))
            continue
        except (OSError, ValueError):
            continue
        newest = max(newest, status.st_mtime_ns)
        told.append((number, status.st_size, status.st_mtime_ns))
    return (newest, _digest(told)) if told else None


def signature_of_folder(path: str | os.PathLike[str], limit: int = 500) -> Signature | None:
    """Of the files directly in a folder (the first `limit` of them) and the names in it; None if there is none."""
    newest = 0
    told: list[tuple[str, int, int]] = []
    try:
        with os.scandir(path) as entries:
            for number, entry in enumerate(entries):
                if number >= limit:
                    break
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if stat.S_ISDIR(status.st_mode):
                    told.append((entry.name, 0, 0))
                else:
                    newest = max(newest, status.st_mtime_ns)
                    told.append((entry.name, status.st_size, status.st_mtime_ns))
    except (OSError, ValueError):
        return None
    return newest, _digest(sorted(told))


def joined(*signatures: Signature | None) -> Signature | None:
    """One signature of several; None if there is none."""
    known = [each for each in signatures if each is not None]
    return (max(each[0] for each in known), _digest(signatures)) if known else None


@dataclass(frozen=True, slots=True)
class Listing:
    """Names of (folders, files) in a folder, sorted; links are neither. `modified`: 0 for one that does not hold.

    `failure`: why it cannot be listed; it then has the names that it had before.
    """

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    modified: int = 0
    failure: str | None = None


def listing_of(path: str, before: Listing | None, now: float) -> Listing | None:
    """The entries of a folder, taken from `before` as long as nothing was added or removed; None if it is gone."""
    try:
        modified = Path(path).stat().st_mtime_ns
        if before is not None and before.modified == modified:
            return before
        folders: list[str] = []
        files: list[str] = []
        with os.scandir(path) as entries:
            for number, entry in enumerate(entries):
                if number >= ENTRY_LIMIT:
                    break
                try:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name)
                    elif entry.is_file(follow_symlinks=False):
                        files.append(entry.name)
                except OSError:
                    continue
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        was = before or Listing()
        return Listing(was.folders, was.files, 0, error.strerror or type(error).__name__)
    holds = now - modified / 1e9 > _TRUST_SECONDS
    return Listing(tuple(sorted(folders)), tuple(sorted(files)), modified if holds else 0)


def _digest(told: object) -> int:
    digest = hashlib.blake2b(repr(told).encode("utf-8", "surrogatepass"), digest_size=7).digest()
    return int.from_bytes(digest, "big")
