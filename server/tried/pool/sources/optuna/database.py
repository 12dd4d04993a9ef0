"""Trials in an SQLite database of Optuna's, whatever its version.

How a scan stays cheap: the state of the files tells whether anybody has written. If so, the table of trials tells which
are new and which have changed their state; besides those, only trials that have not ended are read again, since nothing
is done to one that has.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tried.pool.record import ExperimentRecord
from tried.pool.sources.common.database_source import StoreCursor, scan_database
from tried.pool.sources.common.sqlite_file import (
    State,
    UnreadableDatabase,
    columns_of,
    databases_with,
    fetch,
    is_locked,
    marks,
    read,
    selected,
    state_of,
)
from tried.pool.sources.mlflow.run import place_from
from tried.pool.sources.optuna.trial import (
    KIND,
    METRIC_NAMES,
    Study,
    Trial,
    better,
    decoded,
    directions_of,
    loaded,
    names_of,
    run_of_study,
    run_of_trial,
    time_of,
)
from tried.pool.sources.source import BATCH, Delta, Skipped, limited
from tried.pool.sources.tracked_run import record_of

_ALL: Final = (
    *("studies", "study_directions", "study_user_attributes", "study_system_attributes"),
    *("trials", "trial_params", "trial_values", "trial_intermediate_values"),
    *("trial_user_attributes", "trial_system_attributes"),
)
CHUNK: Final = 500

_ENDED: Final = frozenset({"COMPLETE", "PRUNED", "FAIL"})
_KINDS: Final[Mapping[str, float]] = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseCursor(StoreCursor):
    """By trial, in the table's numbers: the record's id and the state in which it was last given; of those that had not
    ended, and of studies, a digest of the record."""

    trials: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    open: Mapping[int, int] = field(default_factory=dict)
    studies: Mapping[str, int] = field(default_factory=dict)
    pending: tuple[int, ...] = ()

    @property
    def has_pending(self) -> bool:
        return bool(self.pending)


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """Optuna's databases directly in a folder."""
    return databases_with(("studies", "trials", "trial_params"), folder, list(files))


@dataclass(frozen=True, slots=True)
class OptunaDatabaseSource:
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
        places = (place_from(self.path, self.project),)
        skipped: list[Skipped] = []
        with read(self.path) as connection:
            tables = _Tables(connection)
            if "trials" not in tables.columns or "studies" not in tables.columns:
                raise UnreadableDatabase("is an SQLite database, but none of Optuna's: it has no table of trials")
            studies = tables.studies()
            rows = tables.trials()
            named = {
                row[0]: (f"{KIND}:{studies[row[2]].name}/{row[1]}", str(row[3])) for row in rows if row[2] in studies
            }
            pending = known.pending or tuple(
                number for number, said in named.items() if known.trials.get(number) != said or said[1] not in _ENDED
            )
            now, later = pending[:BATCH], pending[BATCH:]
            wanted = [number for number in now if number in named]
            chosen = set(wanted)
            trials = tables.filled({row[0]: row for row in rows if row[0] in chosen}, wanted, skipped)
            best = tables.best(studies)
        records: list[ExperimentRecord] = []
        still_open = {number: digest for number, digest in known.open.items() if number in named}
        for number, study, trial in trials:
            record = record_of(run_of_trial(studies[study], trial, places))
            old = still_open.pop(number, None)
            if trial.is_finished:
                records.append(record)
                continue
            still_open[number] = hash(record.to_json())
            if still_open[number] != old:
                records.append(record)
        given = dict(known.trials)
        gone = [number for number in given if given[number][0] != named.get(number, ("",))[0]]
        still = {said[0] for said in named.values()}
        removed = [given.pop(number)[0] for number in gone]
        given.update((number, named[number]) for number in wanted)
        whole = _studies_as_records(studies, rows, best, places)
        digests = {record_id: hash(record.to_json()) for record_id, record in whole.items()}
        records += [whole[i] for i, digest in digests.items() if known.studies.get(i) != digest]
        removed += [record_id for record_id in known.studies if record_id not in whole]
        cursor = replace(
            known,
            state=state if not known.pending else known.state,
            trials=given,
            open=still_open,
            studies=digests,
            pending=later,
            is_loaded=True,
            told=(),
        )
        return Delta(
            upserts=tuple(records),
            removed=tuple(record_id for record_id in removed if record_id not in still),
            skipped=limited(skipped),
            cursor=cursor,
            reset=is_reset,
            more=bool(later),
            total=len(named) + len(studies),
        )


