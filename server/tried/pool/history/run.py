"""A record as evidence: what it ran with, what it changed, how it ended.

Invariant: a run is a pure function of its record, its recorded parent and the declared metric directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from tried.draft.parameters import COMPARED_KINDS, RecordedValue, flatten, is_known
from tried.pool.history.run_columns import RunColumns
from tried.pool.history.run_row import CAUSES, DIRECTIONS, ENDINGS, Ending, Flag, row_of
from tried.pool.history.vocabulary import KeyChange, Vocabulary
from tried.pool.outcome import Directions
from tried.pool.record import Cause, Direction, ExperimentRecord
from tried.pool.record_reader import HeldRecords, RecordReader

__all__ = ["Ending", "Item", "KeyChange", "Run", "run_of"]

Item = tuple[str, object]
"""A normalised key and a comparable value."""


class Run:
    """One row of the columns of a research line, as an object.

    `place` is its row; `order` grows with the place in the pool. `judged`: a person or an agent gave the verdict.
    `signature` is equal for replicates: runs that differ in nothing but what is volatile.
    """

    __slots__ = ("_columns", "_in_force", "_reader", "_values", "_volatile", "id", "place")

    def __init__(self, columns: RunColumns, place: int, reader: RecordReader) -> None:
        self.id: Final = columns.ids[place]
        self.place: Final = place
        self._columns: Final = columns
        self._reader: Final = reader
        self._values: Mapping[str, RecordedValue] | None = None
        self._in_force: Mapping[str, RecordedValue] | None = None
        self._volatile: Mapping[str, RecordedValue] | None = None

    def __repr__(self) -> str:
        return f"Run({self.id!r}, {self.ending})"

    @property
    def record(self) -> ExperimentRecord:
        """The record itself, decoded: for what is shown of a run, not for what is asked of many."""
        return self._reader(self.id)

    @property
    def values(self) -> Mapping[str, RecordedValue]:
        """The knobs, budgets and contexts that it logged."""
        if self._values is None:
            found = self._columns.logged_at(self.place)
            self._values = {table.key: table.recorded_value(number) for table, number in found if table.is_compared}
        return self._values

    @property
    def in_force(self) -> Mapping[str, RecordedValue]:
        """These, and what it changed without logging it."""
        if self._in_force is None:
            unlogged = {t.key: t.recorded_value(number) for t, number in self._columns.unlogged_at(self.place)}
            self._in_force = {**unlogged, **self.values} if unlogged else self.values
        return self._in_force

    @property
    def volatile(self) -> Mapping[str, RecordedValue]:
        """What a replicate may have otherwise (seeds, run names, hardware); decodes the record."""
        if self._volatile is None:
            parameters = flatten(self.record.params)
            self._volatile = {
                key: recorded
                for key, recorded in parameters.items()
                if recorded.kind not in COMPARED_KINDS and recorded.value is not None
            }
        return self._volatile

    def items(self) -> Iterator[Item]:
        """Every (key, value) that was in force and that can be known."""
        for key, recorded in self.in_force.items():
            if is_known(recorded.value):
                yield key, recorded.value

    @property
    def changes(self) -> tuple[KeyChange, ...]:
        found: tuple[KeyChange, ...] = self._columns.vocabulary.change_sets.things[self._fact("changes")]
        return found

    @property
    def change_set(self) -> int:
        """Equal for runs that changed the same."""
        return self._fact("changes")

    @property
    def shape(self) -> int:
        """Equal for runs that logged the same keys in the same order."""
        return int(self._columns.shapes[self.place])

    @property
    def signature(self) -> int:
        return int(self._columns.signatures[self.place])

    @property
    def order(self) -> int:
        return self._fact("order")

    @property
    def ending(self) -> Ending:
        return ENDINGS[self._fact("ending")]

    @property
    def cause(self) -> Cause | None:
        return CAUSES[self._fact("cause")]

    @property
    def sweep(self) -> str | None:
        """The id of the search that it is a member of."""
        found: str | None = self._columns.vocabulary.names.things[self._fact("sweep")]
        return found

    @property
    def origin(self) -> str | None:
        """The id of what it came from, whether or not that is known."""
        return self._columns.origins[self.place]

    @property
    def time(self) -> int:
        """Microseconds since 1970; NO_TIME without a timestamp."""
        return self._fact("time")

    def has(self, flag: Flag) -> bool:
        return bool(self._fact("flags") & flag)

    @property
    def judged(self) -> bool:
        return self.has(Flag.JUDGED)

    @property
    def debug(self) -> bool:
        """Marked as a trial of the machinery."""
        return self.has(Flag.DEBUG)

    @property
    def running(self) -> bool:
        return self.has(Flag.RUNNING)

    @property
    def objective(self) -> tuple[str, float, Direction | None] | None:
        """(name, value, direction) of the metric that it is judged by."""
        name = self._columns.vocabulary.names.things[self._fact("objective")]
        if name is None:
            return None
        value = float(self._columns.facts["value"][self.place])
        return name, value, DIRECTIONS[self._fact("direction")]

    @property
    def moved(self) -> float | None:
        """How that metric changed from what the run came from; None where nobody recorded it."""
        return float(self._columns.facts["moved"][self.place]) if self.has(Flag.MOVED) else None

    def _fact(self, name: str) -> int:
        return int(self._columns.facts[name][self.place])


def run_of(record: ExperimentRecord, order: int, directions: Directions | None = None) -> Run:
    """A run on its own, with what its record says that it changed."""
    vocabulary = Vocabulary()
    columns = RunColumns.empty(vocabulary).spliced((), [row_of(record, order, vocabulary, directions)])
    return Run(columns, 0, HeldRecords({record.id: record}))
