"""What was tried for one key of a draft: its values, how the runs with each ended, and what came of turning it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tried.draft.alignment import AMBIGUOUS_ALONE, align
from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import Parameter, is_known, shown_value
from tried.findings.find import own_line, scopes
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.findings.wording import what_happened
from tried.pool.history.column import Mask
from tried.pool.history.parameter_history import LineHistory, ParameterHistory
from tried.pool.history.run_row import DIRECTIONS
from tried.pool.history.vocabulary import ABSENT


@dataclass(frozen=True, slots=True)
class BestResult:
    """The best objective among runs: only where its direction is known."""

    metric: str
    value: float
    record: str


@dataclass(frozen=True, slots=True)
class ValueHistory:
    """One value of a key; `text` as it was recorded. `records` are the latest first.

    `by_this` counts the dead ends that set this very value as their own change; the others may have died of anything.
    Dead ends of a search that still runs are not counted. Of seldom values (beyond the first hundred) `by_this` is 0,
    and `best` and `records` are empty.
    """

    text: str
    is_draft: bool
    runs: int
    dead_ends: int
    by_this: int
    worked: int
    best: BestResult | None
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnedTo:
    """A dead end that came from turning this knob away from the draft's value: what a next step may repeat."""

    text: str
    happened: str
    record: str


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """`values` in order of the number of runs, the draft's own first; empty where the key was never logged.

    `tried` is false where no run had the draft's value. `own`: the research line is the draft's own, else one that has
    the key; `missing_in` is then the draft's own line, if it is certain that no run of it sets the key.
    """

    key: str
    draft: str
    research_line: str | None
    runs: int
    values: tuple[ValueHistory, ...]
    tried: bool
    turned: tuple[TurnedTo, ...]
    own: bool = True
    missing_in: str | None = None


_MOST_RECORDS = 3
_MOST_IN_DETAIL = 100
"""Values, the most frequent ones, of which it is told what they led to, and not only how often they ended how."""
_MOST_TURNED = 40
"""Steps away from the draft's value that are told, the latest ones."""


def key_history(
    draft: ExperimentDraft, parameter: Parameter, history: ParameterHistory, settings: FindingSettings
) -> KeyHistory | None:
    """The history of the key of one of the draft's parameters.

    In its own research line, else in a similar setting, else in the line that has most runs with the key.
    """
    own = own_line(draft, history, settings)
    is_missing = own is not None and not own.may_mean(parameter.key, AMBIGUOUS_ALONE)
    missing_in = own.research_line if own is not None and is_missing else None
    for scope in scopes(draft, history, settings):
        if (key := _key_in(scope, parameter)) is not None:
            runs = _runs_with(scope, key)
            if not scope.own:
                runs &= scope.admitted
            if runs.any():
                return _history(scope, key, parameter, runs, missing_in)
    best: tuple[int, Scope, str, Mask] | None = None
    for line in history.lines.values():
        if not line.may_mean(parameter.key, AMBIGUOUS_ALONE):
            continue
        aligned = align((parameter,), line.keys, line.keys_by_suffix)
        scope = Scope(line, line is own, aligned, settings)
        if (key := _key_in(scope, parameter)) is not None:
            runs = _runs_with(scope, key)
            count = int(np.count_nonzero(runs))
            if count > (best[0] if best is not None else 0):
                best = count, scope, key, runs
    return _history(best[1], best[2], parameter, best[3], missing_in) if best is not None else None


def is_untried(
    draft: ExperimentDraft, parameter: Parameter, history: ParameterHistory, settings: FindingSettings
) -> bool:
    """True only where it is certain that no run set the key.

    The research line is known, its runs log their parameters, and no line has a key that may be meant by it.
    """
    line = own_line(draft, history, settings)
    if line is None or 2 * line.logging < len(line):
        return False
    return not any(other.may_mean(parameter.key, AMBIGUOUS_ALONE) for other in history.lines.values())


def _key_in(scope: Scope, parameter: Parameter) -> str | None:
    return next((key for key, mine in scope.draft.values.items() if mine.entry is parameter.entry), None)


def _runs_with(scope: Scope, key: str) -> Mask:
    """The runs that logged the key, or that changed it to something that can be known."""
    columns = scope.line.columns
    found = columns.logs(key)
    for table, column in columns.unlogged_by_key.get(key, ()):
        numbers = column.dense(len(columns))
        found |= (numbers != ABSENT) & ~np.isin(numbers, [*table.unknown, *table.truncated])
    return found


