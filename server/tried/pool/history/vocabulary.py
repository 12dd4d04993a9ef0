"""The keys and values that runs logged, each held once and numbered: what makes columns of numbers out of runs.

Invariant: a number, once given, means the same for ever, so every snapshot of a pool may share one vocabulary. It only
grows, and only whoever advances the history writes to it.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tried.draft.parameters import (
    COMPARED_KINDS,
    TRUNCATED,
    UNKNOWN,
    ParameterKind,
    RecordedValue,
    comparable,
    flatten,
    is_known,
    kind_of,
    normalise_key,
    shown_value,
)

ABSENT: Final = 0
"""The number of no value."""

_MOST_REMEMBERED: Final = 8_192
"""Spellings of one key's values that are found without reading them again, and lists of keys alike."""

_LONGEST_REMEMBERED: Final = 100

_MOST_SPELLINGS: Final = 64
"""Spellings of one value that are told apart; further ones, such as ever other long texts, are taken for the first."""

_PLAIN_TYPES: Final = frozenset({str, int, float, bool, type(None)})


class KeyTable:
    """One key as runs spelled it, and its values by number, from 1; equal values in other spellings have others.

    A spelling decides the kind, so a table holds either what is compared or what is not.
    """

    __slots__ = (
        *("shown", "key", "kind", "number", "is_compared", "values", "recorded", "unknown", "truncated"),
        *("_numbers", "_others", "_spelled", "_hashes", "_floats", "_read"),
    )

    def __init__(self, shown: str, number: int) -> None:
        self.shown: Final = shown
        self.key: Final = normalise_key(shown)
        self.kind: Final[ParameterKind] = kind_of(shown)
        self.number: Final = number
        self.is_compared: Final = self.kind in COMPARED_KINDS
        self.values: Final[list[object]] = [None]
        self.recorded: Final[list[Any]] = [None]
        self.unknown: Final[list[int]] = []
        self.truncated: Final[list[int]] = []
        self._numbers: Final[dict[object, int]] = {}
        self._others: Final[dict[object, tuple[int, ...]]] = {}
        self._spelled: Final[dict[type, dict[Any, int]]] = {str: {}, int: {}, float: {}, bool: {}}
        self._hashes: Final = array("Q", [0])
        self._read: Final[dict[int, RecordedValue]] = {}
        self._floats: NDArray[np.float64] = np.full(1, np.nan)

    def __len__(self) -> int:
        return len(self.values)

    def number_of(self, recorded: Any) -> int:
        """The number of a value as it was recorded, a new one if need be; ABSENT for null."""
        remembered = self._spelled.get(type(recorded))
        if remembered is None:
            return self.number_of_value(comparable(recorded), recorded)
        number = remembered.get(recorded)
        if number is None:
            number = self.number_of_value(comparable(recorded), recorded)
            short = type(recorded) is not str or len(recorded) <= _LONGEST_REMEMBERED
            if short and len(remembered) < _MOST_REMEMBERED:
                remembered[recorded] = number
        return number

    def number_of_value(self, value: object, recorded: Any) -> int:
        """The same for a value whose comparable form is known."""
        if value is None:
            return ABSENT
        first = self._numbers.get(value)
        held = _held_form(value, recorded)
        if first is not None:
            for number in (first, *self._others.get(value, ())):
                known = self.recorded[number]
                if type(held) is type(known) and held == known:
                    return number
                if not isinstance(held, str) and shown_value(held) == shown_value(known):
                    return number
            if len(self._others.get(value, ())) >= _MOST_SPELLINGS:
                return first
        number = len(self.values)
        self.recorded.append(held)
        self._hashes.append(_hash_of(f"{self.key} {value!r}"))
        if value is UNKNOWN:
            self.unknown.append(number)
        elif value is TRUNCATED:
            self.truncated.append(number)
        self.values.append(value)
        if first is None:
            self._numbers[value] = number
        else:
            self._others[value] = (*self._others.get(value, ()), number)
        return number

    def numbers_with(self, value: object) -> tuple[int, ...]:
        """The numbers of all spellings of a comparable value."""
        first = self._numbers.get(value)
        return () if first is None else (first, *self._others.get(value, ()))

    def is_written(self, number: int, recorded: Any) -> bool:
        """Whether this is how the value of that number was recorded."""
        known, held = self.recorded[number], _held_form(self.values[number], recorded)
        return type(known) is type(held) and bool(known == held)

    def first_numbers(self, numbers: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        """Numbers with those of equal values made equal: that of the first spelling."""
        if not self._others:
            return numbers
        first = np.arange(len(self.values))
        for value, others in list(self._others.items()):
            first[list(others)] = self._numbers[value]
        found: NDArray[np.integer[Any]] = first[numbers]
        return found

    def recorded_value(self, number: int) -> RecordedValue:
        found = self._read.get(number)
        if found is None:
            found = RecordedValue(self.shown, self.recorded[number], self.values[number], self.kind)
            if len(self._read) < _MOST_REMEMBERED:
                self._read[number] = found
        return found

    def floats(self) -> NDArray[np.float64]:
        """The values as finite numbers, by number; NaN for what is none."""
        known = self._floats
        if len(known) < len(self.values):
            fresh = [math.nan if (x := number_of(value)) is None else x for value in self.values[len(known) :]]
            known = self._floats = np.concatenate([known, np.array(fresh, np.float64)])
        return known

    def hashes_of(self, numbers: NDArray[np.int32]) -> NDArray[np.uint64]:
        """64 random-looking bits for each number, equal for equal values of the same key; 0 for ABSENT."""
        if len(numbers) < len(self._hashes):
            return np.array([self._hashes[number] for number in numbers.tolist()], np.uint64)
        return np.array(self._hashes, np.uint64)[numbers]


def number_of(value: object) -> float | None:
    """The value as a finite float; None for what is no number, or too large for one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _held_form(value: object, recorded: Any) -> Any:
    """What is kept of a value as it was recorded: numbers as they are, of others what is ever shown of them.

    What cannot be compared is told apart by a digest, beyond what is shown of it.
    """
    if type(recorded) in (int, bool):
        return recorded
    if type(recorded) is float:
        return recorded + 0.0  # -0.0 is 0.0
    text = shown_value(recorded)
    if is_known(value) or len(longer := shown_value(recorded, _LONGEST_REMEMBERED)) <= len(text):
        return text
    return f"{longer} {_hash_of(str(recorded)):016x}"


def _hash_of(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def hash_of_id(record_id: str) -> int:
    return _hash_of(f"\n{record_id}")


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The keys that a run logged, in its order: those that are compared, and hardware."""

    number: int
    tables: tuple[KeyTable, ...]


Logged: TypeAlias = tuple[Shape, tuple[int, ...]]
"""What a run logged: its keys, and the number of the value of each."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """How parameters with these names become numbers: the places to keep, and the places only to look at."""

    shape: Shape
    kept: tuple[int, ...]
    ignored: tuple[int, ...]


class Vocabulary:
    def __init__(self) -> None:
        self.tables: Final[dict[str, KeyTable]] = {}
        self.shapes: Final[list[Shape]] = []
        self.names: Final = Numbered()
        """Names of metrics, ids of sweeps: few and often repeated."""
        self.change_sets: Final = ChangeSets()
        self._shape_numbers: Final[dict[tuple[int, ...], int]] = {}
        self._plans: Final[dict[tuple[str, ...], _Plan | None]] = {}

    def table(self, shown: str) -> KeyTable:
        found = self.tables.get(shown)
        if found is None:
            found = self.tables[shown] = KeyTable(shown, len(self.tables))
        return found

    def shape(self, tables: tuple[KeyTable, ...]) -> Shape:
        numbers = tuple(table.number for table in tables)
        place = self._shape_numbers.get(numbers)
        if place is None:
            place = self._shape_numbers[numbers] = len(self.shapes)
            self.shapes.append(Shape(place, tables))
        return self.shapes[place]

    def logged(self, params: Mapping[str, Any]) -> Logged:
        """A record's parameters as `flatten` gives them, in numbers."""
        names = tuple(params)
        plan = self._plans.get(names)
        if plan is None and names not in self._plans:
            plan = self._plan(names)
        if plan is None:
            return self._flattened(params)
        values = list(params.values())
        for place in plan.ignored:
            value = values[place]
            if type(value) not in _PLAIN_TYPES or (type(value) is str and value[:1] in ("{", "[")):
                return self._flattened(params)
        numbers: list[int] = []
        for place, table in zip(plan.kept, plan.shape.tables, strict=True):
            value = values[place]
            remembered = table._spelled.get(type(value))
            number = remembered.get(value) if remembered is not None else None
            if number is None:
                if value is None:
                    number = ABSENT
                elif type(value) not in _PLAIN_TYPES or (type(value) is str and value[:1] in ("{", "[")):
                    return self._flattened(params)
                else:
                    number = table.number_of(value)
            numbers.append(number)
        return plan.shape, tuple(numbers)

    def _plan(self, names: tuple[str, ...]) -> _Plan | None:
        """None where two names are one key: which of them counts is for `flatten` to say."""
        if len(self._plans) >= _MOST_REMEMBERED:
            self._plans.clear()
        keys = [normalise_key(name) for name in names]
        written = [key for key in keys if key]
        plan: _Plan | None = None
        if len(set(written)) == len(written):
            kept = [place for place, key in enumerate(keys) if key and _is_held(kind_of(names[place]))]
            held = set(kept)
            shape = self.shape(tuple(self.table(names[place]) for place in kept))
            plan = _Plan(shape, tuple(kept), tuple(place for place in range(len(names)) if place not in held))
        self._plans[names] = plan
        return plan

    def _flattened(self, params: Mapping[str, Any]) -> Logged:
        held = [recorded for recorded in flatten(params).values() if _is_held(recorded.kind)]
        tables = tuple(self.table(recorded.shown) for recorded in held)
        numbers = tuple(
            table.number_of_value(recorded.value, recorded.recorded)
            for table, recorded in zip(tables, held, strict=True)
        )
        return self.shape(tables), numbers


def _is_held(kind: ParameterKind) -> bool:
    """Seeds, run names and bookkeeping are for the record itself to tell: they are as many as there are runs."""
    return kind in COMPARED_KINDS or kind is ParameterKind.HARDWARE


class Numbered:
    """Hashable things by number, each held once. Number 0 is the one that it is made with."""

    def __init__(self) -> None:
        self.things: Final[list[Any]] = [None]
        self._numbers: Final[dict[Any, int]] = {}

    def number(self, thing: Any) -> int:
        """0 for nothing (None, the empty tuple)."""
        if not thing:
            return 0
        found = self._numbers.get(thing)
        if found is None:
            found = self._numbers[thing] = len(self.things)
            self.things.append(thing)
        return found

    def __len__(self) -> int:
        return len(self.things)

    def find(self, thing: Any) -> int | None:
        return self._numbers.get(thing)


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A change of one parameter from what a run came from; `before` or `after` None where it was absent."""

    key: str
    shown: str
    before: object
    after: object
    text: str


class ChangeSets(Numbered):
    """What runs changed, as tuples of `KeyChange`; the empty one is number 0.

    `to` and `from_`: (key, value) → the numbers of the sets that turn the key to or away from the value.
    """

    def __init__(self) -> None:
        super().__init__()
        self.things[0] = ()
        self.to: Final[dict[tuple[str, object], list[int]]] = {}
        self.from_: Final[dict[tuple[str, object], list[int]]] = {}
        self.of_key: Final[dict[str, list[int]]] = {}
        self.values_of_key: Final[dict[str, dict[object, None]]] = {}

    def number(self, thing: tuple[KeyChange, ...]) -> int:
        known = len(self.things)
        number = super().number(thing)
        if number == known:
            for key in dict.fromkeys(change.key for change in thing):
                self.of_key.setdefault(key, []).append(number)
            for item in dict.fromkeys((change.key, change.after) for change in thing):
                self.to.setdefault(item, []).append(number)
                self.values_of_key.setdefault(item[0], {})[item[1]] = None
            for item in dict.fromkeys((change.key, change.before) for change in thing):
                self.from_.setdefault(item, []).append(number)
        return number
