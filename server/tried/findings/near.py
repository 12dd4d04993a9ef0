"""`dead-end` by near: equal to a dead end but for one number, which is turned again."""

from __future__ import annotations

from tried.draft.parameters import ParameterKind
from tried.findings.claim import Claim, pool_order
from tried.findings.comparison import number_of
from tried.findings.finding import Severity
from tried.findings.memory import is_size, largest_fitting
from tried.findings.move import parent_of
from tried.findings.scope import Scope
from tried.pool.run import Run

_FARTHEST = 4.0
"""Beyond so many times the value, either way, a knob is no longer near."""


def near_claims(scope: Scope) -> list[Claim]:
    if scope.draft.new:
        return []
    by_key: dict[str, list[Run]] = {}
    for run in scope.nearly_equal:
        found = scope.comparison(run)
        if run.ending != "dead_end" or len(found.differing) != 1 or found.draft_only or found.unread:
            continue
        key = found.differing[0]
        turned = scope.draft.values.get(key)
        if turned is None or turned.kind is not ParameterKind.KNOB:
            continue
        if len(found.equal) + len(found.equal_budget) + len(found.budget) + 1 < scope.settings.minimum_compared:
            continue
        if scope.changed_code_alone(run) or not scope.admits(run) or not scope.lacks_nothing_of(run):
            continue
        by_key.setdefault(key, []).append(run)
    return [claim for key, runs in by_key.items() if (claim := _claim(scope, key, runs)) is not None]


def _claim(scope: Scope, key: str, runs: list[Run]) -> Claim | None:
    parameter = scope.draft.values[key]
    ours = number_of(parameter.value)
    if not ours:  # 0 switches a knob off
        return None
    worked = _worked_values(scope, key)
    told = [
        (abs(ours - dead), run)
        for run in runs
        if (dead := number_of(run.in_force[key].value)) and not _bracketed(ours, dead, worked)
    ]
    if not told:
        return None
    _, nearest = min(told, key=lambda pair: (pair[0], -pair[1].order))
    theirs = number_of(nearest.in_force[key].value) or 0.0
    fits = largest_fitting(scope, key, theirs) if nearest.cause == "out_of_memory" else ""
    same = [run for _, run in told if run.in_force[key].value == nearest.in_force[key].value]
    return Claim(
        evidence="near",
        runs=tuple(sorted(same, key=pool_order)),
        blamed=(parameter,),
        change=f"{parameter.shown} {nearest.in_force[key].text}",
        contrast=f"{fits} fits" if fits else "",
        at_most=_at_most(nearest, key, ours, theirs),
    )


def _at_most(run: Run, key: str, ours: float, theirs: float) -> Severity:
    """Less of what was too much may be the cure, and what is far away or no size says little."""
    if run.cause in ("out_of_memory", "diverged") and abs(ours) < abs(theirs):
        return "hover"
    if run.cause == "out_of_memory" and not is_size(run.in_force[key].shown):
        return "hover"
    far = ours * theirs < 0 or max(abs(ours), abs(theirs)) > _FARTHEST * min(abs(ours), abs(theirs))
    return "hover" if far else "information"


def _worked_values(scope: Scope, key: str) -> list[float]:
    """Where the knob stood in runs that worked, and where it stood before a run turned it."""
    worked = [run.values[key].value for run in scope.line.by_key[key].values() if run.ending == "worked"]
    before = [
        change.before
        for run in scope.line.by_key[key].values()
        if (parent := parent_of(scope, run)) is None or parent.ending != "dead_end"
        for change in run.changes
        if change.key == key
    ]
    return [number for value in (*worked, *before) if (number := number_of(value)) is not None]


def _bracketed(ours: float, dead: float, worked: list[float]) -> bool:
    """A run that worked lies at the draft's value, between it and the dead end's, or nearer to it than that."""
    low, high = min(ours, dead), max(ours, dead)
    return any(low <= good <= high or abs(good - ours) <= abs(dead - ours) for good in worked)
