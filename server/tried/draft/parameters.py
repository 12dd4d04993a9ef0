"""Parameters as they can be compared, the same for drafts and records.

Invariant: a key or value has one comparable form, however it was spelled, and making it executes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tried.draft.entries import Entry, Special
from tried.draft.keys import normalise_key, shown_path
from tried.draft.parameter_kinds import COMPARED_KINDS, ParameterKind, kind_of
from tried.draft.values import LONGEST_VALUE, TRUNCATED, UNKNOWN, comparable, is_known, literal_of, shown_value

__all__ = [
    "COMPARED_KINDS",
    "TRUNCATED",
    "UNKNOWN",
    "Parameter",
    "ParameterKind",
    "RecordedValue",
    "comparable",
    "flatten",
    "is_known",
    "kind_of",
    "normalise_key",
    "parameters_of",
    "shown_path",
    "shown_value",
]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One comparable value of a draft: `key` is the normalised path (`optimizer.lr`), `shown` the path as written."""

    key: str
    shown: str
    value: object
    kind: ParameterKind
    entry: Entry


def parameters_of(entries: Iterable[Entry]) -> tuple[Parameter, ...]:
    """The comparable values among a document's entries, in the order of the text."""
    found: list[Parameter] = []
    for entry in entries:
        if entry.value in (Special.MAPPING, Special.LIST):
            continue
        key = normalise_key(entry.path)
        if key:
            shown = shown_path(entry.path)
            found.append(Parameter(key, shown, comparable(entry.value), kind_of(entry.path), entry))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class RecordedValue:
    """One comparable value of a record; `shown` and `text` are key and value as they were recorded."""

    shown: str
    recorded: Any
    value: object
    kind: ParameterKind

    @property
    def text(self) -> str:
        return shown_value(self.recorded)


_DEEPEST = 32


def flatten(params: Mapping[str, Any]) -> dict[str, RecordedValue]:
    """A record's parameters by normalised key; nested mappings (also as a Python literal in text) become paths."""
    found: dict[str, RecordedValue] = {}
    pending: list[tuple[str, Any, int]] = [(key, value, 0) for key, value in reversed(list(params.items()))]
    while pending:
        path, value, depth = pending.pop()
        if isinstance(value, str) and value[:1] in ("{", "[") and len(value) <= LONGEST_VALUE:
            literal = literal_of(value)
            value = literal if isinstance(literal, dict | list) else value
        members: list[tuple[str, Any]] = []
        if isinstance(value, Mapping):
            members = [(f"{path}.{key}", item) for key, item in value.items()]
        elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
            members = [(f"{path}.{index}", item) for index, item in enumerate(value)]
        if members and depth < _DEEPEST:
            pending.extend((name, item, depth + 1) for name, item in reversed(members))
            continue
        key = normalise_key(path)
        if key:
            found[key] = RecordedValue(path, value, comparable(value), kind_of(path))
    return found
