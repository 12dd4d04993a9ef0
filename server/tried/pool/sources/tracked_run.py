"""What a tracker says of a run, and the record that this makes: the one place where a status, an exit code, a log and
tags become outcome, cause, verdict and a generated headline. Every tracker's source hands its runs through here.

Invariant: a record is a pure function of what the tracker said: ids and records are the same on every machine.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from tried.pool.causes import cause_in
from tried.pool.headline import error_line, headline_of
from tried.pool.metric_names import segments_of
from tried.pool.outcome import cause_of, objective_of
from tried.pool.record import Cause, Direction, ExperimentRecord, Role, Verdict, as_number, finite

Status = Literal["finished", "failed", "killed", "running", "waiting", "pruned"]
"""`killed` by a person or a scheduler, or interrupted; `pruned` by a search that saw no use in going on."""

VERDICT_WORDS: Final[Mapping[str, Verdict]] = {
    **dict.fromkeys(("dead end", "deadend"), "dead_end"),
    **dict.fromkeys(("works",), "works"),
    **dict.fromkeys(("inconclusive",), "inconclusive"),
}
"""Tags, and values of a `verdict` label, that are a verdict; `-` and `_` count as a space."""

LABELS: Final = ("verdict", "conclusion", "headline", "hypothesis", "parent", "research_line", "cause", "outcome")
"""What a label `tried.NAME` (or `tried/NAME`, `tried_NAME`) sets. `conclusion` and `headline` are the same."""

OUTCOMES: Final[Mapping[Status, str]] = {
    "finished": "completed",
    "failed": "failed",
    "killed": "stopped",
    "running": "running",
    "waiting": "running",
    "pruned": "pruned",
}

STOPPED_BY_SIGNAL: Final = frozenset({-15, -9, -2, -1, 130, 137, 143, 255})
"""Exit codes of what a person or a scheduler ended. W&B's 255 is an interrupt."""

ERROR_LIMIT: Final = 2_000
"""Characters of an error that a record keeps: its end."""

