"""The runs that W&B keeps in a `wandb` folder, online and offline ones.

A scan lists the folder, looks at the files of runs that may still change, and at a few of the others in turn, so that
it costs little however many runs there are.

Invariant: a run has one record, however many folders it was resumed in.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from tried.pool.record import ExperimentRecord
from tried.pool.sources.source import BATCH, Delta, Skipped, limited
from tried.pool.sources.tracked_run import record_of
from tried.pool.sources.wandb.folder import (
    FolderName,
    FolderReading,
    job_folder,
    merged,
    names_of,
    parse_name,
    read_folder,
)
from tried.pool.sources.wandb.run import KIND, tracked_run
from tried.storage.files import reason_of
from tried.storage.paths import is_folder

NAMES: Final = ("wandb", ".wandb")

FOLDER_LIMIT: Final = 200_000
CONFIRM_LIMIT: Final = 1_000
"""Entries of a folder that are looked at to see whether W&B made it."""

YOUNG_SECONDS: Final = 15 * 60
"""A run written to within this time is looked at in each scan, as is one that has not ended within two days."""

UNENDED_SECONDS: Final = 2 * 24 * 3600
ACTIVE_LIMIT: Final = 300
SLICE: Final = 200
"""Other runs that are looked at in a scan, in turn."""

TRUST_SECONDS: Final = 3.0
"""A folder may change again within the tick of its clock: a listing holds if its last change lay this far back."""

HALF_WRITTEN_SECONDS: Final = 10.0
"""What cannot be read and is younger than this is left for the next scan."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A folder as it was read. `look` is a digest of the states of its files, `written` when it was last written to
    (seconds since 1970), `ended` whether the run said so, `given` whether its run has a record. `waits`: it was being
    written. `said`: the complaints that were made. `home`: the folder that the run names, `job` that of Hydra's job."""

    name: FolderName
    look: int
    written: float
    ended: bool = False
    given: bool = False
    waits: bool = False
    said: tuple[Skipped, ...] = ()
    home: str = ""
    job: str | None = None


@dataclass(frozen=True, slots=True)
class _Listing:
    """Run folders by name, oldest first, and sweeps' folders with the time of their last change. `modified` is when
    the folder was changed, None if it may change again without that showing."""

    names: Mapping[str, FolderName] = field(default_factory=dict)
    sweeps: tuple[tuple[str, int], ...] = ()
    modified: int | None = None


@dataclass(frozen=True, slots=True)
class WandbCursor:
    """The last listing; by name, the folders that were read; by run id, the sweeps that agents' folders tell of; whose
    turn it is to be looked at; why the folder could not be listed."""

    listing: _Listing = field(default_factory=_Listing)
    folders: Mapping[str, _Known] = field(default_factory=dict)
    sweeps: Mapping[str, str] = field(default_factory=dict)
    turn: int = 0
    failure: Skipped | None = None


