"""An inverted index of bags, in flat arrays: key → the rows that hold it, and how often each does."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)
Rows: TypeAlias = NDArray[np.integer[Any]]
Counts: TypeAlias = NDArray[np.integer[Any]]
Mask: TypeAlias = NDArray[np.bool_]

_FEW = 512
"""Keys up to which their rows are gathered one key after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class Postings(Generic[Key]):
    """The postings of key number k stand at ``starts[k]:starts[k + 1]`` of `rows` (ascending) and `counts` (≥ 1), both
    in the fewest bytes that hold them.

    `numbers` gives each key its number; its order is that of the numbers.
    """

    numbers: Mapping[Key, int]
    starts: NDArray[np.int64]
    rows: Rows
    counts: Counts

    @classmethod
    def of(cls, bags: Sequence[Mapping[Key, int]]) -> Postings[Key]:
        """The bag at place i becomes row i."""
        numbers: dict[Key, int] = {}
        keys = np.fromiter(
            (numbers.setdefault(key, len(numbers)) for key in chain.from_iterable(bags)),
            np.int64,
        )
        rows = np.repeat(np.arange(len(bags), dtype=np.int32), np.fromiter(map(len, bags), np.int64, len(bags)))
        counts = np.fromiter(chain.from_iterable(bag.values() for bag in bags), np.int32, len(keys))
        return cls._sorted(numbers, keys, rows, counts)

    @classmethod
    def merged(cls, parts: Sequence[tuple[Postings[Key], Mask]]) -> Postings[Key]:
        """The rows of each part that its mask keeps, in order and numbered anew; keys that no row holds are dropped."""
        numbers: dict[Key, int] = {}
        keys: list[NDArray[np.int64]] = []
        rows: list[Rows] = []
        counts: list[Counts] = []
        offset = 0
        for postings, kept in parts:
            chosen = kept[postings.rows]
            old_keys = np.repeat(np.arange(len(postings.numbers), dtype=np.int64), np.diff(postings.starts))[chosen]
            new_rows = np.cumsum(kept, dtype=np.int32) - np.int32(1) + np.int32(offset)
            keys.append(renumbered(old_keys, list(postings.numbers), numbers))
            rows.append(new_rows[postings.rows[chosen]])
            counts.append(postings.counts[chosen])
            offset += int(np.count_nonzero(kept))
        return cls._sorted(numbers, np.concatenate(keys), np.concatenate(rows), np.concatenate(counts))

    @classmethod
    def _sorted(cls, numbers: dict[Key, int], keys: NDArray[np.int64], rows: Rows, counts: Counts) -> Postings[Key]:
        """From one entry a posting, ascending by row among those of one key."""
        few = len(numbers) <= 0x10000  # numbers of 16 bits are sorted by their digits
        order = np.argsort(keys.astype(np.uint16) if few else keys, kind="stable")
        starts = np.zeros(len(numbers) + 1, np.int64)
        np.cumsum(np.bincount(keys, minlength=len(numbers)), out=starts[1:])
        return cls(numbers, starts, _narrow(rows)[order], _narrow(counts)[order])

    def find(self, key: Key) -> tuple[Rows, Counts] | None:
        """The rows that hold a key and its counts there; None if no row does."""
        number = self.numbers.get(key)
        if number is None:
            return None
        start, end = self.starts[number], self.starts[number + 1]
        return self.rows[start:end], self.counts[start:end]

    def rows_with_beginning(self: Postings[str], beginning: str, rows: int) -> Mask:
        """Which of the first `rows` rows hold a key that begins so; of postings whose keys are texts."""
        wanted = np.zeros(rows, np.bool_)
        found = [number for key, number in self.numbers.items() if key.startswith(beginning)]
        if len(found) <= _FEW:
            for number in found:
                wanted[self.rows[self.starts[number] : self.starts[number + 1]]] = True
        else:
            keys = np.zeros(len(self.numbers), np.bool_)
            keys[found] = True
            wanted[self.rows[np.repeat(keys, np.diff(self.starts))]] = True
        return wanted

    def totals(self, rows: int) -> NDArray[np.int64]:
        """The sum of the counts of each of the first `rows` rows."""
        return np.bincount(self.rows, self.counts, rows).astype(np.int64)


def _narrow(numbers: NDArray[Any]) -> NDArray[np.unsignedinteger[Any]]:
    most = int(numbers.max()) if len(numbers) else 0
    return numbers.astype(np.uint8 if most < 0x100 else np.uint16 if most < 0x10000 else np.uint32)


def renumbered(old: NDArray[np.int64], names: Sequence[Key], numbers: dict[Key, int]) -> NDArray[np.int64]:
    """Old numbers of names as new ones; a name without a new number gets the next. −1, for no name, stays −1."""
    new = np.full(len(names) + 1, -1, np.int64)
    for number in np.unique(old[old >= 0]).tolist():
        new[number] = numbers.setdefault(names[number], len(numbers))
    return new[old]
