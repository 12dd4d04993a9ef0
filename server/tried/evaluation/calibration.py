"""Which kinds of evidence a pool's own backtest speaks for, and what is said more quietly because it does not.

Invariant: calibration makes nothing louder, and takes nothing away: what it quietens is for the hover.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, get_args

from tried.evaluation.backtest import BacktestReport, Tally
from tried.findings.claim import LOUDNESS
from tried.findings.finding import Evidence, Finding

TRUSTED_FROM: Final = 0.8
"""The precision from which on a kind of evidence may underline something."""

ENOUGH: Final = 10
"""Drafts below which nothing is said of a kind: with fewer, one more or less would turn the verdict around."""

_Z: Final = 1.959963984540054
"""The normal quantile of a two-sided interval of 95 %."""

Trust = Literal["earned", "lacking", "too_few"]


@dataclass(frozen=True)
class Calibration:
    """The kinds of evidence that speak in the hover alone, each with the drafts that it underlined in the backtest."""

    quiet: Mapping[Evidence, Tally] = field(default_factory=lambda: MappingProxyType({}))

    def __bool__(self) -> bool:
        return bool(self.quiet)


def trust_in(tally: Tally) -> Trust:
    """What the drafts on which a kind of evidence spoke say of it, by plain counts."""
    if tally.flagged < ENOUGH:
        return "too_few"
    return "earned" if tally.precision >= TRUSTED_FROM else "lacking"


def calibration_of(report: BacktestReport) -> Calibration:
    """The kinds of evidence whose squiggles were wrong too often."""
    quiet = {evidence: tally for evidence, tally in report.squiggles.items() if trust_in(tally) == "lacking"}
    return Calibration(MappingProxyType(quiet))


def calibration_from(quiet: Mapping[str, tuple[int, int]]) -> Calibration:
    """What was once made, from its counts by kind. Kinds that there are none of are left out, and counts by which
    nothing is to be quiet."""
    known = {kind: Tally(*quiet[kind]) for kind in get_args(Evidence) if kind in quiet}
    return Calibration(MappingProxyType({kind: each for kind, each in known.items() if trust_in(each) == "lacking"}))


def calibrated(findings: Iterable[Finding], calibration: Calibration) -> list[Finding]:
    """The findings, those of a quiet kind for the hover, which says why."""
    return [_quietened(finding, calibration.quiet.get(finding.evidence)) for finding in findings]


def _quietened(finding: Finding, tally: Tally | None) -> Finding:
    if tally is None or LOUDNESS[finding.severity] <= LOUDNESS["hover"]:
        return finding
    why = (
        f"Not underlined: in this pool, such evidence ({finding.evidence}) was right"
        f" {tally.ended_badly} of {tally.flagged} times."
    )
    return dataclasses.replace(finding, severity="hover", why=(*finding.why, why))


def interval_of(tally: Tally) -> tuple[float, float]:
    """The precision that the counts speak for, at 95 %: the score interval of Wilson, "Probable inference, the law of
    succession, and statistical inference", JASA 22 (1927). (0, 1) where nothing was counted."""
    if not tally.flagged:
        return 0.0, 1.0
    count, share, square = tally.flagged, tally.precision, _Z * _Z
    middle = (share + square / (2 * count)) / (1 + square / count)
    reach = _Z / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count * count))
    return max(0.0, middle - reach), min(1.0, middle + reach)