@dataclass(frozen=True)
class WandbSource:
    """`path` is a `wandb` folder, `project` the folder that places are told from."""

    path: Path
    project: Path | None = None
    kind: str = KIND

    def line_of(self, record_id: str) -> int | None:
        return None

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, WandbCursor) else WandbCursor()
        now = time.time()
        try:
            listing = _listing(self.path, known.listing, now)
        except (OSError, ValueError) as error:
            return _failed(error, known, cursor is not None)
        reset = known.failure is not None
        if reset:
            known = WandbCursor()
        names = listing.names
        sweeps = known.sweeps if listing.sweeps == known.listing.sweeps else _sweeps(self.path, listing.sweeps)
        folders = dict(known.folders)
        dirty: set[str] = set()
        if names is not known.listing.names:
            for name in known.folders.keys() - names.keys():
                dirty.add(folders.pop(name).name.run_id)
        looked, turn = _in_turn(folders, now, known.turn)
        jobs: dict[str, str | None] = {}
        dirty |= {folders[name].name.run_id for name in looked if self._is_changed(folders[name], jobs)}
        if sweeps is not known.sweeps:
            of_sweeps = {run for run in sweeps.keys() | known.sweeps if sweeps.get(run) != known.sweeps.get(run)}
            dirty |= of_sweeps & {state.name.run_id for state in folders.values()}
        new: dict[str, None] = {}
        if len(folders) < len(names):
            new = dict.fromkeys(name.run_id for key, name in names.items() if key not in folders)
        if not (dirty or new):
            return Delta(cursor=WandbCursor(listing, folders, sweeps, turn), reset=reset)
        wanted = {*dirty, *islice(new, BATCH)}
        reads = [
            _read(self, run_id, its, folders, sweeps.get(run_id, ""), now)
            for run_id, its in _by_run(names.values(), wanted).items()
        ]
        if len(names) <= BATCH and any(read.mended for read in reads):
            # What was said of files that can be read by now is taken back.
            return replace(self.scan(None), reset=True)
        for read in reads:
            folders.update(read.states)
        left = {state.name.run_id for state in folders.values() if state.given}
        gone = {state.name.run_id for state in known.folders.values() if state.given} - left
        return Delta(
            upserts=tuple(read.record for read in reads if read.record is not None),
            removed=tuple(f"{KIND}:{run_id}" for run_id in sorted(gone)),
            skipped=limited(one for read in reads for one in read.skipped),
            cursor=WandbCursor(listing, folders, sweeps, turn),
            reset=reset,
            more=len(new) > BATCH,
            total=len(names) if len(new) > BATCH else None,
        )

    def _is_changed(self, state: _Known, jobs: dict[str, str | None]) -> bool:
        """`jobs`: by the folder that runs name, what `job_folder` says in this scan."""
        if state.waits or _look(self.path, state.name)[0] != state.look:
            return True
        if state.home not in jobs:
            jobs[state.home] = job_folder(self.path / state.name.name, state.home)
        return state.given and jobs[state.home] != state.job


@dataclass(frozen=True, slots=True)
class _Read:
    """One run: its record, if it is to be said (anew), the states of its folders, new complaints; `mended`: former ones
    no longer hold."""

    states: Mapping[str, _Known]
    record: ExperimentRecord | None = None
    skipped: Sequence[Skipped] = ()
    mended: bool = False


def _read(
    source: WandbSource, run_id: str, its: Sequence[FolderName], known: Mapping[str, _Known], sweep: str, now: float
) -> _Read:
    looks = {name: _look(source.path, name) for name in its}  # before reading, so that a later change shows
    readings = [read_folder(source.path / name.name, name) for name in its]
    complaints = {name: _complaints(name, reading) for name, reading in zip(its, readings, strict=True)}
    given = any(name.name in known and known[name.name].given for name in its)
    if any(complaints[name] and now - looks[name][1] < HALF_WRITTEN_SECONDS for name in its):
        waiting = {
            name.name: replace(state, waits=True)
            if (state := known.get(name.name))
            else _Known(name, looks[name][0], looks[name][1], given=given, waits=True)
            for name in its
        }
        return _Read(waiting)
    runs = [reading.run for reading in readings if reading.run is not None]
    states = {
        name.name: _Known(
            name,
            *looks[name],
            ended=reading.run is not None and reading.run.exit_code is not None,
            given=bool(runs),
            said=tuple(complaints[name]),
            home=reading.run.home if reading.run is not None else "",
            job=reading.run.folder if reading.run is not None else job_folder(source.path / name.name, ""),
        )
        for name, reading in zip(its, readings, strict=True)
    }
    before = [one for name in its if name.name in known for one in known[name.name].said]
    after = [one for name in its for one in complaints[name]]
    record = None
    if runs:
        run = merged(runs)
        run.sweep = run.sweep or sweep
        run.places = [_place(source.path / name.name, source.project) for name in its]
        if run.status == "running":
            run.last_written = datetime.fromtimestamp(max(written for _, written in looks.values()), UTC)
        record = record_of(tracked_run(run))
    return _Read(states, record, [one for one in after if one not in before], any(one not in after for one in before))


def _complaints(name: FolderName, reading: FolderReading) -> list[Skipped]:
    found = [Skipped(f"{name.name}/{file}", why) for file, why in reading.complaints]
    if reading.run is None and not found:
        return [Skipped(name.name, "holds neither a configuration nor a log: nothing is known of this run")]
    return found


def _place(folder: Path, project: Path | None) -> str:
    """From the project, so that it is the same on every machine; a folder elsewhere by its whole path."""
    if project is not None and folder.is_relative_to(project):
        return folder.relative_to(project).as_posix()
    return str(folder)


