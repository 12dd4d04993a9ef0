"""How often a source is asked: by what asking costs, and at once where its outside has changed."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tried.pool.record import ExperimentRecord
from tried.pool.sources import paced
from tried.pool.sources.paced import SELDOM, SHARE, SUBFOLDERS, Budget, Pace, PacedSource, outside_of
from tried.pool.sources.source import Delta

NEWS = Delta((ExperimentRecord(id="a"),), cursor=1)
NOTHING = Delta(cursor=1)


@dataclass
class Clock:
    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Counted:
    path: Path
    answers: list[Delta] = field(default_factory=list)
    asked: int = 0
    kind: str = "x"

    def scan(self, cursor: object | None) -> Delta:
        self.asked += 1
        return self.answers.pop(0) if self.answers else NOTHING

    def line_of(self, record_id: str) -> int | None:
        return 3


@pytest.fixture
def clock() -> Clock:
    return Clock()


def pace_of(clock: Clock, cost: float, *others: float) -> Pace:
    """A pace whose source was asked now, found nothing, and took so many seconds; beside others."""
    pace = Pace(Budget(dict(enumerate(others))), "x", clock)
    pace.took(0.0, 0.0, NEWS)
    clock.now += paced.YOUNG + 1
    pace.took(cost, cost, NOTHING)
    return pace


def wait_of(clock: Clock, pace: Pace, path: Path, step: float = 0.05, most: float = 100.0) -> float:
    """Seconds until it is asked again."""
    started = clock.now
    while not pace.is_due(path):
        clock.now += step
        assert clock.now - started < most
    return clock.now - started


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "mlruns" / "1").mkdir(parents=True)
    return tmp_path / "mlruns"


@pytest.mark.parametrize(
    ("cost", "others", "expected"),
    [
        (0.0001, (), 0.0),  # a journal: at every look
        (0.1, (), 2.0),  # 10,000 runs: every two seconds
        (0.1, (0.1, 0.1), 6.0),  # three of them share the twentieth of a core
        (0.02, (0.0,), 0.4),
        (6.0, (), SELDOM),
    ],
)
def test_the_wait_is_by_what_all_cost_together(
    clock: Clock, store: Path, cost: float, others: tuple[float, ...], expected: float
) -> None:
    pace = pace_of(clock, cost, *others)
    pace.stamp = outside_of(store)
    assert wait_of(clock, pace, store) == pytest.approx(expected, abs=0.1)


def test_all_together_take_a_twentieth_of_one_core(clock: Clock, store: Path) -> None:
    budget = Budget()
    costs = [0.002, 0.01, 0.05, 0.03]
    paces = [Pace(budget, number, clock) for number in range(len(costs))]
    for pace, cost in zip(paces, costs, strict=True):
        pace.took(cost, cost, NOTHING)
    spent, started = 0.0, clock.now
    while clock.now - started < 120:
        for pace, cost in zip(paces, costs, strict=True):
            if pace.is_due(store):
                pace.took(cost, cost, NOTHING)
                spent += cost
        clock.now += 0.5
    assert spent / 120 <= SHARE * 1.1
    assert spent > 0


def test_a_change_that_can_be_seen_from_outside_is_looked_into_soon(clock: Clock, store: Path) -> None:
    pace = pace_of(clock, 0.2, 2.0)
    assert not pace.is_due(store)
    pace.stamp = outside_of(store)
    clock.now += 1.0
    assert not pace.is_due(store)
    (store / "1" / "run").mkdir()
    assert pace.is_due(store)


def test_who_was_told_of_a_change_asks_soon(clock: Clock, store: Path) -> None:
    pace = pace_of(clock, 0.1, 2.0)
    pace.stamp = outside_of(store)
    pace.wake()
    assert wait_of(clock, pace, store) == pytest.approx(1.0, abs=0.1)
    pace.took(0.1, 0.1, NOTHING)
    clock.now += 1.5
    assert not pace.is_due(store)


def test_one_that_spoke_lately_is_asked_every_second_or_so(clock: Clock, store: Path) -> None:
    pace = Pace(Budget({"other": 3.0}), "x", clock)
    pace.took(0.1, 0.1, NOTHING)
    pace.took(0.1, 0.1, NEWS)
    pace.stamp = outside_of(store)
    assert wait_of(clock, pace, store) <= 1.1


def test_one_that_spoke_a_minute_ago_shares_with_the_others_again(clock: Clock, store: Path) -> None:
    pace = Pace(Budget(), "x", clock)
    pace.took(0.4, 0.4, NEWS)
    clock.now += 61
    pace.took(0.4, 0.4, NOTHING)
    pace.stamp = outside_of(store)
    assert wait_of(clock, pace, store) == pytest.approx(8.0, abs=0.1)


def test_one_that_is_very_costly_takes_no_more_than_a_quarter_of_a_core(clock: Clock, store: Path) -> None:
    pace = Pace(Budget(), "x", clock)
    pace.took(2.0, 2.0, NOTHING)
    pace.took(2.0, 2.0, NEWS)
    pace.wake()
    assert wait_of(clock, pace, store) == pytest.approx(8.0, abs=0.1)


def test_a_slow_disk_is_waited_for_no_longer_than_it_works(clock: Clock, store: Path) -> None:
    pace = Pace(Budget(), "x", clock)
    pace.took(0.001, 4.0, NOTHING)
    pace.wake()
    assert wait_of(clock, pace, store) == pytest.approx(4.0, abs=0.1)


def test_a_source_that_is_asked_too_often_says_nothing(store: Path, clock: Clock) -> None:
    inner = Counted(store, [Delta(cursor=1, more=True), NEWS])
    source = PacedSource(inner, Pace(Budget({"other": 1.0}), "x", clock))
    assert (source.kind, source.path, source.line_of("a")) == ("x", store, 3)
    first = source.scan(None)
    assert first.more
    assert source.scan(first.cursor) is NEWS  # at once, there was more
    clock.now += 0.7
    quiet = source.scan(1)
    assert (quiet.is_empty, quiet.cursor, inner.asked) == (True, 1, 2)
    clock.now += 0.5
    assert source.scan(quiet.cursor) is NOTHING
    assert inner.asked == 3
    source.scan(None)  # a pool that knows nothing must be answered
    assert inner.asked == 4


class TestOutside:
    def test_a_database_is_its_log_too(self, tmp_path: Path) -> None:
        store = tmp_path / "mlflow.db"
        store.write_bytes(b"x")
        before = outside_of(store)
        assert outside_of(store) == before
        (tmp_path / "mlflow.db-wal").write_bytes(b"y")
        assert outside_of(store) != before

    def test_of_a_folder_the_newest_names_are_looked_at(self, tmp_path: Path) -> None:
        for number in range(SUBFOLDERS + 50):
            (tmp_path / f"run-{number:05}").mkdir()
        before = outside_of(tmp_path)
        assert len(before) == SUBFOLDERS + 1
        for name, seen in (("run-00000", False), (f"run-{SUBFOLDERS + 49:05}", True)):
            os.utime(tmp_path / name, (1, 1))
            assert (outside_of(tmp_path) != before) is seen

    def test_where_nothing_is_nothing_changes(self, tmp_path: Path) -> None:
        assert outside_of(tmp_path / "none.db") == outside_of(tmp_path / "none.db")
        assert outside_of(Path("/\0")) == ((0, 0, 0),)


def test_what_a_client_names_is_passed_on_once(clock: Clock, tmp_path: Path) -> None:
    named: list[set[Path]] = []

    @dataclass
    class Touchable(Counted):
        def touched(self, cursor: object, paths: Collection[Path]) -> object:
            named.append(set(paths))
            return cursor

    pace = Pace(Budget(), "x", clock)
    source = PacedSource(Touchable(tmp_path), pace)
    source.scan(None)
    pace.wake(tmp_path / "a")
    clock.now += 10
    source.scan(1)
    pace.wake(None)
    clock.now += 10
    source.scan(1)

    assert named == [{tmp_path / "a"}]
