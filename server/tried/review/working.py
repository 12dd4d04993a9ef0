"""The runs that worked, as columns: what groups of runs that ended badly are held against.

Invariant: what is narrowed shares the table of what it comes from.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from tried.draft.parameters import RecordedValue, is_known
from tried.findings.comparison import number_of
from tried.pool.history.run import Run

_Codes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int32]]
Mask: TypeAlias = np.ndarray[tuple[int], np.dtype[np.bool_]]
"""A truth value for each run."""


@dataclass(frozen=True)
class Column:
    """What the runs that worked have for one key. `numbers` are the different ones in their order, `upto` how many runs
    have each or a smaller one; `texts` is how each was written first."""

    values: Mapping[object, int]
    numbers: Sequence[float]
    upto: Sequence[int]
    texts: Sequence[str]

    @property
    def known(self) -> int:
        return sum(self.values.values())

    @property
    def numeric(self) -> int:
        return self.upto[-1] if self.upto else 0

    def below(self, number: float) -> int:
        place = bisect_left(self.numbers, number)
        return self.upto[place - 1] if place else 0

    def at_most(self, number: float) -> int:
        place = bisect_right(self.numbers, number)
        return self.upto[place - 1] if place else 0

    def text_below(self, number: float) -> str | None:
        place = bisect_left(self.numbers, number)
        return self.texts[place - 1] if place else None

    def text_above(self, number: float) -> str | None:
        place = bisect_right(self.numbers, number)
        return self.texts[place] if place < len(self.numbers) else None


@dataclass(frozen=True)
class _Table:
    """By key: for each run the number of its value among `different`, −1 where it has none that is known."""

    codes: Mapping[str, _Codes]
    different: Mapping[str, Sequence[RecordedValue]]

    @classmethod
    def of(cls, runs: Sequence[Run]) -> _Table:
        codes: dict[str, _Codes] = {}
        numbered: dict[str, dict[object, int]] = {}
        different: dict[str, list[RecordedValue]] = {}
        for place, run in enumerate(runs):
            for key, recorded in run.in_force.items():
                if not is_known(recorded.value):
                    continue
                if key not in codes:
                    codes[key] = np.full(len(runs), -1, dtype=np.int32)
                    numbered[key], different[key] = {}, []
                code = numbered[key].setdefault(recorded.value, len(different[key]))
                if code == len(different[key]):
                    different[key].append(recorded)
                codes[key][place] = code
        return cls(codes, different)


class Working:
    """The runs that worked, by key; made once for all groups that are held against them."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self.runs = tuple(runs)
        self._places: Mask | None = None
        self._table: _Table | None = None
        self._columns: dict[str, Column] = {}

    def __len__(self) -> int:
        return len(self.runs) if self._places is None else int(self._places.sum())

    @property
    def table(self) -> _Table:
        if self._table is None:
            self._table = _Table.of(self.runs)
        return self._table

    def narrowed(self, places: Mask) -> Working:
        """Those at these places alone."""
        some = Working(())
        some.runs, some._table = self.runs, self.table
        some._places = places if self._places is None else places & self._places
        return some

    def holding(self, key: str, allows: Callable[[object], bool]) -> Mask:
        """The places of the runs that have the key with a value that is allowed."""
        return self._where(key, lambda value: allows(value.value))

    def elsewhere(self, key: str, shared: RecordedValue) -> Mask:
        """The places of the runs that have another value."""
        return self._where(key, lambda value: value.value != shared.value)

    def column(self, key: str) -> Column:
        if key not in self._columns:
            self._columns[key] = self._column(key)
        return self._columns[key]

    def count(self, places: Mask) -> int:
        return int((places if self._places is None else places & self._places).sum())

    def _where(self, key: str, test: Callable[[RecordedValue], bool]) -> Mask:
        codes = self.table.codes.get(key)
        if codes is None:
            return np.zeros(len(self.runs), dtype=np.bool_)
        fits = np.array([*(test(value) for value in self.table.different[key]), False])
        found: Mask = fits[codes]  # −1 is the last, which never fits
        return found

    def _column(self, key: str) -> Column:
        codes = self.table.codes.get(key)
        if codes is None:
            return Column({}, (), (), ())
        some = codes if self._places is None else codes[self._places]
        different = self.table.different[key]
        counts = np.bincount(some[some >= 0], minlength=len(different)).tolist()
        present = [(value, count) for value, count in zip(different, counts, strict=True) if count]
        numeric = sorted(
            ((number, count, value.text) for value, count in present if (number := number_of(value.value)) is not None),
            key=lambda one: one[0],
        )
        return Column(
            {value.value: count for value, count in present},
            [number for number, _, _ in numeric],
            list(accumulate(count for _, count, _ in numeric)),
            [text for _, _, text in numeric],
        )
