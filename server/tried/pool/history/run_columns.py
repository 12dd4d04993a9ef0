"""The runs of one research line, in columns: a number for each value that a run logged, a few for how it ended.

Questions about all runs are answered by looking through whole columns, a byte or two a run; an object is made only of a
run that is spoken of.

Invariant: columns never change; `spliced` makes others, which share what stayed the same. Rows are in the order of the
pool.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tried.draft.parameters import is_known
from tried.pool.history.column import Column, Mask, Numbers, Splice
from tried.pool.history.key_names import KeyNames, item_hash
from tried.pool.history.run_row import RunRow
from tried.pool.history.vocabulary import ABSENT, KeyTable, Vocabulary, hash_of_id

Rows: TypeAlias = NDArray[np.intp]
Held: TypeAlias = tuple[KeyTable, Column]

_SHORT: Final = 1_000
"""Runs of a line up to which all its values are gathered in a set: there may be thousands of such lines."""

_FACTS: Final[Mapping[str, type[np.generic]]] = {
    "order": np.int64,
    "changes": np.int32,
    "ending": np.int8,
    "cause": np.int8,
    "flags": np.uint16,
    "objective": np.int32,
    "value": np.float64,
    "direction": np.int8,
    "moved": np.float64,
    "time": np.int64,
    "sweep": np.int32,
}
"""Columns that are named and mean as the fields of `RunRow`."""


class RunColumns:
    """`facts` are dense; `logged` are the values that runs logged, by key as spelled, `unlogged` those that they
    changed without logging them; `metrics` are finite, by the number of the name. `signatures` are equal for
    replicates."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        ids: list[str],
        origins: list[str | None],
        facts: Mapping[str, Numbers],
        shapes: Numbers,
        signatures: NDArray[np.uint64],
        logged: Mapping[KeyTable, Column],
        unlogged: Mapping[KeyTable, Column],
        metrics: Mapping[int, Column],
        changed_keys: frozenset[str],
        places: dict[str, int] | None = None,
        names_before: KeyNames | None = None,
    ) -> None:
        self.vocabulary: Final = vocabulary
        self.ids: Final = ids
        self.origins: Final = origins
        self.facts: Final = facts
        self.shapes: Final = shapes
        self.signatures: Final = signatures
        self.logged: Final = logged
        self.unlogged: Final = unlogged
        self.metrics: Final = metrics
        self.changed_keys: Final = changed_keys
        self._places = places
        self._names_before = names_before

    @classmethod
    def empty(cls, vocabulary: Vocabulary) -> RunColumns:
        facts = {name: np.empty(0, dtype) for name, dtype in _FACTS.items()}
        none = np.empty(0, np.uint64)
        return cls(vocabulary, [], [], facts, np.empty(0, np.int32), none, {}, {}, {}, frozenset())

    def __len__(self) -> int:
        return len(self.ids)

    def place_of(self, record_id: str) -> int | None:
        """The row of a run. The map is shared with columns that this one grew from or into, hence the second look."""
        if self._places is None:
            self._places = dict(zip(self.ids, range(len(self.ids)), strict=True))
        place = self._places.get(record_id)
        if place is None or (place < len(self.ids) and self.ids[place] == record_id):
            return place
        own = dict(zip(self.ids, range(len(self.ids)), strict=True))
        self._places = own
        return own.get(record_id)

    # What a row says

    def row(self, place: int) -> RunRow:
        shape = self.vocabulary.shapes[int(self.shapes[place])]
        facts = {name: column[place].item() for name, column in self.facts.items()}
        return RunRow(
            id=self.ids[place],
            shape=shape,
            numbers=tuple(self._number(self.logged, table, place) for table in shape.tables),
            unlogged=tuple(self.unlogged_at(place)),
            origin=self.origins[place],
            metrics=tuple(
                (name, float(number))
                for name, column in self.metrics.items()
                if (number := column.at(place, np.nan)) == number
            ),
            **facts,
        )

    def logged_at(self, place: int) -> Iterable[tuple[KeyTable, int]]:
        """What a run logged, in its order: of the kinds that are compared, and hardware."""
        for table in self.vocabulary.shapes[int(self.shapes[place])].tables:
            if number := self._number(self.logged, table, place):
                yield table, number

    def unlogged_at(self, place: int) -> Iterable[tuple[KeyTable, int]]:
        changes = self.vocabulary.change_sets.things[int(self.facts["changes"][place])]
        for shown in dict.fromkeys(change.shown for change in changes) if self.unlogged else ():
            table = self.vocabulary.tables.get(shown)
            if table is not None and (number := self._number(self.unlogged, table, place)):
                yield table, number

    @staticmethod
    def _number(columns: Mapping[KeyTable, Column], table: KeyTable, place: int) -> int:
        column = columns.get(table)
        return ABSENT if column is None else int(column.at(place))

    # What the columns say

    @cached_property
    def names(self) -> KeyNames:
        """Made anew only where another key came or went."""
        keys = frozenset(self.logged_by_key) | self.changed_keys
        before = self._names_before
        return before if before is not None and before.keys == keys else KeyNames(keys)

    @cached_property
    def leaf_hashes(self) -> frozenset[int] | None:
        """The `item_hash` of the last key segment and value of everything known that was in force in a run.

        None for long lines, which are worth a look.
        """
        if len(self) > _SHORT:
            return None
        return frozenset(item_hash(key.rsplit(".", 1)[-1], value) for key, value in self._items())

    @cached_property
    def item_hashes(self) -> frozenset[int] | None:
        """The same of whole keys."""
        return None if len(self) > _SHORT else frozenset(item_hash(key, value) for key, value in self._items())

    def _items(self) -> Iterator[tuple[str, object]]:
        for columns in (self.logged, self.unlogged):
            for table, column in columns.items():
                if table.is_compared:
                    for number in set(column.numbers.tolist()):
                        if number != ABSENT and is_known(table.values[number]):
                            yield table.key, table.values[number]

    @cached_property
    def logged_by_key(self) -> Mapping[str, Sequence[Held]]:
        return _by_key(self.logged)

    @cached_property
    def unlogged_by_key(self) -> Mapping[str, Sequence[Held]]:
        return _by_key(self.unlogged)

    def in_force(self, key: str) -> Sequence[Held]:
        """The columns of a key, what was changed without being logged included; a run stands in one of them at most."""
        return (*self.logged_by_key.get(key, ()), *self.unlogged_by_key.get(key, ()))

    def logs(self, key: str) -> Mask:
        """The runs that logged a key."""
        found = np.zeros(len(self), np.bool_)
        for _, column in self.logged_by_key.get(key, ()):
            _mark(found, column)
        return found

    def logged_count(self, key: str) -> int:
        return sum(column.count for _, column in self.logged_by_key.get(key, ()))

    def holds(self, key: str, value: object) -> Mask:
        """The runs in which a key had this value, logged or not."""
        return self._holds(self.in_force(key), value)

    def holds_logged(self, key: str, value: object) -> Mask:
        return self._holds(self.logged_by_key.get(key, ()), value)

    def _holds(self, held: Iterable[Held], value: object) -> Mask:
        found = np.zeros(len(self), np.bool_)
        for table, column in held:
            for number in table.numbers_with(value):
                found |= column.dense(len(self)) == number
        return found

    def may_hold(self, key: str, value: object) -> bool:
        """Whether a run had this value of a key: false is certain, true is in short lines only nearly so."""
        if self.item_hashes is not None:
            return item_hash(key, value) in self.item_hashes
        return self.has_any(key, value)

    def has_any(self, key: str, value: object) -> bool:
        return any(
            bool((column.numbers == number).any())
            for table, column in self.in_force(key)
            for number in table.numbers_with(value)
        )

    def floats(self, held: Iterable[Held]) -> NDArray[np.float64]:
        """What these columns hold as numbers; NaN for runs that are in none of them and for what is no number."""
        found = np.full(len(self), np.nan)
        for table, column in held:
            floats = table.floats()
            if column.places is None:
                found = np.where(column.numbers != ABSENT, floats[column.numbers], found)
            else:
                found[column.places] = floats[column.numbers]
        return found

    def changing(self, sets: Iterable[int]) -> Mask:
        """The runs that changed what one of these change sets says."""
        wanted = np.zeros(len(self.vocabulary.change_sets), np.bool_)
        wanted[list(sets)] = True
        return wanted[self.facts["changes"]] if wanted.any() else np.zeros(len(self), np.bool_)

    # How columns come about

    def spliced(self, removed: Collection[str], rows: Iterable[RunRow]) -> RunColumns:
        """Without these runs, then with these: in the place of a run of the same id, else by their order."""
        gone = [place for each in removed if (place := self.place_of(each)) is not None]
        kept: Mask | None = None
        if gone:
            kept = np.ones(len(self), np.bool_)
            kept[gone] = False
        replacing: list[tuple[int, RunRow]] = []
        appended: list[RunRow] = []
        for row in rows:
            place = self.place_of(row.id)
            if place is None or (kept is not None and not kept[place]):
                appended.append(row)
            else:
                replacing.append((place, row))
        replacing.sort(key=lambda each: each[0])
        appended.sort(key=lambda row: row.order)
        replaced = np.array([place for place, _ in replacing], np.intp)
        if kept is not None:
            replaced = np.cumsum(kept)[replaced] - 1 if len(replaced) else replaced
        splice = Splice(kept, len(self), replaced, len(appended))
        result = self._spliced(splice, [*(row for _, row in replacing), *appended], bool(gone))
        order = result.facts["order"]
        return result if (order[1:] >= order[:-1]).all() else result.placed(order)

    def _spliced(self, splice: Splice, rows: Sequence[RunRow], shrunk: bool) -> RunColumns:
        logged = _columns_of_shapes(rows)
        unlogged: dict[KeyTable, Numbers] = {}
        metrics: dict[int, Numbers] = {}
        for place, row in enumerate(rows):
            for table, number in row.unlogged:
                unlogged.setdefault(table, np.zeros(len(rows), np.int32))[place] = number
            for name, value in row.metrics:
                if name not in metrics:
                    metrics[name] = np.full(len(rows), np.nan)
                metrics[name][place] = value
        facts = {
            name: splice.spliced(self.facts[name], np.array([getattr(row, name) for row in rows], dtype), dtype, 0)
            for name, dtype in _FACTS.items()
        }
        shapes = np.array([row.shape.number for row in rows], np.int32)
        signatures = _signatures(rows, logged, unlogged)
        changes = self.vocabulary.change_sets.things
        fresh_changes = {change.key for number in {row.changes for row in rows} for change in changes[number]}
        changed_keys = self.changed_keys
        if shrunk or len(splice.replaced):
            changed_keys = frozenset(c.key for number in np.unique(facts["changes"]).tolist() for c in changes[number])
        elif not fresh_changes <= changed_keys:
            changed_keys |= fresh_changes
        places = self._places
        if places is not None:
            places = None if shrunk else places
        ids = splice.spliced_list(self.ids, [row.id for row in rows])
        if places is not None:
            places.update(zip(ids[len(self) :], range(len(self), len(ids)), strict=True))
        return RunColumns(
            self.vocabulary,
            ids,
            splice.spliced_list(self.origins, [row.origin for row in rows]),
            facts,
            splice.spliced(self.shapes, shapes, np.int32, 0),
            splice.spliced(self.signatures, signatures, np.uint64, 0),
            _spliced_columns(self.logged, logged, splice),
            _spliced_columns(self.unlogged, unlogged, splice),
            {
                name: column
                for name in {**self.metrics, **metrics}
                if (column := Column.spliced(self.metrics.get(name), metrics.get(name), splice, np.float64, np.nan))
            },
            changed_keys,
            places,
            self.__dict__.get("names", self._names_before),
        )

    def placed(self, order: Numbers) -> RunColumns:
        """The same runs by their places in the pool, of which each has one here. What comes from another line, or to a
        source that others follow, does not stand at the end."""
        by_order = np.argsort(order, kind="stable")
        new_places = np.empty(len(self), np.int32)
        new_places[by_order] = np.arange(len(self), dtype=np.int32)

        def column(old: Column) -> Column:
            if old.places is None:
                return Column(None, old.numbers[by_order], old.count)
            places = new_places[old.places]
            rank = np.argsort(places)
            return Column(places[rank], old.numbers[rank], old.count)

        return RunColumns(
            self.vocabulary,
            [self.ids[place] for place in by_order.tolist()],
            [self.origins[place] for place in by_order.tolist()],
            {name: each[by_order] for name, each in {**self.facts, "order": order}.items()},
            self.shapes[by_order],
            self.signatures[by_order],
            {table: column(each) for table, each in self.logged.items()},
            {table: column(each) for table, each in self.unlogged.items()},
            {name: column(each) for name, each in self.metrics.items()},
            self.changed_keys,
            names_before=self.__dict__.get("names", self._names_before),
        )


