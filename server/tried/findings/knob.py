"""`dead-end` by knob: a parameter, or one value of it, that only dead ends ever had, while much that worked had not."""

from __future__ import annotations

from collections.abc import Iterable

from tried.draft.parameters import UNKNOWN, Parameter, ParameterKind
from tried.findings.claim import Claim, replicates
from tried.findings.scope import Scope
from tried.pool.history import Run

_MOST_BLAMED = 3
"""More parameters that only the very same runs set are an experiment of its own, and no single knob is to blame."""
_OFF = (("bool", False), None)
_NO_FAULT_OF_THE_KNOB = ("code_error", "infrastructure", "stopped")


def knob_claims(scope: Scope) -> list[Claim]:
    """Claims in the draft's own research line, first of parameters, then of single values; one for the same runs."""
    if not scope.own or scope.line.worked < scope.settings.knob_worked_without:
        return []
    by_runs: dict[tuple[str, ...], list[tuple[Parameter, str]]] = {}
    for key, parameter in scope.draft.values.items():
        if parameter.kind is not ParameterKind.KNOB or parameter.value in _OFF:
            continue
        setting = [run for run in scope.line.by_key[key].values() if run.values[key].value not in _OFF]
        if (runs := _only_dead_ends(scope, setting)) and _worked_since(scope.line.runs.values(), runs[0]):
            by_runs.setdefault(tuple(run.id for run in runs), []).append((parameter, parameter.shown))
        elif runs := _dead_value(scope, key, parameter, setting):
            what = f"{parameter.shown} {runs[-1].values[key].text}"
            by_runs.setdefault(tuple(run.id for run in runs), []).append((parameter, what))
    return [
        Claim(
            evidence="knob",
            runs=tuple(scope.line.runs[run_id] for run_id in runs),
            blamed=tuple(parameter for parameter, _ in blamed),
            change=", ".join(what for _, what in blamed),
        )
        for runs, blamed in by_runs.items()
        if len(blamed) <= _MOST_BLAMED
    ]


def seldom_set_claims(scope: Scope) -> list[Claim]:
    """For the hover alone: what fewer experiments set, all of them dead ends of whatever cause.

    Too little to blame the knob, and yet what somebody wants to see who sets it again.
    """
    if not scope.own or scope.line.worked < scope.settings.knob_worked_without:
        return []
    by_runs: dict[tuple[str, ...], list[Parameter]] = {}
    for key, parameter in scope.draft.values.items():
        if parameter.kind is not ParameterKind.KNOB or parameter.value in _OFF:
            continue
        setting = [run for run in scope.line.by_key[key].values() if run.values[key].value not in _OFF]
        if any(run.ending != "dead_end" for run in setting):
            continue
        if runs := sorted(scope.admitted(setting), key=lambda run: run.order):
            by_runs.setdefault(tuple(run.id for run in runs), []).append(parameter)
    return [
        Claim(
            evidence="knob",
            runs=tuple(scope.line.runs[run_id] for run_id in runs),
            blamed=tuple(blamed),
            change=", ".join(parameter.shown for parameter in blamed),
            at_most="hover",
        )
        for runs, blamed in by_runs.items()
        if len(blamed) <= _MOST_BLAMED
    ]


def _only_dead_ends(scope: Scope, runs: Iterable[Run]) -> list[Run]:
    """The runs in the order of the pool, if all are dead ends by their own fault and enough differ; else none."""
    runs = list(runs)
    if any(run.ending != "dead_end" or run.cause in _NO_FAULT_OF_THE_KNOB for run in runs):
        return []
    admitted = sorted(scope.admitted(runs), key=lambda run: run.order)
    return admitted if len(replicates(admitted)) >= scope.settings.knob_dead_ends else []


def _worked_since(runs: Iterable[Run], first: Run) -> bool:
    """A run without the knob worked after it was first set: else perhaps it is merely logged since then."""
    return any(run.ending == "worked" and run.is_after(first) for run in runs)


def _dead_value(scope: Scope, key: str, parameter: Parameter, setting: Iterable[Run]) -> list[Run]:
    """The dead ends with the draft's value, where the knob worked at another one and the setting is a similar one."""
    if parameter.value is UNKNOWN or scope.line.changed_from[(key, parameter.value)]:
        return []
    if not any(run.ending == "worked" for run in setting):
        return []
    runs = _only_dead_ends(scope, (run for run in setting if run.values[key].value == parameter.value))
    if not runs or max(scope.comparison(run).agreement for run in runs) < scope.settings.move_agreement:
        return []
    return runs
