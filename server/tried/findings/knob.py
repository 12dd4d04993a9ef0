"""`dead-end` by knob: a parameter, or one value of it, that only dead ends ever had, while much that worked had not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tried.draft.parameters import Parameter, ParameterKind, is_known
from tried.findings.claim import Claim
from tried.findings.finding import Severity
from tried.findings.scope import Scope
from tried.pool.history.column import Mask
from tried.pool.history.run import Run
from tried.pool.history.run_row import NO_TIME
from tried.pool.history.vocabulary import ABSENT

_MOST_BLAMED = 3
"""More parameters that only the very same runs set are an experiment of its own, and no single knob is to blame."""
_OFF = (("bool", False), None, 0)


def knob_claims(scope: Scope) -> list[Claim]:
    """Claims in the draft's own research line, of parameters and of single values; one for the same runs."""
    found: dict[tuple[str, ...], list[tuple[Parameter, str]]] = {}
    for key, parameter in _knobs(scope):
        if runs := _only_dead_ends(scope, key):
            found.setdefault(tuple(run.id for run in runs), []).append((parameter, parameter.shown))
        elif runs := _dead_value(scope, key, parameter):
            what = f"{parameter.shown} {runs[-1].values[key].text}"
            found.setdefault(tuple(run.id for run in runs), []).append((parameter, what))
    return _claims(scope, found, "information")


def seldom_set_claims(scope: Scope) -> list[Claim]:
    """For the hover alone: what fewer experiments set, all of them dead ends of whatever cause.

    Too little to blame the knob, and yet what somebody wants to see who sets it again.
    """
    found: dict[tuple[str, ...], list[tuple[Parameter, str]]] = {}
    for key, parameter in _knobs(scope):
        setting = _is_on(scope, key)
        if (setting & ~scope.line.is_dead).any():
            continue
        runs = setting & scope.admitted
        if runs.any() and _enough_worked_without(scope, setting):
            ids = tuple(run.id for run in scope.line.runs_in(runs))
            found.setdefault(ids, []).append((parameter, parameter.shown))
    return _claims(scope, found, "hover")


def _knobs(scope: Scope) -> Iterator[tuple[str, Parameter]]:
    if scope.own and scope.line.worked >= scope.settings.knob_worked_without:
        for key, parameter in scope.draft.values.items():
            if parameter.kind is ParameterKind.KNOB and parameter.value not in _OFF:
                yield key, parameter


def _claims(scope: Scope, found: dict[tuple[str, ...], list[tuple[Parameter, str]]], at_most: Severity) -> list[Claim]:
    return [
        Claim(
            evidence="knob",
            runs=tuple(scope.line.runs[run_id] for run_id in runs),
            blamed=tuple(parameter for parameter, _ in blamed),
            change=", ".join(what for _, what in blamed),
            at_most=at_most,
        )
        for runs, blamed in found.items()
        if len(blamed) <= _MOST_BLAMED
    ]


def _is_on(scope: Scope, key: str) -> Mask:
    """The runs that logged the knob and did not switch it off."""
    columns = scope.line.columns
    on = np.zeros(len(columns), np.bool_)
    for table, column in columns.logged_by_key.get(key, ()):
        numbers = column.dense(len(columns))
        here = numbers != ABSENT
        for value in _OFF:
            for number in table.numbers_with(value):
                here &= numbers != number
        on |= here
    return on


def _only_dead_ends(scope: Scope, key: str) -> list[Run]:
    """All runs that set the key, if all are dead ends by its own fault, enough of them differ, and enough worked."""
    setting = _is_on(scope, key)
    if (setting & scope.line.is_blameless).any():
        return []
    runs = _enough(scope, setting)
    if not runs or not _enough_worked_without(scope, setting):
        return []
    return runs if _worked_after(scope, runs[0]) else []  # else it is perhaps merely logged since then


def _worked_after(scope: Scope, run: Run) -> bool:
    """Whether any run worked later: by timestamp where both have one and they differ, else by the place in the pool."""
    time = scope.line.columns.facts["time"]
    by_place = np.arange(len(time)) > run.place
    mine = time[run.place]
    if mine != NO_TIME:
        comparable = (time != NO_TIME) & (time != mine)
        by_place = np.where(comparable, time > mine, by_place)
    return bool((scope.line.has_worked & by_place).any())


def _dead_value(scope: Scope, key: str, parameter: Parameter) -> list[Run]:
    """The dead ends with the draft's value, where the knob worked at another one and the setting is a similar one."""
    columns = scope.line.columns
    item = (key, parameter.value)
    if not is_known(parameter.value):
        return []
    having = columns.holds_logged(*item)
    if (having & scope.line.is_blameless).any() or not (columns.logs(key) & scope.line.has_worked).any():
        return []
    if columns.changing(columns.vocabulary.change_sets.from_.get(item, ())).any():
        return []
    runs = _enough(scope, having)
    if not runs or max(scope.compared.agreement[run.place] for run in runs) < scope.settings.move_agreement:
        return []
    return runs


def _enough(scope: Scope, runs: Mask) -> list[Run]:
    admitted = runs & scope.admitted & ~scope.code_alone
    different = len(np.unique(scope.line.columns.signatures[admitted]))
    return scope.line.runs_in(admitted) if different >= scope.settings.knob_dead_ends else []


def _enough_worked_without(scope: Scope, setting: Mask) -> bool:
    """At least so many runs worked without the knob, in the same context as these."""
    worked = scope.line.has_worked & ~setting & scope.admitted
    return int(np.count_nonzero(worked)) >= scope.settings.knob_worked_without
