"""Trials in a journal file of Optuna's (`JournalFileBackend`): one JSON object a line, each an operation.

Only what was appended since the last scan is read, and only of trials that have not ended anything is kept: nothing
is done to a trial that has ended. The operations mean what they mean to Optuna when it replays them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import FileState, digests_of_ends
from tried.pool.sources.mlflow.run import place_from
from tried.pool.sources.optuna.trial import (
    KIND,
    METRIC_NAMES,
    STATES,
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
from tried.pool.sources.source import Delta, Skipped, limited
from tried.pool.sources.tracked_run import record_of
from tried.storage.files import reason_of
from tried.storage.paths import is_file, open_plain

SUFFIXES: Final = (".log", ".journal", ".jsonl")
READ_AT_ONCE: Final = 4 * 1024 * 1024
"""Bytes of a journal that one scan reads, and the longest line."""

GIVE_UP: Final = 64 * 1024 * 1024
"""What goes on for so long without a line end is no journal any more."""

LOOKED_INTO: Final = 20
_PEEK: Final = 400


@dataclass(slots=True)
class StudyState:
    """A study as far as it was read: how many trials it has, which have not ended, the best value so far, and when its
    first trial started and the last one started or ended."""

    study: Study
    count: int = 0
    open: dict[int, Trial] = field(default_factory=dict)
    best: float | None = None
    started: datetime | None = None
    written: datetime | None = None
    is_deleted: bool = False


@dataclass(slots=True)
class Replay:
    """`trials` are (study, number) of each trial of the file."""

    studies: list[StudyState] = field(default_factory=list)
    trials: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class JournalCursor:
    """`offset` is where the next line begins, `ends` are digests of the first and the last bytes before it, by which
    another file is told. `overlong`: so many bytes of the line at `offset`, which is too long, were passed over;
    `given_up`: it is so long that nothing behind it is read. `unread`: the file goes on, for the next scan."""

    offset: int = 0
    line: int = 0
    ends: tuple[bytes, bytes] | None = None
    state: FileState | None = None
    replay: Replay = field(default_factory=Replay)
    overlong: int = 0
    given_up: bool = False
    unread: bool = False
    told: tuple[Skipped, ...] = ()


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """Optuna's journal files directly in a folder."""
    named = sorted(name for name in files if name.lower().endswith(SUFFIXES))[:LOOKED_INTO]
    return [folder / name for name in named if _is_journal(folder / name)]


@dataclass(frozen=True, slots=True)
class OptunaJournalSource:
    path: Path
    project: Path | None = None

    @property
    def kind(self) -> str:
        return KIND

    def line_of(self, record_id: str) -> int | None:
        return None

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, JournalCursor) else JournalCursor()
        try:
            if FileState.of(self.path.stat()) == known.state and not known.told and not known.unread:
                return Delta(cursor=known)
            with open_plain(self.path) as file:
                state = FileState.of(os.fstat(file.fileno()))
                is_reset = bool(known.told) or not _goes_on(file, state, known)
                if is_reset:
                    known = JournalCursor()
                if known.given_up:
                    return Delta(cursor=replace(known, state=state))
                file.seek(known.offset)
                data = file.read(READ_AT_ONCE)
                read = _whole_lines(data, known)
                ends = digests_of_ends(file, known.offset + read.end)
        except (OSError, ValueError) as error:
            what = "there is no such file" if isinstance(error, FileNotFoundError) else None
            what = what or ("is a folder, not a journal" if isinstance(error, IsADirectoryError) else None)
            told = (Skipped(str(self.path), what or f"cannot be read: {reason_of(OSError(*error.args))}"),)
            return Delta(skipped=() if known.told == told else told, cursor=replace(known, told=told))
        lines = data[read.start : read.end] if not read.overlong else b""
        replay = deepcopy_of(known.replay) if lines else known.replay
        records, removed, skipped = self._replayed(lines, replay, read.line) if lines else ((), (), [])
        offset = known.offset + read.end
        unread = not read.given_up and read.end > 0 and offset < state.size and len(data) == READ_AT_ONCE
        line = read.line + lines.count(b"\n")
        return Delta(
            upserts=records,
            removed=removed,
            skipped=limited((*read.skipped, *skipped)),
            cursor=JournalCursor(offset, line, ends, state, replay, read.overlong, read.given_up, unread),
            reset=is_reset,
            more=unread,
        )

    def _replayed(
        self, data: bytes, replay: Replay, line: int
    ) -> tuple[tuple[ExperimentRecord, ...], tuple[str, ...], list[Skipped]]:
        changed: dict[str, tuple[StudyState, Trial]] = {}
        studies: dict[int, None] = {}
        removed: dict[str, None] = {}
        skipped: list[Skipped] = []
        for number, text in enumerate(data.split(b"\n")[:-1], line + 1):
            if not text.strip():
                continue
            operation = loaded(text.decode("utf-8", "replace"))
            try:
                if not isinstance(operation, dict) or "op_code" not in operation:
                    raise ValueError("is no operation of Optuna's")
                _apply(operation, replay, changed, studies, removed)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
                why = str(error) if isinstance(error, ValueError) else f"cannot be understood: {error!r}"
                skipped.append(Skipped(f"line {number}", why[:300]))
        places = (place_from(self.path, self.project),)
        records = [record_of(run_of_trial(state.study, trial, places)) for state, trial in changed.values()]
        for index in studies:
            state = replay.studies[index]
            if not state.is_deleted:
                run = run_of_study(state.study, bool(state.open), state.best, state.started, state.written, places)
                records.append(record_of(run))
        return tuple(records), tuple(removed), skipped


