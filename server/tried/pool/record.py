"""The record of one past experiment: the file format itself (schema version 2).

Invariant: what a record came with goes out with it: unknown fields survive a round trip, and a value that we cannot
interpret (a timestamp, a metric) is kept as it was written and is merely not used.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from tried.architecture import ArchitectureFingerprint

SCHEMA_VERSION = 2

Verdict = Literal["dead_end", "works", "inconclusive"]
Cause = Literal["out_of_memory", "diverged", "worse", "code_error", "infrastructure", "stopped", "unknown"]
Direction = Literal["min", "max"]
Role = Literal["experiment", "launcher", "step", "sweep"]
"""`launcher` started other runs, `step` is a part of a pipeline, `sweep` stands for a search as a whole: none of
them is an experiment, so none is evidence."""

CHANGES: Final = frozenset(
    (
        *("ParamChanged", "ParamAdded", "ParamRemoved", "SearchSpaceChanged"),
        *("NodeAdded", "NodeRemoved", "NodeReplaced", "NodeReconfigured", "EdgeAdded", "EdgeRemoved"),
        *("CodeChanged", "Unspecified"),
    )
)
"""The kinds of `Change` that there are; others are kept as they were written."""

_COMPACT_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(?:[-T_]?(\d{2})(\d{2})(\d{2}))?\Z")
_EPOCH_TIME = re.compile(r"(\d{9,10}|\d{12,13})(\.\d+)?\Z")
_KIND_BEFORE_COLON = re.compile(r"[a-z][a-z-]*:")
_FRACTION = re.compile(r"(\.\d{6})\d+")
_DIRECTION_WORDS: dict[str, Direction] = {
    **dict.fromkeys(("min", "minimize", "minimise", "lower", "down"), "min"),
    **dict.fromkeys(("max", "maximize", "maximise", "higher", "up"), "max"),
}


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True, ser_json_inf_nan="constants")


class Duration(_Part):
    """How long a run took; a plain number is seconds."""

    secs: int = 0
    nanos: int = 0

    @model_validator(mode="before")
    @classmethod
    def _bare_seconds(cls, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12:
            whole = int(value)
            return {"secs": whole, "nanos": round((value - whole) * 1e9)}
        return value


class Conclusion(_Part):
    """What came of it. `derived`: a source made it from a run's status, so it earns no importance."""

    headline: str | None = None
    outcome: str | None = None
    derived: bool = False

    @model_validator(mode="before")
    @classmethod
    def _bare_headline(cls, value: Any) -> Any:
        return {"headline": value} if isinstance(value, str) else value


class Change(_Part):
    """One difference from the experiment that a record came from, tagged by `change` (`ParamChanged`, …)."""

    change: str
    key: str | None = None
    from_: Any = Field(default=None, alias="from")
    to: Any = None
    value: Any = None
    node: str | None = None
    reason: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_words(cls, value: Any) -> Any:
        return {"change": "Unspecified", "reason": value} if isinstance(value, str) else value


class MetricDelta(_Part):
    before: float | None = None
    after: float | None = None
    delta: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_delta(cls, value: Any) -> Any:
        return {"delta": value} if value is None or isinstance(value, int | float | str) else value

    @property
    def change(self) -> float | None:
        """after − before, or the stated delta where one of them is unknown; NaN after gives NaN."""
        if self.after is not None and math.isnan(self.after):
            return math.nan
        if self.delta is not None:
            return self.delta
        if self.before is None or self.after is None:
            return None
        return self.after - self.before


