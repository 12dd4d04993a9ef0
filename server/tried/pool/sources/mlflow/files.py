"""Runs in a file store of MLflow's (`mlruns/<experiment>/<run>/`).

How a scan stays cheap: nothing says that a file deep down has changed but looking at it. Each scan looks at all
experiments' folders (a new run changes them), at the runs that have not ended (OPEN_RUNS of them at most), and at
SLICE others in turn; so all is seen in one scan up to 700 runs, and in fifteen with ten thousand. Runs that a client's
file events name (`touched`) are looked at besides.

Invariant: nothing is written, links are not followed, and a run that is being written is left for a later scan.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tried.pool.sources.mlflow.batch import StoredRun, batch_of
from tried.pool.sources.mlflow.family import Families
from tried.pool.sources.mlflow.folder import META, PARTS, UnreadableRun, read_meta, read_run, stamp_of
from tried.pool.sources.mlflow.run import KIND, STATUSES, place_from, record_id
from tried.pool.sources.mlflow.tables import milliseconds
from tried.pool.sources.source import BATCH, Delta, Skipped, limited
from tried.storage.files import reason_of

NAME: Final = "mlruns"
OPEN_RUNS: Final = 200
SLICE: Final = 700
RELISTED: Final = 5
"""In one of so many scans the next experiment is listed anew even if its folder looks unchanged: some file systems keep
times too coarsely to tell."""

PATIENCE: Final = 3
"""Scans for which a run's folder may lack its `meta.yaml` before that is told."""

NO_EXPERIMENTS: Final = frozenset({"models", "traces"})
NO_RUNS: Final = frozenset({"models", "traces", "datasets", "tags"})
"""Folders of other things that MLflow keeps beside them."""

_UNFINISHED: Final = frozenset({"running", "waiting"})


@dataclass(frozen=True, slots=True)
class ExperimentFolder:
    """An experiment as it was last looked at: times of its folder and its `meta.yaml`, and the names of its runs."""

    written: int
    described: int | None
    name: str | None
    is_deleted: bool
    runs: frozenset[str]


@dataclass(frozen=True, slots=True)
class FilesCursor:
    """`stamps` tell by run whether its files have changed, `digests` whether what they say has. `homes` are the runs'
    experiments, `open` the runs that have not ended, `waiting` in how many scans a run had no `meta.yaml`, `touched`
    those that somebody is said to have written to since."""

    experiments: Mapping[str, ExperimentFolder] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    stamps: Mapping[str, int] = field(default_factory=dict)
    digests: Mapping[str, int] = field(default_factory=dict)
    families: Families = field(default_factory=Families)
    open: Mapping[str, int | float] = field(default_factory=dict)
    waiting: Mapping[str, int] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    touched: frozenset[str] = frozenset()
    turn: int = 0
    is_loaded: bool = False
    told: tuple[Skipped, ...] = ()
    skipped: frozenset[Skipped] = frozenset()


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """`mlruns` in a folder, and the folder itself if it is a store of another name."""
    if NAME in folders:
        return [folder / NAME]
    is_store = folder.name != NAME and ".trash" in folders and (folder / "0" / META).is_file()
    return [folder] if is_store else []


