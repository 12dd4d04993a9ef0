"""What every source must do, as a check that any source can be run through, ours and those of plug-ins alike.

    problems = problems_of(make=lambda path: MySource(path), store=tmp_path / "my_store", grow=add_a_run)
    assert problems == []

`store` is a small store of the source's kind that holds at least one run; it is copied before it is broken or grown.

Invariant: the store itself is only read; all that is changed is changed in copies.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from tried.pool.record import ExperimentRecord
from tried.pool.sources.source import Delta, Skipped, Source

Make = Callable[[Path], Source]
"""Makes the source for a path; called for copies of the store in other places, too."""

Grow = Callable[[Path], object]
"""Adds a run to the store at a path, or changes one."""

BATCH_LIMIT: Final = 10_000
QUIET_SECONDS: Final = 0.1
"""A scan that finds nothing new may take so long."""

BROKEN_FILES: Final = 24
"""Of so many files of the store each is broken in turn."""

_GARBAGE: Final = b"\x00\xff\xfe{]: !!python/object/apply:os.getcwd []\n\x80\x04\x95" * 40


@dataclass(frozen=True, slots=True)
class Said:
    """All that a source said in one go. `records` by id, the last one of each; `repeated`: ids that came twice."""

    records: Mapping[str, ExperimentRecord]
    amendments: tuple[ExperimentRecord, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    cursor: object = None
    repeated: tuple[str, ...] = ()
    deltas: tuple[Delta, ...] = field(default=(), repr=False)


class NeverEnds(AssertionError):
    """A source that always has more to say."""


def scan_all(source: Source, cursor: object | None = None, before: Said | None = None) -> Said:
    """Scans until there is no more, and applies what comes to what was said `before`, as the pool does."""
    records = dict(before.records) if before else {}
    amendments = list(before.amendments) if before else []
    skipped = list(before.skipped) if before else []
    repeated: list[str] = []
    deltas: list[Delta] = []
    fresh: set[str] = set()
    for _ in range(BATCH_LIMIT):
        delta = source.scan(cursor)
        deltas.append(delta)
        cursor = delta.cursor
        if delta.reset:
            records, amendments, skipped, fresh = {}, [], [], set()
        for record_id in delta.removed:
            records.pop(record_id, None)
        for record in delta.upserts:
            if record.kind == "amendment":
                amendments.append(record)
                continue
            repeated += [record.id] if record.id in fresh else []
            fresh.add(record.id)
            records[record.id] = record
        skipped += delta.skipped
        if not delta.more:
            return Said(records, tuple(amendments), tuple(skipped), cursor, tuple(repeated), tuple(deltas))
    raise NeverEnds(f"has more to say after {BATCH_LIMIT:,} scans")


def problems_of(
    make: Make, store: Path, grow: Grow | None = None, *, prefixed: bool = True, quiet_seconds: float = QUIET_SECONDS
) -> list[str]:
    """What is wrong with a source, in words; empty if nothing is.

    `prefixed`: its ids begin with its kind, as those of trackers do. What lies beside the store is copied with it, so
    the store should have a folder of its own.
    """
    found: list[str] = []
    for check in (_reads, _is_quiet, _writes_nothing, _is_the_same_elsewhere, _survives):
        found += _complaints(check, make, store)
    if prefixed:
        found += _complaints(_has_prefixes, make, store)
    if (seconds := _quiet_seconds(make, store)) > quiet_seconds:
        found.append(f"takes {seconds:.2f} s to find nothing new")
    if grow is not None:
        with _copied(store) as copy:
            found += _complaints(partial(_follows, grow=grow), make, copy)
    return found


def _complaints(check: Callable[[Make, Path], Iterator[str]], make: Make, store: Path) -> list[str]:
    try:
        return list(check(make, store))
    except Exception as error:
        return [f"raised {type(error).__name__}: {error}"]


def _reads(make: Make, store: Path) -> Iterator[str]:
    source = make(store)
    if not source.kind:
        yield "has no kind"
    if source.path != store:
        yield f"says that it reads {source.path}, not {store}"
    said = scan_all(source)
    if not said.records and not said.amendments:
        yield f"says nothing of {store}: {[f'{one.where}: {one.why}' for one in said.skipped]}"
    if said.repeated:
        yield f"gives ids twice: {', '.join(said.repeated[:5])}"
    for record in (*said.records.values(), *said.amendments):
        if not record.id.strip():
            yield "gives a record without an id"
        if _plain(ExperimentRecord.model_validate_json(record.to_json())) != _plain(record):
            yield f"{record.id} is another record after being written and read"
        if (line := source.line_of(record.id)) is not None and line < 1:
            yield f"{record.id} stands in line {line}; lines count from 1"
    if source.line_of("no such id") is not None:
        yield "knows the line of a record that it does not have"
    for skipped in said.skipped:
        if not skipped.where.strip() or not skipped.why.strip():
            yield f"skips something without saying where and why: {skipped}"
    if scan_all(source, cursor=object()).records.keys() != said.records.keys():
        yield "says something else when the cursor is not one of its own"


def _has_prefixes(make: Make, store: Path) -> Iterator[str]:
    source = make(store)
    for record_id in scan_all(source).records:
        if not record_id.startswith(f"{source.kind}:") or record_id == f"{source.kind}:":
            yield f"{record_id!r} does not begin with {source.kind}:"


def _is_quiet(make: Make, store: Path) -> Iterator[str]:
    said = scan_all(make(store))
    again = make(store).scan(said.cursor)  # by another object: all that it knows is in the cursor
    if not again.is_empty or again.more:
        yield f"says something although nothing is new: {_summary(again)}"
    third = make(store).scan(again.cursor)
    if not third.is_empty or third.more:
        yield f"says something at the third scan although nothing is new: {_summary(third)}"


def _quiet_seconds(make: Make, store: Path) -> float:
    """The best of three."""
    try:
        source = make(store)
        cursor = scan_all(source).cursor
        taken = []
        for _ in range(3):
            started = time.perf_counter()
            cursor = source.scan(cursor).cursor
            taken.append(time.perf_counter() - started)
        return min(taken)
    except Exception:
        return 0.0  # told elsewhere


def _writes_nothing(make: Make, store: Path) -> Iterator[str]:
    with _copied(store) as copy:
        before = _tree(copy.parent)
        scan_all(make(copy), scan_all(make(copy)).cursor)
        after = _tree(copy.parent)
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            what = "writes" if path not in before else "removes" if path not in after else "changes"
            yield f"{what} {path}"


def _is_the_same_elsewhere(make: Make, store: Path) -> Iterator[str]:
    here = scan_all(make(store)).records
    with _copied(store) as copy:
        there = scan_all(make(copy)).records
    if list(here) != list(there):
        other = sorted(here.keys() ^ there.keys())
        yield f"gives other ids in another folder: {', '.join(other[:5]) or 'in another order'}"


def _survives(make: Make, store: Path) -> Iterator[str]:
    """Broken, foreign and missing things are counted and explained, and raise nothing."""
    with _copied(store) as copy:
        cursor = scan_all(make(copy)).cursor
        for path in _some_files(copy):
            content, status = path.read_bytes(), path.stat()
            for name, broken in (("cut", content[: len(content) // 2]), ("emptied", b""), ("garbage", _GARBAGE)):
                path.write_bytes(broken)
                for known in (None, cursor):
                    yield from _scanned(make, copy, known, f"{path.relative_to(copy.parent)} {name}")
            path.write_bytes(content)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        if copy.is_dir():
            (copy / "loop").symlink_to(copy, target_is_directory=True)
            yield from _scanned(make, copy, cursor, "a link that leads in a circle")
        _remove(copy)
        gone = list(_scanned(make, copy, None, "nothing there"))
        yield from gone
        if not gone and not scan_all(make(copy)).skipped:
            yield "does not say that there is nothing at its path"
        yield from _scanned(make, copy, cursor, "a store that goes")
        copy.write_bytes(_GARBAGE)
        yield from _scanned(make, copy, None, "a file of another kind")
        copy.unlink()
        copy.mkdir()
        yield from _scanned(make, copy, None, "an empty folder")


def _scanned(make: Make, store: Path, cursor: object | None, what: str) -> Iterator[str]:
    try:
        scan_all(make(store), cursor)
    except Exception as error:
        yield f"{what}: raised {type(error).__name__}: {error}"


def _follows(make: Make, store: Path, *, grow: Grow) -> Iterator[str]:
    """What it says bit by bit is what it says at once."""
    before = scan_all(make(store))
    grow(store)
    step = scan_all(make(store), before.cursor, before)
    if all(delta.is_empty for delta in step.deltas):
        yield "does not see that the store has grown"
    again = scan_all(make(store), before.cursor, before)
    if [_summary(delta) for delta in again.deltas] != [_summary(delta) for delta in step.deltas]:
        yield "says something else when it is asked once more with the same cursor: it has changed that"
    whole = scan_all(make(store))
    if step.records.keys() != whole.records.keys():
        yield f"has other records bit by bit: {', '.join(sorted(step.records.keys() ^ whole.records.keys())[:5])}"
    for record_id in step.records.keys() & whole.records.keys():
        if _plain(step.records[record_id]) != _plain(whole.records[record_id]):
            yield f"{record_id} is another record bit by bit"
    if list(map(_plain, step.amendments)) != list(map(_plain, whole.amendments)):
        yield "has other amendments bit by bit"
    if not make(store).scan(step.cursor).is_empty:
        yield "says the same twice after the store has grown"


def _plain(record: ExperimentRecord) -> Any:
    return json.loads(record.to_json())


def _summary(delta: Delta) -> str:
    return (
        f"{len(delta.upserts)} records, {len(delta.removed)} removed, {len(delta.skipped)} skipped,"
        f" reset {delta.reset}, more {delta.more}"
    )


@contextmanager
def _copied(store: Path) -> Iterator[Path]:
    """The store and what lies beside it, in another folder, with its times."""
    with tempfile.TemporaryDirectory(prefix="tried-kit-", ignore_cleanup_errors=True) as folder:
        inside = Path(folder).resolve() / store.parent.name
        shutil.copytree(store.parent, inside, symlinks=True)
        yield inside / store.name


def _some_files(store: Path) -> list[Path]:
    """The same ones each time, spread over the store."""
    if not store.is_dir():
        return [store]
    files = sorted(path for path in store.rglob("*") if path.is_file() and not path.is_symlink())
    return list(itertools.islice(files, 0, None, max(1, len(files) // BROKEN_FILES)))


def _remove(store: Path) -> None:
    if store.is_dir():
        shutil.rmtree(store)
    else:
        store.unlink()


def _tree(folder: Path) -> dict[str, tuple[int, str]]:
    """By path: when it was written, and a digest of what it holds."""
    found: dict[str, tuple[int, str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path.relative_to(folder))] = (path.stat().st_mtime_ns, digest)
        else:
            found[str(path.relative_to(folder))] = (0, "")
    return found
