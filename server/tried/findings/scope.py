"""Where evidence holds: which runs of a research line bear on a draft."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

from tried.draft.alignment import AlignedDraft
from tried.draft.keys import words_of
from tried.draft.parameters import Parameter, ParameterKind, is_known
from tried.findings.comparison import Comparison, compare, number_of
from tried.findings.settings import FindingSettings
from tried.pool.history import LineHistory
from tried.pool.run import Run

_LENGTH_WORDS: Final = frozenset(
    {"epoch", "epochs", "step", "steps", "iter", "iters", "iteration", "iterations", "update", "updates"}
    | {"wallclock", "seconds", "sec", "minutes", "hours", "timesteps", "frames"}
)
_INTERVAL_WORDS: Final = frozenset(
    {"eval", "val", "valid", "validation", "test", "log", "logging", "print", "save", "checkpoint", "warmup"}
    | {"every", "interval", "freq", "profile", "patience", "decay", "n"}
)
_MACHINE_WORDS: Final = frozenset(
    {"gpu", "gpus", "device", "devices", "accelerator", "tpu", "mem", "memory", "hardware"}
)
_FEWEST_SIBLINGS = 5


@dataclass(frozen=True)
class Scope:
    """A draft beside one research line. `own`: the line is the draft's; elsewhere only a similar setting counts.

    `own_runs` are the runs that this very file started, unchanged since: no file is told about itself. `machine` is the
    hardware that the draft states, by the last segment of its keys.
    """

    line: LineHistory
    own: bool
    draft: AlignedDraft
    settings: FindingSettings
    own_runs: frozenset[str] = frozenset()
    machine: Mapping[str, object] = field(default_factory=dict)
    _compared: dict[str, Comparison] = field(default_factory=dict, repr=False, compare=False)

    def comparison(self, run: Run) -> Comparison:
        if run.id not in self._compared:
            self._compared[run.id] = compare(self.draft, run)
        return self._compared[run.id]

    def admits(self, run: Run) -> bool:
        """True where the run may be evidence: equal context, no trial of the machinery, and a similar setting."""
        if run.id in self.own_runs:
            return False
        comparison = self.comparison(run)
        if comparison.context_differs or (run.cause == "out_of_memory" and not self._is_same_machine(run)):
            return False
        if run.cause not in ("out_of_memory", "code_error") and self.is_debug(run):
            return False
        if self.own:
            return True
        return (
            len(comparison.equal) >= self.settings.minimum_compared
            and comparison.similarity >= self.settings.minimum_similarity
        )

    def admitted(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if self.admits(run)]

    def _is_same_machine(self, run: Run) -> bool:
        """False where both state a device or its memory and they differ: another machine has other memory."""
        return all(
            self.machine.get(name, recorded.value) == recorded.value
            for key, recorded in run.volatile.items()
            if recorded.kind is ParameterKind.HARDWARE
            and not _MACHINE_WORDS.isdisjoint(words_of(recorded.shown.rsplit(".", 1)[-1]))
            and (name := key.rsplit(".", 1)[-1])
        )

    def is_debug(self, run: Run) -> bool:
        """Under a tenth of the draft's budget; where no budget can be compared, marked as a debug run."""
        shares = list(self._budget_shares(run))
        if shares:
            return min(shares) < self.settings.debug_budget_share
        return run.debug

    def _budget_shares(self, run: Run) -> Iterator[float]:
        """Of each length that both state, the run's share of the draft's; a draft without limit makes it 0."""
        for key, parameter in self._lengths:
            recorded = run.values.get(key)
            if recorded is None:
                continue
            ours, theirs = number_of(parameter.value), number_of(recorded.value)
            if ours is not None and theirs is not None and theirs > 0:
                yield theirs / ours if ours > 0 else 0.0

    @cached_property
    def _lengths(self) -> tuple[tuple[str, Parameter], ...]:
        return tuple((key, p) for key, p in self.draft.values.items() if is_length(p.kind, p.shown))

    @cached_property
    def nearly_equal(self) -> tuple[Run, ...]:
        """Every run that can be equal to the draft but for at most one knob, in the order of the pool.

        Such a run has one of the draft's two rarest knobs.
        """
        known = [
            (key, p.value) for key, p in self.draft.values.items() if is_known(p.value) and p.kind is ParameterKind.KNOB
        ]
        known.sort(key=lambda item: (self.line.by_item.count(item), item[0]))
        found: dict[str, Run] = {}
        for item in known[:2]:
            found.update(self.line.by_item[item])
        return tuple(sorted(found.values(), key=lambda run: run.order))

    def lacks_nothing_of(self, run: Run) -> bool:
        """True where all that the run sets and the draft does not is a default.

        That is a key which nearly all others of the line log, with its usual value, and which the run did not change
        itself. A change of the code is left out: no config can state it.
        """
        own = {change.key for change in run.changes}
        code = {change.key for change in run.changes if self.is_code_change(run, change.key)}
        return all(
            key not in own and self.is_default(run, key) for key in self.comparison(run).run_only if key not in code
        )

    def is_default(self, run: Run, key: str) -> bool:
        """True for a key that nearly all other experiments of the line log, and that the run has at its usual value."""
        same = len(self.line.replicates.get(run.signature, ()))
        others = self.line.logging - same
        return (
            others >= _FEWEST_SIBLINGS
            and self.line.by_key.count(key) - same >= self.settings.common_key_share * others
            and run.in_force[key].value == self.line.usual_value(key)
        )

    def is_code_change(self, run: Run, key: str) -> bool:
        """True for what a run that logs its parameters changed and that no run of the line ever logged as one."""
        return bool(run.values) and key not in self.line.by_key

    def changed_more(self, run: Run) -> bool:
        """True where a run also changed something that no config can state, or that nobody could put as a change."""
        recorded = run.record.derivation.changes if run.record.derivation else ()
        stated = [change for change in recorded if change.change.startswith("Param")]
        others = {change.change for change in recorded if change not in stated} - {"CodeChanged"}
        return bool(stated and others) or any(self.is_code_change(run, change.key) for change in run.changes)

    def changed_code_alone(self, run: Run) -> bool:
        """True where what the record changed is no parameter at all, so that no parameter can be to blame."""
        recorded = run.record.derivation.changes if run.record.derivation else ()
        return bool(recorded) and not run.changes and any(change.change != "Unspecified" for change in recorded)

    def is_vague(self, run: Run) -> bool:
        """True where a record tells its change in words alone, and nothing else tells it either."""
        recorded = run.record.derivation.changes if run.record.derivation else ()
        return bool(recorded) and not run.changes


@lru_cache(maxsize=65536)
def is_length(kind: ParameterKind, shown: str) -> bool:
    """True for a budget that says how long a run is, and not how often something is done in it."""
    words = set(words_of(shown.rsplit(".", 1)[-1]))
    return kind is ParameterKind.BUDGET and bool(words & _LENGTH_WORDS) and not words & _INTERVAL_WORDS
