"""How all runs of a line compare with a draft, at once: what `compare` says of one run, counted for each.

Invariant: the counts of a row are the lengths of what `compare` lists for that run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tried.draft.alignment import AlignedDraft
from tried.draft.parameters import TRUNCATED, UNKNOWN, Parameter, ParameterKind
from tried.findings.comparison import compare, is_item_of_a_list_in, list_prefix
from tried.pool.history.column import Column, Mask
from tried.pool.history.parameter_history import LineHistory
from tried.pool.history.run_columns import Held, RunColumns
from tried.pool.history.vocabulary import ABSENT, KeyTable

Counts = NDArray[Any]

_FEW: Final = 12


@dataclass(frozen=True, slots=True, eq=False)
class LineComparison:
    """One entry a run. `turned`: where exactly one key differs, its place among the draft's keys, from 1; 0 if
    the draft lacks it."""

    equal: Counts
    equal_budget: Counts
    differing: Counts
    turned: Counts
    unread: Counts
    draft_only: Counts
    run_only: Counts
    context_differs: Mask
    similarity: NDArray[np.float64]
    agreement: NDArray[np.float64]


def compare_line(draft: AlignedDraft, line: LineHistory) -> LineComparison:
    if len(line) <= _FEW:
        return compare_each(draft, line)
    return compare_columns(draft, line.columns)


def compare_each(draft: AlignedDraft, line: LineHistory) -> LineComparison:
    """One run after the other: quicker for a few."""
    each = [compare(draft, line.run_at(row)) for row in range(len(line))]
    places = {key: place for place, key in enumerate(draft.values, start=1)}

    def counts(lists: Iterable[Sequence[str]]) -> Counts:
        return np.array([len(names) for names in lists], np.uint32)

    return LineComparison(
        equal=counts(one.equal for one in each),
        equal_budget=counts(one.equal_budget for one in each),
        differing=counts(one.differing for one in each),
        turned=np.array([places.get(one.differing[0], 0) if one.differing else 0 for one in each], np.uint32),
        unread=counts(one.unread for one in each),
        draft_only=counts(one.draft_only for one in each),
        run_only=counts(one.run_only for one in each),
        context_differs=np.array([one.context_differs for one in each], np.bool_),
        similarity=np.array([one.similarity for one in each], np.float64),
        agreement=np.array([one.agreement for one in each], np.float64),
    )


def compare_columns(draft: AlignedDraft, columns: RunColumns) -> LineComparison:
    """All runs together, column by column."""
    counting = _Counting(draft, columns)
    for place, (key, parameter) in enumerate(draft.values.items(), start=1):
        counting.shared(place, key, parameter, columns.in_force(key))
    for by_key in (columns.logged_by_key, columns.unlogged_by_key):
        for key, held in by_key.items():
            if key not in draft.values:
                counting.theirs_alone(key, held)
    return counting.result()


class _Counting:
    def __init__(self, draft: AlignedDraft, columns: RunColumns) -> None:
        self.draft: Final = draft
        self.columns: Final = columns
        self.size: Final = len(columns)
        most = len(draft.values) + len(columns.logged) + len(columns.unlogged)
        self.type: Final[type[np.unsignedinteger[Any]]] = np.uint8 if most <= 0xFF else np.uint32
        self.equal, self.equal_budget = self._none(), self._none()
        self.differing, self.turned = self._none(), self._none()
        self.unread, self.run_only = self._none(), self._none()
        self.known_knobs, self.left_out, self.others = self._none(), self._none(), self._none()
        self.context_differs: Mask = np.zeros(self.size, np.bool_)

    def _none(self) -> Counts:
        return np.zeros(self.size, self.type)

    def shared(self, place: int, key: str, parameter: Parameter, held: Iterable[Held]) -> None:
        """A key of the draft, in the runs that have it and in those that do not."""
        kind, present = parameter.kind, np.zeros(self.size, np.bool_)
        is_budget = kind is ParameterKind.BUDGET
        for table, column in held:
            numbers = column.dense(self.size)
            there = numbers != ABSENT
            present |= there
            if parameter.value is UNKNOWN or parameter.value is TRUNCATED:
                self._add(self.left_out, there)
                if not is_budget:
                    unknown = there if parameter.value is UNKNOWN else _any_of(numbers, table.unknown)
                    self._add(self.unread, unknown)
                continue
            self._compare(place, parameter, table, numbers, there)
        if kind is ParameterKind.KNOB:
            self._add(self.known_knobs, present)
        elif kind is ParameterKind.CONTEXT and (prefix := list_prefix(key)) is not None:
            self.context_differs[self._has_any_under(prefix) & ~present] = True

    def _compare(self, place: int, parameter: Parameter, table: KeyTable, numbers: Counts, there: Mask) -> None:
        is_budget = parameter.kind is ParameterKind.BUDGET
        if table.unknown:
            unknown = _any_of(numbers, table.unknown)
            there &= ~unknown
            self._add(self.left_out, unknown)
            if not is_budget:
                self._add(self.unread, unknown)
        if table.truncated:
            truncated = _any_of(numbers, table.truncated)
            there &= ~truncated
            self._add(self.left_out, truncated)
        same = _any_of(numbers, table.numbers_with(parameter.value))
        self._add(self.equal_budget if is_budget else self.equal, same)
        if is_budget or table.kind is ParameterKind.BUDGET:
            return
        there &= ~same
        self._add(self.differing, there)
        self.turned += there.view(np.uint8) * self.type(place)
        if ParameterKind.CONTEXT in (parameter.kind, table.kind):
            self.context_differs |= there

    def theirs_alone(self, key: str, held: Iterable[Held]) -> None:
        """A key that the draft does not set, or not so that it can be told."""
        stated_otherwise = key in self.draft.nulls or is_item_of_a_list_in(key, self.draft.values)
        for table, column in held:
            self._add_column(self.others, column)
            if key in self.draft.ambiguous:
                self._add_column(self.unread, column)
            elif table.kind is ParameterKind.BUDGET:
                continue
            elif stated_otherwise:
                self._add_column(self.differing, column)
                if table.kind is ParameterKind.CONTEXT:
                    self.context_differs |= column.dense(self.size) != ABSENT
            elif table.kind is ParameterKind.KNOB:
                self._add_column(self.run_only, column)

    def result(self) -> LineComparison:
        draft = self.draft
        knobs = sum(parameter.kind is ParameterKind.KNOB for parameter in draft.values.values())
        equal = self.equal.astype(np.int64) + self.equal_budget
        union = len(draft.values) - self.left_out.astype(np.int64) + self.others
        some = union > 0
        return LineComparison(
            equal=self.equal,
            equal_budget=self.equal_budget,
            differing=self.differing,
            turned=self.turned,
            unread=self.unread,
            draft_only=self.type(knobs) - self.known_knobs,
            run_only=self.run_only,
            context_differs=self.context_differs,
            similarity=np.where(some, equal / np.maximum(union + len(draft.new), 1), 0.0),
            agreement=np.where(some, equal / np.maximum(union, 1), 0.0),
        )

    def _add(self, counts: Counts, mask: Mask) -> None:
        counts += mask.view(np.uint8)

    def _add_column(self, counts: Counts, column: Column) -> None:
        if column.places is None:
            self._add(counts, column.numbers != ABSENT)
        else:
            counts[column.places] += 1

    def _has_any_under(self, prefix: str) -> Mask:
        found = np.zeros(self.size, np.bool_)
        for by_key in (self.columns.logged_by_key, self.columns.unlogged_by_key):
            for key, held in by_key.items():
                if key.startswith(prefix):
                    for _, column in held:
                        found |= column.dense(self.size) != ABSENT
        return found


def _any_of(numbers: Counts, wanted: Sequence[int]) -> Mask:
    if len(wanted) == 1:
        only: Mask = numbers == wanted[0]
        return only
    found = np.zeros(len(numbers), np.bool_)
    for number in wanted:
        found |= numbers == number
    return found