class _Tables:
    """One transaction's view. Methods raise `sqlite3.Error`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.columns = columns_of(connection, _ALL)

    def studies(self) -> dict[int, Study]:
        found = {int(row[0]): Study(str(row[1])) for row in self._all("studies", ("study_id", "study_name"))}
        directions: dict[int, list[tuple[int, Any]]] = {}
        # Before Optuna 2.4 a study had one direction, in its own row.
        if "direction" in self.columns["studies"]:
            for number, way in self._all("studies", ("study_id", "direction")):
                directions[number] = [(0, way)]
        for number, objective, way in self._all("study_directions", ("study_id", "objective", "direction")):
            directions.setdefault(number, []).append((objective, way))
        for number, ways in directions.items():
            if number in found:
                found[number].directions = directions_of([way for _, way in sorted(ways, key=lambda way: way[0] or 0)])
        attribute = ("study_id", "key", "value_json")
        for number, key, value in self._all("study_user_attributes", attribute):
            if number in found:
                found[number].attributes[str(key)] = loaded(value)
        for number, key, value in self._all("study_system_attributes", attribute):
            if number in found and key == METRIC_NAMES:
                found[number].names = names_of(loaded(value))
        return found

    def trials(self) -> list[tuple[Any, ...]]:
        """(trial_id, number within its study, study_id, state, started, ended), in the order of time."""
        wanted = ("trial_id", "number", "study_id", "state", "datetime_start", "datetime_complete")
        rows = sorted(self._all("trials", wanted), key=lambda row: row[0])
        counts: dict[Any, int] = {}
        numbered: list[tuple[Any, ...]] = []
        for row in rows:
            count = counts[row[2]] = counts.get(row[2], -1) + 1
            # Before Optuna 1.5 a number stood among the attributes; it is the trial's place in its study.
            numbered.append((row[0], count if row[1] is None else row[1], *row[2:]))
        return numbered

    def filled(
        self, rows: Mapping[int, tuple[Any, ...]], wanted: Sequence[int], skipped: list[Skipped]
    ) -> list[tuple[int, int, Trial]]:
        """(the table's number, study, trial) of each; those that cannot be read are told."""
        found: list[tuple[int, int, Trial]] = []
        pending = [wanted[start : start + CHUNK] for start in range(0, len(wanted), CHUNK)][::-1]
        while pending:
            chunk = pending.pop()
            try:
                found += self._chunk({number: rows[number] for number in chunk})
            except sqlite3.DatabaseError as error:
                if is_locked(error):
                    raise
                if len(chunk) > 1:
                    half = len(chunk) // 2
                    pending += [chunk[half:], chunk[:half]]
                else:
                    skipped.append(Skipped(f"trial {chunk[0]}", f"lies in a damaged part of the database: {error}"))
        return found

    def _chunk(self, rows: Mapping[int, tuple[Any, ...]]) -> list[tuple[int, int, Trial]]:
        trials = {
            number: Trial(int(row[1]), str(row[3]), time_of(row[4]), time_of(row[5])) for number, row in rows.items()
        }
        ids = list(rows)
        for trial, name, value, text in self._of(
            "trial_params", ("trial_id", "param_name", "param_value", "distribution_json"), ids
        ):
            trials[trial].params[str(name)] = decoded(value, text)
        for trial, objective, value, kind in self._of(
            "trial_values", ("trial_id", "objective", "value", "value_type"), ids
        ):
            number = _number(value, kind)
            if number is not None:
                trials[trial].values[int(objective or 0)] = number
        wanted = ("trial_id", "step", "intermediate_value", "intermediate_value_type")
        for trial, step, value, kind in self._of("trial_intermediate_values", wanted, ids):
            number = _number(value, kind)
            if number is not None and isinstance(step, int):
                trials[trial].intermediate[step] = number
        attribute = ("trial_id", "key", "value_json")
        for trial, key, text in self._of("trial_user_attributes", attribute, ids):
            trials[trial].attributes[str(key)] = loaded(text)
        for trial, key, text in self._of("trial_system_attributes", attribute, ids):
            trials[trial].system[str(key)] = loaded(text)
        return [(number, rows[number][2], trial) for number, trial in trials.items()]

    def best(self, studies: Mapping[int, Study]) -> dict[int, float]:
        """The best value of each study with one objective."""
        if not {"trial_id", "value"} <= self.columns.get("trial_values", frozenset()):
            return {}
        query = (
            "SELECT t.study_id, min(v.value), max(v.value) FROM trials t JOIN trial_values v ON v.trial_id = t.trial_id"
            " WHERE t.state = 'COMPLETE' GROUP BY t.study_id"
        )
        found: dict[int, float] = {}
        for study, low, high in fetch(self.connection, query):
            if study in studies and len(studies[study].directions) < 2 and isinstance(low, int | float):
                direction = next(iter(studies[study].directions), None)
                value = better(low, high, direction)
                if value is not None:
                    found[study] = value
        return found

    def _all(self, table: str, wanted: Sequence[str]) -> list[tuple[Any, ...]]:
        columns = self.columns.get(table)
        return fetch(self.connection, f"SELECT {selected(columns, wanted)} FROM {table}") if columns else []

    def _of(self, table: str, wanted: Sequence[str], ids: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        columns = self.columns.get(table, frozenset())
        if "trial_id" not in columns:
            return iter(())
        query = f"SELECT {selected(columns, wanted)} FROM {table} WHERE trial_id IN ({marks(ids)}) ORDER BY rowid"
        return iter(fetch(self.connection, query, ids))


def _studies_as_records(
    studies: Mapping[int, Study],
    rows: Sequence[tuple[Any, ...]],
    best: Mapping[int, float],
    places: Sequence[str],
) -> dict[str, ExperimentRecord]:
    running = {row[2] for row in rows if row[3] not in _ENDED}
    started: dict[int, str] = {}
    written: dict[int, str] = {}
    for row in rows:
        times = [time for time in row[4:6] if isinstance(time, str)]
        if times:
            started.setdefault(row[2], times[0])
            written[row[2]] = max(written.get(row[2], ""), *times)
    found: dict[str, ExperimentRecord] = {}
    for number, study in studies.items():
        first, last = _time(started, number), _time(written, number)
        run = run_of_study(study, number in running, best.get(number), first, last, places)
        found[run.record_id] = record_of(run)
    return found


def _time(times: Mapping[int, str], number: int) -> datetime | None:
    return time_of(times.get(number))


def _number(value: Any, kind: Any) -> float | None:
    """A value as Optuna stores it: one that is not finite has a type in its place; before there were types, NULL was
    NaN."""
    if kind in _KINDS:
        return _KINDS[kind]
    if value is None:
        return math.nan
    return float(value) if isinstance(value, int | float) else None
