"""Where evidence holds: which runs of a research line bear on a draft, and how each compares with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from tried.draft.alignment import AlignedDraft
from tried.draft.keys import words_of
from tried.draft.parameters import UNKNOWN, Parameter, ParameterKind
from tried.findings.settings import FindingSettings
from tried.pool.history import Item, KeyChange, LineHistory, Run

_LENGTH_WORDS: Final = frozenset(
    {"epoch", "epochs", "step", "steps", "iter", "iters", "iteration", "iterations", "update", "updates"}
    | {"wallclock", "seconds", "sec", "minutes", "hours"}
)
_INTERVAL_WORDS: Final = frozenset(
    {"eval", "val", "valid", "validation", "test", "log", "logging", "print", "save", "checkpoint", "warmup"}
    | {"every", "interval", "freq", "profile", "patience"}
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a run compares with a draft, by the pool's keys. Keys whose value cannot be known are in none of these.

    `similarity` is the share of equal parameters in the union of both, in [0, 1]; `agreement` the same without the
    draft's knobs that no record ever set, which nobody can compare.
    """

    equal: tuple[str, ...]
    differing: tuple[str, ...]
    budget: tuple[str, ...]
    draft_only: tuple[str, ...]
    run_only: tuple[str, ...]
    context_differs: bool
    similarity: float
    agreement: float


def compare(draft: AlignedDraft, run: Run) -> Comparison:
    equal: list[str] = []
    differing: list[str] = []
    budget: list[str] = []
    draft_only: list[str] = []
    context_differs = False
    known_equal = union = 0
    theirs = run.in_force
    for key, parameter in draft.values.items():
        recorded = theirs.get(key)
        if recorded is None:
            union += 1
            if parameter.kind is ParameterKind.KNOB:
                draft_only.append(key)
            continue
        if parameter.value is UNKNOWN or recorded.value is UNKNOWN:
            continue
        union += 1
        if parameter.value == recorded.value:
            known_equal += 1
            equal.append(key)
        elif ParameterKind.BUDGET in (parameter.kind, recorded.kind):
            budget.append(key)
        else:
            differing.append(key)
            context_differs |= ParameterKind.CONTEXT in (parameter.kind, recorded.kind)
    run_only = tuple(key for key, v in theirs.items() if key not in draft.values and v.kind is ParameterKind.KNOB)
    union += sum(1 for key in theirs if key not in draft.values)
    return Comparison(
        equal=tuple(equal),
        differing=tuple(differing),
        budget=tuple(budget),
        draft_only=tuple(draft_only),
        run_only=run_only,
        context_differs=context_differs,
        similarity=known_equal / (union + len(draft.new)) if union else 0.0,
        agreement=known_equal / union if union else 0.0,
    )


@dataclass(frozen=True)
class Scope:
    """A draft beside one research line. `own`: the line is the draft's; elsewhere only a similar setting counts.

    `own_runs` are the runs that this very file started, unchanged since: no file is told about itself.
    """

    line: LineHistory
    own: bool
    draft: AlignedDraft
    settings: FindingSettings
    own_runs: frozenset[str] = frozenset()
    _compared: dict[str, Comparison] = field(default_factory=dict, repr=False, compare=False)

    def comparison(self, run: Run) -> Comparison:
        if run.id not in self._compared:
            self._compared[run.id] = compare(self.draft, run)
        return self._compared[run.id]

    def admits(self, run: Run) -> bool:
        """True where the run may be evidence: equal context, no trial of the machinery, and a similar setting."""
        comparison = self.comparison(run)
        if comparison.context_differs or run.id in self.own_runs:
            return False
        if self.is_debug(run) and run.cause not in ("out_of_memory", "code_error"):
            return False
        if self.own:
            return True
        return (
            len(comparison.equal) >= self.settings.minimum_compared
            and comparison.similarity >= self.settings.minimum_similarity
        )

    def admitted(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if self.admits(run)]

    def is_debug(self, run: Run) -> bool:
        """Under a tenth of the draft's budget; where no budget can be compared, marked as a debug run."""
        shares = list(self._budget_shares(run))
        if shares:
            return min(shares) < self.settings.debug_budget_share
        return run.debug

    def _budget_shares(self, run: Run) -> Iterator[float]:
        for key, parameter in self.draft.values.items():
            recorded = run.values.get(key)
            if recorded is None or parameter.kind is not ParameterKind.BUDGET or not _is_length(parameter):
                continue
            ours, theirs = number_of(parameter.value), number_of(recorded.value)
            if ours is not None and theirs is not None and ours > 0 and theirs > 0:
                yield theirs / ours

    def items(self) -> list[Item]:
        """The draft's knobs and contexts that can be known, the rarest in the line first."""
        known = [
            (key, p.value)
            for key, p in self.draft.values.items()
            if p.value is not UNKNOWN and p.kind is not ParameterKind.BUDGET
        ]
        return sorted(known, key=lambda item: (self.line.by_item.count(item), item[0]))

    def nearly_equal(self) -> list[Run]:
        """Every run that can be equal to the draft but for at most one knob, in the order of the pool.

        Such a run has one of the draft's two rarest items; a context that it does not state may be missing as well.
        """
        knobs = [item for item in self.items() if self.draft.values[item[0]].kind is ParameterKind.KNOB]
        found: dict[str, Run] = {}
        for item in knobs[:2]:
            found.update(self.line.by_item[item])
        return sorted(found.values(), key=lambda run: run.order)

    def lacks_nothing_of(self, run: Run) -> bool:
        """True where all that the run sets and the draft does not is a default.

        That is a key which nearly all of the line log, with its usual value, and which the run did not change itself.
        A change of the code is left out: no config can state it.
        """
        own = {change.key for change in run.changes}
        code = {change.key for change in run.changes if self.is_code_change(run, change)}
        logging = sum(1 for other in self.line.runs.values() if other.values)
        return all(
            key not in own
            and self.line.by_key.count(key) >= self.settings.common_key_share * logging
            and run.in_force[key].value == self.line.usual_value(key)
            for key in self.comparison(run).run_only
            if key not in code
        )

    def is_code_change(self, run: Run, change: KeyChange) -> bool:
        """True for what a run that logs its parameters changed and that no run of the line ever logged as one."""
        return bool(run.values) and change.key not in self.line.by_key

    def changed_more(self, run: Run) -> bool:
        """True where a run also changed something that no config can state, or that nobody could put as a change."""
        recorded = run.record.derivation.changes if run.record.derivation else ()
        partly = {change.change == "Unspecified" for change in recorded} == {True, False}
        return partly or any(self.is_code_change(run, change) for change in run.changes)


def number_of(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _is_length(parameter: Parameter) -> bool:
    words = set(words_of(str(parameter.entry.path[-1])))
    return bool(words & _LENGTH_WORDS) and not words & _INTERVAL_WORDS