def _history(scope: Scope, key: str, parameter: Parameter, runs: Mask, missing_in: str | None) -> KeyHistory:
    line = scope.line
    by_value = _by_value(scope, key, runs)
    order = sorted(by_value, key=lambda value: (value != parameter.value, *by_value[value].place))
    values = [
        _value_history(scope, key, value, parameter, by_value[value], in_detail=place < _MOST_IN_DETAIL)
        for place, value in enumerate(order)
    ]
    sets = line.columns.vocabulary.change_sets
    away = line.columns.changing(sets.from_.get((key, parameter.value), ())) & line.is_dead & ~line.is_undecided
    turned = [
        TurnedTo(change.text, what_happened(run), run.id)
        for run in map(line.run_at, line.in_time(np.flatnonzero(away))[-_MOST_TURNED:].tolist())
        for change in run.changes
        if change.key == key
    ]
    return KeyHistory(
        key=parameter.shown,
        draft=shown_value(parameter.entry.value),
        research_line=line.research_line,
        runs=int(np.count_nonzero(runs)),
        values=tuple(values),
        tried=any(value.is_draft for value in values),
        turned=tuple(reversed(turned)),
        own=scope.own,
        missing_in=None if scope.own else missing_in,
    )


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows of a value, ascending, its text as the first of them spelled it, and how many of them ended how."""

    rows: NDArray[np.intp]
    text: str
    dead: int
    worked: int

    @property
    def place(self) -> tuple[int, int]:
        """Most runs first, the earliest of equals."""
        return -len(self.rows), int(self.rows[0])

    def plus(self, other: _Group) -> _Group:
        first = self if self.rows[0] < other.rows[0] else other
        rows = np.sort(np.concatenate([self.rows, other.rows]))
        return _Group(rows, first.text, self.dead + other.dead, self.worked + other.worked)


def _by_value(scope: Scope, key: str, runs: Mask) -> dict[object, _Group]:
    """The runs of each value that can be known."""
    line, columns = scope.line, scope.line.columns
    found: dict[object, _Group] = {}
    for table, column in columns.in_force(key):
        spelled = column.dense(len(columns))
        numbers = table.first_numbers(spelled)
        rows = np.flatnonzero(runs & (numbers != ABSENT))
        dead = np.bincount(numbers[rows], line.is_dead[rows] & ~line.is_undecided[rows], len(table))
        worked = np.bincount(numbers[rows], line.has_worked[rows], len(table))
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        distinct, starts = np.unique(numbers[rows], return_index=True)
        ends = [*starts[1:].tolist(), len(rows)]
        for number, start, end in zip(distinct.tolist(), starts.tolist(), ends, strict=True):
            value = table.values[number]
            if is_known(value):
                text = shown_value(table.recorded[int(spelled[rows[start]])])
                group = _Group(rows[start:end], text, int(dead[number]), int(worked[number]))
                found[value] = found[value].plus(group) if value in found else group
    return found


def _value_history(
    scope: Scope, key: str, value: object, parameter: Parameter, group: _Group, in_detail: bool
) -> ValueHistory:
    line, by_this = scope.line, 0
    if in_detail and group.dead:
        turned = line.columns.changing(line.columns.vocabulary.change_sets.to.get((key, value), ()))
        by_this = int(np.count_nonzero((turned & line.is_dead & ~line.is_undecided)[group.rows]))
    latest = line.in_time(group.rows)[::-1].tolist() if in_detail else []
    return ValueHistory(
        text=group.text,
        is_draft=value == parameter.value,
        runs=len(group.rows),
        dead_ends=group.dead,
        by_this=by_this,
        worked=group.worked,
        best=_best_result(line, group.rows) if in_detail else None,
        records=tuple(line.columns.ids[row] for row in latest[:_MOST_RECORDS]) if in_detail else (),
    )


def _best_result(line: LineHistory, rows: NDArray[np.intp]) -> BestResult | None:
    """The best finite value of the objective that most of the runs have, where its direction is known."""
    facts = line.columns.facts
    rows = rows[(facts["direction"][rows] != 0) & np.isfinite(facts["value"][rows])]
    if not len(rows):
        return None
    names = facts["objective"][rows]
    counts = np.bincount(names)
    metric = names[counts[names] == counts.max()][0]  # of metrics of as many runs the one that came first
    rows = rows[names == metric]
    worse = np.where(facts["direction"][rows] == DIRECTIONS.index("max"), -facts["value"][rows], facts["value"][rows])
    best = int(rows[np.argmin(worse)])
    name = line.columns.vocabulary.names.things[int(metric)]
    return BestResult(name, float(facts["value"][best]), line.columns.ids[best])