@dataclass(frozen=True, slots=True)
class _WholeLines:
    """Bytes from `start` to `end` are whole lines, `line` of the file were before. While a line is `overlong`, they are
    a part of it."""

    start: int
    end: int
    line: int
    overlong: int = 0
    given_up: bool = False
    skipped: tuple[Skipped, ...] = ()


def _whole_lines(data: bytes, known: JournalCursor) -> _WholeLines:
    start, line, end = 0, known.line, data.rfind(b"\n") + 1
    if known.overlong and end:
        start, line = data.find(b"\n") + 1, line + 1
    elif known.overlong:
        length = known.overlong + len(data)
        if length <= GIVE_UP:
            return _WholeLines(0, len(data), line, length)
        why = f"is longer than {GIVE_UP // 1024**2} MiB: nothing that stands behind it is read"
        return _WholeLines(0, len(data), line, length, True, (Skipped(f"line {line + 1}", why),))
    elif not end and len(data) == READ_AT_ONCE:
        why = f"is longer than {READ_AT_ONCE // 1024**2} MiB and was passed over"
        return _WholeLines(0, len(data), line, len(data), False, (Skipped(f"line {line + 1}", why),))
    return _WholeLines(start, end, line)


def _goes_on(file: BinaryIO, state: FileState, known: JournalCursor) -> bool:
    """The same file, with the bytes that were read where they were."""
    was = known.state
    if was is None:
        return True
    if (was.device, was.inode) != (state.device, state.inode) or state.size < was.size:
        return False
    if state.size == was.size and state != was and not known.unread:
        return False
    return digests_of_ends(file, known.offset) == known.ends


def deepcopy_of(replay: Replay) -> Replay:
    """A copy that can be changed; ended trials are not in it, so it is small."""
    return Replay([deepcopy(state) for state in replay.studies], list(replay.trials))