_LABEL = re.compile(r"tried[./_-](\w+)\Z")
_INTERRUPT = re.compile(r"^(?:KeyboardInterrupt|SystemExit: 0|signal: (?:interrupt|terminated|killed))\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedRun:
    """A run as its tracker tells it. `native_id` is unique among the runs of `kind`, and the same on every machine.

    `params` and `metrics` as they were logged (non-finite numbers as floats); `nonfinite`: by metric, the step at which
    its history first was NaN or infinite (None: not known), for histories that were looked at. `error`: the traceback
    or the end of the log of a run that may have crashed. `tags` are words, `labels` key → value. `parent`: the id of
    the record that somebody recorded as what this run derives from, never a sweep's parent. `sweep` names the search
    that it is a member of; `folder` is the absolute path of its output folder, by which other sources know it too;
    `places` is where it can be looked at: files, folders, addresses.
    """

    kind: str
    native_id: str
    name: str = ""
    status: Status | None = None
    exit_code: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    nonfinite: Mapping[str, int | None] = field(default_factory=dict)
    directions: Mapping[str, Direction] = field(default_factory=dict)
    objective: str | None = None
    started: datetime | None = None
    ended: datetime | None = None
    last_written: datetime | None = None
    seconds: float | None = None
    note: str | None = None
    tags: Sequence[str] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None
    experiment: str | None = None
    research_line: str | None = None
    parent: str | None = None
    sweep: str | None = None
    role: Role = "experiment"
    folder: str | None = None
    commit: str | None = None
    dirty: bool | None = None
    url: str | None = None
    aliases: Sequence[str] = ()
    places: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the record, as they are (architecture, pipeline_summary, …)."""

    @property
    def record_id(self) -> str:
        return f"{self.kind}:{self.native_id}"


def record_of(run: TrackedRun) -> ExperimentRecord:
    """The record of a run. Never raises for what a tracker may hold."""
    ours = _own_labels(run.labels)
    tags = [*run.tags, *(_tag(key, value) for key, value in run.labels.items() if not _LABEL.match(key))]
    metrics = {str(key): finite(value) for key, value in run.metrics.items()}
    fields: dict[str, Any] = {
        "id": run.record_id,
        "name": run.name,
        "params": dict(run.params),
        "metrics": metrics,
        "timestamp": _moment(run.started or run.ended),
        "duration": _duration(run),
        "parent": run.parent or ours.get("parent"),
        "research_line": ours.get("research_line") or run.research_line or run.experiment,
        "experiment": run.experiment,
        "tags": list(dict.fromkeys(tag for tag in tags if tag)),
        "notes": run.note.strip() if run.note and run.note.strip() else None,
        "hypothesis": ours.get("hypothesis"),
        "objective": run.objective,
        "directions": dict(run.directions),
        "run_id": run.native_id,
        "run_dir": run.folder,
        "role": run.role if run.role != "experiment" else None,
        "sweep": run.sweep,
        "git": _git(run),
        "url": run.url,
        "source": run.kind,
        "verdict": _verdict(ours, run.tags),
        "error": run.error.strip()[-ERROR_LIMIT:] if run.error and run.error.strip() else None,
        "last_written": _moment(run.last_written),
        "aliases": list(run.aliases),
        "places": list(run.places),
        **run.more,
    }
    outcome, cause = _ending(run, fields)
    headline = ours.get("conclusion") or ours.get("headline")
    if headline:
        fields["conclusion"] = {"headline": headline, "outcome": ours.get("outcome") or outcome}
    elif outcome:
        fields["conclusion"] = {"outcome": outcome, "derived": True}
    fields["cause"] = _stated_cause(ours) or cause
    record = ExperimentRecord.model_validate(
        {key: value for key, value in fields.items() if value not in (None, [], {})}
    )
    generated = headline_of(record, run.nonfinite)
    return record.model_copy(update={"generated_headline": generated}) if generated else record


def _ending(run: TrackedRun, fields: Mapping[str, Any]) -> tuple[str | None, Cause | None]:
    """(outcome, cause) of all that is known of how it ended."""
    status, error = run.status, run.error or ""
    interrupted = bool(_INTERRUPT.search(error[-ERROR_LIMIT:]))
    if run.exit_code is not None and run.exit_code != 0 and status not in ("running", "waiting"):
        status = "killed" if run.exit_code in STOPPED_BY_SIGNAL or interrupted else "failed"
    elif error.strip() and status in (None, "finished"):
        status = "killed" if interrupted else "failed"
    elif interrupted and status == "failed":
        status = "killed"
    outcome = OUTCOMES[status] if status is not None else None
    if status == "killed":
        out_of_memory = cause_in(error, broken=True) == "out_of_memory"
        return ("failed", "out_of_memory") if out_of_memory else (outcome, "stopped")
    if status in ("running", "waiting"):
        return outcome, None
    if _is_diverged(fields, run.nonfinite):
        return "failed", "diverged"
    if status == "failed":
        return outcome, (cause_in(error_line(error), broken=True) or cause_in(error, broken=True)) if error else None
    return outcome, None


def _is_diverged(fields: Mapping[str, Any], nonfinite: Mapping[str, int | None]) -> bool:
    """What it is judged by, or a loss, ended as no finite number. A metric of another kind that is NaN (a class without
    examples) tells nothing."""
    numbers = {name: number for name, value in fields["metrics"].items() if (number := as_number(value)) is not None}
    if all(math.isfinite(number) for number in numbers.values()):
        return False
    record = ExperimentRecord.model_construct(
        id="", metrics=fields["metrics"], objective=fields["objective"], directions=fields["directions"]
    )
    judged = objective_of(record)
    if judged is not None and not math.isfinite(judged[1]):
        return math.isnan(judged[1]) or cause_of(_failed(record)) == "diverged"
    losses = [name for name in numbers if "loss" in segments_of(name)]
    return any(not math.isfinite(numbers[name]) for name in losses)


def _failed(record: ExperimentRecord) -> ExperimentRecord:
    return ExperimentRecord.model_validate(
        {"id": "x", "metrics": record.metrics, "directions": record.directions, "conclusion": {"outcome": "failed"}}
        | ({"objective": record.objective} if record.objective else {})
    )


def _own_labels(labels: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in labels.items():
        match = _LABEL.match(key.strip())
        if match and match[1].lower() in LABELS and value.strip():
            found[match[1].lower()] = value.strip()
    return found


def _verdict(ours: Mapping[str, str], tags: Sequence[str]) -> Verdict | None:
    words = [ours["verdict"]] if "verdict" in ours else [tag for tag in tags if tag]
    found = {VERDICT_WORDS.get(" ".join(re.split(r"[\s_-]+", word.strip().lower()))) for word in words} - {None}
    return found.pop() if len(found) == 1 else None


def _stated_cause(ours: Mapping[str, str]) -> Cause | None:
    word = "_".join(re.split(r"[\s_-]+", ours.get("cause", "").strip().lower()))
    return next((cause for cause in get_args(Cause) if cause == word), None)


def _tag(key: str, value: str) -> str:
    return key if value.strip().lower() in ("", "true", "yes", "1") else f"{key}={value.strip()}"


def _duration(run: TrackedRun) -> float | None:
    if run.seconds is not None:
        return run.seconds if 0 <= run.seconds < 1e12 else None
    if run.started is None or run.ended is None:
        return None
    seconds = (run.ended - run.started).total_seconds()
    return seconds if seconds >= 0 else None


def _moment(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC; naive ones are taken for UTC."""
    if moment is None:
        return None
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _git(run: TrackedRun) -> dict[str, Any] | None:
    if not run.commit:
        return None
    return {"sha": run.commit} if run.dirty is None else {"sha": run.commit, "dirty": run.dirty}
