"""Where evidence holds: which runs of a research line bear on a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from tried.draft.alignment import AlignedDraft
from tried.draft.keys import words_of
from tried.draft.parameters import ParameterKind, is_known
from tried.findings.comparison import Comparison, compare, number_of
from tried.findings.line_comparison import LineComparison, compare_line
from tried.findings.settings import FindingSettings
from tried.pool.history.column import Mask
from tried.pool.history.parameter_history import LineHistory
from tried.pool.history.run import Run
from tried.pool.history.run_row import CAUSES, Flag
from tried.pool.history.vocabulary import KeyChange

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
_OUT_OF_MEMORY: Final = CAUSES.index("out_of_memory")
_CODE_ERROR: Final = CAUSES.index("code_error")


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
    _compared: dict[tuple[int, int], Comparison] = field(default_factory=dict, repr=False, compare=False)
    _replicates: dict[int, int] = field(default_factory=dict, repr=False, compare=False)
    standing: dict[tuple[int, bool, bool], tuple[KeyChange, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """What `standing_changes` has found: the same for all runs that changed the same."""

    def comparison(self, run: Run) -> Comparison:
        """Key by key; once for all replicates that logged the same keys."""
        found = self._compared.get((run.shape, run.signature))
        if found is None:
            found = self._compared[run.shape, run.signature] = compare(self.draft, run)
        return found

    @cached_property
    def compared(self) -> LineComparison:
        """The same for all runs of the line at once, in counts."""
        return compare_line(self.draft, self.line)

    @cached_property
    def admitted(self) -> Mask:
        """The runs that may be evidence: equal context, no trial of the machinery, and a similar setting.

        Dead ends among the members of a search that still runs are none: a search is meant to find them.
        """
        cause = self.line.columns.facts["cause"]
        out_of_memory = cause == _OUT_OF_MEMORY
        code_error = cause == _CODE_ERROR
        out: Mask = self.compared.context_differs | self.line.is_undecided
        if out_of_memory.any():
            out = out | (out_of_memory & self._is_other_machine)
        out = out | (self._is_debug & ~out_of_memory & ~code_error)
        for run_id in self.own_runs:
            if (place := self.line.columns.place_of(run_id)) is not None:
                out[place] = True
        if not self.own:
            out |= self.compared.equal < self.settings.minimum_compared
            out |= self.compared.similarity < self.settings.minimum_similarity
        return ~out

    def admits(self, run: Run) -> bool:
        """True where the run may be evidence."""
        return bool(self.admitted[run.place])

    @property
    def _is_other_machine(self) -> Mask:
        """Where both state a device or its memory and they differ: another machine has other memory."""
        columns = self.line.columns
        differs = np.zeros(len(columns), np.bool_)
        for table, column in columns.logged.items():
            name = table.key.rsplit(".", 1)[-1]
            if table.kind is not ParameterKind.HARDWARE or name not in self.machine:
                continue
            if _MACHINE_WORDS.isdisjoint(words_of(table.shown.rsplit(".", 1)[-1])):
                continue
            numbers = column.dense(len(columns))
            same = numbers == 0
            for number in table.numbers_with(self.machine[name]):
                same |= numbers == number
            differs |= ~same
        return differs

    @property
    def _is_debug(self) -> Mask:
        """Under a tenth of the draft's budget; where no budget can be compared, marked as a debug run."""
        columns = self.line.columns
        least = np.full(len(columns), np.inf)
        for key, parameter in self.draft.values.items():
            ours = number_of(parameter.value)
            if ours is None or not is_length(parameter.kind, parameter.shown):
                continue
            theirs = columns.floats(columns.logged_by_key.get(key, ()))
            with np.errstate(over="ignore", invalid="ignore"):
                share = theirs / ours if ours > 0 else np.zeros(len(columns))
                least = np.where(theirs > 0, np.minimum(least, share), least)
        marked = (columns.facts["flags"] & Flag.DEBUG) != 0
        return np.where(np.isinf(least), marked, least < self.settings.debug_budget_share)

    @cached_property
    def nearly_equal(self) -> Mask:
        """Every run that can be equal to the draft but for at most one knob: it has one of the draft's two rarest."""
        known = [
            (key, p.value) for key, p in self.draft.values.items() if is_known(p.value) and p.kind is ParameterKind.KNOB
        ]
        having = {item: self.line.columns.holds(*item) for item in known}
        known.sort(key=lambda item: (int(np.count_nonzero(having[item])), item[0]))
        found = np.zeros(len(self.line), np.bool_)
        for item in known[:2]:
            found |= having[item]
        return found

    def nearly_equal_among(self, runs: Mask) -> list[Run]:
        """Those of some runs, in the order of the pool; the rarest knobs are looked for only if there are any."""
        return self.line.runs_in(runs & self.nearly_equal) if runs.any() else []

    def lacks_nothing_of(self, run: Run) -> bool:
        """True where all that the run sets and the draft does not is a default.

        That is a key which nearly all others of the line log, with its usual value, and which the run did not change
        itself. A change of the code is left out: no config can state it.
        """
        if not self.compared.run_only[run.place]:
            return True
        own = {change.key for change in run.changes}
        code = {change.key for change in run.changes if self.is_code_change(run, change.key)}
        return all(
            key not in own and self.is_default(run, key) for key in self.comparison(run).run_only if key not in code
        )

    def is_default(self, run: Run, key: str) -> bool:
        """True for a key that nearly all other experiments of the line log, and that the run has at its usual value."""
        same = self._replicates.get(run.signature)
        if same is None:
            same = self._replicates[run.signature] = self.line.replicates(run.signature)
        others = self.line.logging - same
        return (
            others >= _FEWEST_SIBLINGS
            and self.line.columns.logged_count(key) - same >= self.settings.common_key_share * others
            and run.in_force[key].value == self.line.usual_value(key)
        )

    def is_code_change(self, run: Run, key: str) -> bool:
        """True for what a run that logs its parameters changed and that no run of the line ever logged as one."""
        return not self.line.is_logged(key) and self.logs_parameters(run)

    def logs_parameters(self, run: Run) -> bool:
        return bool(self.line.logs_anything[run.place])

    def changed_more(self, run: Run) -> bool:
        """True where a run also changed something that no config can state, or that nobody could put as a change."""
        return run.has(Flag.MIXED) or any(self.is_code_change(run, change.key) for change in run.changes)

    @cached_property
    def code_alone(self) -> Mask:
        """The runs whose record changed no parameter at all, so that no parameter can be to blame."""
        facts = self.line.columns.facts
        alone: Mask = ((facts["flags"] & Flag.CONCRETE) != 0) & (facts["changes"] == 0)
        return alone

    def changed_code_alone(self, run: Run) -> bool:
        return bool(self.code_alone[run.place])

    def is_vague(self, run: Run) -> bool:
        """True where a record tells its change in words alone, and nothing else tells it either."""
        return run.has(Flag.RECORDED) and not run.change_set


@lru_cache(maxsize=65536)
def is_length(kind: ParameterKind, shown: str) -> bool:
    """True for a budget that says how long a run is, and not how often something is done in it."""
    words = set(words_of(shown.rsplit(".", 1)[-1]))
    return kind is ParameterKind.BUDGET and bool(words & _LENGTH_WORDS) and not words & _INTERVAL_WORDS
