"""The runs of one research line, as rules ask about them.

Invariant: a line's history is immutable; what is made of it when it is first asked depends on its runs alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tried.pool.history.column import Mask
from tried.pool.history.run import Item, Run
from tried.pool.history.run_columns import Rows, RunColumns
from tried.pool.history.run_row import CAUSES, DEAD_END, ENDINGS, NO_TIME, WORKED, Ending, RunRow
from tried.pool.history.vocabulary import ABSENT, Vocabulary
from tried.pool.record import Cause
from tried.pool.record_reader import RecordReader

_NO_FAULT_OF_A_PARAMETER: Final[tuple[Cause, ...]] = ("code_error", "infrastructure", "stopped")
PlaceInPool: TypeAlias = Callable[[str], int]
"""Of an id: grows with the place of its record in the pool."""

_MOST_PENDING: Final = 64
_MOST_RUNS_HELD: Final = 4_096
"""Runs of which the objects are kept, so that the next question finds their values read."""


def places_in_time(times: NDArray[np.int64]) -> Rows:
    """From the earliest to the latest, the places of these times (`RunRow.time`), which are in the order of the pool.

    What has no timestamp stands behind all that stands before it in the pool; of equal times the pool's order decides.
    """
    filled = np.where(times == NO_TIME, np.maximum.accumulate(times), times)
    return np.argsort(filled, kind="stable")


class LineRuns:
    """The runs of a line, of which the newest may still stand beside the columns; no snapshot's readers with them.

    Invariant: it never changes but for `columns`, which takes in at first need what stands beside.
    """

    __slots__ = ("_state",)

    def __init__(
        self, columns: RunColumns, removed: frozenset[str] = frozenset(), pending: Mapping[str, RunRow] | None = None
    ) -> None:
        self._state = columns, removed, pending or {}

    @classmethod
    def empty(cls, vocabulary: Vocabulary) -> LineRuns:
        return cls(RunColumns.empty(vocabulary))

    @property
    def columns(self) -> RunColumns:
        columns, removed, pending = self._state
        if removed or pending:
            columns = columns.spliced(removed, pending.values())
            self._state = columns, frozenset(), {}
        return columns

    def updated(self, removed: Iterable[str], rows: Iterable[RunRow]) -> LineRuns:
        columns, before, beside = self._state
        gone, pending = set(before), dict(beside)
        for record_id in removed:
            gone.add(record_id)
            pending.pop(record_id, None)
        for row in rows:
            pending[row.id] = row
        after = LineRuns(columns, frozenset(gone), pending)
        if len(pending) > _MOST_PENDING:
            _ = after.columns
        return after

    def placed(self, order_of: PlaceInPool) -> LineRuns:
        columns = self.columns
        return LineRuns(columns.placed(np.fromiter(map(order_of, columns.ids), np.int64, len(columns))))

    @property
    def is_empty(self) -> bool:
        return not self._state[2] and not len(self.columns)

    def row(self, record_id: str) -> RunRow | None:
        columns, removed, pending = self._state
        if record_id in pending:
            return pending[record_id]
        place = None if record_id in removed else columns.place_of(record_id)
        return None if place is None else columns.row(place)

    def order_of(self, record_id: str) -> int | None:
        columns, removed, pending = self._state
        if record_id in pending:
            return pending[record_id].order
        place = None if record_id in removed else columns.place_of(record_id)
        return None if place is None else int(columns.facts["order"][place])


class LineHistory:
    """Rows are places in `columns`, in the order of the pool; a mask has one truth value for each.

    `open_sweeps` are the searches that still run: how their members ended badly is no evidence yet.
    """

    def __init__(
        self,
        research_line: str | None,
        line_runs: LineRuns,
        reader: RecordReader,
        open_sweeps: frozenset[str] = frozenset(),
    ) -> None:
        self.research_line: Final = research_line
        self.line_runs: Final = line_runs
        self.reader: Final = reader
        self.open_sweeps: Final = open_sweeps
        self._held: dict[int, Run] = {}
        self._spreads: dict[str, float | None] = {}
        self._usual: dict[str, object] = {}

    @cached_property
    def columns(self) -> RunColumns:
        return self.line_runs.columns

    def __len__(self) -> int:
        return len(self.columns)

    # Runs

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """By id, in the order of the pool."""
        return _Runs(self)

    def run_at(self, row: int) -> Run:
        run = self._held.get(row)
        if run is None:
            run = Run(self.columns, row, self.reader)
            if len(self._held) >= _MOST_RUNS_HELD:
                self._held = {}
            self._held[row] = run
        return run

    def runs_in(self, mask: Mask) -> list[Run]:
        """The runs of a mask, in the order of the pool."""
        return [self.run_at(row) for row in np.flatnonzero(mask).tolist()]

    def in_time(self, rows: Rows) -> Rows:
        """These rows, given in the order of the pool, from the earliest to the latest."""
        return rows[places_in_time(self.columns.facts["time"][rows])]

    def runs_in_time(self, runs: Iterable[Run]) -> list[Run]:
        """The same of runs."""
        rows = np.array([run.place for run in runs], np.intp)
        return [self.run_at(row) for row in self.in_time(rows).tolist()]

    # Endings

    @cached_property
    def is_dead(self) -> Mask:
        dead: Mask = self.columns.facts["ending"] == DEAD_END
        return dead

    @cached_property
    def has_worked(self) -> Mask:
        worked: Mask = self.columns.facts["ending"] == WORKED
        return worked

    @cached_property
    def is_blameless(self) -> Mask:
        """What is no dead end, or one of which no parameter is the cause."""
        cause = self.columns.facts["cause"]
        blameless = ~self.is_dead
        for name in _NO_FAULT_OF_A_PARAMETER:
            blameless |= cause == CAUSES.index(name)
        return blameless

    @cached_property
    def is_undecided(self) -> Mask:
        """Members of a search that still runs and that ended badly."""
        names = self.columns.vocabulary.names
        numbers = [number for sweep in self.open_sweeps if (number := names.find(sweep)) is not None]
        if not numbers:
            return np.zeros(len(self), np.bool_)
        return self.is_dead & np.isin(self.columns.facts["sweep"], numbers)

    @cached_property
    def endings(self) -> Mapping[Ending, int]:
        counts = np.bincount(self.columns.facts["ending"], minlength=len(ENDINGS)).tolist()
        return dict(zip(ENDINGS, counts, strict=True))

    @property
    def worked(self) -> int:
        return self.endings["worked"]

    @cached_property
    def dead_ends_that_turned(self) -> Mapping[str, Mapping[object, list[int]]]:
        """Key → value → the rows of the dead ends that changed the key to it."""
        found: dict[str, dict[object, list[int]]] = {}
        facts, sets = self.columns.facts, self.columns.vocabulary.change_sets.things
        rows = np.flatnonzero(self.is_dead & (facts["changes"] != 0))
        for row, number in zip(rows.tolist(), facts["changes"][rows].tolist(), strict=True):
            for change in sets[number]:
                same = found.setdefault(change.key, {}).setdefault(change.after, [])
                if not same or same[-1] != row:
                    same.append(row)
        return found

    # Keys and values

    @property
    def keys(self) -> frozenset[str]:
        """All keys that a run of the line logged or changed."""
        return self.columns.names.keys

    @property
    def names(self) -> Collection[str]:
        """The last segments of all keys."""
        return self.columns.names.by_last_segment.keys()

    @property
    def keys_by_suffix(self) -> Mapping[str, str | None]:
        """The key that ends in these segments; None where several do."""
        return self.columns.names.by_suffix

    def may_mean(self, key: str, alone: Collection[str]) -> bool:
        """False only where it is certain that no run set this key, in whatever container and as whatever part of it.

        `alone` are last segments that say nothing without their owner: `model.name` may be a plain `model`.
        """
        *owner, name = key.rsplit(".", 2)[-2:]
        known = self.columns.names.by_last_segment
        if name in known or (name in alone and owner and owner[0] in known):
            return True
        parts = [(f"{name}.{inner}", known.get(inner, ())) for inner in alone]
        return any(theirs == part or theirs.endswith(f".{part}") for part, keys in parts for theirs in keys)

    def may_have_in_common(self, leaves: Collection[Item], hashes: frozenset[int], enough: int) -> bool:
        """Whether at least so many of these (last key segment, value) stood in runs of the line.

        `hashes` are their `item_hash`es: in the rare case that others have the same, the answer may be yes for no.
        """
        columns = self.columns
        if columns.leaf_hashes is not None:
            return len(columns.leaf_hashes & hashes) >= enough
        for name, value in leaves:
            if enough <= 0:
                break
            keys = columns.names.by_last_segment.get(name, ())
            enough -= any(columns.has_any(key, value) for key in keys)
        return enough <= 0

    def is_logged(self, key: str) -> bool:
        return key in self.columns.logged_by_key

    @cached_property
    def logging(self) -> int:
        """How many runs logged any parameter."""
        return int(np.count_nonzero(self.logs_anything))

    @cached_property
    def logs_anything(self) -> Mask:
        logs = np.zeros(len(self), np.bool_)
        for key in self.columns.logged_by_key:
            logs |= self.columns.logs(key)
            if logs.all():
                break
        return logs

    def count(self, key: str, value: object) -> int:
        """How many runs had this value of a key."""
        return int(np.count_nonzero(self.columns.holds(key, value)))

    def usual_value(self, key: str) -> object:
        """The value that most runs of the line had for a key; the earliest of equals; None if none did."""
        if key not in self._usual:
            self._usual[key] = self._usual_value(key)
        return self._usual[key]

    def _usual_value(self, key: str) -> object:
        counts: dict[object, tuple[int, int]] = {}
        columns = self.columns.in_force(key)
        for table, column in columns:
            numbers = table.first_numbers(column.numbers)
            held = np.bincount(numbers, minlength=1)
            held[ABSENT] = 0
            held[[number for number in (*table.unknown, *table.truncated) if number < len(held)]] = 0
            best = held == held.max() if len(columns) == 1 else held > 0
            for number in np.flatnonzero(best & (held > 0)).tolist():
                place = int(np.argmax(numbers == number))
                first = place if column.places is None else int(column.places[place])
                count, earliest = counts.get(table.values[number], (0, first))
                counts[table.values[number]] = count + int(held[number]), min(earliest, first)
        return max(counts.items(), key=lambda each: (each[1][0], -each[1][1]))[0] if counts else None

    # Replicates

    def replicates(self, signature: int) -> int:
        """How many runs differ from one another only in volatile keys: those with this signature."""
        return int(np.count_nonzero(self.columns.signatures == np.uint64(signature)))

    def spread(self, metric: str) -> float | None:
        """The pooled standard deviation of a metric over replicates; None where there are none."""
        if metric not in self._spreads:
            self._spreads[metric] = self._pooled_deviation(metric)
        return self._spreads[metric]

    def _pooled_deviation(self, metric: str) -> float | None:
        number = self.columns.vocabulary.names.find(metric)
        column = self.columns.metrics.get(number) if number is not None else None
        if column is None:
            return None
        values = column.numbers
        signatures = self.columns.signatures if column.places is None else self.columns.signatures[column.places]
        known = ~np.isnan(values)
        values, signatures = values[known], signatures[known]
        _, first, group, sizes = np.unique(signatures, return_index=True, return_inverse=True, return_counts=True)
        degrees = int(len(values) - len(sizes))
        if not degrees:
            return None
        shifted = values - values[first][group]  # so that equal values have a deviation of exactly 0
        means = np.bincount(group, shifted) / sizes
        deviations = (shifted - means[group])[sizes[group] > 1]
        return math.sqrt(math.fsum((deviations**2).tolist()) / degrees)


class _Runs(Mapping[str, Run]):
    def __init__(self, line: LineHistory) -> None:
        self._line: Final = line

    def __getitem__(self, record_id: str) -> Run:
        place = self._line.columns.place_of(record_id)
        if place is None:
            raise KeyError(record_id)
        return self._line.run_at(place)

    def __iter__(self) -> Iterator[str]:
        return iter(self._line.columns.ids)

    def __len__(self) -> int:
        return len(self._line)

    def __contains__(self, record_id: object) -> bool:
        return isinstance(record_id, str) and self._line.columns.place_of(record_id) is not None