@dataclass(frozen=True, slots=True)
class MlflowFilesSource:
    """The runs of one file store. `project` is the folder that places, and a relative output folder, are told from."""

    path: Path
    project: Path | None = None

    @property
    def kind(self) -> str:
        return KIND

    def touched(self, cursor: object, paths: Collection[Path]) -> object:
        if not isinstance(cursor, FilesCursor):
            return cursor
        below = (path.relative_to(self.path).parts for path in paths if path.is_relative_to(self.path))
        runs = {parts[1] for parts in below if len(parts) > 1 and cursor.homes.get(parts[1]) == parts[0]}
        return replace(cursor, touched=cursor.touched | runs)

    def line_of(self, record_id: str) -> int | None:
        return None

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, FilesCursor) else FilesCursor()
        skipped: dict[Skipped, None] = {}
        try:
            names = self._experiments(skipped)
        except OSError as error:
            why = "there is no such folder" if isinstance(error, FileNotFoundError) else None
            why = why or ("is no folder" if isinstance(error, NotADirectoryError) else None)
            told = (Skipped(str(self.path), why or f"cannot be read: {reason_of(error)}"),)
            return Delta(skipped=() if known.told == told else told, cursor=replace(known, told=told))
        is_reset = bool(known.told)
        if is_reset:
            known = FilesCursor()
        looked = known if known.pending else self._looked(known, names, skipped)
        return self._read(known, looked, skipped, is_reset)

    def _experiments(self, skipped: dict[Skipped, None]) -> dict[str, int]:
        """The experiments' folders and when each was last written to."""
        found: dict[str, int] = {}
        with os.scandir(self.path) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name in NO_EXPERIMENTS:
                    continue
                if entry.is_symlink():
                    skipped[Skipped(str(self.path / entry.name), "is a link, which is not followed")] = None
                elif entry.is_dir(follow_symlinks=False):
                    with suppress(OSError):
                        found[entry.name] = entry.stat(follow_symlinks=False).st_mtime_ns
        return dict(sorted(found.items()))

    def _looked(self, known: FilesCursor, names: Mapping[str, int], skipped: dict[Skipped, None]) -> FilesCursor:
        """A cursor whose `pending` are the runs that are new or may have changed since `known`."""
        experiments: dict[str, ExperimentFolder] = {}
        changed: dict[str, None] = {}
        turn, is_due = divmod(known.turn, RELISTED)
        relisted = list(names)[turn % len(names)] if names and not is_due else ""
        for name, written in names.items():
            old = known.experiments.get(name)
            experiment = self._experiment(name, written, old, name == relisted, skipped)
            experiments[name] = experiment
            if old is not None and (old.name, old.is_deleted) != (experiment.name, experiment.is_deleted):
                changed.update(dict.fromkeys(sorted(experiment.runs)))
        is_same = experiments == known.experiments
        homes = known.homes if is_same else self._homes_of_runs(experiments, skipped)
        moved = (run for run, name in homes.items() if run not in known.stamps or known.homes.get(run) != name)
        if not is_same:
            changed.update(dict.fromkeys(moved))
        impatient = (run for run, scans in known.waiting.items() if scans < PATIENCE)
        newest = sorted(known.open, key=lambda run: (known.open[run], run))[-OPEN_RUNS:]
        looked_at = (
            run for run in dict.fromkeys((*newest, *sorted(known.touched), *self._slice(known))) if run in homes
        )
        differs = (run for run in looked_at if self._stamp(run, homes, run in known.open) != known.stamps.get(run))
        changed.update(dict.fromkeys((*impatient, *differs)))
        pending = self._in_order_of_time((run for run in changed if run in homes), homes)
        return replace(
            known,
            experiments=experiments,
            homes=homes,
            pending=pending,
            touched=frozenset(),
            turn=known.turn + 1,
            is_loaded=True,
        )

    def _homes_of_runs(
        self, experiments: Mapping[str, ExperimentFolder], skipped: dict[Skipped, None]
    ) -> dict[str, str]:
        homes: dict[str, str] = {}
        for name, experiment in experiments.items():
            for run in experiment.runs if not experiment.is_deleted else ():
                if homes.setdefault(run, name) != name:
                    why = f"has the id of a run of experiment {homes[run]}: only that one is read"
                    skipped[Skipped(str(self.path / name / run), why)] = None
        return homes

    def _experiment(
        self, name: str, written: int, old: ExperimentFolder | None, relist: bool, skipped: dict[Skipped, None]
    ) -> ExperimentFolder:
        folder = self.path / name
        try:
            described = (folder / META).stat().st_mtime_ns
        except OSError:
            described = None
        if old is not None and not relist and (old.written, old.described) == (written, described):
            return old
        meta: Mapping[str, object] = {}
        try:
            meta = read_meta(folder) if described is not None else {}
        except (OSError, UnreadableRun) as error:
            skipped[Skipped(str(folder), f"the experiment's name is unknown: {error}")] = None
        runs: set[str] = set()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.name.startswith(".") or entry.name in NO_RUNS:
                        continue
                    if entry.is_symlink():
                        skipped[Skipped(entry.path, "is a link, which is not followed")] = None
                    elif entry.is_dir(follow_symlinks=False):
                        runs.add(entry.name)
        except OSError as error:
            skipped[Skipped(str(folder), f"cannot be read: {reason_of(error)}")] = None
            runs |= old.runs if old is not None else set()
        title = meta.get("name") or ("Default" if name == "0" else None)
        deleted = meta.get("lifecycle_stage") == "deleted"
        return ExperimentFolder(written, described, str(title) if title else None, deleted, frozenset(runs))

    def _read(self, known: FilesCursor, looked: FilesCursor, skipped: dict[Skipped, None], is_reset: bool) -> Delta:
        families, digests, stamps = looked.families.copy(), dict(looked.digests), dict(looked.stamps)
        unfinished, waiting = dict(looked.open), dict(looked.waiting)
        gone = [run for run in known.homes if run not in looked.homes] if known is not looked else []
        deleted: list[str] = []

        def stored(run_ids: Sequence[str]) -> Mapping[str, StoredRun]:
            found: dict[str, StoredRun] = {}
            for run_id in run_ids:
                if run_id not in looked.homes:
                    continue
                stamp, stamp_while_open = (self._stamp(run_id, looked.homes, is_open) for is_open in (False, True))
                stamps[run_id] = stamp
                unfinished.pop(run_id, None)
                run = self._run(run_id, looked, waiting, skipped, deleted)
                if run is None:
                    continue
                found[run_id] = run
                if STATUSES.get(str(run.info.status).upper()) in _UNFINISHED:
                    unfinished[run_id] = run.info.started or 0
                    stamps[run_id] = stamp_while_open
            return found

        removed = [run for run in gone if run in digests]
        affected = families.take(dict.fromkeys(removed))
        _forget(removed, digests, unfinished)
        for run in gone:
            stamps.pop(run, None)
            waiting.pop(run, None)
        now = dict.fromkeys((*looked.pending[:BATCH], *sorted(affected & digests.keys())))
        batch = batch_of(now, stored, families, digests, self._homes)
        lost = [run for run in deleted if run in digests]
        families.take(dict.fromkeys(lost))
        _forget(lost, digests, unfinished)
        new = [skip for skip in (*skipped, *batch.skipped) if skip not in looked.skipped]
        later = looked.pending[BATCH:]
        cursor = replace(
            looked,
            stamps=stamps,
            digests=digests,
            families=families,
            open=unfinished,
            waiting=waiting,
            pending=later,
            told=(),
            skipped=looked.skipped | frozenset(new),
        )
        return Delta(
            upserts=tuple(batch.records),
            removed=tuple(record_id(run) for run in (*removed, *lost)),
            skipped=limited(new),
            cursor=cursor,
            reset=is_reset,
            more=bool(later),
            total=len(looked.homes),
        )

    def _run(
        self,
        run_id: str,
        cursor: FilesCursor,
        waiting: dict[str, int],
        skipped: dict[Skipped, None],
        deleted: list[str],
    ) -> StoredRun | None:
        name = cursor.homes[run_id]
        folder = self.path / name / run_id
        try:
            meta = read_meta(folder)
            if meta.get("lifecycle_stage") == "deleted":
                deleted.append(run_id)
                return None
            run = read_run(folder, meta, cursor.experiments[name].name, (place_from(folder, self.project),))
        except FileNotFoundError:
            # Without any of its parts it is a folder of artifacts, whose run is in a database.
            if any((folder / part).is_dir() for part in PARTS):
                waiting[run_id] = waiting.get(run_id, 0) + 1
                if waiting[run_id] >= PATIENCE:
                    skipped[Skipped(str(folder), f"has no {META}: the run was not begun properly, or is deleted")] = (
                        None
                    )
            return None
        except UnreadableRun as error:
            skipped[Skipped(str(folder), str(error))] = None
            return None
        waiting.pop(run_id, None)
        return run

    def _slice(self, known: FilesCursor) -> Iterable[str]:
        runs = list(known.stamps)
        turns = max(1, -(-len(runs) // SLICE))
        start = known.turn % turns * SLICE
        return runs[start : start + SLICE]

    def _stamp(self, run_id: str, homes: Mapping[str, str], is_open: bool) -> int:
        return stamp_of(f"{self.path}/{homes[run_id]}/{run_id}", with_histories=is_open)

    def _in_order_of_time(self, runs: Iterable[str], homes: Mapping[str, str]) -> tuple[str, ...]:
        started: dict[str, int | float] = {}
        for run in runs:
            try:
                started[run] = milliseconds(read_meta(self.path / homes[run] / run).get("start_time")) or 0
            except (OSError, UnreadableRun):
                started[run] = 0
        return tuple(sorted(started, key=lambda run: (started[run], run)))

    @property
    def _homes(self) -> tuple[Path, ...]:
        return (self.path.absolute().parent, *((self.project,) if self.project is not None else ()))


def _forget(runs: Iterable[str], digests: dict[str, int], unfinished: dict[str, int | float]) -> None:
    for run in runs:
        digests.pop(run, None)
        unfinished.pop(run, None)
