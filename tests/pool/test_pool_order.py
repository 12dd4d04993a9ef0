"""Records, and the runs of the history, stand in the order of the sources, whoever said something first."""

from collections.abc import Callable

import pytest
from pool_records import record
from test_pool_merging import Telling

from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.review.runs import newest_in, runs_in


def orders(snapshot: PoolSnapshot) -> tuple[list[str], list[str]]:
    """(the records, the runs of the history)"""
    return list(snapshot.records), [run.id for run in runs_in(snapshot.history)]


def test_a_run_that_comes_late_to_the_first_source_stands_before_those_of_the_second() -> None:
    one, two = Telling("one").says(record("a1")), Telling("two").says(record("b1"), record("b2"))
    pool = Pool([one, two])
    pool.refresh()
    one.says(record("a2"))
    after = pool.refresh()
    assert orders(after) == (["a1", "a2", "b1", "b2"],) * 2
    newest = newest_in(after.history)
    assert newest is not None
    assert newest.id == "b2", "without times, the last of the pool"


def test_of_equally_usual_values_that_of_the_first_source_is_the_usual_one() -> None:
    one, two = Telling("one"), Telling("two").says(record("b", params={"lr": 2}))
    pool = Pool([one, two])
    pool.refresh()
    one.says(record("a", params={"lr": 1}))
    assert pool.refresh().history.lines[None].usual_value("lr") == 1


@pytest.mark.parametrize("anew", [False, True])
def test_what_is_taken_back_and_said_again_at_once_stands_at_the_end(anew: bool) -> None:
    source = Telling("one").says(record("a"), record("b"))
    pool = Pool([source])
    pool.refresh()
    source.says(record("a", notes="anew" if anew else None), removed=["a"])
    assert orders(pool.refresh()) == (["b", "a"],) * 2


def test_when_the_first_source_takes_its_record_back_the_run_stands_where_the_second_has_it() -> None:
    one, two = Telling("one").says(record("b"), record("x")), Telling("two").says(record("a"), record("b"))
    pool = Pool([one, two])
    assert orders(pool.refresh()) == (["b", "x", "a"],) * 2
    one.says(removed=["b"])
    assert orders(pool.refresh()) == (["x", "a", "b"],) * 2


@pytest.mark.parametrize(
    "happens",
    [
        lambda pool, one, two: pool.use([two, one]),
        lambda pool, one, two: one.says(record("a2"), record("a1"), reset=True),
    ],
)
def test_another_order_of_what_is_the_same_is_the_history_s_too(
    happens: Callable[[Pool, Telling, Telling], object],
) -> None:
    one, two = Telling("one").says(record("a1"), record("a2")), Telling("two").says(record("b"))
    pool = Pool([one, two])
    before = pool.refresh()
    happens(pool, one, two)
    after = pool.refresh()
    records, runs = orders(after)
    assert records == runs != list(before.records)
    assert orders(before) == (["a1", "a2", "b"],) * 2, "who holds the old snapshot sees the old order"


def test_who_says_the_same_anew_without_a_record_moves_none_of_the_others() -> None:
    said: list[ExperimentRecord] = [record("a"), record("b"), record("c")]
    source = Telling("one").says(*said)
    pool = Pool([source])
    pool.refresh()
    source.says(removed=["b"])
    before = pool.refresh()
    source.says(said[0], said[2], reset=True)
    assert pool.refresh() is before
