"""What the records of a pool can be narrowed down to: the research lines, tags and sources that most of them have."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tried.pool.snapshot import PoolSnapshot

MOST_NAMES: Final = 50


@dataclass(frozen=True, slots=True)
class Facet:
    """`count`: records of the whole pool."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Facets:
    """The most frequent first, of equals by name; at most MOST_NAMES of each."""

    research_lines: tuple[Facet, ...]
    tags: tuple[Facet, ...]
    sources: tuple[Facet, ...]


def facets_of(snapshot: PoolSnapshot) -> Facets:
    by_kind: dict[str, dict[str, int]] = {}
    for (kind, name), count in snapshot.index.labels().items():
        by_kind.setdefault(kind, {})[name] = count
    return Facets(*(_most_frequent(by_kind.get(kind, {})) for kind in ("research_line", "tag", "source")))


def named(kind: str, shown: str, snapshot: PoolSnapshot, show: Callable[[str], str]) -> str:
    """The research line, tag or source ("research_line", "tag", "source") that somebody chose by how it was shown."""
    labels = snapshot.index.labels()
    if (kind, shown) in labels:
        return shown
    return next((name for other, name in labels if other == kind and show(name) == shown), shown)


def _most_frequent(counts: Mapping[str, int]) -> tuple[Facet, ...]:
    found = heapq.nsmallest(MOST_NAMES, counts.items(), key=lambda each: (-each[1], each[0]))
    return tuple(Facet(name, count) for name, count in found)
