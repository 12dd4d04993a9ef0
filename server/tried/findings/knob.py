"""`dead-end` by knob: a parameter, or one value of it, that only dead ends ever had, while much that worked had not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tried.draft.parameters import Parameter, ParameterKind, is_known
from tried.findings.claim import Claim, pool_order
from tried.findings.finding import Severity
from tried.findings.scope import Scope
from tried.pool.run import Run

_MOST_BLAMED = 3
"""More parameters that only the very same runs set are an experiment of its own, and no single knob is to blame."""
_OFF = (("bool", False), None, 0)
_NO_FAULT_OF_THE_KNOB = ("code_error", "infrastructure", "stopped")


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
        setting = scope.line.by_key[key].values()
        if any(run.ending != "dead_end" for run in setting if _is_on(run, key)):
            continue
        runs = sorted(scope.admitted(run for run in setting if _is_on(run, key)), key=pool_order)
        if runs and _enough_worked_without(scope, key, runs):
            found.setdefault(tuple(run.id for run in runs), []).append((parameter, parameter.shown))
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


def _is_on(run: Run, key: str) -> bool:
    return run.values[key].value not in _OFF


def _is_to_blame(run: Run) -> bool:
    return run.ending == "dead_end" and run.cause not in _NO_FAULT_OF_THE_KNOB


def _only_dead_ends(scope: Scope, key: str) -> list[Run]:
    """All runs that set the key, if all are dead ends by its own fault, enough of them differ, and enough worked."""
    setting = scope.line.by_key[key].values()
    if any(not _is_to_blame(run) for run in setting if _is_on(run, key)):
        return []
    runs = _enough(scope, (run for run in setting if _is_on(run, key)))
    if not runs or not _enough_worked_without(scope, key, runs):
        return []
    since = any(run.ending == "worked" and run.is_after(runs[0]) for run in scope.line.runs.values())
    return runs if since else []  # else it is perhaps merely logged since then


def _dead_value(scope: Scope, key: str, parameter: Parameter) -> list[Run]:
    """The dead ends with the draft's value, where the knob worked at another one and the setting is a similar one."""
    item = (key, parameter.value)
    if not is_known(parameter.value) or scope.line.changed_from[item]:
        return []
    having = scope.line.by_item[item].values()
    if any(not _is_to_blame(run) for run in having if key in run.values):
        return []
    if not any(run.ending == "worked" for run in scope.line.by_key[key].values()):
        return []
    runs = _enough(scope, (run for run in having if key in run.values))
    if not runs or max(scope.comparison(run).agreement for run in runs) < scope.settings.move_agreement:
        return []
    return runs


def _enough(scope: Scope, runs: Iterable[Run]) -> list[Run]:
    admitted = [run for run in scope.admitted(runs) if not scope.changed_code_alone(run)]
    different = len({run.signature for run in admitted})
    return sorted(admitted, key=pool_order) if different >= scope.settings.knob_dead_ends else []


def _enough_worked_without(scope: Scope, key: str, runs: list[Run]) -> bool:
    """At least so many runs worked without the knob, in the same context as these."""
    needed = scope.settings.knob_worked_without
    for run in scope.line.runs.values():
        if run.ending == "worked" and (key not in run.values or not _is_on(run, key)) and scope.admits(run):
            needed -= 1
            if needed <= 0:
                return True
    return False
