"""What a run has for a name that a condition asks for.

Invariant: a record is read only where the columns of the history do not tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tried.draft.parameters import RecordedValue, comparable, normalise_key
from tried.pool.history.run import Run
from tried.pool.record import ExperimentRecord, sources_of
from tried.review.runs import is_concluded

Owner: TypeAlias = Literal["field", "param", "metric"]


@dataclass(frozen=True, slots=True)
class Name:
    """What a condition asks for: the field or the comparable key, as it was written, and where."""

    written: str
    key: str
    offset: int
    owner: Owner | None


def values_of(run: Run, name: Name) -> Iterator[object]:
    """Comparable values of a parameter or metric of a run; parameters before metrics."""
    if name.owner in (None, "param"):
        for parameters in _parameters(run):
            found = [recorded.value for key, recorded in parameters.items() if _is_called(key, name.key)]
            if found:
                yield from found
                return
    if name.owner == "param":
        return
    for metric, value in run.record.metrics.items():
        if _is_called(normalise_key(metric), name.key):
            yield comparable(value)


def _is_called(key: str, name: str) -> bool:
    """By its whole key, or by its last segments."""
    return key == name or key.endswith(f".{name}")


def _parameters(run: Run) -> Iterator[Mapping[str, RecordedValue]]:
    """What makes the experiment; then, for those who go on, seeds, names and hardware, for which the record is read."""
    yield run.in_force
    yield run.volatile


def field_values(run: Run, name: str) -> list[object]:
    """The values of a field; text in comparable form, but for `time` (a datetime)."""
    record = run.record
    match name:
        case "id":
            return [comparable(one) for one in (record.id, *record.aliases)]
        case "outcome":
            return [table_word(record.outcome)]
        case "ending":
            return [run.ending]
        case "cause":
            return [run.cause]
        case "verdict":
            return [record.verdict]
        case "concluded":
            return [("bool", is_concluded(record))]
        case "tag":
            return [comparable(tag) for tag in record.tags] or [None]
        case "source":
            return [comparable(kind) for kind in sources_of(record)]
        case "line":
            return [comparable(record.research_line)]
        case "headline":
            return [comparable(record.headline)]
        case "time":
            return [record.time]
        case "duration":
            return [record.duration.secs + record.duration.nanos / 1e9 if record.duration else None]
    return [comparable(getattr(record, name))]


def texts_of(run: Run, name: Name) -> Iterator[str]:
    """What `~` looks into, in lower case."""
    if name.owner == "field":
        record = run.record
        told: list[str | None] = [
            *_several(record, name.key),
            record.research_line if name.key == "line" else None,
            record.timestamp if name.key == "time" else None,
        ]
        if name.key not in ("id", "tag", "source", "line", "time", "duration", "concluded", "ending", "cause"):
            value = getattr(record, name.key)
            told.append(value if isinstance(value, str) else None)
        if name.key == "cause":
            told.append(run.cause)
        yield from (text.casefold() for text in told if text)
        return
    for parameters in _parameters(run) if name.owner != "metric" else ():
        for key, recorded in parameters.items():
            if _is_called(key, name.key):
                yield str(recorded.recorded).casefold()


def _several(record: ExperimentRecord, name: str) -> Sequence[str]:
    """The values of a field that can have several."""
    match name:
        case "id":
            return (record.id, *record.aliases)
        case "tag":
            return record.tags
        case "source":
            return sources_of(record)
    return ()


def table_word(text: str | None) -> str | None:
    return "_".join(text.casefold().replace("-", " ").replace("_", " ").split()) if text and text.strip() else None
