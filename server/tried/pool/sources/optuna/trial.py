"""What Optuna says of a trial, from whichever storage, as a `TrackedRun`; and of a study, which is a sweep.

Invariant: the same trial read from a database or a journal file is the same record: `optuna:<study>/<number>`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from tried.pool.record import Direction, parse_time
from tried.pool.sources.tracked_run import Status, TrackedRun

KIND: Final = "optuna"
STATES: Final[Mapping[str, Status]] = {
    "RUNNING": "running",
    "COMPLETE": "finished",
    "PRUNED": "pruned",
    "FAIL": "failed",
    "WAITING": "waiting",
    "0": "running",
    "1": "finished",
    "2": "pruned",
    "3": "failed",
    "4": "waiting",
}
"""In databases a word, in journal files a number."""

DIRECTIONS: Final[Mapping[str, Direction]] = {"MINIMIZE": "min", "MAXIMIZE": "max", "1": "min", "2": "max"}
METRIC_NAMES: Final = "study:metric_names"
PROSE: Final = frozenset(
    ("note", "notes", "comment", "comments", "description", "remark", "remarks", "conclusion", "findings", "why")
)
"""User attributes that are prose by name; so is text longer than `LONGEST_LABEL`."""

LONGEST_LABEL: Final = 100
ERROR_ATTRIBUTES: Final = ("fail_reason", "error", "exception", "traceback")
"""Attributes in which a failed trial's reason is kept: the first by old versions of Optuna, the others by people."""


@dataclass(slots=True)
class Study:
    """`directions` one for each objective (None: not set), `names` those of the objectives if somebody set them."""

    name: str
    directions: tuple[Direction | None, ...] = ()
    names: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)

    def objective(self, index: int) -> str:
        if index < len(self.names):
            return self.names[index]
        return "value" if len(self.directions) < 2 else f"values_{index}"

    @property
    def known_directions(self) -> dict[str, Direction]:
        return {self.objective(i): way for i, way in enumerate(self.directions) if way is not None}

    @property
    def only_objective(self) -> str | None:
        return self.objective(0) if len(self.directions) < 2 else None

    @property
    def record_id(self) -> str:
        return f"{KIND}:{self.name}"


@dataclass(slots=True)
class Trial:
    """`params` decoded; `values` and `intermediate` (by step) as floats, NaN and infinities included."""

    number: int
    state: str = "RUNNING"
    started: datetime | None = None
    ended: datetime | None = None
    params: dict[str, Any] = field(default_factory=dict)
    values: dict[int, float] = field(default_factory=dict)
    intermediate: dict[int, float] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    system: dict[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> Status | None:
        return STATES.get(self.state.upper())

    @property
    def is_finished(self) -> bool:
        return self.status in ("finished", "pruned", "failed")


def run_of_trial(study: Study, trial: Trial, places: Sequence[str] = ()) -> TrackedRun:
    """A trial as a run. Planned values of one that waits are its parameters; of one that was cut short, the last value
    that it reported is its metric."""
    status = trial.status
    metrics = {study.objective(index): value for index, value in sorted(trial.values.items())}
    nonfinite: dict[str, int | None] = {}
    if trial.intermediate and len(study.directions) < 2:
        name = study.objective(0)
        last = trial.intermediate[max(trial.intermediate)]
        # Optuna drops the value of a trial that returned NaN: what it reported shows why it failed.
        if status != "failed" or not math.isfinite(last):
            metrics.setdefault(name, last)
        steps = [step for step, value in trial.intermediate.items() if not math.isfinite(value)]
        if steps and name in metrics and not math.isfinite(metrics[name]):
            nonfinite[name] = min(steps)
    planned = trial.system.get("fixed_params")
    params = {**planned, **trial.params} if isinstance(planned, Mapping) else trial.params
    note, labels = _note_and_labels(trial.attributes)
    return TrackedRun(
        kind=KIND,
        native_id=f"{study.name}/{trial.number}",
        name=f"{study.name} #{trial.number}",
        status=status,
        params={str(key): value for key, value in params.items()},
        metrics=metrics,
        nonfinite=nonfinite,
        directions=study.known_directions,
        objective=study.only_objective if metrics else None,
        started=trial.started,
        ended=trial.ended,
        last_written=trial.ended or trial.started,
        note=note,
        labels=labels,
        error=_error(trial) if status == "failed" else None,
        experiment=study.name,
        sweep=study.record_id,
        places=places,
    )


def run_of_study(
    study: Study,
    is_running: bool,
    best: float | None,
    started: datetime | None,
    written: datetime | None,
    places: Sequence[str] = (),
) -> TrackedRun:
    """The study as a whole; `best` is the best value of its trials, if it has one objective, `written` when one of its
    trials last started or ended."""
    note, labels = _note_and_labels(study.attributes)
    name = study.only_objective
    return TrackedRun(
        kind=KIND,
        native_id=study.name,
        name=study.name,
        status="running" if is_running else "finished",
        metrics={name: best} if name is not None and best is not None else {},
        directions=study.known_directions,
        objective=name if best is not None else None,
        started=started,
        last_written=written,
        note=note,
        labels=labels,
        experiment=study.name,
        role="sweep",
        places=places,
    )


def better(one: float | None, other: float | None, direction: Direction | None) -> float | None:
    """The better of two values; what is unknown or not finite is none."""
    known = [value for value in (one, other) if value is not None and math.isfinite(value)]
    if not known:
        return None
    return max(known) if direction == "max" else min(known)


def decoded(value: Any, distribution: Any) -> Any:
    """A parameter's value from the number in which Optuna stores it and the JSON of its distribution: a categorical is
    an index into its choices, an integer is a float."""
    data = loaded(distribution)
    if not isinstance(data, Mapping) or isinstance(value, bool) or not isinstance(value, int | float):
        return value
    attributes = data.get("attributes")
    choices = attributes.get("choices") if isinstance(attributes, Mapping) else None
    if isinstance(choices, list):
        return choices[int(value)] if value == value and 0 <= value < len(choices) else value
    if str(data.get("name", "")).startswith("Int") and float(value).is_integer():
        return int(value)
    return value


def loaded(text: Any) -> Any:
    """JSON; None for what is none."""
    if not isinstance(text, str | bytes):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def time_of(value: Any) -> datetime | None:
    """A time as Optuna writes it; one without a zone, as in databases, is taken for UTC."""
    return parse_time(value.replace(" ", "T", 1)) if isinstance(value, str) else None


def directions_of(values: Sequence[Any]) -> tuple[Direction | None, ...]:
    return tuple(DIRECTIONS.get(str(value).upper()) for value in values)


def names_of(value: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in value) if isinstance(value, list) else ()


def _note_and_labels(attributes: Mapping[str, Any]) -> tuple[str | None, dict[str, str]]:
    prose: list[str] = []
    labels: dict[str, str] = {}
    for key, value in attributes.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        if key.lower() in PROSE:
            prose.append(text)
        elif len(text) > LONGEST_LABEL and not key.startswith("tried"):
            prose.append(f"{key}: {text}")
        else:
            labels[key] = text
    return "\n\n".join(text for text in prose if text.strip()) or None, labels


def _error(trial: Trial) -> str | None:
    for attributes in (trial.system, trial.attributes):
        for name in ERROR_ATTRIBUTES:
            if isinstance(attributes.get(name), str):
                return str(attributes[name])
    return None
