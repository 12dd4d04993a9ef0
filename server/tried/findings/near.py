"""`dead-end` by near: equal to a dead end but for one knob, which is turned again."""

from __future__ import annotations

from tried.draft.parameters import UNKNOWN, ParameterKind
from tried.findings.claim import Claim, is_beyond_noise
from tried.findings.memory import largest_fitting
from tried.findings.move import parent_of
from tried.findings.scope import Scope, number_of
from tried.pool.history import Run


def near_claims(scope: Scope) -> list[Claim]:
    if scope.draft.new:
        return []
    by_key: dict[str, list[Run]] = {}
    for run in scope.nearly_equal():
        found = scope.comparison(run)
        if run.ending != "dead_end" or len(found.differing) != 1 or found.draft_only or not scope.admits(run):
            continue
        key = found.differing[0]
        if scope.draft.values[key].kind is not ParameterKind.KNOB:
            continue
        if len(found.equal) + len(found.budget) + 1 < scope.settings.minimum_compared:
            continue
        if scope.lacks_nothing_of(run) and is_beyond_noise(run, scope.line):
            by_key.setdefault(key, []).append(run)
    return [claim for key, runs in by_key.items() if (claim := _claim(scope, key, runs)) is not None]


def _claim(scope: Scope, key: str, runs: list[Run]) -> Claim | None:
    parameter = scope.draft.values[key]
    ours = number_of(parameter.value)
    if ours is None:
        return None
    worked = _worked_values(scope, key)
    told = [
        (abs(ours - dead), run)
        for run in runs
        if (dead := number_of(run.in_force[key].value)) is not None and not _bracketed(ours, dead, worked)
    ]
    if not told:
        return None
    _, nearest = min(told, key=lambda pair: (pair[0], -pair[1].order))
    theirs = nearest.in_force[key].value
    memory = nearest.cause == "out_of_memory"
    smaller = memory and ours < (number_of(theirs) or 0.0)
    same = [run for _, run in told if run.in_force[key].value == theirs]
    return Claim(
        evidence="near",
        runs=tuple(sorted(same, key=lambda run: run.order)),
        blamed=(parameter,),
        change=f"{parameter.shown} {nearest.in_force[key].text}",
        contrast=f"{largest} fits" if memory and (largest := largest_fitting(scope, key, theirs)) else "",
        at_most="hover" if smaller else "information",
    )


def _worked_values(scope: Scope, key: str) -> list[float]:
    """Where the knob stood in runs that worked, and where it stood before a run turned it."""
    worked = [
        run.values[key].value
        for run in scope.line.by_key[key].values()
        if run.ending == "worked" and run.values[key].value is not UNKNOWN
    ]
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
