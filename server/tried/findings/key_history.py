"""What was tried for one key of a draft: its values, how the runs with each ended, and what came of turning it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tried.draft.alignment import align
from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import UNKNOWN, Parameter, shown_value
from tried.findings.find import own_line, scopes
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.findings.wording import what_happened
from tried.pool.history import ParameterHistory
from tried.pool.run import Run


@dataclass(frozen=True, slots=True)
class BestResult:
    """The best objective among runs: only where its direction is known."""

    metric: str
    value: float
    record: str


@dataclass(frozen=True, slots=True)
class ValueHistory:
    """One value of a key; `text` as it was recorded. `records` are the latest first.

    `by_this` counts the dead ends that set this very value as their own change; the others may have died of anything.
    """

    text: str
    is_draft: bool
    runs: int
    dead_ends: int
    by_this: int
    worked: int
    best: BestResult | None
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnedTo:
    """A dead end that came from turning this knob away from the draft's value: what a next step may repeat."""

    text: str
    happened: str
    record: str


@dataclass(frozen=True, slots=True)
class KeyHistory:
    """`values` in order of the number of runs, the draft's own first; empty where the key was never logged.

    `tried` is false where no run had the draft's value.
    """

    key: str
    draft: str
    research_line: str | None
    runs: int
    values: tuple[ValueHistory, ...]
    tried: bool
    turned: tuple[TurnedTo, ...]


_MOST_RECORDS = 3


def key_history(
    draft: ExperimentDraft, parameter: Parameter, history: ParameterHistory, settings: FindingSettings
) -> KeyHistory | None:
    """The history of the key of one of the draft's parameters.

    In its own research line, else in a similar setting, else in the line that has most runs with the key.
    """
    for scope in scopes(draft, history, settings):
        if (key := _key_in(scope, parameter)) is not None:
            runs = [run for run in _runs_with(scope, key) if scope.own or scope.admits(run)]
            if runs:
                return _history(scope, key, parameter, runs)
    best: tuple[Scope, str, list[Run]] | None = None
    name = parameter.key.rsplit(".", 1)[-1]
    for line in history.lines.values():
        if name not in line.names:
            continue
        aligned = align((parameter,), line.keys, line.keys_by_suffix)
        scope = Scope(line, False, aligned, settings)
        if (key := _key_in(scope, parameter)) is not None:
            runs = _runs_with(scope, key)
            if runs and (best is None or len(runs) > len(best[2])):
                best = scope, key, runs
    return _history(best[0], best[1], parameter, best[2]) if best is not None else None


def is_untried(
    draft: ExperimentDraft, parameter: Parameter, history: ParameterHistory, settings: FindingSettings
) -> bool:
    """True only where it is certain that no run set the key.

    The research line is known, its runs log their parameters, and no line has a key of this name in any container.
    """
    line = own_line(draft, history, settings)
    if line is None or 2 * sum(1 for run in line.runs.values() if run.values) < len(line.runs):
        return False
    name = parameter.key.rsplit(".", 1)[-1]
    return not any(name in other.names for other in history.lines.values())


def _key_in(scope: Scope, parameter: Parameter) -> str | None:
    return next((key for key, mine in scope.draft.values.items() if mine.entry is parameter.entry), None)


def _runs_with(scope: Scope, key: str) -> list[Run]:
    found = dict(scope.line.by_key[key])
    for value in scope.line.values_of_key.get(key, ()):
        found.update(scope.line.by_item[(key, value)])
    return sorted(found.values(), key=lambda run: run.order)


def _history(scope: Scope, key: str, parameter: Parameter, runs: list[Run]) -> KeyHistory:
    by_value: dict[object, list[Run]] = {}
    for run in runs:
        by_value.setdefault(dict(run.items()).get(key, UNKNOWN), []).append(run)
    values = [_value_history(key, value, parameter, group) for value, group in by_value.items() if value is not UNKNOWN]
    values.sort(key=lambda value: (not value.is_draft, -value.runs))
    turned = [
        TurnedTo(change.text, what_happened(run), run.id)
        for run in scope.line.changed_from[(key, parameter.value)].values()
        for change in run.changes
        if change.key == key and run.ending == "dead_end"
    ]
    return KeyHistory(
        key=parameter.shown,
        draft=shown_value(parameter.entry.value),
        research_line=scope.line.research_line,
        runs=len(runs),
        values=tuple(values),
        tried=any(value.is_draft for value in values),
        turned=tuple(reversed(turned)),
    )


def _value_history(key: str, value: object, parameter: Parameter, runs: list[Run]) -> ValueHistory:
    recorded = runs[0].values.get(key)
    text = recorded.text if recorded else next(change.text for change in runs[0].changes if change.key == key)
    return ValueHistory(
        text=text,
        is_draft=value == parameter.value,
        runs=len(runs),
        dead_ends=sum(run.ending == "dead_end" for run in runs),
        by_this=sum(
            run.ending == "dead_end" and any(c.key == key and c.after == value for c in run.changes) for run in runs
        ),
        worked=sum(run.ending == "worked" for run in runs),
        best=best_result(runs),
        records=tuple(run.id for run in reversed(runs[-_MOST_RECORDS:])),
    )


def best_result(runs: Iterable[Run]) -> BestResult | None:
    """The best finite value of the objective that most of the runs have, where its direction is known."""
    by_metric: dict[str, list[tuple[float, str, str]]] = {}
    for run in runs:
        if run.objective is not None and run.objective[2] is not None and abs(run.objective[1]) != float("inf"):
            name, value, direction = run.objective
            if value == value:
                by_metric.setdefault(name, []).append((value, run.id, direction or "min"))
    if not by_metric:
        return None
    metric, results = max(by_metric.items(), key=lambda item: len(item[1]))
    value, record, _ = min(results, key=lambda result: result[0] if result[2] == "min" else -result[0])
    return BestResult(metric, value, record)