def _by_key(columns: Mapping[KeyTable, Column]) -> dict[str, list[Held]]:
    found: dict[str, list[Held]] = {}
    for table, column in columns.items():
        if table.is_compared:
            found.setdefault(table.key, []).append((table, column))
    return found


def _mark(mask: Mask, column: Column) -> None:
    if column.places is None:
        mask |= column.numbers != ABSENT
    else:
        mask[column.places] = True


def _columns_of_shapes(rows: Sequence[RunRow]) -> dict[KeyTable, Numbers]:
    """What rows logged, as one column for each key; runs with the same keys are turned into columns together."""
    by_shape: dict[int, list[int]] = {}
    for place, row in enumerate(rows):
        by_shape.setdefault(row.shape.number, []).append(place)
    found: dict[KeyTable, Numbers] = {}
    for places in by_shape.values():
        tables = rows[places[0]].shape.tables
        block = np.array([rows[place].numbers for place in places], np.int32).reshape(len(places), len(tables))
        for number, table in enumerate(tables):
            if table not in found:
                found[table] = np.zeros(len(rows), np.int32)
            found[table][places] = block[:, number]
    return found


def _spliced_columns(
    old: Mapping[KeyTable, Column], fresh: Mapping[KeyTable, Numbers], splice: Splice
) -> dict[KeyTable, Column]:
    found: dict[KeyTable, Column] = {}
    for table in {**old, **fresh}:
        dtype: Any = np.uint8 if len(table) <= 0x100 else np.uint16 if len(table) <= 0x10000 else np.int32
        column = Column.spliced(old.get(table), fresh.get(table), splice, dtype)
        if column is not None:
            found[table] = column
    return found


def _signatures(
    rows: Sequence[RunRow], logged: Mapping[KeyTable, Numbers], unlogged: Mapping[KeyTable, Numbers]
) -> NDArray[np.uint64]:
    """Equal for equal sets of (key, value) in force; a run without any has its own."""
    total = np.zeros(len(rows), np.uint64)
    some = np.zeros(len(rows), np.bool_)
    for columns in (logged, unlogged):
        for table, numbers in columns.items():
            if table.is_compared:
                total += table.hashes_of(numbers)
                some |= numbers != ABSENT
    for place in np.flatnonzero(~some).tolist():
        total[place] = hash_of_id(rows[place].id)
    return total
