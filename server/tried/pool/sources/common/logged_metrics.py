"""Metrics as programs write them beside their runs: JSON (one object, or one a line) and CSV (one row a step).

Of a history the last value of each metric counts, and the step at which it first was no finite number.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tried.pool.record import as_number
from tried.pool.sources.common.run_files import Unreadable, bytes_of, end_of, json_in, json_of, start_of

METRIC_LIMIT: Final = 500
"""Metrics of one file that are kept."""

WHOLE_LIMIT: Final = 4 * 1024 * 1024
"""Bytes of a history that is read whole; of a longer one the end is."""

END_LIMIT: Final = 256 * 1024

STEP_COLUMNS: Final[tuple[str, ...]] = ("step", "global_step", "iteration", "iter", "epoch")
"""What numbers the rows of a history, the first of these that is there."""

_DEEPEST: Final = 6


@dataclass(frozen=True, slots=True)
class Logged:
    """`values`: the last number of each metric. `nonfinite`: the step at which it first was none (None: not known).
    `last_step` by step column; `times`: how often each metric was written. `history`: written as the run went."""

    values: Mapping[str, float] = field(default_factory=dict)
    nonfinite: Mapping[str, int | None] = field(default_factory=dict)
    last_step: Mapping[str, float] = field(default_factory=dict)
    times: Mapping[str, int] = field(default_factory=dict)
    history: bool = True

    def joined(self, other: Logged) -> Logged:
        """Where both have a metric, that of `other`."""
        return Logged(
            {**self.values, **other.values},
            {**self.nonfinite, **other.nonfinite},
            {**self.last_step, **other.last_step},
            {**self.times, **other.times},
            self.history and other.history,
        )


def metrics_in_json(path: Path) -> Logged | None:
    """Of a file that holds one object, a list of them, or one a line; None if there is no file. Raises `Unreadable`."""
    data = bytes_of(path)
    if data is None:
        return None
    text = data.decode("utf-8-sig", "replace")
    try:
        found = json_in(text)
    except Unreadable:
        rows = list(_objects_in_lines(text))
        if len(rows) < 2:
            raise
        return last_of(rows)
    if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        return last_of(found)
    if not isinstance(found, dict):
        return Logged()
    values = dict(numbers_in(found))
    bad = dict.fromkeys(name for name, value in values.items() if not math.isfinite(value))
    steps = {name: values[name] for name in STEP_COLUMNS if name in values}
    return Logged(values, bad, steps, dict.fromkeys(values, 1), history=not values)


def metrics_in_trainer_state(path: Path) -> Logged | None:
    """Of the state that Hugging Face's Trainer saves: its log history, which ended if it did all its steps. Raises
    `Unreadable`."""
    state = json_of(path)
    if not isinstance(state, dict):
        return None
    rows = state.get("log_history")
    found = last_of(row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else Logged()
    done, wanted = _number(state.get("global_step")), _number(state.get("max_steps"))
    return replace(found, history=done is None or wanted is None or not 0 < wanted <= done)


def metrics_in_csv(path: Path) -> Logged | None:
    """Of a history with names in its first row; None if there is no file. Raises `Unreadable`."""
    data = end_of(path, WHOLE_LIMIT)
    if data is None:
        return None
    text = data.decode("utf-8-sig", "replace")
    cut = len(data) >= WHOLE_LIMIT
    if cut:
        start = start_of(path, END_LIMIT) or b""
        head, _, _ = start.decode("utf-8-sig", "replace").partition("\n")
        text = f"{head}\n{text[-END_LIMIT:].partition(chr(10))[2]}"
    if text and not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1] or text  # a row that is being written
    rows = csv.reader(io.StringIO(text.replace("\0", "")), strict=False)
    try:
        names = next(rows, [])
        found = last_of(dict(zip(names, row, strict=False)) for row in rows)
    except csv.Error as error:
        raise Unreadable(f"is no table: {error}") from None
    return replace(found, nonfinite=dict.fromkeys(found.nonfinite)) if cut else found


def last_of(rows: Iterable[Mapping[Any, Any]]) -> Logged:
    """The last number of each metric over rows in the order of time."""
    values: dict[str, float] = {}
    first_bad: dict[str, int | None] = {}
    last_step: dict[str, float] = {}
    times: dict[str, int] = {}
    for row in rows:
        numbers = dict(numbers_in(row)) if any(isinstance(value, dict | list) for value in row.values()) else None
        if numbers is None:
            numbers = {str(name): number for name, value in row.items() if (number := _number(value)) is not None}
        step: int | None = None
        for name in STEP_COLUMNS:
            number = numbers.pop(name, None)
            if number is not None and math.isfinite(number):
                last_step[name] = number
                step = int(number) if step is None else step
        for name, number in numbers.items():
            if not math.isfinite(number):
                first_bad.setdefault(name, step)
            if name in values or len(values) < METRIC_LIMIT:
                values[name] = number
                times[name] = times.get(name, 0) + 1
    return Logged(values, first_bad, last_step, times)


def _objects_in_lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                return  # the last one may be half written; what follows a broken one is no history
            if not isinstance(row, dict):
                return
            yield row


def numbers_in(data: Mapping[Any, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of nested data by dotted name; of a list of numbers the last."""
    pending: list[tuple[str, Any, int]] = [(str(key), value, 0) for key, value in reversed(list(data.items()))]
    count = 0
    while pending and count < METRIC_LIMIT:
        name, value, depth = pending.pop()
        if isinstance(value, Mapping):
            if depth < _DEEPEST:
                pending.extend((f"{name}.{key}", item, depth + 1) for key, item in reversed(list(value.items())))
            continue
        if isinstance(value, list):
            value = value[-1] if value and all(_number(item) is not None for item in value) else None
        number = _number(value)
        if number is not None:
            count += 1
            yield name, number


def _number(value: Any) -> float | None:
    """True and false are no numbers, nor is text that is no numeral."""
    if isinstance(value, str):
        value = value.strip()
        if len(value) > 40 or value[:1] not in "+-.0123456789nNiI" or not value:
            return None
    return as_number(value)
