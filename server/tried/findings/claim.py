"""What a rule found before it is worded: evidence, the runs behind it, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tried.draft.parameters import Parameter
from tried.findings.finding import Evidence, Severity
from tried.findings.settings import FindingSettings, Reason
from tried.pool.history.parameter_history import LineHistory
from tried.pool.history.run import Run
from tried.pool.history.run_row import Flag

LOUDNESS: Final[dict[Severity, int]] = {"off": 0, "hover": 1, "information": 2, "warning": 3}

STRENGTH: Final[tuple[Reason, ...]] = (
    *("out_of_memory", "diverged", "judged", "worse"),
    *("code_error", "infrastructure", "stopped", "unknown"),
)
"""Which of several dead ends a message speaks of: that with the strongest reason, the latest of these."""


@dataclass(frozen=True, slots=True)
class Claim:
    """`runs` in the order of the pool, from the earliest to the latest once it is to be put into words; `blamed` the
    draft's parameters, of which the first is the place.

    `at_most` caps the severity. `change` words what is said of the draft (`lr 0.5`), `contrast` what is known to be
    better (`8 fits`; of a repeat, the knob with which alone otherwise it worked: `batch_size 8`). `whole`: the
    experiment as such is meant, so its name is the place, if it has one.
    """

    evidence: Evidence
    runs: tuple[Run, ...]
    blamed: tuple[Parameter, ...]
    change: str
    contrast: str = ""
    at_most: Severity = "warning"
    contradicted_by: tuple[Run, ...] = ()
    budget: tuple[str, ...] = ()
    whole: bool = False

    @property
    def is_about_dead_ends(self) -> bool:
        """False for the mere statement that something was run and worked."""
        return self.runs[0].ending == "dead_end"


def pool_order(run: Run) -> int:
    """The order of the pool."""
    return run.order


def reason_of(run: Run) -> Reason:
    """Why a dead end counts as one. Errors of the code or the machine come first: they say nothing of the values."""
    cause = run.cause
    if cause in ("code_error", "infrastructure", "stopped", "out_of_memory", "diverged"):
        return cause
    if run.judged and (run.has(Flag.WRITTEN) or not run.has(Flag.BROKEN)):
        return "judged"
    return "worse" if cause == "worse" else "unknown"


def strongest(runs: Sequence[Run]) -> Run:
    """The last of those with the strongest reason; at least one run."""
    best = min(STRENGTH.index(reason_of(run)) for run in runs)
    return [run for run in runs if STRENGTH.index(reason_of(run)) == best][-1]


def severity_of(claim: Claim, settings: FindingSettings, line: LineHistory) -> Severity:
    """The loudest of its runs, capped; contradicted evidence, and what lies within the noise, is for the hover."""
    cap: Severity = "hover" if claim.contradicted_by else claim.at_most
    loudest: Severity = "off"
    for run in claim.runs:
        severity = settings.severity_of(claim.evidence, reason_of(run))
        if LOUDNESS[severity] > LOUDNESS["hover"] and not is_beyond_noise(run, line):
            severity = "hover"
        if LOUDNESS[severity] > LOUDNESS[loudest]:
            loudest = severity
    return loudest if LOUDNESS[loudest] <= LOUDNESS[cap] else cap


def is_beyond_noise(run: Run, line: LineHistory) -> bool:
    """False where a run is only "worse than its parent", and by no more than twice what replicates of its line vary."""
    if run.judged or run.cause != "worse" or run.objective is None or run.moved is None:
        return True
    spread = line.spread(run.objective[0])
    return spread is None or abs(run.moved) > 2 * spread
