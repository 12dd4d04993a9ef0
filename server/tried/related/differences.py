"""In which parameters a draft and a record differ, as a person wants to read it: `lr: 0.05 → 0.01`.

Compared is what findings compare: keys as the pool has them, however either side wraps them; no seeds, no hardware, no
bookkeeping. Left out is what goes without saying: a parameter that nearly all runs of the line log and that has its
usual value there, where only one side states it.

Invariant: a value that cannot be known (an interpolation, a truncated text) is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator

from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import Parameter, is_known, shown_value
from tried.findings.comparison import Comparison
from tried.findings.find import scopes
from tried.findings.finding import Difference
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.history.run import Run


class DraftDifferences:
    """A draft beside the research lines in which something can be compared with it."""

    def __init__(self, draft: ExperimentDraft, history: ParameterHistory, settings: FindingSettings) -> None:
        self._history = history
        self._scopes = {scope.line.research_line: scope for scope in scopes(draft, history, settings)}
        self._of_the_draft: dict[str | None, tuple[Difference, ...]] = {}

    def of(self, run: Run) -> tuple[Difference, ...] | None:
        """What differs: in the order of the file, budgets behind that, then what one side alone sets; None where
        nothing can be compared."""
        if run.id not in self._history.line_of:
            return None
        scope = self._scopes.get(self._history.line_of[run.id])
        if scope is None or not run.in_force:
            return None
        found = scope.comparison(run)
        if not run.values:  # it is known what it changed, and nothing else
            stated = tuple(_stated_by_both(scope, run, found))
            return stated or None
        if not (found.equal or found.equal_budget or found.differing or found.budget):
            return None
        return (
            *_stated_by_both(scope, run, found),
            *(_difference(scope, run, key) for key in found.draft_only if not _goes_without_saying(scope, key)),
            *(
                _difference(scope, run, key)
                for key in (*found.run_only, *found.run_budget)
                if _is_own_change(run, key) or not scope.is_default(run, key)
            ),
            *self._never_set(scope),
        )

    def _never_set(self, scope: Scope) -> tuple[Difference, ...]:
        """What the draft sets and no run of the line ever did: the same for all of them."""
        name = scope.line.research_line
        if name not in self._of_the_draft:
            new = [parameter for parameter in scope.draft.new if is_known(parameter.value)]
            self._of_the_draft[name] = tuple(Difference(each.shown, _written(each), None) for each in new)
        return self._of_the_draft[name]


def _stated_by_both(scope: Scope, run: Run, found: Comparison) -> Iterator[Difference]:
    for keys in (found.differing, found.budget):
        for key in sorted(keys, key=lambda key: _place_in_file(scope, key)):
            yield _difference(scope, run, key)


def _place_in_file(scope: Scope, key: str) -> float:
    parameter = scope.draft.values.get(key)
    return parameter.entry.span.start if parameter is not None else float("inf")


def _goes_without_saying(scope: Scope, key: str) -> bool:
    """What `Scope.is_default` says of a run, of the draft."""
    line, settings = scope.line, scope.settings
    return (
        line.logging >= _FEWEST_SIBLINGS
        and line.columns.logged_count(key) >= settings.common_key_share * line.logging
        and scope.draft.values[key].value == line.usual_value(key)
    )


_FEWEST_SIBLINGS = 5


def _is_own_change(run: Run, key: str) -> bool:
    return any(change.key == key for change in run.changes)


def _difference(scope: Scope, run: Run, key: str) -> Difference:
    parameter, recorded = scope.draft.values.get(key), run.in_force.get(key)
    ours = _written(parameter) if parameter is not None else "null" if key in scope.draft.nulls else None
    shown = parameter.shown if parameter is not None else recorded.shown if recorded is not None else key
    return Difference(shown, ours, recorded.text if recorded is not None else None)


def _written(parameter: Parameter) -> str:
    return shown_value(parameter.entry.value)
