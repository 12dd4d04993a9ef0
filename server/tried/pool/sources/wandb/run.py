"""What W&B says of a run (configuration, summary, notes, tags, state), from a folder or a server, as a `TrackedRun`.

Invariant: the same run read from its folder or from the server has the same id, `wandb:<run id>`.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tried.pool.record import Direction, Role, as_number
from tried.pool.sources.tracked_run import Status, TrackedRun

KIND: Final = "wandb"

STATES: Final[Mapping[str, Status]] = {
    "running": "running",
    "pending": "waiting",
    "finished": "finished",
    "failed": "failed",
    "killed": "killed",
    "crashed": "killed",
    "preempting": "killed",
    "preempted": "killed",
}
"""A server's states. `crashed` only says that the run's process was no longer heard of: the machine went down, or
somebody ended it."""

NOT_PARAMETERS: Final = frozenset({"_wandb", "wandb_version"})
NO_PROJECT: Final = "uncategorized"
"""W&B's name for the project of runs that name none."""

LAUNCHERS: Final = frozenset({"sweep-controller", "sweep-scheduler", "launcher", "launch-agent", "sweep-agent"})
"""Job types of runs that start other runs."""

STEPS: Final = frozenset(
    {
        *("dataset-upload", "upload-dataset", "data-upload", "upload-data", "dataset-creation", "create-dataset"),
        *("data-preparation", "prepare-data", "data-prep", "preprocess", "preprocessing", "preprocess-data"),
        *("download-data", "data-split", "split-data", "upload", "download"),
    }
)
"""Job types of parts of a pipeline, if they have no metrics: a run of that type that has some is an experiment."""

FOLDER_KEYS: Final = (
    *("hydra.runtime.output_dir", "hydra.run.dir", "hydra_output_dir", "hydra_run_dir", "hydra_dir"),
    *("output_dir", "output_folder", "run_dir", "run_folder"),
)
"""Parameters that name a run's output folder; the first that does so counts."""

SUMMARIES: Final = ("last", "best", "min", "max", "mean", "first", "copy", "none")
"""What `define_metric(…, summary=…)` puts below a metric's name."""

DEPTH_LIMIT: Final = 6
METRIC_LIMIT: Final = 5_000
TEXT_LIMIT: Final = 20_000

_LABEL = re.compile(r"tried[./_-]\w+\Z")
_TAG_LABEL = re.compile(r"(tried[./_-]\w+)\s*[=:]\s*(.+)\Z", re.DOTALL)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True, kw_only=True)
class WandbRun:
    """What is known of a run; empty text and None: not known. `config` and `summary` as W&B has them, without the
    `{desc, value}` around each value of a configuration. `home` is the folder that relative paths are told from."""

    run_id: str
    name: str = ""
    project: str = ""
    entity: str = ""
    group: str = ""
    job_type: str = ""
    notes: str = ""
    tags: Sequence[str] = ()
    sweep: str = ""
    fork_of: str = ""
    commit: str = ""
    status: Status | None = None
    exit_code: int | None = None
    started: datetime | None = None
    last_written: datetime | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    summary: Mapping[str, Any] = field(default_factory=dict)
    directions: Mapping[str, Direction] = field(default_factory=dict)
    first_bad: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None
    folder: str | None = None
    home: str = ""
    places: Sequence[str] = ()
    url: str | None = None


def tracked_run(run: WandbRun) -> TrackedRun:
    """Never raises for what W&B may hold."""
    metrics = metrics_of(run.summary)
    runtime, ended = _times(run.summary)
    project = "" if run.project == NO_PROJECT else run.project
    tags, labels = _tags_and_labels(run)
    bad = [name for name, value in metrics.items() if not math.isfinite(value)]
    return TrackedRun(
        kind=KIND,
        native_id=run.run_id,
        name=run.name or run.run_id,
        status=run.status,
        exit_code=run.exit_code,
        params={key: value for key, value in run.config.items() if key not in NOT_PARAMETERS and not _LABEL.match(key)},
        metrics=metrics,
        nonfinite={name: _first_bad(run.first_bad, name) for name in bad},
        directions={name: way for name, way in run.directions.items() if name in metrics},
        started=run.started,
        ended=ended,
        last_written=run.last_written,
        seconds=runtime,
        note=run.notes,
        tags=tags,
        labels=labels,
        error=run.error,
        experiment=project or None,
        research_line=project or None,
        parent=_parent(run, labels),
        sweep=f"{KIND}:sweep/{run.sweep}" if run.sweep else None,
        role=_role(run.job_type, metrics),
        folder=run.folder or _folder(run.config, run.home),
        commit=run.commit or None,
        url=run.url,
        places=run.places,
    )


def values_of(config: Any) -> dict[str, Any]:
    """A configuration without the `{desc, value}` around each value; anything that is no mapping has none."""
    if not isinstance(config, dict):
        return {}
    return {str(key): item["value"] if _is_wrapped(item) else item for key, item in config.items()}


