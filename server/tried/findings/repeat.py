"""`repeat`: what the draft describes has been run before."""

from __future__ import annotations

from tried.findings.claim import Claim
from tried.findings.scope import Scope
from tried.pool.history import Run


def repeats(scope: Scope) -> tuple[list[Run], list[Run]]:
    """The runs that the draft repeats: to the letter, and but for budget keys. Both in the order of the pool."""
    if scope.draft.new:
        return [], []
    exact: list[Run] = []
    but_budget: list[Run] = []
    for run in scope.nearly_equal():
        found = scope.comparison(run)
        if found.differing or found.draft_only or not scope.admits(run) or not scope.lacks_nothing_of(run):
            continue
        if len(found.equal) + len(found.budget) < scope.settings.minimum_compared:
            continue
        (but_budget if found.budget else exact).append(run)
    return exact, but_budget


def repeat_claims(scope: Scope) -> list[Claim]:
    """At most one claim: of the runs equal to the letter, else of those equal but for budgets.

    Where some of them did not end badly the others contradict; where none did, the claim is a mere statement.
    """
    exact, but_budget = repeats(scope)
    runs = exact or but_budget
    if not runs:
        return []
    bad = [run for run in runs if run.ending == "dead_end"]
    others = tuple(run for run in runs if run.ending != "dead_end")
    changed = [
        scope.draft.values[change.key]
        for run in reversed(bad)
        for change in run.changes
        if change.key in scope.draft.values and scope.draft.values[change.key].value == change.after
    ]
    sure = any(not scope.changed_more(run) for run in bad)
    first = [scope.draft.values[key] for key in scope.comparison(runs[-1]).equal[:1]]
    return [
        Claim(
            evidence="repeat",
            runs=tuple(bad or runs),
            blamed=tuple(dict.fromkeys(changed or first)),
            change="",
            at_most="hover" if not bad else "warning" if exact and sure else "information",
            contradicted_by=others if bad else (),
            budget=() if exact else tuple(dict.fromkeys(key for run in runs for key in scope.comparison(run).budget)),
            whole=not changed,
        )
    ]
