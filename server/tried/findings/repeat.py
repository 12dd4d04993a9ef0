"""`repeat`: what the draft describes has been run before."""

from __future__ import annotations

from tried.findings.claim import Claim, strongest
from tried.findings.finding import Severity
from tried.findings.scope import Scope, is_length
from tried.findings.sibling import worked_otherwise
from tried.pool.history.run import Run

_FEWEST_KNOBS = 2
"""Of what is equal, at least so many are no budgets: two equal intervals and a learning rate are no experiment."""


def repeats(scope: Scope) -> tuple[list[Run], list[Run]]:
    """The runs that the draft repeats: to the letter, and but for budgets. Both in the order of the pool."""
    if scope.draft.new:
        return [], []
    exact: list[Run] = []
    but_budget: list[Run] = []
    counts = scope.compared
    same = (counts.differing == 0) & (counts.draft_only == 0) & (counts.equal >= _FEWEST_KNOBS)
    alike: dict[tuple[int, int, int], list[Run] | None] = {}
    for run in scope.nearly_equal_among(same & scope.admitted):
        kind = run.shape, run.signature, run.change_set  # replicates are judged once
        if kind not in alike:
            is_repeat = _compares_enough(scope, run) and scope.lacks_nothing_of(run)
            alike[kind] = None if not is_repeat else but_budget if differing_budgets(scope, run) else exact
        if (found := alike[kind]) is not None:
            found.append(run)
    return exact, but_budget


def _compares_enough(scope: Scope, run: Run) -> bool:
    found = scope.comparison(run)
    lengths = [key for key in (*found.equal_budget, *found.budget) if _is_length(run, key)]
    return len(found.equal) + len(lengths) >= scope.settings.minimum_compared


def differing_budgets(scope: Scope, run: Run) -> list[str]:
    """Budgets in which they differ, and lengths that only the run states and that are no default of its line."""
    found = scope.comparison(run)
    stated = [key for key in found.run_budget if _is_length(run, key) and not scope.is_default(run, key)]
    return [*found.budget, *stated]


def _is_length(run: Run, key: str) -> bool:
    return is_length(run.in_force[key].kind, run.in_force[key].shown)


def repeat_claims(scope: Scope) -> list[Claim]:
    """At most one claim: of the runs equal to the letter, else of those equal but for budgets.

    Where some of them did not end badly the others contradict; where none did, the claim is a mere statement. It stands
    on what such a run changed, else on what alone is otherwise in a run that worked, else on the experiment as a whole.
    """
    exact, but_budget = repeats(scope)
    runs = exact or but_budget
    if not runs:
        return []
    bad = [run for run in runs if run.ending == "dead_end"]
    changed = [
        scope.draft.values[change.key]
        for run in reversed(scope.line.runs_in_time(bad))
        for change in run.changes
        if change.key in scope.draft.values and scope.draft.values[change.key].value == change.after
    ]
    otherwise = worked_otherwise(scope, strongest(bad)) if len(bad) == len(runs) and not changed else []
    first = [scope.draft.values[key] for key in scope.comparison(runs[-1]).equal[:1]]
    return [
        Claim(
            evidence="repeat",
            runs=tuple(bad or runs),
            blamed=tuple(dict.fromkeys(changed or [each.parameter for each in otherwise] or first)),
            change="",
            contrast=" or ".join(f"{each.parameter.shown} {each.worked_at}" for each in otherwise),
            at_most=_at_most(scope, bad, bool(exact)),
            contradicted_by=tuple(run for run in runs if run.ending != "dead_end") if bad else (),
            budget=() if exact else tuple(dict.fromkeys(key for run in runs for key in differing_budgets(scope, run))),
            whole=not (changed or otherwise),
        )
    ]


def _at_most(scope: Scope, bad: list[Run], exact: bool) -> Severity:
    """The hover for what worked, for values that cannot be read, and where only code was changed."""
    read = [run for run in bad if not scope.comparison(run).unread and not scope.changed_code_alone(run)]
    if not read:
        return "hover"
    sure = any(not scope.changed_more(run) and not scope.is_vague(run) for run in read)
    return "warning" if exact and sure else "information"
