from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tried.evaluation import backtest as backtests
from tried.evaluation.backtest import BacktestReport, Tally, backtest_of, count_known, lines_of
from tried.evaluation.calibration import calibration_of
from tried.findings.finding import Evidence
from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import JournalSource

BASE = {"lr": 0.01, "depth": 4, "width": 128}


def record(number: int, params: dict[str, Any], verdict: str | None, line: str = "a") -> ExperimentRecord:
    return ExperimentRecord.model_validate(
        {"id": f"{line}:{number}", "params": params, "verdict": verdict, "research_line": line}
    )


def pool_of(folder: Path, records: Iterable[ExperimentRecord]) -> PoolSnapshot:
    path = folder / "pool.jsonl"
    lines = (json.dumps(each.model_dump(mode="json", by_alias=True, exclude_unset=True)) for each in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return Pool([JournalSource(path)]).refresh()


@pytest.fixture
def replayed(tmp_path: Path) -> Callable[..., BacktestReport]:
    """Of records in the order in which they ran, without times."""

    def replay(records: Iterable[ExperimentRecord], smallest_line: int = 1) -> BacktestReport:
        return backtest_of(pool_of(tmp_path, records), smallest_line=smallest_line)

    return replay


Replayed = Callable[..., BacktestReport]


def test_each_record_is_judged_by_those_before_it_alone(replayed: Replayed) -> None:
    # 0 is a dead end that nothing precedes; 1 repeats it and fails, 2 repeats it and works, 3 repeats mixed evidence.
    verdicts = ["dead_end", "dead_end", "works", "dead_end"]
    line = [record(i, {**BASE, "seed": i}, verdict) for i, verdict in enumerate(verdicts)]
    report = replayed(line)
    assert report.drafts == Tally(3, 2)
    assert report.by_kind == {("repeat", "warning"): Tally(2, 1), ("repeat", "hover"): Tally(1, 1)}
    assert report.by_severity == {"warning": Tally(2, 1), "hover": Tally(1, 1)}
    assert [(draft, found) for draft, found, _ in report.wrong] == [("a:2", "a:1")]
    assert report.preceded("warning") == 0.5
    assert report.preceded("warning", "hover") == 1.0


def test_lines_are_apart_and_small_ones_left_out(replayed: Replayed) -> None:
    records = [record(0, BASE, "dead_end"), record(0, BASE, "dead_end", "b"), record(1, BASE, "dead_end", "b")]
    report = replayed(records, smallest_line=2)
    assert report.drafts == Tally(1, 1)
    assert report.by_kind == {("repeat", "warning"): Tally(1, 1)}


def test_a_record_of_unknown_end_is_no_draft(replayed: Replayed) -> None:
    assert replayed([record(0, BASE, "dead_end"), record(1, BASE, None)]).drafts == Tally()


def test_an_empty_report_has_no_precision() -> None:
    report = BacktestReport()
    assert math.isnan(report.drafts.precision)
    assert math.isnan(report.preceded("warning"))


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
            assert report == backtest_of(pool_of(tmp_path, MIXED), smallest_line=1)
            assert report.squiggles == {"repeat": Tally(2, 1)}

    def test_a_run_without_a_time_stands_behind_what_is_before_it(self, tmp_path: Path) -> None:
        dated = [at(MIXED[2], 9), at(MIXED[3], None), at(MIXED[0], 1), at(MIXED[1], 2)]
        in_order = backtest_of(pool_of(tmp_path, MIXED), smallest_line=1)
        assert backtest_of(pool_of(tmp_path, dated), smallest_line=1) == in_order

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


def lasting(
    number: int, start: int | None, seconds: float | None, verdict: str = "dead_end", depth: int = 4
) -> ExperimentRecord:
    """A run that began so many seconds after midnight; equal depths are repeats."""
    begun = None if start is None else f"2026-05-01T00:{start // 60:02}:{start % 60:02}Z"
    found = record(number, {**BASE, "depth": depth, "seed": number}, verdict).model_dump(exclude_unset=True)
    return ExperimentRecord.model_validate({**found, "timestamp": begun, "duration": seconds})


class TestOverlappingRuns:
    """Evidence is what had ended when a draft began: nobody could have been warned of what was still running."""

    def test_runs_side_by_side_earn_no_trust(self, replayed: Replayed) -> None:
        """Twenty runs of a minute, started a second apart: each repeats one whose end nobody knew yet."""
        report = replayed([lasting(number, number, 60) for number in range(20)])
        assert (report.drafts, report.squiggles) == (Tally(19, 19), {})
        assert report.by_severity == {"none": Tally(19, 19)}

    def test_runs_one_after_the_other_do(self, replayed: Replayed) -> None:
        """Each begins in the moment in which the one before it ends."""
        report = replayed([lasting(number, 60 * number, 60) for number in range(20)])
        assert report.squiggles == {"repeat": Tally(19, 19)}

    def test_calibration_follows(self, replayed: Replayed) -> None:
        """Twelve dead ends, each run again: in turn the repeats, which work, speak against such evidence; side by side
        they say nothing of it."""
        for gap, quiet in ((60, {"repeat": Tally(12, 0)}), (1, {})):
            line = [
                lasting(
                    2 * pair + again, (2 * pair + again) * gap, 60, "works" if again else "dead_end", depth=9 + pair
                )
                for pair in range(12)
                for again in (0, 1)
            ]
            assert calibration_of(replayed(line)).quiet == quiet

    @pytest.mark.parametrize(("start", "seconds"), [(None, 60), (10, None), (None, None)])
    def test_what_is_not_known_goes_by_the_order(
        self, replayed: Replayed, start: int | None, seconds: float | None
    ) -> None:
        report = replayed([lasting(0, start, seconds), lasting(1, None if start is None else start + 1, 60)])
        assert report.squiggles == {"repeat": Tally(1, 1)}

    def test_a_draft_whose_start_is_not_known_has_all_before_it(self, replayed: Replayed) -> None:
        """The second begins while the first runs; of the third nobody knows; the fourth begins when the second has
        ended and the first still runs."""
        report = replayed([lasting(0, 0, 3000), lasting(1, 1, 9), lasting(2, None, 9), lasting(3, 10, 1, "works")])
        assert report.by_severity == {"none": Tally(1, 1), "warning": Tally(2, 1)}
        assert [(draft, record) for draft, record, _ in report.wrong] == [("a:3", "a:2")]

    def test_what_ended_first_is_known_first(self, replayed: Replayed) -> None:
        """A long run works, as one knows at 1000 s, a short one has failed by then: a repeat of both that begins in
        between is warned, one that begins later knows mixed evidence."""
        line = [lasting(0, 0, 1000, "works"), lasting(1, 5, 5), lasting(2, 20, 5), lasting(3, 2000, 5)]
        assert replayed(line).by_severity == {"none": Tally(1, 1), "warning": Tally(1, 1), "hover": Tally(1, 1)}

    @pytest.mark.parametrize("duration", [{"secs": 10**30, "nanos": 0}, {"secs": -5, "nanos": -1}])
    def test_durations_that_cannot_be_are_no_trouble(self, replayed: Replayed, duration: dict[str, int]) -> None:
        odd = lasting(0, 0, None).model_dump() | {"duration": duration}
        report = replayed([ExperimentRecord.model_validate(odd), lasting(1, 1, 1)])
        assert report.drafts == Tally(1, 1)
        assert bool(report.squiggles) == (duration["secs"] < 0)

    def test_what_stands_before_the_first_draft_may_still_run(self, replayed: Replayed, tmp_path: Path) -> None:
        line = [lasting(0, 0, 9), lasting(1, 1, 300), lasting(2, 10, 5), lasting(3, 310, 5)]
        snapshot = pool_of(tmp_path, line)
        for most, squiggles in ((1, Tally(1, 1)), (2, Tally(2, 2)), (3, Tally(2, 2))):
            report = backtest_of(snapshot, smallest_line=1, most_drafts=most)
            assert report.squiggles == {"repeat": squiggles}
