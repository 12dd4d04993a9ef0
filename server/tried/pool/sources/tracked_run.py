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

from pydantic import ValidationError

from tried.pool.causes import cause_in
from tried.pool.headline import error_line, headline_of
from tried.pool.metric_names import segments_of
from tried.pool.outcome import cause_of, objective_of
from tried.pool.record import Cause, Direction, ExperimentRecord, Role, Verdict, as_number, finite
from tried.pool.sources.common.run_log import is_stopped_from_outside
from tried.pool.sources.secrets import without_secrets

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
    "waiting": "running",  # nothing has come of it yet either
    "pruned": "pruned",
}

STOPPED_BY_SIGNAL: Final = frozenset({-15, -9, -2, -1, 130, 137, 143, 255})
"""Exit codes of what a person or a scheduler ended. W&B's 255 is an interrupt."""

BROKEN_BY_SIGNAL: Final = frozenset({-11, -8, -6, -4, 132, 134, 136, 139})
"""Exit codes of a program that broke: illegal instruction, abort, arithmetic, segmentation fault."""

ERROR_LIMIT: Final = 2_000
"""Characters of an error that a record keeps: its end."""

TAG_LIMIT: Final = 200
"""Characters of a label that is shown as a tag."""

_DEPTH_LIMIT: Final = 32
_INTEGER_BITS: Final = 4_096

_LABEL = re.compile(r"tried[./_-](\w+)\Z")
_SEPARATORS = re.compile(r"[\s_-]+")
_SCALARS: Final = frozenset({float, bool, type(None)})
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
    """The record of a run. Never raises for what a tracker may hold.

    How it ended, the first that applies: an error or exit code that tells of an interrupt or of a scheduler is
    `stopped`, but memory that ran out is a failure; an exit code that is not 0, or an error at the end of the log, is a
    failure whatever the status says; a loss, or what it is judged by, that is no finite number is divergence, whoever
    then ended the run; else what the status says. `tried.outcome` and `tried.cause` of a person go before all that.
    """
    labels = {str(key).strip(): "" if value is None else str(value).strip() for key, value in run.labels.items()}
    ours = _own_labels(labels)
    tags = [str(tag).strip() for tag in run.tags]
    tags += [_tag(key, value) for key, value in labels.items() if not _LABEL.match(key)]
    note, error = (run.note or "").strip(), (run.error or "")[-ERROR_LIMIT:].strip()
    fields: dict[str, Any] = {
        "id": run.record_id,
        "name": run.name,
        "params": _plain_params(run.params),
        "metrics": {str(key): finite(value) for key, value in run.metrics.items()},
        "timestamp": _moment(run.started or run.ended),
        "duration": _duration(run),
        "parent": run.parent or ours.get("parent"),
        "research_line": ours.get("research_line") or run.research_line or run.experiment,
        "experiment": run.experiment,
        "tags": list(dict.fromkeys(tag for tag in tags if tag)),
        "notes": note or None,
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
        "verdict": _verdict(ours.get("verdict") or labels.get("verdict"), tags),
        "error": error or None,
        "last_written": _moment(run.last_written),
        "aliases": list(run.aliases),
        "places": list(run.places),
        **run.more,
    }
    outcome, cause = _ending(run, error, fields)
    fields = without_secrets(fields)
    headline, stated = ours.get("conclusion") or ours.get("headline"), ours.get("outcome")
    if headline or stated:
        fields["conclusion"] = {"headline": headline, "outcome": stated or outcome}
    elif outcome:
        fields["conclusion"] = {"outcome": outcome, "derived": True}
    fields["cause"] = _stated_cause(ours) or (cause if stated in (None, outcome) else None)
    record = _validated(
        {
            key: value if key == "params" or (type(value) is str and value.isascii()) else _plain(value, 0)
            for key, value in fields.items()
            if value not in (None, [], {})
        }
    )
    if generated := headline_of(record, run.nonfinite):
        record.generated_headline = generated
    return record


