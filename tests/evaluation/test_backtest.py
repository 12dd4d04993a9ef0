from __future__ import annotations

import math
from typing import Any

from tried.evaluation.backtest import Tally, backtest
from tried.pool.record import ExperimentRecord

BASE = {"lr": 0.01, "depth": 4, "width": 128}


def record(number: int, params: dict[str, Any], verdict: str | None, line: str = "a") -> ExperimentRecord:
    return ExperimentRecord.model_validate(
        {"id": f"{line}:{number}", "params": params, "verdict": verdict, "research_line": line}
    )


def test_each_record_is_judged_by_those_before_it_alone() -> None:
    # 0 is a dead end that nothing precedes; 1 repeats it and fails, 2 repeats it and works, 3 repeats mixed evidence.
    verdicts = ["dead_end", "dead_end", "works", "dead_end"]
    line = [record(i, {**BASE, "seed": i}, verdict) for i, verdict in enumerate(verdicts)]
    report = backtest(line, smallest_line=1)
    assert report.drafts == Tally(3, 2)
    assert report.by_kind == {("repeat", "warning"): Tally(2, 1), ("repeat", "hover"): Tally(1, 1)}
    assert report.by_severity == {"warning": Tally(2, 1), "hover": Tally(1, 1)}
    assert [(draft, found) for draft, found, _ in report.wrong] == [("a:2", "a:1")]
    assert report.preceded("warning") == 0.5
    assert report.preceded("warning", "hover") == 1.0


def test_lines_are_apart_and_small_ones_left_out() -> None:
    records = [record(0, BASE, "dead_end"), record(0, BASE, "dead_end", "b"), record(1, BASE, "dead_end", "b")]
    report = backtest(records, smallest_line=2)
    assert report.drafts == Tally(1, 1)
    assert report.by_kind == {("repeat", "warning"): Tally(1, 1)}


def test_a_record_of_unknown_end_is_no_draft() -> None:
    assert backtest([record(0, BASE, "dead_end"), record(1, BASE, None)], smallest_line=1).drafts == Tally()


def test_an_empty_report_has_no_precision() -> None:
    report = backtest([])
    assert math.isnan(report.drafts.precision)
    assert math.isnan(report.preceded("warning"))
