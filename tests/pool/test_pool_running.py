"""Runs that nobody ended are stopped two days after their last write, by the time that is given."""

from datetime import UTC, datetime, timedelta

from pool_records import record
from test_pool_merging import Telling

from tried.pool.pool import Pool
from tried.pool.record import ExperimentRecord
from tried.pool.running import Deadlines, deadline_of

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


def running(record_id: str = "r1", written: str | None = "2026-05-01T12:00:00Z", **fields: object) -> ExperimentRecord:
    conclusion = {"outcome": "running", "derived": True}
    return record(record_id, conclusion=conclusion, last_written=written, **{"generated_headline": "running", **fields})


def test_a_run_that_is_silent_for_two_days_has_stopped_without_any_file_having_changed() -> None:
    pool = Pool([Telling("a").says(running(), record("r2"))])
    assert pool.refresh(now=START).records["r1"].outcome == "running"
    before = pool.refresh(now=START + timedelta(hours=47, minutes=59))
    assert before.records["r1"].outcome == "running"
    after = pool.refresh(now=START + timedelta(hours=48))
    run = after.records["r1"]
    assert (run.outcome, run.cause, run.headline) == ("stopped", "stopped", "stopped: nothing written since 2026-05-01")
    assert run.conclusion is not None
    assert run.conclusion.derived
    assert after.generation == before.generation + 1
    assert before.records["r1"].outcome == "running"
    assert pool.refresh(now=START + timedelta(days=9)) is after
    assert after.totals.dead_ends == 0


def test_without_a_time_nothing_stops() -> None:
    pool = Pool([Telling("a").says(running())])
    assert pool.refresh().records["r1"].outcome == "running"


def test_a_run_that_was_silent_before_it_was_first_read_has_stopped_at_once() -> None:
    assert (
        Pool([Telling("a").says(running())]).refresh(now=START + timedelta(days=3)).records["r1"].outcome == "stopped"
    )


def test_a_run_that_is_written_to_again_is_running_again() -> None:
    source = Telling("a").says(running())
    pool = Pool([source])
    pool.refresh(now=START + timedelta(days=3))
    source.says(running(written="2026-05-04T11:00:00Z"))
    assert pool.refresh(now=START + timedelta(days=3)).records["r1"].outcome == "running"
    assert pool.refresh(now=START + timedelta(days=5, hours=1)).records["r1"].outcome == "stopped"


def test_of_a_run_in_two_sources_the_latest_write_counts() -> None:
    theirs = running("h:1", "2026-05-02T12:00:00Z", aliases=["r1"])
    pool = Pool([Telling("a").says(running()), Telling("b").says(theirs)])
    assert pool.refresh(now=START + timedelta(days=2)).records["r1"].outcome == "running"
    assert pool.refresh(now=START + timedelta(days=3)).records["r1"].outcome == "stopped"


def test_what_ended_what_was_judged_and_what_never_says_when_it_was_written_is_left_alone() -> None:
    ended = record("r1", conclusion={"outcome": "completed"}, last_written="2026-05-01T12:00:00Z")
    assert deadline_of(ended) is None
    assert deadline_of(running(written=None)) is None
    assert deadline_of(running(written="soon")) is None
    assert deadline_of(running(verdict="works")) is None
    assert deadline_of(running(written="9999-12-31T00:00:00Z")) is None
    assert deadline_of(running()) == datetime(2026, 5, 3, 12, tzinfo=UTC)


def test_what_a_person_wrote_about_a_running_run_stays() -> None:
    run = record("r1", conclusion={"headline": "slow", "outcome": "running"}, last_written="2026-05-01")
    stopped = Pool([Telling("a").says(run)]).refresh(now=START + timedelta(days=3)).records["r1"]
    assert (stopped.outcome, stopped.headline) == ("stopped", "slow")


def test_each_overdue_record_is_told_once_and_only_by_its_last_deadline() -> None:
    deadlines = Deadlines()
    deadlines.set("a", START)
    deadlines.set("b", START)
    deadlines.set("a", START + timedelta(days=1))
    deadlines.set("c", START)
    deadlines.set("c", None)
    assert deadlines.take(START - timedelta(seconds=1)) == []
    assert deadlines.take(START) == ["b"]
    assert deadlines.take(START + timedelta(days=2)) == ["a"]
    assert deadlines.take(START + timedelta(days=3)) == []
