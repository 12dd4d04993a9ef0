"""What MLflow says of a run (parameters, metrics, tags, times), from whichever store, as a `TrackedRun`.

Invariant: the same run read from a database, a file store or a server is the same record: `mlflow:<run id>`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from tried.draft.values import literal_of
from tried.pool.record import Role
from tried.pool.sources.tracked_run import Status, TrackedRun

KIND: Final = "mlflow"

STATUSES: Final[Mapping[str, Status]] = {
    "RUNNING": "running",
    "SCHEDULED": "waiting",
    "FINISHED": "finished",
    "FAILED": "failed",
    "KILLED": "killed",
    "1": "running",
    "2": "waiting",
    "3": "finished",
    "4": "failed",
    "5": "killed",
}
"""In databases and over REST a word, in file stores a number."""

UNBOUNDED: Final = 1.797e308
"""What is at least as large was infinite: MLflow's databases keep ±1.7976931348623157e308 in its place."""

FOLDER_KEYS: Final = (
    *("hydra.run.dir", "hydra.runtime.output_dir", "hydra_output_dir", "hydra_run_dir", "hydra_dir"),
    *("output_dir", "output_folder", "run_dir", "run_folder"),
)
"""Tags and parameters that name a run's output folder, the first that does so counts."""

PROSE_TAGS: Final = frozenset(
    ("note", "notes", "comment", "comments", "description", "remark", "remarks", "conclusion", "findings", "why")
)
"""A person's tags that are prose by name; so is one whose value is longer than `LONGEST_TAG`."""

ERROR_KEYS: Final = frozenset(
    ("error", "error_message", "exception", "traceback", "stacktrace", "fail_reason", "failure_reason")
)
"""Tags and parameters in which the program of a failed run may have left why."""

LONGEST_TAG: Final = 100
LONGEST_LITERAL: Final = 20_000
"""Characters of a nested parameter that is read; MLflow's longest value has 8,000."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NESTED = ("{", "[")
_SAYS_WHY = re.compile(r"(?!\s*(?:none|null|true|false)\s*\Z).*[^\W\d_]{3}", re.IGNORECASE | re.DOTALL)
_OURS = re.compile(r"tried[./_-]\w+\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """What a run is, without its parameters, metrics and tags. Times are milliseconds since 1970; `status` is a word
    or a number of MLflow's; `experiment` is the experiment's name."""

    run_id: str
    name: str | None = None
    status: str | int | None = None
    started: int | float | None = None
    ended: int | float | None = None
    last_written: int | float | None = None
    experiment: str | None = None


def tracked_run(
    info: RunInfo,
    params: Mapping[str, Any],
    metrics: Mapping[str, Any],
    tags: Mapping[str, str],
    *,
    nonfinite: Mapping[str, int | None] | None = None,
    role: Role = "experiment",
    sweep: str | None = None,
    homes: Sequence[Path] = (),
    places: Sequence[str] = (),
    url: str | None = None,
) -> TrackedRun:
    """A run as MLflow tells it. `metrics` are the last values, NaN and infinities as floats or as MLflow keeps them.

    `nonfinite`: by metric, the first step at which it was no number. `homes`: where the store lies, and the project; a
    relative output folder is told from the first if that is in the second, else from the second. `role` and `sweep` (a
    record's id) follow from the run's family: see `mlflow_family`.
    """
    status = STATUSES.get(str(info.status).upper()) if info.status is not None else None
    written = max((t for t in (info.last_written, info.ended, info.started) if t is not None), default=None)
    error: str | None = None
    if status == "failed" and (left := _error(params, tags)) is not None:
        key, error = left
        params, tags = ({name: value for name, value in said.items() if name != key} for said in (params, tags))
    note, labels = _note_and_labels(tags)
    return TrackedRun(
        kind=KIND,
        native_id=info.run_id,
        name=_name(info, tags),
        status=status,
        params={
            key: value if isinstance(value, str) and not value.startswith(_NESTED) else parameter(value)
            for key, value in params.items()
        },
        metrics={key: metric(value) for key, value in metrics.items()},
        nonfinite=nonfinite or {},
        started=moment(info.started),
        ended=moment(info.ended),
        last_written=moment(written),
        note=note,
        labels=labels,
        error=error,
        experiment=info.experiment,
        parent=_parent(tags),
        sweep=sweep,
        role=role,
        folder=_folder(params, tags, homes),
        commit=tags.get("mlflow.source.git.commit") or None,
        url=url,
        places=places,
    )


def parameter(value: Any) -> Any:
    """A parameter as it was before MLflow made text of it, where that shows: a mapping, or a list longer than what is
    compared as text, is written as Python's `repr`."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if not isinstance(value, str) or len(value) > LONGEST_LITERAL or not value.startswith(_NESTED):
        return value
    if value[0] == "[" and "{" not in value:
        return value
    found = literal_of(value)
    return found if isinstance(found, dict | list) else value


def metric(value: Any) -> Any:
    """A last value; what a database keeps for infinity is infinity."""
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) >= UNBOUNDED:
        return float("inf") if value > 0 else float("-inf")
    return value


