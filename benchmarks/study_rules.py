"""The rules of the study that the findings began from, as plainly as they were first written: the peer of the backtest.

Parameters only, within one research line: repeat (all equal runs ended badly), move (a recorded change stands in the
draft and its value never worked), knob (only dead ends set the key, three or more), near (equal but for one parameter,
no run that worked at, between or nearer).
"""

from __future__ import annotations

from tried.draft.parameters import UNKNOWN
from tried.pool.history.run import Run


def study_flags(draft: Run, earlier: list[Run]) -> set[str]:
    """The kinds of evidence that the study's rules find for a draft among the runs before it."""
    ours = {key: value.value for key, value in draft.values.items()}
    theirs = [(run, {key: value.value for key, value in run.values.items()}) for run in earlier]
    found: set[str] = set()
    equal = [run for run, values in theirs if values == ours]
    if equal and all(run.ending == "dead_end" for run in equal):
        found.add("repeat")
    for run, _ in theirs:
        moved = [c for c in run.changes if c.after is not None and ours.get(c.key, UNKNOWN) == c.after]
        if run.ending == "dead_end" and moved and _recorded(run):
            change = moved[0]
            if not any(o.ending == "worked" and v.get(change.key) == change.after for o, v in theirs):
                found.add("move")
    for key in ours:
        setting = [run for run, values in theirs if key in values]
        if len(setting) >= 3 and all(run.ending == "dead_end" for run in setting):
            found.add("knob")
    if any(run.ending == "dead_end" and _near(ours, values, theirs) for run, values in theirs):
        found.add("near")
    return found


def _recorded(run: Run) -> bool:
    derivation = run.record.derivation
    return derivation is not None and any(change.change.startswith("Param") for change in derivation.changes)


def _near(ours: dict[str, object], values: dict[str, object], theirs: list[tuple[Run, dict[str, object]]]) -> bool:
    if ours.keys() != values.keys():
        return False
    differing = [key for key in ours if ours[key] != values[key]]
    if len(differing) != 1 or len(ours) < 3:
        return False
    mine, dead = ours[differing[0]], values[differing[0]]
    worked = [v[differing[0]] for run, v in theirs if run.ending == "worked" and differing[0] in v]
    if isinstance(mine, int | float) and isinstance(dead, int | float):
        numbers = [good for good in worked if isinstance(good, int | float)]
        low, high = sorted((mine, dead))
        return not any(low <= good <= high or abs(good - mine) <= abs(dead - mine) for good in numbers)
    return not worked