class Derivation(_Part):
    """From its parent to a record. `computed`: some of it was worked out from the two, not stated by anybody."""

    from_: str | None = Field(default=None, alias="from")
    to: str | None = None
    changes: list[Change] = Field(default_factory=list)
    metric_delta: dict[str, MetricDelta] = Field(default_factory=dict)
    summary: str | None = None
    computed: bool = False

    @field_validator("changes", "metric_delta", mode="before")
    @classmethod
    def _null_is_nothing(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None:
            return [] if info.field_name == "changes" else {}
        return value


class Embedding(_Part):
    embedder_id: str
    vector: list[float]


class ExperimentRecord(_Part):
    """One past experiment. See docs/journal.md for the fields."""

    id: str = Field(min_length=1)
    name: str = ""
    hypothesis: str | None = None
    pipeline_summary: str = ""
    params: dict[str, Any] = Field(default_factory=dict)
    metrics: dict[str, Any] = Field(default_factory=dict)
    timestamp: str | None = None
    duration: Duration | None = None
    parent: str | None = None
    research_line: str | None = None
    tags: list[str] = Field(default_factory=list)
    notes: str | None = None
    schema_version: int = SCHEMA_VERSION
    kind: str = "experiment"
    run_id: str | None = None
    run_dir: str | None = None
    architecture: ArchitectureFingerprint | None = None
    objective: str | None = None
    conclusion: Conclusion | None = None
    derivation: Derivation | None = None
    git: Any = None
    amends: str | None = None
    embedding: Embedding | None = None
    directions: dict[str, Direction] = Field(default_factory=dict)
    verdict: Verdict | None = None
    cause: Cause | None = None
    url: str | None = None
    source: str | None = None
    generated_headline: str | None = None
    aliases: list[str] = Field(default_factory=list)
    role: Role = "experiment"
    sweep: str | None = None
    experiment: str | None = None
    error: str | None = None
    last_written: str | None = None
    places: list[str] = Field(default_factory=list)

    @field_validator("id", "amends", "parent", mode="before")
    @classmethod
    def _numbers_are_names(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("name", "pipeline_summary", mode="before")
    @classmethod
    def _null_is_empty(cls, value: Any) -> Any:
        return "" if value is None else value

    @field_validator("params", "metrics", mode="before")
    @classmethod
    def _null_is_no_items(cls, value: Any) -> Any:
        return {} if value is None else value

    @field_validator("tags", "aliases", "places", mode="before")
    @classmethod
    def _one_or_none_is_a_list(cls, value: Any) -> Any:
        if value is None:
            return []
        if isinstance(value, str):
            return [value]
        if isinstance(value, list):
            return [item if isinstance(item, str) else str(item) for item in value if item is not None]
        return value

    @field_validator("directions", mode="before")
    @classmethod
    def _direction_words(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return {} if value is None else value
        return {key: _DIRECTION_WORDS.get(str(way).strip().lower(), way) for key, way in value.items()}

    @field_validator("verdict", "cause", mode="before")
    @classmethod
    def _words_in_any_spelling(cls, value: Any) -> Any:
        """`Dead end` and `dead-end` are `dead_end`; no words at all are no verdict."""
        if not isinstance(value, str):
            return value
        return "_".join(value.strip().lower().replace("-", " ").replace("_", " ").split()) or None

    @field_validator("timestamp", mode="before")
    @classmethod
    def _numbers_are_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) else value

    @cached_property
    def time(self) -> datetime | None:
        """The timestamp in UTC; a date alone is its midnight, a naive time is UTC; None if it cannot be read."""
        return parse_time(self.timestamp)

    @cached_property
    def numbers(self) -> Mapping[str, float]:
        """The metrics that are numbers (NaN and infinities included)."""
        found: dict[str, float] = {}
        for key, value in self.metrics.items():
            number = as_number(value)
            if number is not None:
                found[key] = number
        return found

    @property
    def headline(self) -> str:
        """The written headline, else the generated one, else nothing."""
        written = self.conclusion.headline if self.conclusion else None
        return written or self.generated_headline or ""

    @property
    def outcome(self) -> str | None:
        return self.conclusion.outcome if self.conclusion else None

    def to_json(self) -> str:
        """One line of a journal: only the fields that were set, non-finite numbers as text."""
        data = self.model_dump(by_alias=True, exclude_unset=True)
        data.setdefault("schema_version", SCHEMA_VERSION)
        data.setdefault("kind", "experiment")
        return json.dumps(finite(data), ensure_ascii=False, separators=(",", ":"))


JOURNAL: Final = "journal"


def sources_of(record: ExperimentRecord) -> tuple[str, ...]:
    """The kinds of all sources that a record was made from, its own first: those of merged ones stand in `aliases`.
    What names none stands in a journal."""
    others = (alias.partition(":")[0] for alias in record.aliases if _KIND_BEFORE_COLON.match(alias))
    return tuple(dict.fromkeys([*([record.source] if record.source else []), *others])) or (JOURNAL,)


def parse_time(text: str | None) -> datetime | None:
    """RFC 3339, ISO 8601, a bare date, 20260408, 20260408-025151, or seconds or milliseconds since 1970; else None."""
    if not text:
        return None
    text = text.strip(" \t,;").replace(": ", ":")
    try:
        if match := _EPOCH_TIME.match(text):
            return datetime.fromtimestamp(float(text) / (1000 if len(match[1]) > 10 else 1), UTC)
        if match := _COMPACT_TIME.match(text):
            year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
            moment = datetime(year, month, day, hour, minute, second)
        else:
            moment = datetime.fromisoformat(_FRACTION.sub(r"\1", text))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def as_number(value: Any) -> float | None:
    """The number that a JSON value stands for ("nan", "inf" and numerals in text included), else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float | str):
        try:
            return float(value)
        except (ValueError, OverflowError):
            return None
    return None


def finite(value: Any) -> Any:
    """The same JSON data with NaN and infinities as "nan", "inf", "-inf": plain NaN is no JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
