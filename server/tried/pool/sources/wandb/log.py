"""What the log that W&B keeps of a run (`run-<id>.wandb`) says: only the few fields are decoded that tell of
configuration and result.

Invariant: a log is data, and a torn or damaged one gives what could be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tried.pool.record import Direction
from tried.pool.sources.wandb.frames import Gaps, Malformed, fields_of, records_of, signed, text_of

_JSON: Final = json.JSONDecoder()

SIZE_LIMIT: Final = 64 * 1024 * 1024
"""A log starts with the configuration and ends with the result, so the middle of a larger one is left out."""

VALUE_LIMIT: Final = 1024 * 1024
KEY_LIMIT: Final = 20_000
"""Keys of a configuration or a summary."""

DEPTH_LIMIT: Final = 20


@dataclass(slots=True)
class WandbLog:
    """What a log says. Empty text: not said. `config` and `summary` are nested as they were logged. `resumed`: the run
    began before this log.

    `exit_code` is None as long as the run has not said that it ended. `first_bad`: by metric, the first step at which
    it was NaN or infinite. `damaged` counts what could not be read; `torn`: the log ends within a record; `left_out`:
    bytes in the middle that were not looked at.
    """

    run_id: str = ""
    entity: str = ""
    project: str = ""
    group: str = ""
    job_type: str = ""
    name: str = ""
    notes: str = ""
    tags: tuple[str, ...] = ()
    sweep: str = ""
    fork_of: str = ""
    commit: str = ""
    root: str = ""
    started: datetime | None = None
    exit_code: int | None = None
    config: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    directions: dict[str, Direction] = field(default_factory=dict)
    first_bad: dict[str, int] = field(default_factory=dict)
    resumed: bool = False
    records: int = 0
    damaged: int = 0
    torn: bool = False
    left_out: int = 0


def read_log(path: Path, limit: int = SIZE_LIMIT, *, summary: bool = True) -> WandbLog:
    """Of a log larger than `limit` bytes the first and the last half of so many are read; without `summary` the result
    is passed over.

    Raises OSError, and NotAWandbLog for a file that is none (an empty one is a log in which nothing stands yet).
    """
    log = WandbLog()
    gaps = Gaps()
    for payload in records_of(path, gaps, limit):
        log.records += 1
        try:
            _take(log, payload, summary)
        except (Malformed, RecursionError):
            gaps.damaged += 1
    log.damaged, log.torn, log.left_out = gaps.damaged, gaps.torn, gaps.left_out
    _decode(log.config)
    _decode(log.summary)
    return log


# The messages (wandb/proto/wandb_internal.proto)


def _take(log: WandbLog, payload: bytes, summary: bool) -> None:
    for number, _, data in fields_of(payload):
        take = _TAKERS.get(number)
        if take is not None and (summary or number != _SUMMARY):
            take(log, data)


def _take_history(log: WandbLog, data: bytes) -> None:
    """Only steps at which something was no finite number are looked into."""
    if b"NaN" not in data and b"Infinity" not in data:
        return
    step = -1
    bad: list[str] = []
    for number, _, value in fields_of(data):
        if number == 2:
            step = next((signed(num) for inner, num, _ in fields_of(value) if inner == 1), 0)
        elif number == 1:
            path, text, _ = _item(value)
            if text in (b"NaN", b"Infinity", b"-Infinity"):
                bad.append(".".join(path))
            elif path == ("_step",) and step < 0 and text.isdigit() and len(text) < 19:
                step = int(text)
    for name in bad:
        if step >= 0 and len(log.first_bad) < KEY_LIMIT:
            log.first_bad.setdefault(name, step)


def _take_config(log: WandbLog, data: bytes) -> None:
    _update(log.config, data)


def _take_summary(log: WandbLog, data: bytes) -> None:
    _update(log.summary, data)


def _take_exit(log: WandbLog, data: bytes) -> None:
    log.exit_code = 0
    for number, value, _ in fields_of(data):
        if number == 1:
            log.exit_code = signed(value)


def _take_metric(log: WandbLog, data: bytes) -> None:
    name, goal, kept = "", 0, set()
    for number, value, inner in fields_of(data):
        if number == 1:
            name = text_of(inner)
        elif number == 8:
            goal = value
        elif number == 7:
            kept = {which for which, is_set, _ in fields_of(inner) if is_set}
    # Who keeps the smallest value of a metric says that small is good.
    best = {1, 2} & kept
    way = goal if goal in (1, 2) else (best.pop() if len(best) == 1 else 0)
    if name and way and len(log.directions) < KEY_LIMIT:
        log.directions[name] = "min" if way == 1 else "max"


def _take_run(log: WandbLog, data: bytes) -> None:
    tags: list[str] = []
    for number, flag, value in fields_of(data):
        name = _RUN_TEXTS.get(number)
        if name is not None:
            if value:
                setattr(log, name, text_of(value))
        elif number == 10 and len(tags) < 1000:
            tags.append(text_of(value))
        elif number == 4:
            _update(log.config, value)
        elif number == 5:
            _update(log.summary, value)
        elif number == 18:
            log.resumed |= bool(flag)
        elif number == 17:
            log.started = _moment(value) or log.started
        elif number == 23:
            log.fork_of = next((text_of(run) for inner, _, run in fields_of(value) if inner == 1), log.fork_of)
        elif number == 21:
            log.commit = _commit(value) or log.commit
    log.tags = tuple(tags) or log.tags


def _take_environment(log: WandbLog, data: bytes) -> None:
    for number, _, value in fields_of(data):
        if number == 9:
            log.commit = _commit(value) or log.commit
        elif number == 11 and value:
            log.root = text_of(value)
        elif number == 3 and log.started is None:
            log.started = _moment(value)


_RUN_TEXTS: Final = {
    1: "run_id",
    2: "entity",
    3: "project",
    6: "group",
    7: "job_type",
    8: "name",
    9: "notes",
    12: "sweep",
}
_SUMMARY: Final = 3
_TAKERS: Final[dict[int, Callable[[WandbLog, bytes], None]]] = {
    2: _take_history,
    _SUMMARY: _take_summary,
    5: _take_config,
    12: _take_metric,
    17: _take_run,
    18: _take_exit,
    26: _take_environment,
}


def _commit(data: bytes) -> str:
    return next((text_of(value) for number, _, value in fields_of(data) if number == 2), "")


def _moment(data: bytes) -> datetime | None:
    seconds = nanos = 0
    for number, value, _ in fields_of(data):
        if number == 1:
            seconds = signed(value)
        elif number == 2:
            nanos = signed(value)
    try:
        return datetime.fromtimestamp(seconds, UTC).replace(microsecond=nanos // 1000) if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def _item(data: bytes) -> tuple[tuple[str, ...], bytes, bool]:
    """(key as a path, value as JSON, whether there is a value)"""
    key: list[str] = []
    nested: list[str] = []
    text, has_value = b"", False
    for number, _, value in fields_of(data):
        if number == 1:
            key = [text_of(value)]
        elif number == 2 and len(nested) < DEPTH_LIMIT:
            nested.append(text_of(value))
        elif number == 16:
            text, has_value = value, True
    return tuple(nested or key), text, has_value


def _update(target: dict[str, Any], data: bytes) -> None:
    for number, _, value in fields_of(data):
        if number not in (1, 2):
            continue
        path, text, has_value = _item(value)
        if not path or (number == 1 and not has_value):
            continue
        place = target
        for part in path[:-1]:
            inner = place.get(part)
            if isinstance(inner, bytes):
                inner = place[part] = _value(inner)
            if not isinstance(inner, dict):
                inner = {}
                if number == 1 and (part in place or len(place) < KEY_LIMIT):
                    place[part] = inner
            place = inner
        if number == 2:
            place.pop(path[-1], None)
        elif path[-1] in place or len(place) < KEY_LIMIT:
            place[path[-1]] = text


def _decode(values: dict[str, Any]) -> None:
    """JSON that was kept as it came, since a later value of a key replaces it, becomes its value."""
    for key, value in values.items():
        if isinstance(value, dict):
            _decode(value)
        elif isinstance(value, bytes):
            values[key] = _value(value)


def _value(data: bytes) -> Any:
    """A JSON value; the text itself where it is none, None where it is longer than VALUE_LIMIT."""
    if len(data) > VALUE_LIMIT:
        return None
    text = text_of(data)
    try:
        return _JSON.decode(text)
    except (ValueError, RecursionError):
        return text
