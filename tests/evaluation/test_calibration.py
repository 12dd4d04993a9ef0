"""Which kinds of evidence a backtest speaks for; intervals by an independent calculation."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.evaluation.backtest import BacktestReport, Tally
from tried.evaluation.calibration import (
    Calibration,
    calibrated,
    calibration_from,
    calibration_of,
    interval_of,
    trust_in,
)
from tried.findings.claim import LOUDNESS
from tried.findings.finding import Evidence, Finding, Severity
from tried.text import Span

EVIDENCE: tuple[Evidence, ...] = ("repeat", "move", "knob", "near")
SEVERITIES: tuple[Severity, ...] = ("warning", "information", "hover")


def finding(evidence: Evidence, severity: Severity) -> Finding:
    return Finding("dead-end", evidence, severity, Span(0, 1), "m", "r", ("r",), ("lr",), why=("because",))


@pytest.mark.parametrize(
    ("right", "flagged", "trust"),
    [
        (0, 0, "too_few"),
        (0, 9, "too_few"),
        (9, 9, "too_few"),
        (8, 10, "earned"),
        (7, 10, "lacking"),
        (80, 100, "earned"),
        (79, 100, "lacking"),
    ],
)
def test_trust_is_earned_by_eight_of_ten(right: int, flagged: int, trust: str) -> None:
    assert trust_in(Tally(flagged, right)) == trust


def test_only_what_underlined_something_counts() -> None:
    """Hover evidence is there because it is doubtful; how often it was right says nothing of the squiggles."""
    report = BacktestReport(
        by_kind={("near", "hover"): Tally(100, 10), ("move", "information"): Tally(10, 3)},
        squiggles={"move": Tally(10, 3), "repeat": Tally(10, 8), "knob": Tally(3, 0)},
    )
    assert calibration_of(report) == Calibration({"move": Tally(10, 3)})


def test_counts_that_were_kept_quieten_what_they_quietened_and_nothing_else() -> None:
    kept = {"move": (10, 3), "knob": (10, 10), "near": (9, 0), "repeat": (0, 0), "guess": (10, 0)}
    assert not calibration_from({"near": (10, 12)})
    assert calibration_from(kept) == Calibration({"move": Tally(10, 3)})


def test_the_hover_says_why_it_is_quiet() -> None:
    (quiet,) = calibrated([finding("near", "information")], Calibration({"near": Tally(10, 3)}))
    assert quiet.severity == "hover"
    assert quiet.why == (
        "because",
        "Not underlined: in this pool, such evidence (near) was right 3 of 10 times.",
    )


@given(
    st.lists(st.tuples(st.sampled_from(EVIDENCE), st.sampled_from(SEVERITIES)), max_size=8),
    st.dictionaries(st.sampled_from(EVIDENCE), st.just(Tally(20, 3))),
)
def test_nothing_becomes_louder_and_nothing_is_lost(
    kinds: list[tuple[Evidence, Severity]], quiet: dict[Evidence, Tally]
) -> None:
    findings = [finding(*kind) for kind in kinds]
    after = calibrated(findings, Calibration(quiet))
    assert len(after) == len(findings)
    for old, new in zip(findings, after, strict=True):
        assert LOUDNESS[new.severity] <= LOUDNESS[old.severity]
        assert new.severity == ("hover" if old.evidence in quiet else old.severity)
        assert dataclasses.replace(new, severity=old.severity, why=old.why) == old
        if new.severity == old.severity:
            assert new.why == old.why


def test_the_interval_is_wilsons() -> None:
    """Its ends are the shares p for which |x/n − p| = z·sqrt(p(1 − p)/n), found by bisection."""

    def end(right: int, flagged: int, low: float, high: float) -> float:
        def beyond(share: float) -> bool:
            return abs(right / flagged - share) > 1.959963984540054 * math.sqrt(share * (1 - share) / flagged)

        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if beyond(middle) else (low, middle)
        return low

    for right, flagged in ((3, 10), (93, 100), (7, 10), (1, 2)):
        low, high = interval_of(Tally(flagged, right))
        assert low == pytest.approx(end(right, flagged, 0.0, right / flagged), abs=1e-9)
        assert high == pytest.approx(end(right, flagged, 1.0, right / flagged), abs=1e-9)
    assert interval_of(Tally()) == (0.0, 1.0)
    assert interval_of(Tally(10, 10))[1] == pytest.approx(1.0, abs=1e-12)
    assert interval_of(Tally(10, 0))[0] == pytest.approx(0.0, abs=1e-12)
