"""All records of a pool, sorted into experiments at once: replicates are one.

Replicates are runs of one research line that log their parameters and are equal in these (but for what is volatile and
for hardware), in what they changed, in their architecture and in the commit that they state. Values that cannot be read
are equal where they are written alike: `${a}` and `${b}` may be anything.

Invariant: every record of the pool belongs to exactly one experiment.
Invariant: a line's groups depend on its runs alone, so they are made once for all snapshots that share these.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tried.pool.history.line_history import LineHistory
from tried.pool.history.run import Run
from tried.pool.history.run_columns import RunColumns
from tried.pool.snapshot import PoolSnapshot


@dataclass(frozen=True, eq=False)
class LineGroups:
    """`numbers`: the group of each row; the rows of group n are ``rows[starts[n]:starts[n + 1]]``, in the order of the
    pool. `ids` are those of the rows."""

    numbers: NDArray[np.intp]
    rows: NDArray[np.intp]
    starts: NDArray[np.intp]

    ids: Sequence[str]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def by_id(self) -> dict[str, int]:
        """The group of each run."""
        return dict(zip(self.ids, self.numbers.tolist(), strict=True))

    def rows_like(self, row: int) -> list[int]:
        """The replicates of a row, itself among them."""
        number = self.numbers[row]
        rows: list[int] = self.rows[self.starts[number] : self.starts[number + 1]].tolist()
        return rows


_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
"""Odd, so that numbers that are put together one after the other stay apart."""

_known: Final[WeakKeyDictionary[RunColumns, LineGroups]] = WeakKeyDictionary()


class Grouping:
    """The experiments of one snapshot; what no line has, such as a search as a whole, is one of its own."""

    def __init__(self, snapshot: PoolSnapshot) -> None:
        self._snapshot: Final = snapshot
        self._groups: Final[dict[str | None, LineGroups]] = {}

    def kind_of(self, record_id: str) -> Hashable:
        """Equal for replicates, for no others."""
        place = self._place_of(record_id)
        if place is None:
            return record_id
        line, row = place
        return line.research_line, int(self._groups_of(line).numbers[row])

    def replicates_of(self, record_id: str) -> list[Run]:
        """The runs of an experiment, in the order of the pool; none for what is no experiment."""
        place = self._place_of(record_id)
        if place is None:
            return []
        line, row = place
        return [line.run_at(each) for each in self._groups_of(line).rows_like(row)]

    @cached_property
    def count(self) -> int:
        """How many experiments there are, what is none among them."""
        history = self._snapshot.history
        groups = sum(len(self._groups_of(line)) for line in history.lines.values())
        return groups + len(self._snapshot.index) - len(history.line_of)

    def count_among(self, record_ids: Iterable[str]) -> int:
        """How many different experiments these records are."""
        history = self._snapshot.history
        groups = {name: self._groups_of(line).by_id for name, line in history.lines.items()}
        line_of = history.line_of
        different: set[Hashable] = set()
        for record_id in record_ids:
            if record_id in line_of:
                name = line_of[record_id]
                different.add((name, groups[name][record_id]))
            else:
                different.add(record_id)
        return len(different)

    def _place_of(self, record_id: str) -> tuple[LineHistory, int] | None:
        history = self._snapshot.history
        name = history.line_of.get(record_id)
        if name is None and record_id not in history.line_of:
            return None
        line = history.lines[name]
        row = line.columns.place_of(record_id)
        return None if row is None else (line, row)

    def _groups_of(self, line: LineHistory) -> LineGroups:
        groups = self._groups.get(line.research_line)
        if groups is None:
            columns = line.columns
            groups = _known.get(columns)
            if groups is None:
                groups = _known[columns] = groups_of(line, self._snapshot)
            self._groups[line.research_line] = groups
        return groups


def groups_of(line: LineHistory, snapshot: PoolSnapshot) -> LineGroups:
    columns = line.columns
    alone = np.where(line.logs_anything, 0, np.arange(1, len(line) + 1))
    keys = (columns.facts["changes"], columns.signatures, _unreadable(columns), alone)
    groups = _grouped(keys, columns.ids)
    several = np.flatnonzero(np.diff(groups.starts) > 1)
    if not len(several):
        return groups
    builds: dict[Hashable, int] = {(None, None, frozenset()): 0}
    numbers = np.zeros(len(line), np.intp)
    shared = np.diff(groups.starts)[groups.numbers] > 1
    for row in np.flatnonzero(shared).tolist():
        facts = snapshot.facts_of(columns.ids[row])
        numbers[row] = builds.setdefault((facts.commit, facts.digest, facts.components), len(builds))
    return _grouped((numbers, *keys), columns.ids) if len(builds) > 1 else groups


def _unreadable(columns: RunColumns) -> NDArray[np.uint64]:
    """Of each row a number that is another one where values that cannot be read are written otherwise."""
    total = np.zeros(len(columns), np.uint64)
    for table, column in chain(columns.logged.items(), columns.unlogged.items()):
        size = len(table)  # it may grow meanwhile
        numbers = [number for number in (*table.unknown, *table.truncated) if number < size]
        if table.is_compared and numbers:
            marks = np.zeros(size, np.uint64)
            marks[numbers] = numbers
            total = total * _MULTIPLIER + marks[column.dense(len(columns))]
    return total


def _grouped(keys: tuple[NDArray[np.generic], ...], ids: Sequence[str]) -> LineGroups:
    """Rows that are equal in all keys belong together; groups have no order that means anything."""
    size = len(keys[0])
    rows = np.lexsort(keys)
    is_first = np.ones(size, np.bool_)
    if size:
        is_first[1:] = False
        for key in keys:
            ordered = key[rows]
            is_first[1:] |= ordered[1:] != ordered[:-1]
    numbers = np.empty(size, np.intp)
    numbers[rows] = np.cumsum(is_first) - 1
    return LineGroups(numbers, rows, np.append(np.flatnonzero(is_first), size), ids)
