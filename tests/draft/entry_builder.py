"""Entries made by hand, without any syntax: for tests of what is made of entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tried.draft.entries import Entry, EntryValue, Path, Special
from tried.text import Span


@dataclass(frozen=True)
class Tagged:
    """A value with a YAML tag or the name that was called."""

    tag: str
    value: Any = ""


def entries(tree: Mapping[str, Any]) -> list[Entry]:
    """Entries of a nested mapping, each at a place of its own."""
    return list(_entries((), tree))


def _entries(path: Path, value: Any) -> Iterator[Entry]:
    tag = value.tag if isinstance(value, Tagged) else None
    while isinstance(value, Tagged):
        value = value.value
    members: list[tuple[str | int, Any]] = []
    shown: EntryValue
    if isinstance(value, Mapping):
        members, shown = list(value.items()), Special.MAPPING
    elif isinstance(value, list) and any(isinstance(item, list | Mapping | Tagged) for item in value):
        members, shown = list(enumerate(value)), Special.LIST
    else:
        shown = tuple(value) if isinstance(value, list) else value
    if path:
        start = _Place.next()
        key = Span(start, start + 1) if isinstance(path[-1], str) else None
        yield Entry(path, shown, key, Span(start + 1, start + 2), tag)
    for name, member in members:
        yield from _entries((*path, name), member)


class _Place:
    _last = 0

    @classmethod
    def next(cls) -> int:
        cls._last += 10
        return cls._last
