"""In which parameters a draft and a record differ, as a person wants to read it: `lr: 0.05 → 0.01`.

Compared is what findings compare: keys as the pool has them, however either side wraps them; no seeds, no hardware, no
bookkeeping. Left out is what goes without saying: a parameter that nearly all runs of the line log and that has its
usual value there, where only one side states it.

Invariant: a value that cannot be known (an interpolation, a truncated text) is no difference.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import Parameter, RecordedValue, is_known, shown_value
from tried.findings.find import scopes
from tried.findings.finding import Difference
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.history.run import Run

MOST_SHOWN: Final = 20
_FEWEST_SIBLINGS: Final = 5


@dataclass(frozen=True, slots=True)
class Differences:
    """`shown` are the first of them, at most MOST_SHOWN."""

    shown: tuple[Difference, ...] = ()
    total: int = 0


class DraftDifferences:
    """A draft beside the research lines in which something can be compared with it."""

    def __init__(self, draft: ExperimentDraft, history: ParameterHistory, settings: FindingSettings) -> None:
        self._history = history
        self._scopes = {scope.line.research_line: scope for scope in scopes(draft, history, settings)}
        self._unsaid: dict[tuple[str | None, str], bool] = {}
        self._written: dict[str, str] = {}
        self._places: dict[str | None, defaultdict[str, float]] = {}

    def of(self, run: Run) -> Differences | None:
        """What differs: in the order of the file, budgets behind that, then what one side alone sets, last what no run
        of the line ever set; None where nothing can be compared."""
        scope = self._scopes.get(self._history.line_of.get(run.id)) if run.id in self._history.line_of else None
        if scope is None or not run.in_force:
            return None
        found = scope.comparison(run)
        place = self._places_in_file(scope)
        both = [*sorted(found.differing, key=place), *sorted(found.budget, key=place)]
        if not run.values:  # it is known what it changed, and nothing else
            return self._differences(scope, run, both, ()) if both else None
        if not (both or found.equal or found.equal_budget):
            return None
        own = {change.key for change in run.changes}
        alone = [key for key in found.draft_only if not self._goes_without_saying(scope, key)]
        alone += [key for key in (*found.run_only, *found.run_budget) if key in own or not scope.is_default(run, key)]
        never = [parameter for parameter in scope.draft.new if is_known(parameter.value)]
        return self._differences(scope, run, [*both, *alone], never)

    def _differences(self, scope: Scope, run: Run, keys: Sequence[str], never_set: Sequence[Parameter]) -> Differences:
        theirs = run.in_force
        shown = [self._difference(scope, key, theirs.get(key)) for key in keys[:MOST_SHOWN]]
        shown += [Difference(each.shown, self._text(each), None) for each in never_set[: MOST_SHOWN - len(shown)]]
        return Differences(tuple(shown), len(keys) + len(never_set))

    def _difference(self, scope: Scope, key: str, recorded: RecordedValue | None) -> Difference:
        parameter = scope.draft.values.get(key)
        ours = self._text(parameter) if parameter is not None else "null" if key in scope.draft.nulls else None
        name = parameter.shown if parameter is not None else recorded.shown if recorded is not None else key
        return Difference(name, ours, recorded.text if recorded is not None else None)

    def _places_in_file(self, scope: Scope) -> Callable[[str], float]:
        """Of keys; what the file does not spell out, such as the items of a shorter list, is last."""
        places = self._places.get(scope.line.research_line)
        if places is None:
            found = {key: parameter.entry.span.start for key, parameter in scope.draft.values.items()}
            places = self._places[scope.line.research_line] = defaultdict(lambda: math.inf, found)
        return places.__getitem__

    def _text(self, parameter: Parameter) -> str:
        """The draft's value as it was written; the same beside each record."""
        text = self._written.get(parameter.key)
        if text is None:
            text = self._written[parameter.key] = shown_value(parameter.entry.value)
        return text

    def _goes_without_saying(self, scope: Scope, key: str) -> bool:
        """What `Scope.is_default` says of a run, of the draft."""
        line = scope.line
        known = self._unsaid.get((line.research_line, key))
        if known is None:
            known = self._unsaid[line.research_line, key] = (
                line.logging >= _FEWEST_SIBLINGS
                and line.columns.logged_count(key) >= scope.settings.common_key_share * line.logging
                and scope.draft.values[key].value == line.usual_value(key)
            )
        return known
