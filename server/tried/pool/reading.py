"""One line of JSON → records, and words for what of it could not be read.

A record is lost only if it is no JSON object or has no id, nor another name for one (`foreign_lines`). A field that is
not what it should be (`"metrics": 3`) is left out of what we use; a value that says nothing to us (`"timestamp":
"yesterday"`) stays in the record. Both are said; the file itself is never changed.

Invariant: nothing here raises, whatever the bytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from tried.pool.foreign_lines import as_record
from tried.pool.record import CHANGES, ExperimentRecord, as_number

KINDS: Final = ("experiment", "amendment")
DEPTH_LIMIT: Final = 100
"""Levels of lists and objects in one record."""

_REPAIRS: Final = 50
_SHOWN: Final = 40
_OBJECTS: Final = {
    "Duration": "seconds, or an object with `secs` and `nanos`",
    "Conclusion": "an object, or a text for its headline",
    "MetricDelta": "a number, or an object with `before` and `after`",
    "Change": "an object, or a text",
}
"""What may stand where one of our classes is expected; an object where it is none of these."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The records of a line (one, but for lines that were glued together) and why something is missing.

    `remarks` are about values that are in the records and that nobody can use.
    `whole`: it is JSON to its end. A line that is not yet written to its end never is.
    """

    records: tuple[ExperimentRecord, ...] = ()
    complaints: tuple[str, ...] = ()
    whole: bool = True
    remarks: tuple[str, ...] = ()


def read_line(line: bytes) -> Reading:
    """Read one line of a journal; an empty one is nothing."""
    complaints: list[str] = []
    try:
        record = ExperimentRecord.model_validate_json(line)
    except ValidationError:
        return _read_with_care(line)
    if line.count(b"{") + line.count(b"[") > DEPTH_LIMIT and _is_deeper(record.model_dump(), DEPTH_LIMIT):
        return Reading(complaints=(_too_deep(),))
    if record.kind not in KINDS:
        complaints.append(_unknown_kind(record.kind))
        return Reading(complaints=tuple(complaints))
    return Reading((record,), remarks=remarks_on(record))


def _read_with_care(line: bytes) -> Reading:
    """The slow path: what the strict parser refused, item by item."""
    complaints: list[str] = []
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        text = line.decode("utf-8", "replace")
        complaints.append(f"invalid UTF-8 at byte {error.start + 1}, read with replacement characters")
    text = text.strip().lstrip("\ufeff")
    if not text:
        return Reading(complaints=tuple(complaints))
    records: list[ExperimentRecord] = []
    decoder = json.JSONDecoder(parse_int=_integer)
    at, whole = 0, True
    while at < len(text):
        try:
            data, at = decoder.raw_decode(text, at)
        except RecursionError:
            complaints.append(_too_deep())
            whole = False
            break
        except ValueError as error:
            complaints.append(_no_json(error))
            whole = False
            break
        if _is_deeper(data, DEPTH_LIMIT):
            complaints.append(_too_deep())
        elif not isinstance(data, dict):
            complaints.append(f"expected a JSON object, found {_kind_of_json(data)}")
        else:
            _repair(_without_surrogates(data), records, complaints)
        while at < len(text) and text[at] in " \t\r":
            at += 1
    return Reading(tuple(records), tuple(complaints), whole, tuple(r for record in records for r in remarks_on(record)))


def remarks_on(record: ExperimentRecord) -> tuple[str, ...]:
    """What the record says that cannot be read: a time, metrics, kinds of change. One remark for each of the three."""
    remarks: list[str] = []
    if record.timestamp and record.time is None:
        remarks.append(f"`timestamp` is not used: {_shown(record.timestamp)} is no time such as 2026-03-01T10:00:00Z")
    words = [name for name, value in record.metrics.items() if type(value) not in (float, int) and _is_no_number(value)]
    if words:
        first = f"`metrics.{words[0][:_SHOWN]}` is not used: {_shown(record.metrics[words[0]])} is no number"
        remarks.append(first + _and_more(len(words) - 1))
    changes = record.derivation.changes if record.derivation else ()
    if unknown := [index for index, change in enumerate(changes) if change.change not in CHANGES]:
        first = (
            f"`derivation.changes.{unknown[0]}` is not used: {_shown(changes[unknown[0]].change)} is no kind of change"
        )
        remarks.append(first + _and_more(len(unknown) - 1))
    return tuple(remarks)


def _is_no_number(value: object) -> bool:
    return value is not None and as_number(value) is None


def _shown(value: object) -> str:
    if isinstance(value, str):
        return repr(value[:_SHOWN]) if len(value) <= _SHOWN else f"{value[:_SHOWN]!r}…"
    return _kind_of_json(value)


def _and_more(count: int) -> str:
    return f" (and {count:,} more like it)" if count else ""


def _repair(data: dict[str, Any], records: list[ExperimentRecord], complaints: list[str]) -> None:
    """Leave out, one by one, the items that are not what they should be."""
    kind = data.get("kind", "experiment")
    if kind is not None and kind not in KINDS:
        complaints.append(_unknown_kind(kind))
        return
    if data.get("id") is None and (translated := as_record(data)) is not None:
        data = translated
    if isinstance(data.get("id"), bool) or data.get("id") in (None, "") or not isinstance(data["id"], str | int):
        complaints.append('no id: every record needs one, such as "id": "run-17"')
        return
    for _ in range(_REPAIRS):
        try:
            records.append(ExperimentRecord.model_validate(data))
            return
        except ValidationError as failure:
            error = failure.errors(include_url=False, include_context=False)[0]
            place = _remove(data, error["loc"])
            complaints.append(f"`{place}` was left out: {_words_for(error)}")
    complaints.append("too many fields that are not what they should be; the record was left out")


def _remove(data: Any, place: tuple[int | str, ...]) -> str:
    """Delete the item that a validation error points at (or what it lies in), and return its path."""
    container, key, path = data, place[0], [str(place[0])]
    for step in place[1:]:
        inner = container.get(key) if isinstance(container, dict) else container[key]
        if (isinstance(inner, dict) and step in inner) or (
            isinstance(inner, list) and isinstance(step, int) and step < len(inner)
        ):
            container, key = inner, step
            path.append(str(step))
        else:
            break
    if isinstance(container, dict):
        container.pop(key, None)
    elif isinstance(container, list) and isinstance(key, int) and key < len(container):
        del container[key]
    return ".".join(path)


def _words_for(error: ErrorDetails) -> str:
    if error["type"] == "missing":
        return f"it has no `{error['loc'][-1]}`"
    words = _lower_first(error["msg"])
    words = re.sub(r"an? .*\binstance of (\w+)", lambda match: _OBJECTS.get(match[1], "an object"), words)
    return words.replace("input should be", "it should be").replace("a valid dictionary", "an object")


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        following: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                following.extend(item.values())
            elif isinstance(item, list | tuple):
                following.extend(item)
        if not following:
            return False
        level = following
    return any(isinstance(item, dict | list | tuple) for item in level)


def _without_surrogates(value: Any) -> Any:
    """Lone surrogates (`\\ud800`) can be written in JSON but in no file: they become replacement characters."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return value


def _integer(digits: str) -> int | str:
    """A number of more digits than Python reads stays as the text that it is."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _no_json(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not valid JSON: {_lower_first(error.msg)} (column {error.colno})"
    return f"not valid JSON: {_lower_first(str(error).split(';')[0])}"


def _unknown_kind(kind: object) -> str:
    return f"kind {str(kind)[:40]!r} is not known here (experiment and amendment are)"


def _too_deep() -> str:
    return f"nested more than {DEPTH_LIMIT} levels deep"


def _kind_of_json(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    return {list: "a list", dict: "an object", str: "a text", int: "a number", float: "a number"}.get(
        type(value), "something else"
    )


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
