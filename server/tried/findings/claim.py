"""What a rule found before it is worded: evidence, the runs behind it, and what speaks against it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from tried.draft.parameters import Parameter
from tried.findings.finding import Evidence, Severity
from tried.findings.settings import FindingSettings, Reason
from tried.pool.history import LineHistory, Run
from tried.pool.outcome import is_broken

LOUDNESS: Final[dict[Severity, int]] = {"off": 0, "hover": 1, "information": 2, "warning": 3}


@dataclass(frozen=True, slots=True)
class Claim:
    """`runs` in the order of the pool; `blamed` the draft's parameters, of which the first is the place.

    `at_most` caps the severity. `change` words what is said of the draft (`lr 0.5`), `contrast` what is known to be
    better (`8 fits`). `whole`: the experiment as such is meant, so its name is the place, if it has one.
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


def reason_of(run: Run) -> Reason:
    """Why a dead end counts as one, the strongest reason first; see `DEFAULT_SEVERITY` for what follows."""
    if run.cause in ("code_error", "infrastructure", "stopped", "out_of_memory", "diverged"):
        return run.cause
    written = bool(run.record.conclusion and run.record.conclusion.headline) or bool(run.record.notes)
    if run.judged and (written or not is_broken(run.record)):
        return "judged"
    return "worse" if run.cause == "worse" else "unknown"


def severity_of(claim: Claim, settings: FindingSettings) -> Severity:
    """The loudest of its runs, capped; contradicted evidence is for the hover."""
    cap: Severity = "hover" if claim.contradicted_by and claim.at_most != "off" else claim.at_most
    loudest: Severity = "off"
    for run in claim.runs:
        severity = settings.severity_of(claim.evidence, reason_of(run))
        if LOUDNESS[severity] > LOUDNESS[loudest]:
            loudest = severity
    return loudest if LOUDNESS[loudest] <= LOUDNESS[cap] else cap


def is_beyond_noise(run: Run, line: LineHistory) -> bool:
    """False where a run is only "worse than its parent", and by no more than twice what replicates of its line vary."""
    if run.judged or run.cause != "worse" or run.record.derivation is None or run.objective is None:
        return True
    delta = run.record.derivation.metric_delta.get(run.objective[0])
    spread = replicate_spread(line.runs.values(), run.objective[0])
    if delta is None or delta.change is None or spread is None:
        return True
    return abs(delta.change) > 2 * spread


def replicate_spread(runs: Iterable[Run], metric: str) -> float | None:
    """The pooled standard deviation of a metric over runs that differ only in volatile keys; None without any."""
    squares = 0.0
    degrees = 0
    for group in replicates(runs):
        values = [number for run in group if (number := run.record.numbers.get(metric)) is not None]
        values = [number for number in values if math.isfinite(number)]
        if len(values) > 1:
            mean = fmean(values)
            squares += math.fsum((value - mean) ** 2 for value in values)
            degrees += len(values) - 1
    return math.sqrt(squares / degrees) if degrees else None


def replicates(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs grouped by equal comparable parameters; a run that logged none is alone."""
    groups: dict[object, list[Run]] = {}
    for run in runs:
        known = frozenset((key, recorded.value) for key, recorded in run.values.items())
        changed = tuple((change.key, change.after) for change in run.changes if change.key not in run.values)
        groups.setdefault((known, changed) if known or changed else run.id, []).append(run)
    return list(groups.values())