def _is_wrapped(item: Any) -> bool:
    return isinstance(item, dict) and "value" in item and item.keys() <= {"desc", "value"}


def metrics_of(summary: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a summary. Nested ones have dotted names (`eval.f1`); what `define_metric` keeps of a metric goes
    by the metric's name if it is one thing (`{"val_loss": {"min": 0.3}}` is `val_loss`). Media, text, lists and W&B's
    own keys (`_step`) are left out; "NaN" and "Infinity" in text, as a server has them, are numbers."""
    found: dict[str, float] = {}
    for name, value in _numbers("", summary, 0):
        if len(found) >= METRIC_LIMIT:
            break
        found.setdefault(name, value)
    return found


def _numbers(prefix: str, values: Mapping[str, Any], depth: int) -> Iterator[tuple[str, float]]:
    for key, value in values.items():
        if not isinstance(key, str) or (depth == 0 and key.startswith("_")):
            continue
        name = f"{prefix}.{key}" if prefix else key
        if isinstance(value, dict):
            if "_type" in value or depth >= DEPTH_LIMIT:
                continue
            if len(value) == 1 and (number := _number(next(iter(value.values())))) is not None:
                only = next(iter(value))
                yield (name if only in SUMMARIES else f"{name}.{only}"), number
            else:
                yield from _numbers(name, value, depth + 1)
        elif (number := _number(value)) is not None:
            yield name, number


def _number(value: Any) -> float | None:
    if isinstance(value, str) and value.strip().lower().lstrip("+-") not in ("nan", "inf", "infinity"):
        return None
    number = as_number(value)
    return value if number is not None and isinstance(value, int) else number


def _first_bad(first_bad: Mapping[str, int], name: str) -> int | None:
    """A metric's step, also where the summary has an aggregate of it (`val_loss.min`)."""
    if name in first_bad:
        return first_bad[name]
    base, _, last = name.rpartition(".")
    return first_bad.get(base) if last in SUMMARIES else None


def _times(summary: Mapping[str, Any]) -> tuple[float | None, datetime | None]:
    """(seconds that it ran, when it last logged)"""
    own = summary.get("_wandb")
    stated = (summary.get("_runtime"), own.get("runtime") if isinstance(own, dict) else None)
    seconds = [number for value in stated if (number := as_number(value)) is not None and math.isfinite(number)]
    runtime = max(seconds, default=0.0)
    return (runtime if runtime > 0 else None), moment(summary.get("_timestamp"))


def moment(value: Any) -> datetime | None:
    """Seconds since 1970, or a date and time in text (UTC where it does not say); None for what is neither."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", value.strip()))
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
            return _EPOCH + timedelta(seconds=value)
    except (ValueError, OverflowError):
        pass
    return None


def _tags_and_labels(run: WandbRun) -> tuple[list[str], dict[str, str]]:
    """A tag, a key of the configuration or of the summary may set a label: `tried.parent=…`, `tried.conclusion: …`."""
    labels: dict[str, str] = {}
    tags: list[str] = []
    for source in (run.config, run.summary):
        own = source.get("tried")
        stated = {**source, **({f"tried.{key}": value for key, value in own.items()} if isinstance(own, dict) else {})}
        for key, value in stated.items():
            if _LABEL.match(str(key)) and isinstance(value, str) and len(value) <= TEXT_LIMIT:
                labels[key] = value
    for tag in run.tags:
        if match := _TAG_LABEL.match(tag):
            labels[match[1]] = match[2]
        else:
            tags.append(tag)
    if run.group:
        labels.setdefault("group", run.group)
    if run.job_type:
        labels.setdefault("job_type", run.job_type)
    return tags, labels


def _parent(run: WandbRun, labels: Mapping[str, str]) -> str | None:
    """What somebody named, else the run that this one was forked from."""
    for key in ("tried.parent", "tried/parent", "tried_parent", "tried-parent"):
        if value := labels.get(key, "").strip():
            return value if ":" in value else f"{KIND}:{value}"
    return f"{KIND}:{run.fork_of}" if run.fork_of and run.fork_of != run.run_id else None


def _role(job_type: str, metrics: Mapping[str, float]) -> Role:
    word = re.sub(r"[\s_]+", "-", job_type.strip().lower())
    if word in LAUNCHERS:
        return "launcher"
    return "step" if word in STEPS and not metrics else "experiment"


def _folder(config: Mapping[str, Any], home: str) -> str | None:
    for key in FOLDER_KEYS:
        text = config.get(key, _nested(config, key.split(".")))
        if not isinstance(text, str) or not text.strip() or "${" in text or "://" in text or "\0" in text:
            continue
        path = Path(home) / text.strip()
        if path.is_absolute():
            return os.path.normpath(path)
    return None


def _nested(config: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = config
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def from_json(text: Any) -> Any:
    """The value of JSON text, NaN included; None where it cannot be read."""
    if isinstance(text, dict):
        return text
    if not isinstance(text, str):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
