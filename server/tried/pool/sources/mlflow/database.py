"""Runs in an SQLite database of MLflow's (`mlflow.db`), whatever its version.

How a scan stays cheap: the state of the files tells whether anybody has written at all. If so, what tables only grow by
(parameters, metrics) is read from the last row on, and what is changed in place (runs, tags) is compared by a digest
of each segment of rows; only the runs that this points to are read again, and only those that differ make records.

Invariant: the database is never written to, and no read transaction lasts longer than one batch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from tried.pool.sources.common.database_source import StoreCursor, scan_database
from tried.pool.sources.common.sqlite_file import State, UnreadableDatabase, databases_with, read, state_of
from tried.pool.sources.mlflow.batch import StoredRun, batch_of, tags_in
from tried.pool.sources.mlflow.family import Families
from tried.pool.sources.mlflow.run import KIND, place_from, record_id
from tried.pool.sources.mlflow.tables import Experiments, MlflowTables
from tried.pool.sources.source import BATCH, Delta, Skipped, limited

NAME: Final = "mlflow.db"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCursor(StoreCursor):
    """`pending` are ids of runs that are still to be read, `digests` tells of each known run whether it has changed.
    `runs` and `tags` hold a digest for each segment of rows, `last` the last row of params and metrics; `told` is what
    was said of the database as a whole, `skipped` of runs. No records, no values."""

    experiments: Experiments = field(default_factory=dict)
    runs: tuple[int, ...] = ()
    tags: tuple[int, ...] = ()
    last: tuple[int, int] = (0, 0)
    digests: Mapping[str, int] = field(default_factory=dict)
    families: Families = field(default_factory=Families)
    pending: tuple[str, ...] = ()
    total: int = 0
    skipped: frozenset[Skipped] = frozenset()

    @property
    def has_pending(self) -> bool:
        return bool(self.pending)


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """MLflow's databases directly in a folder: `mlflow.db`, and others that have its tables."""
    named = [folder / NAME] if NAME in files else []
    others = [name for name in files if name != NAME]
    return [*named, *databases_with(("runs", "experiments", "latest_metrics"), folder, others)]


@dataclass(frozen=True, slots=True)
class MlflowDatabaseSource:
    """The runs of one database. `project` is the folder that places are told from, and a relative output folder too."""

    path: Path
    project: Path | None = None

    @property
    def kind(self) -> str:
        return KIND

    def line_of(self, record_id: str) -> int | None:
        return None

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, DatabaseCursor) else DatabaseCursor()
        return scan_database(str(self.path), known, state_of(self.path), self._scan, replace(known, pending=()))

    def _scan(self, known: DatabaseCursor, state: State) -> Delta:
        is_reset = bool(known.told) and not known.pending
        if is_reset:
            known = DatabaseCursor()
        removed: tuple[str, ...] = ()
        skipped: dict[Skipped, None] = {}
        if not known.pending:
            known, removed = self._looked(known, state, skipped)
        families, digests = known.families.copy(), dict(known.digests)
        for run_id in removed:
            digests.pop(run_id, None)
        affected = families.take(dict.fromkeys(removed)) & digests.keys() if removed else frozenset()
        now = dict.fromkeys((*known.pending[:BATCH], *sorted(affected)))

        def stored(run_ids: Sequence[str]) -> Mapping[str, StoredRun]:
            with read(self.path) as connection:
                found, unread = MlflowTables(connection).stored_runs(run_ids, known.experiments, self._places)
            skipped.update(dict.fromkeys(unread))
            return found

        batch = batch_of(now, stored, families, digests, self._homes)
        new = [skip for skip in (*skipped, *batch.skipped) if skip not in known.skipped]
        later = known.pending[BATCH:]
        cursor = replace(
            known, digests=digests, families=families, pending=later, skipped=known.skipped | frozenset(new)
        )
        return Delta(
            upserts=tuple(batch.records),
            removed=tuple(record_id(run_id) for run_id in removed),
            skipped=limited(new),
            cursor=cursor,
            reset=is_reset,
            more=bool(later),
            total=known.total,
        )

    def _looked(
        self, known: DatabaseCursor, state: State, skipped: dict[Skipped, None]
    ) -> tuple[DatabaseCursor, tuple[str, ...]]:
        """A cursor whose `pending` are the runs that may have changed since `known`, and the runs that are gone."""
        with read(self.path) as connection:
            tables = MlflowTables(connection)
            if not tables.is_mlflow:
                raise UnreadableDatabase("is an SQLite database, but none of MLflow's: it has no table of runs")
            experiments = tables.experiments()
            new = replace(
                known,
                state=state,
                experiments=experiments,
                runs=tables.digests("runs"),
                tags=tables.digests("tags"),
                last=(tables.last_row("params"), tables.last_row("metrics")),
                is_loaded=True,
            )
            for name in tables.missing:
                skipped[Skipped(str(self.path), f"has no table {name}: what it would tell of runs is unknown")] = None
            if not known.is_loaded:
                active = tables.active_runs(experiments)
                self._tell_damage(tables, skipped)
                return replace(new, pending=tuple(active), total=len(active)), ()
            both = {**known.experiments, **experiments}
            regrouped = [number for number in both if known.experiments.get(number) != experiments.get(number)]
            removed: tuple[str, ...] = ()
            total = known.total
            if regrouped or known.runs != new.runs:
                active = tables.active_runs(experiments)
                total = len(active)
                if "runs" not in tables.damaged:
                    removed = tuple(sorted(known.digests.keys() - set(active)))
            if new.last[0] < known.last[0] or new.last[1] < known.last[1]:
                changed = tables.active_runs(experiments)
            else:
                changed = [
                    *(i for s in _differing(known.runs, new.runs) for i in tables.runs_in_segment("runs", s)),
                    *tables.runs_of_experiments(regrouped),
                    *_retagged(known, new, tables),
                    *tables.runs_after("params", known.last[0]),
                    *tables.runs_after("metrics", known.last[1]),
                ]
            self._tell_damage(tables, skipped)
            return replace(new, pending=tuple(dict.fromkeys(changed)), total=total), removed

    def _tell_damage(self, tables: MlflowTables, skipped: dict[Skipped, None]) -> None:
        for name in tables.damaged:
            why = (
                f"is damaged: part of its table {name} cannot be read; `sqlite3 {self.path.name} .recover` may save it"
            )
            skipped[Skipped(str(self.path), why)] = None

    @property
    def _homes(self) -> tuple[Path, ...]:
        return (self.path.absolute().parent, *((self.project,) if self.project is not None else ()))

    @property
    def _places(self) -> tuple[str, ...]:
        return (place_from(self.path, self.project),)


def _retagged(known: DatabaseCursor, new: DatabaseCursor, tables: MlflowTables) -> list[str]:
    """The runs of segments that differ, and those that have lost a tag, of which no row is left to tell."""
    if known.tags == new.tags:
        return []
    counts = tables.tag_counts()
    fewer = [run_id for run_id, digest in known.digests.items() if counts.get(run_id, 0) < tags_in(digest)]
    touched = [i for s in _differing(known.tags, new.tags) for i in tables.runs_in_segment("tags", s)]
    return [*fewer, *touched]


def _differing(old: Sequence[int], new: Sequence[int]) -> list[int]:
    return [number for number, digest in enumerate(new) if number >= len(old) or old[number] != digest]
