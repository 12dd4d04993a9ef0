"""What was tried for one key of a draft: its values, how the runs with each ended, and what came of turning it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tried.draft.alignment import align
from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import Parameter, is_known, shown_value
from tried.findings.find import own_line, scopes
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.findings.wording import what_happened
from tried.pool.column import Mask
from tried.pool.history import ParameterHistory
from tried.pool.run import Run
from tried.pool.vocabulary import ABSENT


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

    `tried` is false where no run had the draft's value.
    """

    key: str
    draft: str
    research_line: str | None
    runs: int
    values: tuple[ValueHistory, ...]
    tried: bool
    turned: tuple[TurnedTo, ...]


_MOST_RECORDS = 3
_MOST_IN_DETAIL = 100
"""Values, the most frequent ones, of which it is told what they led to; steps away, the latest ones."""


def key_history(
    draft: ExperimentDraft, parameter: Parameter, history: ParameterHistory, settings: FindingSettings
) -> KeyHistory | None:
    """The history of the key of one of the draft's parameters.

    In its own research line, else in a similar setting, else in the line that has most runs with the key.
    """
    for scope in scopes(draft, history, settings):
        if (key := _key_in(scope, parameter)) is not None:
            runs = _runs_with(scope, key)
            if not scope.own:
                runs &= scope.admitted
            if runs.any():
                return _history(scope, key, parameter, runs)
    best: tuple[int, Scope, str, Mask] | None = None
    name = parameter.key.rsplit(".", 1)[-1]
    for line in history.lines.values():
        if name not in line.names:
            continue
        aligned = align((parameter,), line.keys, line.keys_by_suffix)
        scope = Scope(line, False, aligned, settings)
        if (key := _key_in(scope, parameter)) is not None:
            runs = _runs_with(scope, key)
            count = int(np.count_nonzero(runs))
            if count > (best[0] if best is not None else 0):
                best = count, scope, key, runs
    return _history(best[1], best[2], parameter, best[3]) if best is not None else None


def is_untried(
    draft: ExperimentDraft, parameter: Parameter, history: ParameterHistory, settings: FindingSettings
) -> bool:
    """True only where it is certain that no run set the key.

    The research line is known, its runs log their parameters, and no line has a key of this name in any container.
    """
    line = own_line(draft, history, settings)
    if line is None or 2 * line.logging < len(line):
        return False
    name = parameter.key.rsplit(".", 1)[-1]
    return not any(name in other.names for other in history.lines.values())


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


def _history(scope: Scope, key: str, parameter: Parameter, runs: Mask) -> KeyHistory:
    line = scope.line
    by_value = _rows_by_value(scope, key, runs)
    order = sorted(by_value, key=lambda value: (value != parameter.value, -len(by_value[value]), by_value[value][0]))
    values = [
        _value_history(scope, key, value, parameter, by_value[value], in_detail=place < _MOST_IN_DETAIL)
        for place, value in enumerate(order)
    ]
    sets = line.columns.vocabulary.change_sets
    away = line.columns.changing(sets.from_.get((key, parameter.value), ())) & line.is_dead & ~line.is_undecided
    turned = [
        TurnedTo(change.text, what_happened(run), run.id)
        for run in map(line.run_at, np.flatnonzero(away)[-_MOST_IN_DETAIL:].tolist())
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
    )


def _rows_by_value(scope: Scope, key: str, runs: Mask) -> dict[object, NDArray[np.intp]]:
    """The rows of each value that can be known, ascending."""
    columns = scope.line.columns
    found: dict[object, NDArray[np.intp]] = {}
    for table, column in columns.in_force(key):
        numbers = table.first_numbers(column.dense(len(columns)))
        rows = np.flatnonzero(runs & (numbers != ABSENT))
        rows = rows[np.argsort(numbers[rows], kind="stable")]
        distinct, starts = np.unique(numbers[rows], return_index=True)
        for number, group in zip(distinct.tolist(), np.split(rows, starts[1:]), strict=False):
            value = table.values[number]
            if is_known(value):
                found[value] = np.sort(np.concatenate([found[value], group])) if value in found else group
    return found


def _value_history(
    scope: Scope, key: str, value: object, parameter: Parameter, rows: NDArray[np.intp], in_detail: bool
) -> ValueHistory:
    line, sets = scope.line, scope.line.columns.vocabulary.change_sets
    dead = line.is_dead[rows] & ~line.is_undecided[rows]
    by_this = line.columns.changing(sets.to.get((key, value), ()))[rows] if in_detail and dead.any() else dead & False
    return ValueHistory(
        text=line.run_at(int(rows[0])).in_force[key].text,
        is_draft=value == parameter.value,
        runs=len(rows),
        dead_ends=int(np.count_nonzero(dead)),
        by_this=int(np.count_nonzero(dead & by_this)),
        worked=int(np.count_nonzero(line.has_worked[rows])),
        best=best_result(map(line.run_at, rows.tolist())) if in_detail else None,
        records=tuple(line.columns.ids[row] for row in rows[::-1][:_MOST_RECORDS].tolist()),
    )


def best_result(runs: Iterable[Run]) -> BestResult | None:
    """The best finite value of the objective that most of the runs have, where its direction is known."""
    by_metric: dict[str, list[tuple[float, str, str]]] = {}
    for run in runs:
        if run.objective is not None and run.objective[2] is not None and abs(run.objective[1]) != float("inf"):
            name, value, direction = run.objective
            if value == value:
                by_metric.setdefault(name, []).append((value, run.id, direction or "min"))
    if not by_metric:
        return None
    metric, results = max(by_metric.items(), key=lambda item: len(item[1]))
    value, record, _ = min(results, key=lambda result: result[0] if result[2] == "min" else -result[0])
    return BestResult(metric, value, record)