def _ending(run: TrackedRun, error: str, fields: Mapping[str, Any]) -> tuple[str | None, Cause | None]:
    """(outcome, cause) of all that is known of how it ended."""
    status, code = run.status, run.exit_code
    interrupted = bool(error) and bool(_INTERRUPT.search(error) or is_stopped_from_outside(error))
    broken = bool(code) or (bool(error) and status in (None, "finished", "running"))
    if status == "waiting":
        return OUTCOMES[status], None
    if code == 0 and status in (None, "running") and not error:
        status = "finished"
    elif broken or (interrupted and status == "failed"):
        status = "killed" if interrupted or code in STOPPED_BY_SIGNAL else "failed"
    if status is None:
        return ("failed", "diverged") if is_diverged(fields) else (None, None)
    if status == "running":
        return OUTCOMES[status], None
    said: Cause | None = None
    if error and status in ("killed", "failed"):
        said = cause_in(error_line(error), broken=True) or cause_in(error, broken=True)
        if said == "out_of_memory":
            return "failed", said
    if is_diverged(fields):
        return "failed", "diverged"
    if status == "killed":
        return OUTCOMES[status], "stopped"
    if status != "failed":
        return OUTCOMES[status], None
    return OUTCOMES[status], said or ("code_error" if code in BROKEN_BY_SIGNAL else None)


def is_diverged(fields: Mapping[str, Any]) -> bool:
    """Whether what a run is judged by, or a loss, ended as no finite number. A metric of another kind that is NaN (a
    class without examples) tells nothing. `fields` are those of its record; it has `metrics`."""
    numbers = {name: number for name, value in fields["metrics"].items() if (number := as_number(value)) is not None}
    if all(math.isfinite(number) for number in numbers.values()):
        return False
    record = ExperimentRecord.model_construct(
        id="", metrics=fields["metrics"], objective=fields.get("objective"), directions=fields.get("directions") or {}
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
        match = _LABEL.match(key)
        if match and match[1].lower() in LABELS and value:
            found[match[1].lower()] = value
    return found


def _verdict(stated: str | None, tags: Sequence[str]) -> Verdict | None:
    """What one of the words says, None where they contradict each other."""
    words = [stated] if stated else tags
    found = {VERDICT_WORDS.get(_SEPARATORS.sub(" ", word.strip().lower())) for word in words} - {None}
    return found.pop() if len(found) == 1 else None


def _stated_cause(ours: Mapping[str, str]) -> Cause | None:
    if "cause" not in ours:
        return None
    word = _SEPARATORS.sub("_", ours["cause"].lower())
    return next((cause for cause in get_args(Cause) if cause == word), None)


def _tag(key: str, value: str) -> str:
    tag = key if value.lower() in ("", "true", "yes", "1") else f"{key}={value}"
    return tag if len(tag) <= TAG_LIMIT else f"{tag[: TAG_LIMIT - 1]}…"


def _duration(run: TrackedRun) -> float | None:
    seconds = run.seconds
    if seconds is None and run.started is not None and run.ended is not None:
        seconds = (_aware(run.ended) - _aware(run.started)).total_seconds()
    return seconds if seconds is not None and 0 <= seconds < 1e12 else None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _moment(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC; naive ones are taken for UTC."""
    if moment is None:
        return None
    try:
        return _aware(moment).astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return None


def _plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON can hold them: most are so already, and those of most trackers are all text."""
    try:
        if "".join(params).isascii() and "".join(params.values()).isascii():
            return dict(params)
    except TypeError:
        pass
    return {
        key if type(key) is str and key.isascii() else _text(str(key)): value
        if type(value) in _SCALARS or (type(value) is str and value.isascii())
        else _plain(value, 0)
        for key, value in params.items()
    }


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _INTEGER_BITS else hex(value)
    if depth >= _DEPTH_LIMIT:
        return "…"
    if isinstance(value, Mapping):
        return {_text(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth + 1) for item in value]
    return _text(str(value))


def _text(text: str) -> str:
    """Without lone surrogates, which no file can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _validated(fields: dict[str, Any]) -> ExperimentRecord:
    """The record; a field that is not what it should be is left out, one after the other."""
    for _ in range(2 * len(ExperimentRecord.model_fields)):
        try:
            return ExperimentRecord.model_validate(fields)
        except ValidationError as failure:
            name = str(failure.errors(include_url=False, include_context=False)[0]["loc"][0])
            if name == "id":
                fields["id"] = f"{fields.get('source') or 'run'}:?"
            else:
                fields.pop(name, None)
    return ExperimentRecord(id=str(fields["id"]))


def _git(run: TrackedRun) -> dict[str, Any] | None:
    if not run.commit:
        return None
    return {"sha": run.commit} if run.dirty is None else {"sha": run.commit, "dirty": run.dirty}
