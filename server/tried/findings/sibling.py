"""Which knob is to blame where an experiment ended badly and states no change of its own: that which a sibling that
worked has otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tried.draft.parameters import Parameter, ParameterKind
from tried.findings.comparison import number_of
from tried.findings.memory import is_size
from tried.findings.scope import Scope
from tried.pool.history.column import Mask
from tried.pool.history.run import Run

_MOST_BLAMED: Final = 3
"""Where siblings that worked have more knobs otherwise, each in turn, no single one is to blame."""


@dataclass(frozen=True, slots=True)
class Otherwise:
    """A knob of the draft, and the value at which a run worked that is equal to the draft in all else; as recorded."""

    parameter: Parameter
    worked_at: str


def worked_otherwise(scope: Scope, run: Run) -> list[Otherwise]:
    """The knobs in which alone runs that worked differ from a draft that repeats `run`; that of most such runs first.

    Of what ran out of memory only a size is to blame, if less of it worked. Whole columns are asked: the cost is that
    of a few masks, however many siblings there are.
    """
    if run.cause in ("infrastructure", "stopped"):
        return []
    siblings = _siblings_that_worked(scope, run)
    if not siblings.any():
        return []
    turned = scope.compared.turned
    parameters = list(scope.draft.values.items())
    found: list[tuple[int, int, Otherwise]] = []
    for place in np.unique(turned[siblings & (turned > 0)]).tolist():
        key, parameter = parameters[place - 1]
        those = siblings & (turned == place)
        if run.cause == "out_of_memory":
            those &= _less_of_it(scope, key, parameter)
        if parameter.kind is ParameterKind.KNOB and those.any():
            worked_at = _nearest(scope, key, parameter, those).in_force[key].text
            found.append((-int(np.count_nonzero(those)), place, Otherwise(parameter, worked_at)))
    if len(found) > _MOST_BLAMED:
        return []
    return [otherwise for _, _, otherwise in sorted(found, key=lambda each: each[:2])]


def _siblings_that_worked(scope: Scope, run: Run) -> Mask:
    """One comparable key differs; what the draft leaves open is as in the run that it repeats."""
    counts = scope.compared
    alone: Mask = (counts.differing == 1) & (counts.draft_only == 0) & (counts.unread == 0)
    alone &= scope.line.has_worked & scope.admitted & (counts.run_only == counts.run_only[run.place])
    for key in scope.comparison(run).run_only if alone.any() else ():
        alone &= scope.line.columns.holds(key, run.in_force[key].value)
    return alone


def _less_of_it(scope: Scope, key: str, parameter: Parameter) -> Mask:
    columns, ours = scope.line.columns, number_of(parameter.value)
    if ours is None or not is_size(parameter.shown):
        return np.zeros(len(columns), np.bool_)
    less: Mask = columns.floats(columns.in_force(key)) < ours
    return less


def _nearest(scope: Scope, key: str, parameter: Parameter, runs: Mask) -> Run:
    """The run whose value is nearest to the draft's, where both are numbers; else, and of equals, the first one."""
    columns, ours = scope.line.columns, number_of(parameter.value)
    rows = np.flatnonzero(runs)
    if ours is None:
        return scope.line.run_at(int(rows[0]))
    distance = np.abs(columns.floats(columns.in_force(key))[rows] - ours)
    return scope.line.run_at(int(rows[np.argmin(np.nan_to_num(distance, nan=np.inf))]))
