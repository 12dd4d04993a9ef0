"""`dead-end` by near: equal to a dead end but for one number, which is turned again."""

from __future__ import annotations

import math

import numpy as np

from tried.draft.parameters import ParameterKind
from tried.findings.claim import Claim
from tried.findings.comparison import number_of
from tried.findings.finding import Severity
from tried.findings.memory import is_size, largest_fitting
from tried.findings.move import parent_of
from tried.findings.scope import Scope
from tried.pool.history.column import Mask
from tried.pool.history.run import Run
from tried.pool.history.run_row import CAUSES

_TOO_MUCH = (CAUSES.index("out_of_memory"), CAUSES.index("diverged"))
_FARTHEST = 4.0
"""Beyond so many times the value, either way, a knob is no longer near."""


def near_claims(scope: Scope) -> list[Claim]:
    if scope.draft.new:
        return []
    counts = scope.compared
    near = (counts.differing == 1) & (counts.draft_only == 0) & (counts.unread == 0)
    near &= scope.line.is_dead & scope.admitted & ~scope.code_alone
    if not near.any():
        return []
    near &= scope.nearly_equal
    found: list[Claim] = []
    # In the order in which the pool first came near by a key, as all else goes by the pool's order.
    for place in dict.fromkeys(counts.turned[near].tolist()):
        key, parameter = list(scope.draft.values.items())[place - 1] if place else ("", None)
        if parameter is not None and parameter.kind is ParameterKind.KNOB:
            claim = _claim(scope, key, near & (counts.turned == place))
            found += [claim] if claim is not None else []
    return found


def _claim(scope: Scope, key: str, near: Mask) -> Claim | None:
    """Of the nearest value among those runs, if it is near enough and nothing that worked is as near."""
    parameter = scope.draft.values[key]
    ours = number_of(parameter.value)
    if not ours:  # 0 switches a knob off
        return None
    columns = scope.line.columns
    dead = columns.floats(columns.in_force(key))
    near = near & ~np.isnan(dead) & (dead != 0)
    if not near.any():
        return None
    distance = np.abs(ours - dead)
    near &= distance < _nearest_that_worked(scope, key, ours, float(distance[near].min()))
    rows = np.flatnonzero(near)
    # Of two as far away the one that is told louder (see `_at_most`), else the later one.
    quieter = np.isin(columns.facts["cause"][rows], _TOO_MUCH) & (np.abs(dead[rows]) > abs(ours))
    by_distance = rows[np.lexsort((-rows, quieter, distance[rows]))]
    nearest = next((run for row in by_distance.tolist() if _bears(scope, run := scope.line.run_at(row))), None)
    if nearest is None:
        return None
    value = nearest.in_force[key].value
    theirs = number_of(value) or 0.0
    fits = largest_fitting(scope, key, theirs) if nearest.cause == "out_of_memory" else ""
    same = scope.line.runs_in(near & columns.holds(key, value))
    return Claim(
        evidence="near",
        runs=tuple(run for run in same if _bears(scope, run)),
        blamed=(parameter,),
        change=f"{parameter.shown} {nearest.in_force[key].text}",
        contrast=f"{fits} fits" if fits else "",
        at_most=_at_most(nearest, key, ours, theirs),
    )


def _bears(scope: Scope, run: Run) -> bool:
    """Enough of it is equal, and it has nothing of its own that the draft lacks."""
    found = scope.comparison(run)
    compared = len(found.equal) + len(found.equal_budget) + len(found.budget) + 1
    return compared >= scope.settings.minimum_compared and scope.lacks_nothing_of(run)


def _at_most(run: Run, key: str, ours: float, theirs: float) -> Severity:
    """Less of what was too much may be the cure, and what is far away or no size says little."""
    if run.cause in ("out_of_memory", "diverged") and abs(ours) < abs(theirs):
        return "hover"
    if run.cause == "out_of_memory" and not is_size(run.in_force[key].shown):
        return "hover"
    far = ours * theirs < 0 or max(abs(ours), abs(theirs)) > _FARTHEST * min(abs(ours), abs(theirs))
    return "hover" if far else "information"


def _nearest_that_worked(scope: Scope, key: str, ours: float, enough: float) -> float:
    """How far from the draft's value the knob stood in a run that worked, or before a run turned it.

    What worked at the value, between it and a dead end's, or nearer, is in any case no farther than the dead end. The
    search ends at what is as near as `enough`: nothing is left then.
    """
    columns = scope.line.columns
    logged = columns.floats(columns.logged_by_key.get(key, ()))
    distances = np.abs(ours - logged[scope.line.has_worked & ~np.isnan(logged)])
    nearest = float(distances.min()) if len(distances) else math.inf
    if nearest <= enough:
        return nearest
    sets = columns.vocabulary.change_sets
    turning = np.flatnonzero(columns.changing(sets.of_key.get(key, ())) & columns.logs(key))
    for row in turning.tolist():
        run = scope.line.run_at(row)
        for change in run.changes:
            before = number_of(change.before) if change.key == key else None
            if before is None or abs(before - ours) >= nearest:
                continue
            parent = parent_of(scope, run)
            if parent is None or parent.ending != "dead_end":
                nearest = abs(before - ours)
    return nearest