def _apply(
    operation: dict[str, Any],
    replay: Replay,
    changed: dict[str, tuple[StudyState, Trial]],
    studies: dict[int, None],
    removed: dict[str, None],
) -> None:
    code = operation["op_code"]
    if code == 0:
        name = str(operation["study_name"])
        if not any(state.study.name == name and not state.is_deleted for state in replay.studies):
            replay.studies.append(StudyState(Study(name, directions_of(operation.get("directions") or ()))))
            removed.pop(f"{KIND}:{name}", None)
            studies[len(replay.studies) - 1] = None
    elif code in (1, 2, 3, 4):
        index = operation["study_id"]
        state = replay.studies[index]
        if state.is_deleted or index < 0:
            return
        studies[index] = None
        if code == 1:
            _delete(state, changed, removed)
        elif code == 2:
            state.study.attributes.update(operation["user_attr"])
        elif code == 3:
            if METRIC_NAMES in operation["system_attr"]:
                state.study.names = names_of(operation["system_attr"][METRIC_NAMES])
        else:
            trial = _created(operation, state.count)
            replay.trials.append((index, trial.number))
            state.count += 1
            state.open[trial.number] = trial
            _changed(state, trial, changed, removed)
    elif code in (5, 6, 7, 8, 9):
        if operation["trial_id"] < 0:
            raise ValueError("names a trial that there is not")
        index, number = replay.trials[operation["trial_id"]]
        state = replay.studies[index]
        found = state.open.get(number)
        if found is None or state.is_deleted:
            return
        studies[index] = None
        _update(code, operation, found)
        _changed(state, found, changed, removed)


def _created(operation: dict[str, Any], number: int) -> Trial:
    distributions = operation.get("distributions") or {}
    return Trial(
        number,
        str(operation.get("state", 0)),
        time_of(operation.get("datetime_start")),
        time_of(operation.get("datetime_complete")),
        {key: decoded(value, distributions.get(key)) for key, value in (operation.get("params") or {}).items()},
        _values(operation.get("values") if operation.get("values") is not None else operation.get("value")),
        {int(step): float(value) for step, value in (operation.get("intermediate_values") or {}).items()},
        dict(operation.get("user_attrs") or {}),
        dict(operation.get("system_attrs") or {}),
    )


def _update(code: int, operation: dict[str, Any], trial: Trial) -> None:
    if code == 5:
        value = decoded(operation["param_value_internal"], operation.get("distribution"))
        trial.params[str(operation["param_name"])] = value
    elif code == 6:
        state = str(operation["state"])
        if STATES.get(state) == "running" and trial.status != "waiting":
            return  # another worker was quicker
        trial.state = state
        trial.values = _values(operation.get("values")) or trial.values
        trial.started = time_of(operation.get("datetime_start")) or trial.started
        trial.ended = time_of(operation.get("datetime_complete")) or trial.ended
    elif code == 7:
        trial.intermediate[int(operation["step"])] = float(operation["intermediate_value"])
    elif code == 8:
        trial.attributes.update(operation["user_attr"])
    else:
        trial.system.update(operation["system_attr"])


def _changed(
    state: StudyState, trial: Trial, changed: dict[str, tuple[StudyState, Trial]], removed: dict[str, None]
) -> None:
    record_id = f"{KIND}:{state.study.name}/{trial.number}"
    changed[record_id] = (state, trial)
    state.started = state.started or trial.started
    state.written = trial.ended or trial.started or state.written
    removed.pop(record_id, None)
    if trial.is_finished:
        state.open.pop(trial.number, None)
        if trial.status == "finished" and len(state.study.directions) < 2 and 0 in trial.values:
            state.best = better(state.best, trial.values[0], next(iter(state.study.directions), None))


def _delete(state: StudyState, changed: dict[str, tuple[StudyState, Trial]], removed: dict[str, None]) -> None:
    state.is_deleted = True
    state.open.clear()
    for record_id in (state.study.record_id, *(f"{KIND}:{state.study.name}/{n}" for n in range(state.count))):
        changed.pop(record_id, None)
        removed[record_id] = None


def _values(values: Any) -> dict[int, float]:
    listed = values if isinstance(values, list) else ([] if values is None else [values])
    return {index: math.nan if value is None else float(value) for index, value in enumerate(listed)}


def _is_journal(path: Path) -> bool:
    try:
        if not is_file(path):
            return False
        with open_plain(path) as file:
            head = file.read(_PEEK)
    except PermissionError:  # of a log of any name nobody can tell whose it is
        return "optuna" in path.name.lower() or path.suffix.lower() == ".journal"
    except OSError:
        return False
    return head.startswith(b"{") and b'"op_code"' in head and b'"worker_id"' in head
