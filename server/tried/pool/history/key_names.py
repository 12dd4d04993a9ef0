"""The keys of a research line by what a draft may call them, and items as numbers that are quick to look up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from tried.draft.alignment import MOST_INNER_SEGMENTS


def item_hash(key: str, value: object) -> int:
    """A number for a key and a value; others may have the same."""
    return hash((key, value))


class KeyNames:
    """The keys that runs of a line logged or changed, and by what a draft may call them."""

    def __init__(self, keys: frozenset[str]) -> None:
        self.keys: Final = keys

    @cached_property
    def by_last_segment(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for key in sorted(self.keys):
            found.setdefault(key.rsplit(".", 1)[-1], []).append(key)
        return {name: tuple(keys) for name, keys in found.items()}

    @cached_property
    def by_suffix(self) -> Mapping[str, str | None]:
        """The key that ends in these segments; None where several do. Of a key of very many segments (a text, more
        likely) only the innermost count."""
        found: dict[str, str | None] = {}
        for key in sorted(self.keys):
            segments = key.rsplit(".", MOST_INNER_SEGMENTS)
            for first in range(1, len(segments)):
                rest = ".".join(segments[first:])
                found[rest] = None if rest in found else key
        return found
