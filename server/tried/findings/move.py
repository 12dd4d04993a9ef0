"""`dead-end` by move: the very change that made a record a dead end stands in the draft."""

from __future__ import annotations

from tried.draft.parameters import UNKNOWN, Parameter, ParameterKind
from tried.findings.claim import LOUDNESS, Claim, is_beyond_noise
from tried.findings.finding import Severity
from tried.findings.memory import as_large_fitted
from tried.findings.scope import Scope
from tried.pool.history import KeyChange, Run

_COMPARED = (ParameterKind.KNOB, ParameterKind.BUDGET, ParameterKind.CONTEXT)


def move_claims(scope: Scope) -> list[Claim]:
    found: dict[tuple[tuple[str, object], ...], list[Run]] = {}
    for key, parameter in scope.draft.values.items():
        if parameter.value is UNKNOWN or parameter.kind is not ParameterKind.KNOB:
            continue
        for run in scope.line.changed_to[(key, parameter.value)].values():
            changes = standing_changes(scope, run)
            if run.ending == "dead_end" and changes and changes[0].key == key and scope.admits(run):
                found.setdefault(tuple((c.key, c.after) for c in changes), []).append(run)
    return [_claim(scope, runs) for runs in found.values() if any(is_beyond_noise(run, scope.line) for run in runs)]


def standing_changes(scope: Scope, run: Run) -> tuple[KeyChange, ...]:
    """The record's changes of parameters, if each of them stands in the draft; nothing if one does not.

    What no run ever logged as a parameter is a change of the code, and no config can state it.
    """
    standing: list[KeyChange] = []
    for change in run.changes:
        parameter = scope.draft.values.get(change.key)
        if parameter is None and scope.is_code_change(run, change):
            continue
        if change.after is None:
            if parameter is not None:
                return ()
        elif parameter is None or parameter.value != change.after:
            return ()
        else:
            standing.append(change)
    return tuple(standing)


def _claim(scope: Scope, runs: list[Run]) -> Claim:
    runs = sorted(runs, key=lambda run: run.order)
    changes = standing_changes(scope, runs[-1])
    blamed = tuple(scope.draft.values[change.key] for change in changes)
    return Claim(
        evidence="move",
        runs=tuple(runs),
        blamed=blamed,
        change=", ".join(f"{parameter.shown} {change.text}" for parameter, change in zip(blamed, changes, strict=True)),
        at_most=max((_at_most(scope, run) for run in runs), key=LOUDNESS.__getitem__),
        contradicted_by=tuple(worked_with(scope, blamed, changes, runs)),
    )


def _at_most(scope: Scope, run: Run) -> Severity:
    """A change says most where all else is as it was; less where the rest is unknown, little where most differs."""
    if not run.values:
        return "information"
    if scope.comparison(run).agreement < scope.settings.move_agreement:
        return "hover"
    return "information" if scope.changed_more(run) else "warning"


def worked_with(
    scope: Scope, blamed: tuple[Parameter, ...], changes: tuple[KeyChange, ...], runs: list[Run]
) -> list[Run]:
    """Runs of the same scope in which all of these values stood and that did not end badly because of them.

    A value that a run changed away from stood in its parent, or where nobody knows the parent, was in use before it.
    """
    found: dict[str, Run] = {}
    first = (changes[0].key, changes[0].after)
    for run in (*scope.line.by_item[first].values(), *scope.line.changed_from[first].values()):
        items = dict(run.items())
        before = {change.key: change.before for change in run.changes}
        stood = all(items.get(c.key) == c.after for c in changes)
        came_from = all(before.get(c.key, items.get(c.key)) == c.after for c in changes)
        if run.ending == "worked" and stood and scope.admits(run):
            found[run.id] = run
        elif came_from and not stood:
            origin = parent_of(scope, run) or run
            if origin is run or origin.ending != "dead_end":
                found[origin.id] = origin
    if runs[-1].cause == "out_of_memory" and len(changes) == 1:
        found.update((run.id, run) for run in as_large_fitted(scope, changes[0].key, changes[0].after))
    return sorted(found.values(), key=lambda run: run.order)


def parent_of(scope: Scope, run: Run) -> Run | None:
    """The run that this one came from, if it is one of its research line."""
    derived_from = run.record.derivation.from_ if run.record.derivation else None
    return scope.line.runs.get(run.record.parent or derived_from or "")


def runs_with(scope: Scope, parameters: tuple[Parameter, ...]) -> list[Run]:
    """The runs of a scope that worked with the draft's values of all these parameters."""
    keys = [key for key, mine in scope.draft.values.items() if any(mine.entry is p.entry for p in parameters)]
    if len(keys) < len(parameters):
        return []
    first, *rest = [(key, scope.draft.values[key].value) for key in keys]
    return [
        run
        for run in scope.line.by_item[first].values()
        if run.ending == "worked" and scope.admits(run) and all(item in run.items() for item in rest)
    ]