def moment(milliseconds: Any) -> datetime | None:
    """The time of MLflow's milliseconds since 1970; None for none, and for what is none."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except (OverflowError, ValueError):
        return None


def record_id(run_id: str) -> str:
    return f"{KIND}:{run_id}"


def place_from(path: Path, project: Path | None) -> str:
    """A path as it is told: from the project where it lies in it, in full elsewhere."""
    path = path.absolute()
    if project is not None and path.is_relative_to(project.absolute()):
        return path.relative_to(project.absolute()).as_posix()
    return path.as_posix()


def project_of_run(tags: Mapping[str, str]) -> tuple[str, str] | None:
    """(project, its part) of a run that `mlflow run` started: a part is a subfolder (`#download`) or an entry point
    other than `main`; "" for the whole. None for other runs."""
    if tags.get("mlflow.source.type") != "PROJECT":
        return None
    project, _, folder = tags.get("mlflow.source.name", "").partition("#")
    entry_point = tags.get("mlflow.project.entryPoint", "main")
    parts = [folder.strip("/")] if folder else []
    parts += [entry_point] if entry_point and entry_point != "main" else []
    return project, ":".join(parts)


def _name(info: RunInfo, tags: Mapping[str, str]) -> str:
    """The run's name; one that `mlflow run` started without any is called after its project and part."""
    name = tags.get("mlflow.runName") or info.name or ""
    if name:
        return name
    project = project_of_run(tags)
    if project is None:
        return ""
    folder = unquote(re.split(r"[/\\]", project[0].rstrip("/\\"))[-1])
    return f"{folder}#{project[1]}" if project[1] else folder


def _note_and_labels(tags: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
    prose: list[str] = []
    labels: dict[str, str] = {}
    for key, value in tags.items():
        if key == "mlflow.note.content":
            prose.insert(0, value)
        elif key.startswith("mlflow.") or key in FOLDER_KEYS:
            continue
        elif not _OURS.match(key) and (key.lower() in PROSE_TAGS or len(value) > LONGEST_TAG):
            prose.append(value if key.lower() in PROSE_TAGS else f"{key}: {value}")
        else:
            labels[key] = value
    return "\n\n".join(text for text in prose if text.strip()) or None, labels


def _error(params: Mapping[str, Any], tags: Mapping[str, str]) -> tuple[str, str] | None:
    """(where a failed run says why, what it says): the longest text of several, since a traceback holds the rest."""
    found = [
        (key, value)
        for key, value in (*tags.items(), *params.items())
        if key.lower() in ERROR_KEYS and isinstance(value, str) and _SAYS_WHY.match(value)
    ]
    return max(found, key=lambda each: len(each[1]), default=None)


def _parent(tags: Mapping[str, str]) -> str | None:
    """What a `tried.parent` tag names: a record's id, or a run's id in MLflow."""
    for key in ("tried.parent", "tried/parent", "tried_parent", "tried-parent"):
        value = tags.get(key, "").strip()
        if value:
            return value if ":" in value else record_id(value)
    return None


def _folder(params: Mapping[str, Any], tags: Mapping[str, str], homes: Sequence[Path]) -> str | None:
    for key in FOLDER_KEYS:
        text = tags.get(key) or params.get(key)
        if not isinstance(text, str) or not text.strip() or "${" in text or "://" in text or "\0" in text:
            continue
        path = Path(text.strip())
        if path.is_absolute():
            return os.path.normpath(path)
        if homes:
            # Which one has it is not asked: the answer would change without the run's doing so.
            home = homes[0] if homes[0].is_relative_to(homes[-1]) else homes[-1]
            return os.path.normpath((home / path).absolute())
    return None
