"""`dead-end` by move: the very change that made a record a dead end stands in the draft."""

from __future__ import annotations

from collections.abc import Iterator

from tried.draft.parameters import Parameter, ParameterKind, is_known
from tried.findings.claim import LOUDNESS, Claim, pool_order
from tried.findings.comparison import number_of
from tried.findings.finding import Severity
from tried.findings.memory import as_large_fitted, is_size, is_smaller_somewhere, largest_fitting
from tried.findings.scope import Scope
from tried.pool.run import KeyChange, Run


def move_claims(scope: Scope) -> list[Claim]:
    found: dict[tuple[tuple[str, object], ...], list[Run]] = {}
    for run in _candidates(scope):
        changes = standing_changes(scope, run)
        turned = any(scope.draft.values[change.key].kind is ParameterKind.KNOB for change in changes)
        if turned and scope.admits(run):
            found.setdefault(tuple((change.key, change.after) for change in changes), []).append(run)
    return [_claim(scope, sorted(runs, key=pool_order)) for runs in found.values()]


def _candidates(scope: Scope) -> Iterator[Run]:
    """Dead ends that turned a knob to the draft's value, or out of memory, to a smaller one. Each once."""
    seen: set[str] = set()
    for key, parameter in scope.draft.values.items():
        if parameter.kind is not ParameterKind.KNOB or not is_known(parameter.value):
            continue
        values: tuple[object, ...] = (parameter.value,)
        ours = number_of(parameter.value)
        if ours is not None and is_size(parameter.shown):
            values += tuple(
                value
                for value in scope.line.changed_values.get(key, ())
                if (theirs := number_of(value)) is not None and theirs < ours
            )
        for place, value in enumerate(values):
            for run in scope.line.changed_to[(key, value)].values():
                if run.ending == "dead_end" and run.id not in seen and (place == 0 or run.cause == "out_of_memory"):
                    seen.add(run.id)
                    yield run


def standing_changes(scope: Scope, run: Run) -> tuple[KeyChange, ...]:
    """The record's changes of parameters, if each of them stands in the draft; nothing if one does not.

    Out of memory, a larger size stands for a smaller one. What no run ever logged as a parameter is a change of the
    code, and no config can state it.
    """
    standing: list[KeyChange] = []
    for change in run.changes:
        parameter = scope.draft.values.get(change.key)
        if parameter is None and scope.is_code_change(run, change.key):
            continue
        if change.after is None:
            if parameter is not None:
                return ()
        elif parameter is None or not (parameter.value == change.after or _is_beyond(run, parameter, change)):
            return ()
        else:
            standing.append(change)
    return tuple(standing)


def _is_beyond(run: Run, parameter: Parameter, change: KeyChange) -> bool:
    ours, theirs = number_of(parameter.value), number_of(change.after)
    larger = ours is not None and theirs is not None and ours > theirs
    return run.cause == "out_of_memory" and larger and is_size(change.shown)


def _claim(scope: Scope, runs: list[Run]) -> Claim:
    last = runs[-1]
    changes = standing_changes(scope, last)
    blamed = tuple(scope.draft.values[change.key] for change in changes)
    contrast = ""
    if last.cause == "out_of_memory" and len(changes) == 1 and (size := number_of(changes[0].after)) is not None:
        fits = largest_fitting(scope, changes[0].key, size)
        contrast = f"{fits} fits" if fits else ""
    return Claim(
        evidence="move" if stands_as_it_was(scope, last) else "near",
        runs=tuple(runs),
        blamed=blamed,
        change=named_changes([(p.shown, change.text) for p, change in zip(blamed, changes, strict=True)]),
        contrast=contrast,
        at_most=max((_at_most(scope, run) for run in runs), key=LOUDNESS.__getitem__),
        contradicted_by=tuple(sorted(worked_with(scope, changes, last), key=pool_order)),
    )


def named_changes(changes: list[tuple[str, str]], most: int = 3) -> str:
    """`lr 0.5, depth 9`, of long lists the first few."""
    named = ", ".join(f"{key} {text}" for key, text in changes[:most])
    return f"{named} and {len(changes) - most} more" if len(changes) > most else named


def _at_most(scope: Scope, run: Run) -> Severity:
    """A change says most where all else is as it was; less where the rest is unknown, little where most differs."""
    if run.cause == "out_of_memory" and is_smaller_somewhere(scope, run):
        return "hover"
    if not run.values:
        return "information"
    if scope.comparison(run).agreement < scope.settings.move_agreement:
        return "hover"
    return "warning" if stands_as_it_was(scope, run) and not scope.changed_more(run) else "information"


def stands_as_it_was(scope: Scope, run: Run) -> bool:
    """True where the draft has the very values, and not a larger one of what ran out of memory."""
    return all(scope.draft.values[change.key].value == change.after for change in standing_changes(scope, run))


def worked_with(scope: Scope, changes: tuple[KeyChange, ...], run: Run) -> list[Run]:
    """Runs of the same scope in which all of these values stood and that did not end badly because of them.

    A value that a run changed away from stood in its parent, or where nobody knows the parent, was in use before it.
    Out of memory is contradicted only by what was as large in every size.
    """
    if run.cause == "out_of_memory" and is_size(changes[0].shown):
        return as_large_fitted(scope, changes[0].key)
    found: dict[str, Run] = {}
    first = (changes[0].key, changes[0].after)
    for other in (*scope.line.by_item[first].values(), *scope.line.changed_from[first].values()):
        stood = all(_value(other, change.key) == change.after for change in changes)
        if other.ending == "worked" and stood and scope.admits(other):
            found[other.id] = other
        elif not stood and _came_from(other, changes):
            origin = parent_of(scope, other) or other
            if origin is other or origin.ending != "dead_end":
                found[origin.id] = origin
    return list(found.values())


def _value(run: Run, key: str) -> object:
    recorded = run.in_force.get(key)
    return recorded.value if recorded is not None else None


def _came_from(run: Run, changes: tuple[KeyChange, ...]) -> bool:
    before = {change.key: change.before for change in run.changes}
    return all(before.get(change.key, _value(run, change.key)) == change.after for change in changes)


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
        if run.ending == "worked" and scope.admits(run) and all(_value(run, key) == value for key, value in rest)
    ]