def _listing(path: Path, before: _Listing, now: float) -> _Listing:
    """The listing of before, if it holds. Links are no folders: `latest-run` is one of the others."""
    modified = path.stat().st_mtime_ns
    if before.modified == modified:
        return replace(before, sweeps=tuple((name, _modified(path / name)) for name, _ in before.sweeps))
    found: list[FolderName] = []
    sweeps: list[tuple[str, int]] = []
    with os.scandir(path) as entries:
        for entry in islice(entries, FOLDER_LIMIT):
            try:
                if (name := parse_name(entry.name)) is not None:
                    if entry.is_dir(follow_symlinks=False):
                        found.append(name)
                elif entry.name.startswith("sweep-") and entry.is_dir(follow_symlinks=False):
                    sweeps.append((entry.name, entry.stat(follow_symlinks=False).st_mtime_ns))
            except OSError:
                continue
    found.sort(key=lambda name: (name.started, name.name))
    settled = modified if now - modified / 1e9 > TRUST_SECONDS else None
    return _Listing({name.name: name for name in found}, tuple(sorted(sweeps)), settled)


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError):
        return -1


def _sweeps(path: Path, folders: Iterable[tuple[str, int]]) -> dict[str, str]:
    """By run id, its sweep: an agent keeps each run's configuration as `sweep-<id>/config-<run id>.yaml`."""
    found: dict[str, str] = {}
    for folder, _ in folders:
        try:
            with os.scandir(path / folder) as entries:
                for entry in islice(entries, FOLDER_LIMIT):
                    if entry.name.startswith("config-") and entry.name.endswith(".yaml"):
                        found[entry.name[len("config-") : -len(".yaml")]] = folder[len("sweep-") :]
        except OSError:
            continue
    return found


def _look(path: Path, name: FolderName) -> tuple[int, float]:
    """(digest of the states of its files, when the newest of them was written)"""
    states: list[int] = []
    newest = 0
    for file in names_of(name.run_id):
        try:
            status = os.stat(f"{path}/{name.name}/{file}")  # noqa: PTH116 (of hundreds, once a second)
        except (OSError, ValueError):
            states.append(-1)
            continue
        states += (status.st_mtime_ns, status.st_size, status.st_ino)
        newest = max(newest, status.st_mtime_ns)
    return hash(tuple(states)), newest / 1e9


def _in_turn(folders: Mapping[str, _Known], now: float, turn: int) -> tuple[list[str], int]:
    """(the folders to look at in this scan, whose turn it is in the next): those that may still change, the newest
    first, and a slice of the others."""
    active: list[str] = []
    others: list[str] = []
    for name, state in folders.items():
        silent = now - state.written
        changes = state.waits or silent < (YOUNG_SECONDS if state.ended else UNENDED_SECONDS)
        (active if changes else others).append(name)
    active.sort(key=lambda name: -folders[name].written)
    others += active[ACTIVE_LIMIT:]
    turn = turn if turn < len(others) else 0
    return active[:ACTIVE_LIMIT] + others[turn : turn + SLICE], (turn + SLICE if others else 0)


def _by_run(names: Iterable[FolderName], wanted: Collection[str]) -> dict[str, list[FolderName]]:
    found: dict[str, list[FolderName]] = {}
    for name in names:
        if name.run_id in wanted:
            found.setdefault(name.run_id, []).append(name)
    return found


def _failed(error: Exception, known: WandbCursor, scanned: bool) -> Delta:
    if isinstance(error, FileNotFoundError):
        why = "there is no such folder"
    elif isinstance(error, NotADirectoryError):
        why = "is no folder"
    else:
        why = f"cannot be read: {reason_of(error) if isinstance(error, OSError) else 'its name is none'}"
    failure = Skipped("the folder", why)
    if known.failure == failure:
        return Delta(cursor=known)
    return Delta(skipped=(failure,), cursor=WandbCursor(failure=failure), reset=scanned)


def _has_runs(path: Path) -> bool:
    if not is_folder(path):
        return False
    try:
        with os.scandir(path) as entries:
            return any(parse_name(entry.name) is not None for entry in islice(entries, CONFIRM_LIMIT))
    except OSError:
        return True  # whoever reads it then says why it cannot


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """The folders of W&B directly in this folder, given the names of its subfolders."""
    return [folder / name for name in NAMES if name in folders and _has_runs(folder / name)]
