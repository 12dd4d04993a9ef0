"""Which values were tried for the keys of a draft, and what came of them: in short for all keys, in full for one.

What counts: runs of the draft's research line, or in a similar setting, whose context (dataset, tokenizer, base model)
is the draft's; the hover tells of the others too. Results are compared by one metric, the one that most of these runs
are judged by in a known direction, and dead ends have none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tried.draft.alignment import AMBIGUOUS_ALONE, align
from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import COMPARED_KINDS, UNKNOWN, Parameter, ParameterKind, is_known, shown_value
from tried.draft.spelling import Value, recorded_value
from tried.findings.find import own_line, scopes
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.history.column import Mask
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.history.run_row import DIRECTIONS, Flag
from tried.pool.history.vocabulary import ABSENT

MOST_VALUES: Final = 50
"""Values of one key that are told of, the best ones."""

_MOST_RECORDS: Final = 3
_MAX: Final = DIRECTIONS.index("max")


@dataclass(frozen=True, slots=True)
class Best:
    """The best result among some runs, of a metric whose direction is known."""

    metric: str
    value: float
    record: str


@dataclass(frozen=True, slots=True)
class TriedValue:
    """One value of a key and its runs. `text` is how the first of them recorded it; `value` what a config would hold,
    None where that cannot be told. `records` and `dead_records` are the latest first, at most three."""

    text: str
    value: Value
    runs: int
    worked: int
    dead_ends: int
    best: Best | None
    records: tuple[str, ...]
    dead_records: tuple[str, ...]

    @property
    def is_dead_end(self) -> bool:
        """True where every run with it ended badly."""
        return self.dead_ends == self.runs


@dataclass(frozen=True, slots=True)
class TriedKey:
    """All values that were tried for a key, the best first. `own`: in the draft's own research line; `is_evidence`:
    there, or in a similar setting, so that it holds for the draft. `is_one_context`: as far as the runs log it, all had
    one dataset, tokenizer and the like, so that their results can be compared."""

    key: str
    research_line: str | None
    own: bool
    is_evidence: bool
    is_one_context: bool
    runs: int
    values: tuple[TriedValue, ...]


def tried_of_draft(
    draft: ExperimentDraft, history: ParameterHistory, settings: FindingSettings
) -> tuple[tuple[Parameter, TriedValue], ...]:
    """What came of the draft's own values: of each parameter of which runs tried this value and others too.

    In the order of the draft. A value that all related runs share tells nothing, and is left out as one is that none of
    them had.
    """
    found: dict[int, TriedValue] = {}
    open_keys = {id(parameter) for parameter in draft.parameters if parameter.kind in COMPARED_KINDS}
    for scope in scopes(draft, history, settings):
        related = _Related(scope)
        for key, parameter in scope.draft.values.items():
            if id(parameter) not in open_keys or not is_known(parameter.value):
                continue
            having = related.holding(key, parameter.value)
            setting, trying = np.count_nonzero(related.setting(key)), np.count_nonzero(having)
            if setting:
                open_keys.remove(id(parameter))
            if 0 < trying < setting:
                found[id(parameter)] = related.tried(having, shown_value(parameter.entry.value))
        if not open_keys:
            break
    return tuple((parameter, found[id(parameter)]) for parameter in draft.parameters if id(parameter) in found)


def tried_for_key(
    draft: ExperimentDraft, parameter: Parameter, history: ParameterHistory, settings: FindingSettings
) -> TriedKey | None:
    """All values of the key of one of the draft's parameters, whatever value that has now.

    In its own research line, else in a similar setting, else in the line that has most runs with the key. Where all in
    the draft's context ended badly, whatever the context: nobody is helped by a list of dead ends.
    """
    if parameter.kind not in COMPARED_KINDS:
        return None
    open_draft, parameter = _without_value(draft, parameter)
    for scope in scopes(open_draft, history, settings):
        if (found := _tried_in(_Related(scope), parameter)) is not None:
            is_hopeless = all(tried.is_dead_end for tried in found.values)
            return (_tried_in(_Related(scope, anywhere=True), parameter) if is_hopeless else None) or found
    best: TriedKey | None = None
    own = own_line(draft, history, settings)
    for line in history.lines.values():
        if line.may_mean(parameter.key, AMBIGUOUS_ALONE):
            aligned = align((parameter,), line.keys, line.keys_by_suffix)
            scope = Scope(line, line is own, aligned, settings)
            found = _tried_in(_Related(scope, anywhere=True), parameter)
            if found is not None and (best is None or found.runs > best.runs):
                best = found
    return best


def _without_value(draft: ExperimentDraft, parameter: Parameter) -> tuple[ExperimentDraft, Parameter]:
    """The draft as if nobody knew what the parameter will be."""
    unknown = replace(parameter, value=UNKNOWN)
    parameters = tuple(unknown if each.entry is parameter.entry else each for each in draft.parameters)
    return replace(draft, parameters=parameters), unknown


def _tried_in(related: _Related, parameter: Parameter) -> TriedKey | None:
    scope = related.scope
    key = next((key for key, mine in scope.draft.values.items() if mine.entry is parameter.entry), None)
    if key is None:
        return None
    groups = related.by_value(key)
    if not groups:
        return None
    best_first = sorted(groups, key=_Group.order) if len(groups) > 1 else groups
    return TriedKey(
        key=parameter.shown,
        research_line=scope.line.research_line,
        own=scope.own,
        is_evidence=not related.anywhere,
        is_one_context=related.is_one_context(key),
        runs=sum(group.runs for group in groups),
        values=tuple(related.told(key, group) for group in best_first[:MOST_VALUES]),
    )


@dataclass(slots=True)
class _Group:
    """How often a value was tried. `cost`: its best result, the less the better; infinite where there is none."""

    value: object
    recorded: Any
    runs: int
    worked: int
    dead: int
    cost: float

    def order(self) -> tuple[int, float, int]:
        """The best result first, then what else worked, then what nobody can tell of, then what always ended badly."""
        rank = 3 if self.dead == self.runs else 0 if self.cost < math.inf else 1 if self.worked else 2
        return rank, self.cost, -self.runs


class _Related:
    """The runs of a scope that bear on values, and what came of them."""

    def __init__(self, scope: Scope, *, anywhere: bool = False) -> None:
        self.scope: Final = scope
        self.anywhere: Final = anywhere

    @cached_property
    def runs(self) -> Mask:
        if self.anywhere:
            return np.ones(len(self.scope.line), np.bool_)
        admitted: Mask = ~self.scope.compared.context_differs if self.scope.own else self.scope.admitted
        return admitted

    @cached_property
    def dead(self) -> Mask:
        return self.scope.line.is_dead & ~self.scope.line.is_undecided

    @cached_property
    def metric(self) -> int:
        """The number of the metric that most of the runs are judged by in a known direction; 0 where there is none."""
        facts = self.scope.line.columns.facts
        rows = np.flatnonzero(self.runs & (facts["direction"] != 0) & (facts["objective"] != 0))
        return int(np.bincount(facts["objective"][rows]).argmax()) if len(rows) else 0

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """The result of each run, the less the better; infinite for dead ends, for what still runs, and where there is
        none."""
        facts = self.scope.line.columns.facts
        value = facts["value"]
        known = (facts["objective"] == self.metric) & (facts["direction"] != 0) & np.isfinite(value) & ~self.dead
        known &= (facts["flags"] & (Flag.DEBUG | Flag.RUNNING)) == 0
        if not self.metric:
            known = np.zeros(len(value), np.bool_)
        signed: NDArray[np.float64] = np.where(facts["direction"] == _MAX, -value, value)
        return np.where(known, signed, np.inf)

    def setting(self, key: str) -> Mask:
        """The related runs that had any known value of the key."""
        columns = self.scope.line.columns
        found = np.zeros(len(columns), np.bool_)
        for table, column in columns.in_force(key):
            numbers = column.dense(len(columns))
            found |= numbers != ABSENT
            for number in (*table.unknown, *table.truncated):
                found &= numbers != number
        found &= self.runs
        return found

    def is_one_context(self, key: str) -> bool:
        """Of those with a value of the key, in all of the context that the draft does not set."""
        columns, stated = self.scope.line.columns, self.scope.draft.values.keys()
        among = self.setting(key)
        for table, column in columns.logged.items():
            if table.kind is ParameterKind.CONTEXT and table.key not in stated:
                numbers = table.first_numbers(column.dense(len(columns))[among])
                if len(np.unique(numbers[numbers != ABSENT])) > 1:
                    return False
        return True

    def holding(self, key: str, value: object) -> Mask:
        found = self.scope.line.columns.holds(key, value)
        found &= self.runs
        return found

    def by_value(self, key: str) -> list[_Group]:
        """The related runs by value, equal values in all spellings together, in the order in which they came up."""
        line, found = self.scope.line, dict[object, _Group]()
        for table, column in line.columns.in_force(key):
            numbers = table.first_numbers(column.dense(len(line)))
            rows = np.flatnonzero(self.runs & (numbers != ABSENT))
            numbers, size = numbers[rows], len(table)
            costs = np.full(size, np.inf)
            np.minimum.at(costs, numbers, self.costs[rows])
            runs = np.bincount(numbers, minlength=size)
            worked = np.bincount(numbers, line.has_worked[rows], size)
            dead = np.bincount(numbers, self.dead[rows], size)
            some = np.flatnonzero(runs)
            told = (each[some].tolist() for each in (runs, worked.astype(np.int64), dead.astype(np.int64), costs))
            for number, *counts in zip(some.tolist(), *told, strict=True):
                value = table.values[number]
                if not is_known(value):
                    continue
                known = found.get(value)
                if known is None:
                    found[value] = _Group(value, table.recorded[number], *counts)
                else:
                    known.runs, known.worked = known.runs + counts[0], known.worked + counts[1]
                    known.dead, known.cost = known.dead + counts[2], min(known.cost, counts[3])
        return list(found.values())

    def told(self, key: str, group: _Group) -> TriedValue:
        tried = self.tried(self.holding(key, group.value), shown_value(group.recorded))
        return replace(tried, value=recorded_value(group.recorded, group.value))

    def tried(self, having: Mask, text: str) -> TriedValue:
        dead = self.dead & having
        return TriedValue(
            text=text,
            value=None,
            runs=int(np.count_nonzero(having)),
            worked=int(np.count_nonzero(self.scope.line.has_worked & having)),
            dead_ends=int(np.count_nonzero(dead)),
            best=self._best(having),
            records=self._latest(having),
            dead_records=self._latest(dead),
        )

    def _best(self, having: Mask) -> Best | None:
        costs = np.where(having, self.costs, np.inf)
        row = int(costs.argmin())
        if not np.isfinite(costs[row]):
            return None
        columns = self.scope.line.columns
        name = columns.vocabulary.names.things[self.metric]
        return Best(name, float(columns.facts["value"][row]), columns.ids[row])

    @cached_property
    def latest_first(self) -> NDArray[np.intp]:
        return self.scope.line.in_time(np.arange(len(self.scope.line)))[::-1]

    def _latest(self, having: Mask) -> tuple[str, ...]:
        """The last few, looked for from the end: most are found soon."""
        start, step, found = 0, 1_024, np.empty(0, np.intp)
        while start < len(having) and len(found) < _MOST_RECORDS:
            some = self.latest_first[start : start + step]
            found = np.concatenate([found, some[having[some]]])
            start, step = start + step, 4 * step
        return tuple(self.scope.line.columns.ids[int(row)] for row in found[:_MOST_RECORDS])
