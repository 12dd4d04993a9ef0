"""The tables of an MLflow database, of any version: what they hold of runs, and what tells that they have changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tried.pool.sources.common.sqlite_file import columns_of, fetch, is_locked, marks, selected
from tried.pool.sources.mlflow.batch import NAN, StoredRun
from tried.pool.sources.mlflow.run import UNBOUNDED, RunInfo, metric
from tried.pool.sources.source import Skipped

TABLES: Final = ("runs", "experiments", "params", "metrics", "latest_metrics", "tags")

SEGMENTS: Final = {"runs": 128, "tags": 512}
"""Rows that share a digest, by table."""

CHUNK: Final = 500
"""Runs that one query asks for: old versions of SQLite take no more than 999 values."""

HISTORY_CHUNK: Final = 25
HISTORY_STEPS: Final = 30_000_000
"""Instructions of SQLite that one batch spends on finding when metrics first were no numbers."""

_STEPS_COUNTED: Final = 100_000
_RUN: Final = ("run_uuid", "name", "status", "start_time", "end_time", "lifecycle_stage", "experiment_id")
_METRIC: Final = ("run_uuid", "key", "value", "is_nan", "timestamp", "step")
_ITEM: Final = ("run_uuid", "key", "value")

Experiments = Mapping[str, tuple[str, bool]]
"""By id: name, and whether it is deleted."""


class MlflowTables:
    """One transaction's view. Methods raise `sqlite3.Error`; where a part of the file is damaged the rest is read."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.columns = columns_of(connection, TABLES)
        self.damaged: dict[str, None] = {}
        """Tables of which a part could not be read."""
        self._lost: list[str] | None = None
        """If not None: tables that could not be read are named here, and are empty."""
        self._strays = 0
        """Rows that an index led to which no longer fits its table."""

    @property
    def is_mlflow(self) -> bool:
        return "run_uuid" in self.columns.get("runs", frozenset())

    @property
    def missing(self) -> tuple[str, ...]:
        """Tables that each version has and this file has not."""
        return tuple(name for name in ("experiments", "params", "metrics", "tags") if name not in self.columns)

    def experiments(self) -> Experiments:
        if "experiments" not in self.columns:
            return {}
        columns = selected(self.columns["experiments"], ("experiment_id", "name", "lifecycle_stage"))
        rows = self._rows(f"SELECT {columns} FROM experiments")
        return {str(number): (str(name or ""), stage == "deleted") for number, name, stage in rows}

    def active_runs(self, experiments: Experiments) -> list[str]:
        """The ids of runs that are not deleted, in the order of time."""
        columns = selected(self.columns["runs"], ("run_uuid", "start_time", "lifecycle_stage", "experiment_id"))
        rows = self._salvaged(f"SELECT {columns} FROM runs", "runs")
        deleted = {number for number, (_, is_deleted) in experiments.items() if is_deleted}
        active = [row for row in rows if row[2] != "deleted" and str(row[3]) not in deleted]
        active.sort(key=lambda row: milliseconds(row[1]) or 0)
        found = list(dict.fromkeys(str(row[0]) for row in active))
        if any("\ufffd" in run_id for run_id in found):  # bytes that are no text: SQLite cannot be asked for such a run
            self.damaged["runs"] = None
        return found

    def digests(self, table: str) -> tuple[int, ...]:
        """One for each segment of rows: other ones when a row was added, changed or removed."""
        if table not in self.columns:
            return ()
        columns = [name for name in (_RUN if table == "runs" else _ITEM) if name in self.columns[table]]
        whole = ", ".join(f'group_concat("{name}", char(30))' for name in columns)
        query = f"SELECT {whole} FROM {table} NOT INDEXED WHERE rowid > ? AND rowid <= ?"
        found: list[int] = []
        for start, end in self._segments(table):
            try:
                found.append(hash(self._rows(query, (start, end))[0]))
            except sqlite3.DatabaseError as error:
                self._note_damage(table, error)
                found.append(0)
        return tuple(found)

    def last_row(self, table: str) -> int:
        if table not in self.columns:
            return 0
        try:
            return int(self._rows(f"SELECT max(rowid) FROM {table}")[0][0] or 0)
        except sqlite3.DatabaseError as error:
            self._note_damage(table, error)
            return 0

    def runs_in_segment(self, table: str, segment: int) -> list[str]:
        start = segment * SEGMENTS[table]
        query = f"SELECT DISTINCT run_uuid FROM {table} NOT INDEXED WHERE rowid > ? AND rowid <= ?"
        return _first(self._rows(query, (start, start + SEGMENTS[table])))

    def tag_counts(self) -> dict[str, int]:
        """How many tags each run has that has any."""
        rows = self._rows("SELECT run_uuid, count(*) FROM tags GROUP BY run_uuid") if "tags" in self.columns else []
        return {str(run_id): int(count) for run_id, count in rows}

    def runs_after(self, table: str, row: int) -> list[str]:
        if table not in self.columns:
            return []
        return _first(self._rows(f"SELECT DISTINCT run_uuid FROM {table} NOT INDEXED WHERE rowid > ?", (row,)))

    def runs_of_experiments(self, numbers: Iterable[str]) -> list[str]:
        if "experiment_id" not in self.columns["runs"]:
            return []
        query = "SELECT run_uuid FROM runs WHERE CAST(experiment_id AS TEXT) = ?"
        return [run_id for number in numbers for run_id in _first(self._rows(query, (number,)))]

    def stored_runs(
        self, run_ids: Sequence[str], experiments: Experiments, places: tuple[str, ...]
    ) -> tuple[dict[str, StoredRun], list[Skipped]]:
        """Those of these runs that are there and not deleted; a run that cannot be read is told."""
        found: dict[str, StoredRun] = {}
        skipped: list[Skipped] = []
        for start in range(0, len(run_ids), CHUNK):
            self._read(run_ids[start : start + CHUNK], experiments, places, found, skipped)
        self._find_first_nonfinite(found)
        if self._strays:
            why = f"{self._strays:,} rows came with runs that they are not of: the database is damaged"
            skipped.append(Skipped("params, tags and metrics", why))
            self._strays = 0
        return found, skipped

    def _read(
        self,
        run_ids: Sequence[str],
        experiments: Experiments,
        places: tuple[str, ...],
        found: dict[str, StoredRun],
        skipped: list[Skipped],
    ) -> None:
        """A chunk at once; if that fails, its halves, down to the runs of which a part cannot be read."""
        pending = [run_ids]
        while pending:
            chunk = pending.pop()
            try:
                found.update(self._chunk(chunk, experiments, places))
            except sqlite3.DatabaseError as error:
                _raise_if_locked(error)
                if len(chunk) > 1:
                    half = len(chunk) // 2
                    pending += [chunk[half:], chunk[:half]]
                else:
                    self._lost = []
                    found.update(self._chunk(chunk, experiments, places))
                    what = "it" if "runs" in self._lost else f"its {' and '.join(self._lost)}"
                    why = f"{what} cannot be read, being in a damaged part of the database"
                    skipped.append(Skipped(f"run {chunk[0]}", why))
                    self._lost = None

    def _chunk(self, run_ids: Sequence[str], experiments: Experiments, places: tuple[str, ...]) -> dict[str, StoredRun]:
        own: dict[str, tuple[Any, ...]] = {str(row[0]): row for row in self._of("runs", _RUN, run_ids)}
        runs: dict[str, StoredRun] = {run_id: StoredRun(RunInfo(run_id=run_id), places=places) for run_id in run_ids}
        nobody = StoredRun(RunInfo(run_id=""), places=places)
        written: dict[str, int | float] = {}

        def run_of(run_id: object) -> StoredRun:
            found = runs.get(str(run_id))
            self._strays += found is None
            return nobody if found is None else found

        last, params = None, nobody.params
        for run_id, key, value in self._of("params", _ITEM, run_ids):
            if run_id != last:
                last, params = run_id, run_of(run_id).params
            params[key if type(key) is str else str(key)] = value
        for run_id, key, value in self._of("tags", _ITEM, run_ids):
            (runs.get(run_id) or run_of(run_id)).tags[str(key)] = "" if value is None else str(value)
        for run_id, key, number, time in self._last_values(run_ids):
            (runs.get(run_id) or run_of(run_id)).metrics[key] = number
            if time is not None:
                written[run_id] = max(time, written.get(run_id, time))
        active: dict[str, StoredRun] = {}
        for run_id, row in own.items():
            if run_id not in runs:
                self._strays += 1
                continue
            experiment, is_deleted = experiments.get(str(row[6]), ("", False))
            if row[5] == "deleted" or is_deleted:
                continue
            runs[run_id].info = RunInfo(
                run_id=run_id,
                name=None if row[1] is None else str(row[1]),
                status=None if row[2] is None else str(row[2]),
                started=milliseconds(row[3]),
                ended=milliseconds(row[4]),
                last_written=written.get(run_id),
                experiment=experiment or None,
            )
            active[run_id] = runs[run_id]
        return {run_id: active[run_id] for run_id in run_ids if run_id in active}

    def _last_values(self, run_ids: Sequence[str]) -> Iterator[tuple[str, str, float, int | float | None]]:
        if "latest_metrics" in self.columns:
            rows: Iterable[tuple[Any, ...]] = self._of("latest_metrics", _METRIC, run_ids)
        else:
            last: dict[tuple[str, str], tuple[Any, ...]] = {}
            for row in self._of("metrics", _METRIC, run_ids):
                known = last.get(row[:2])
                if known is None or _order(row) >= _order(known):
                    last[row[:2]] = row
            rows = last.values()
        for run_id, key, value, is_nan, time, _ in rows:
            if is_nan or value is None or value != value:
                yield run_id, str(key), NAN, milliseconds(time)
            elif isinstance(value, int | float):
                yield run_id, str(key), metric(value), milliseconds(time)

    def _of(self, table: str, wanted: Sequence[str], run_ids: Sequence[str]) -> list[tuple[Any, ...]]:
        columns = self.columns.get(table, frozenset())
        if not {"run_uuid", *(("key", "value") if table != "runs" else ())} <= columns:
            return []
        query = f"SELECT {selected(columns, wanted)} FROM {table} WHERE run_uuid IN ({marks(run_ids)})"
        try:
            return self._rows(query, run_ids)
        except sqlite3.DatabaseError as error:
            if self._lost is None or is_locked(error):
                raise
            self._lost.append(table)
            return []

    def _find_first_nonfinite(self, runs: Mapping[str, StoredRun]) -> None:
        """When the metrics that ended as no finite numbers began to be so; for as many runs as HISTORY_STEPS allow."""
        ill = {
            run_id: [name for name, value in run.metrics.items() if not -UNBOUNDED < value < UNBOUNDED]
            for run_id, run in runs.items()
        }
        for run_id, names in ill.items():
            runs[run_id].nonfinite.update(dict.fromkeys(names))
        columns = self.columns.get("metrics", frozenset())
        if not {"run_uuid", "key", "value", "step"} <= columns:
            return
        ill_value = f"abs(value) >= {UNBOUNDED!r}" + (" OR is_nan" if "is_nan" in columns else "")
        query = "SELECT run_uuid, key, min(step) FROM metrics WHERE run_uuid IN ({}) AND ({}) GROUP BY run_uuid, key"
        concerned = [run_id for run_id, names in ill.items() if names]
        left = [HISTORY_STEPS // _STEPS_COUNTED]

        def count() -> bool:
            left[0] -= 1
            return left[0] < 0

        self.connection.set_progress_handler(count, _STEPS_COUNTED)
        try:
            for start in range(0, len(concerned), HISTORY_CHUNK):
                chunk = concerned[start : start + HISTORY_CHUNK]
                for run_id, name, step in self._rows(query.format(marks(chunk), ill_value), chunk):
                    if run_id in runs and name in runs[run_id].nonfinite and isinstance(step, int):
                        runs[run_id].nonfinite[name] = step
        except sqlite3.DatabaseError as error:
            _raise_if_locked(error)
        finally:
            self.connection.set_progress_handler(None, 0)

    def _salvaged(self, query: str, table: str) -> list[tuple[Any, ...]]:
        """All rows, or all but those of damaged segments."""
        try:
            return self._rows(query)
        except sqlite3.DatabaseError as error:
            self._note_damage(table, error)
        found: list[tuple[Any, ...]] = []
        for bounds in self._segments(table):
            try:
                found += self._rows(f"{query} WHERE rowid > ? AND rowid <= ?", bounds)
            except sqlite3.DatabaseError as error:
                self._note_damage(table, error)
        return found

    def _note_damage(self, table: str, error: sqlite3.DatabaseError) -> None:
        _raise_if_locked(error)
        self.damaged[table] = None

    def _segments(self, table: str) -> list[tuple[int, int]]:
        size = SEGMENTS[table]
        return [(start, start + size) for start in range(0, self.last_row(table), size)]

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return fetch(self.connection, query, values)


def milliseconds(value: Any) -> int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _order(row: tuple[Any, ...]) -> tuple[float, float]:
    return milliseconds(row[5]) or 0, milliseconds(row[4]) or 0


def _first(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    return [str(row[0]) for row in rows]


def _raise_if_locked(error: sqlite3.DatabaseError) -> None:
    if is_locked(error):
        raise error
