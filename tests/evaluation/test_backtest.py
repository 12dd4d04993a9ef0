from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tried.evaluation import backtest as backtests
from tried.evaluation.backtest import Tally, backtest, backtest_of, count_known, lines_of
from tried.findings.finding import Evidence
from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import JournalSource

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


def pool_of(folder: Path, records: Iterable[ExperimentRecord]) -> PoolSnapshot:
    path = folder / "pool.jsonl"
    lines = (json.dumps(each.model_dump(mode="json", by_alias=True, exclude_unset=True)) for each in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Pool([JournalSource(path)]).refresh()


def at(record: ExperimentRecord, day: int | None) -> ExperimentRecord:
    return record.model_copy(update={"timestamp": None if day is None else f"2026-05-{day:02}T00:00:00Z"})


MIXED: list[ExperimentRecord] = [
    record(i, {**BASE, "seed": i}, verdict) for i, verdict in enumerate(["dead_end", "dead_end", "works", "dead_end"])
]
"""As in the first test: after a dead end, a repeat of it that fails, one that works, and one of mixed evidence."""


class TestOfAPool:
    def test_it_is_the_same_in_whatever_order_the_runs_are_kept(self, tmp_path: Path) -> None:
        dated = [at(each, day) for day, each in enumerate(MIXED, start=1)]
        for order in (dated, dated[::-1], [dated[2], dated[0], dated[3], dated[1]]):
            report = backtest_of(pool_of(tmp_path, order), smallest_line=1)
            assert report == backtest(MIXED, smallest_line=1)

    def test_a_run_without_a_time_stands_behind_what_is_before_it(self, tmp_path: Path) -> None:
        dated = [at(MIXED[2], 9), at(MIXED[3], None), at(MIXED[0], 1), at(MIXED[1], 2)]
        assert backtest_of(pool_of(tmp_path, dated), smallest_line=1) == backtest(MIXED, smallest_line=1)

    def test_of_many_drafts_the_latest_of_each_line_are_replayed(self, tmp_path: Path) -> None:
        """Drafts are all but the first of a line: 3 and 9. Of 8 each line may have 5, so one has 3 and the other 5."""
        other = [record(i, {**BASE, "depth": 5 + i}, "works", "b") for i in range(10)]
        snapshot = pool_of(tmp_path, [*MIXED, *other])

        report = backtest_of(snapshot, smallest_line=1, most_drafts=8)
        assert (report.drafts, report.lines, report.left_out) == (Tally(8, 2), 2, 4)
        # Of 2, each has 1: the last of the first line ended badly, on evidence that is mixed.
        latest = backtest_of(snapshot, smallest_line=1, most_drafts=2)
        assert (latest.drafts, latest.left_out) == (Tally(2, 1), 10)
        assert latest.by_kind[("repeat", "hover")] == Tally(1, 1)
        whole = backtest_of(snapshot, smallest_line=1, most_drafts=12)
        assert (whole.drafts, whole.left_out) == (Tally(12, 2), 0)

    def test_of_what_stands_before_them_the_latest_is_evidence(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        line = [MIXED[0], *(record(10 + i, {**BASE, "depth": 9 + i}, "works") for i in range(3)), MIXED[1]]
        snapshot = pool_of(tmp_path, line)
        assert backtest_of(snapshot, smallest_line=1, most_drafts=1).squiggles == {"repeat": Tally(1, 1)}

        monkeypatch.setattr(backtests, "MOST_BEFORE", 3)
        assert backtest_of(snapshot, smallest_line=1, most_drafts=1).squiggles == {}

    def test_only_warnings_and_informations_are_squiggles(self, tmp_path: Path) -> None:
        """The last repeat is for the hover: the evidence is mixed."""
        expected: dict[Evidence, Tally] = {"repeat": Tally(2, 1)}
        report = backtest_of(pool_of(tmp_path, MIXED), smallest_line=1)
        assert report.squiggles == expected
        assert report.loudest("warning", "information") == Tally(2, 1)
        assert report.loudest("none") == Tally()

    def test_it_lets_others_work_and_can_be_ended(self, tmp_path: Path) -> None:
        snapshot = pool_of(tmp_path, MIXED)
        calls: list[None] = []
        backtest_of(snapshot, smallest_line=1, pause=lambda: calls.append(None))
        assert len(calls) >= len(MIXED) - 1

        def enough() -> None:
            raise InterruptedError

        with pytest.raises(InterruptedError):
            backtest_of(snapshot, smallest_line=1, pause=enough)

    def test_a_line_is_found_in_whatever_case(self, tmp_path: Path) -> None:
        snapshot = pool_of(tmp_path, [*MIXED, record(0, BASE, "works", "Line B")])
        assert [line.research_line for line in lines_of(snapshot, "line b")] == ["Line B"]
        assert [line.research_line for line in lines_of(snapshot)] == ["a", "Line B"]
        assert lines_of(snapshot, "c") == []
        assert backtest_of(snapshot, research_line="A", smallest_line=1).drafts == Tally(3, 2)

    def test_what_logged_no_parameter_is_no_draft(self, tmp_path: Path) -> None:
        snapshot = pool_of(tmp_path, [*MIXED, record(7, {"seed": 3}, "works"), record(8, {}, "works")])
        (line,) = lines_of(snapshot)
        assert count_known(line, judged_only=True) == 3
        assert backtest_of(snapshot, smallest_line=1).drafts == Tally(3, 2)
