"""`dead-end` by move: the very change that made a record a dead end stands in the draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from tried.draft.parameters import Parameter, ParameterKind, is_known
from tried.findings.claim import LOUDNESS, Claim, pool_order
from tried.findings.comparison import number_of
from tried.findings.finding import Severity
from tried.findings.memory import as_large_fitted, is_size, is_smaller_somewhere, largest_fitting
from tried.findings.scope import Scope
from tried.pool.history.column import Mask
from tried.pool.history.parameter_history import LineHistory
from tried.pool.history.run import Run
from tried.pool.history.run_row import CAUSES
from tried.pool.history.vocabulary import KeyChange

_OUT_OF_MEMORY: Final = CAUSES.index("out_of_memory")


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
    line = scope.line
    seen: set[int] = set()
    for key, parameter in scope.draft.values.items():
        turned = line.dead_ends_that_turned.get(key)
        if not turned or parameter.kind is not ParameterKind.KNOB or not is_known(parameter.value):
            continue
        rows = list(turned.get(parameter.value, ()))
        ours = number_of(parameter.value)
        if ours is not None and is_size(parameter.shown):
            smaller = [v for v in turned if (theirs := number_of(v)) is not None and theirs < ours]
            ordered = [row for value in _by_first_use(line, key, smaller) for row in turned[value]]
            rows += [row for row in ordered if _ran_out_of_memory(line, row)]
        for row in rows:
            if row not in seen:
                seen.add(row)
                yield line.run_at(row)


def _ran_out_of_memory(line: LineHistory, row: int) -> bool:
    return bool(line.columns.facts["cause"][row] == _OUT_OF_MEMORY)


def _by_first_use(line: LineHistory, key: str, values: list[object]) -> list[object]:
    """In the order in which a run of the line first turned the key to them, however it ended."""
    if len(values) < 2:
        return values
    sets = line.columns.vocabulary.change_sets
    return sorted(values, key=lambda value: int(np.argmax(line.columns.changing(sets.to[key, value]))))


def standing_changes(scope: Scope, run: Run) -> tuple[KeyChange, ...]:
    """The record's changes of parameters, if each of them stands in the draft; nothing if one does not.

    Out of memory, a larger size stands for a smaller one. What no run ever logged as a parameter is a change of the
    code, and no config can state it.
    """
    kind = run.change_set, run.cause == "out_of_memory", scope.logs_parameters(run)
    if kind not in scope.standing:
        scope.standing[kind] = _standing_changes(scope, run)
    return scope.standing[kind]


def _standing_changes(scope: Scope, run: Run) -> tuple[KeyChange, ...]:
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
        contradicted_by=tuple(worked_with(scope, changes, last)),
    )


def named_changes(changes: list[tuple[str, str]], most: int = 3) -> str:
    """`lr 0.5, depth 9`, of long lists the first few."""
    named = ", ".join(f"{key} {text}" for key, text in changes[:most])
    return f"{named} and {len(changes) - most} more" if len(changes) > most else named


def _at_most(scope: Scope, run: Run) -> Severity:
    """A change says most where all else is as it was; less where the rest is unknown, little where most differs."""
    if run.cause == "out_of_memory" and is_smaller_somewhere(scope, run):
        return "hover"
    if not scope.logs_parameters(run):
        return "information"
    if scope.compared.agreement[run.place] < scope.settings.move_agreement:
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
    line, columns = scope.line, scope.line.columns
    sets = columns.vocabulary.change_sets
    first = (changes[0].key, changes[0].after)
    stood = _stood(scope, [(change.key, change.after) for change in changes])
    had = columns.holds(*first) if is_known(first[1]) else np.zeros(len(line), np.bool_)
    found = stood & had & line.has_worked & scope.admitted
    turned = (had | columns.changing(sets.from_.get(first, ()))) & ~stood & (columns.facts["changes"] != 0)
    for row in np.flatnonzero(turned).tolist():
        other = line.run_at(row)
        if _came_from(other, changes):
            origin = parent_of(scope, other) or other
            if origin is other or not line.is_dead[origin.place]:
                found[origin.place] = True
    return line.runs_in(found)


def _stood(scope: Scope, items: Sequence[tuple[str, object]]) -> Mask:
    """The runs in which all of these values were in force."""
    stood = np.ones(len(scope.line), np.bool_)
    for key, value in items:
        stood &= scope.line.columns.holds(key, value)
    return stood


def _value(run: Run, key: str) -> object:
    recorded = run.in_force.get(key)
    return recorded.value if recorded is not None else None


def _came_from(run: Run, changes: tuple[KeyChange, ...]) -> bool:
    before = {change.key: change.before for change in run.changes}
    return all(
        (before[change.key] if change.key in before else _value(run, change.key)) == change.after for change in changes
    )


def parent_of(scope: Scope, run: Run) -> Run | None:
    """The run that this one came from, if it is one of its research line."""
    return scope.line.runs.get(run.origin) if run.origin else None


def runs_with(scope: Scope, parameters: tuple[Parameter, ...]) -> list[Run]:
    """The runs of a scope that worked with the draft's values of all these parameters."""
    keys = [key for key, mine in scope.draft.values.items() if any(mine.entry is p.entry for p in parameters)]
    if len(keys) < len(parameters):
        return []
    items = [(key, scope.draft.values[key].value) for key in keys]
    if not is_known(items[0][1]):
        return []
    return scope.line.runs_in(_stood(scope, items) & scope.line.has_worked & scope.admitted)
