"""What sets runs apart that ended badly: exact regions, and silence where chance is as good an explanation."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_pool import failed, record, runs_from

from tried.pool.history.run import Run
from tried.pool.record import Cause
from tried.review.regions import Region, chance_of, region_of
from tried.review.working import Working


def region(bad: list[Run], good: list[Run], cause: Cause | None = None) -> Region | None:
    return region_of(bad, Working(good), cause)


def bad_and_good(bad: Sequence[dict[str, Any]], good: Sequence[dict[str, Any]]) -> tuple[list[Run], list[Run]]:
    return (
        runs_from(failed(f"bad{i}", params) for i, params in enumerate(bad)),
        runs_from(record(f"good{i}", params) for i, params in enumerate(good)),
    )


def test_chance_is_fishers_exact_test() -> None:
    # 5 of 5 in, 0 of 12: one of C(17, 5) = 6188 ways.
    assert chance_of(5, 5, 0, 12) == pytest.approx(1 / 6188)
    # 3 or 4 of 4 in with 1 or 0 of 6, five drawn... by hand: drawn 4 of 10, (C(4,3)·C(6,1) + C(4,4)) / C(10,4)
    assert chance_of(3, 4, 1, 6) == pytest.approx((4 * 6 + 1) / math.comb(10, 4))
    assert chance_of(0, 4, 4, 6) == 1.0


def test_a_lower_bound() -> None:
    bad, good = bad_and_good(
        [{"lr": lr, "depth": d} for lr, d in ((0.01, 1), (0.02, 2), (0.03, 3), (0.01, 4), (0.5, 5))],
        [{"lr": lr, "depth": d} for d, lr in enumerate([0.001, 0.002, 0.003] * 4)],
    )
    found = region(bad, good)
    assert found is not None
    assert str(found) == "lr >= 0.01"
    assert (found.covered, found.inside, found.outside) == (5, 0, 12)
    assert found.conditions[0].nearest == "0.003"
    assert [found.holds(run) for run in bad + good] == [True] * 5 + [False] * 12


def test_an_upper_bound_and_one_value() -> None:
    low = bad_and_good([{"lr": x} for x in (1, 2, 3, 1, 2)], [{"lr": x} for x in range(10, 30)])
    assert str(region(*low)) == "lr <= 3"
    word = bad_and_good([{"opt": "lion", "seed": i} for i in range(6)], [{"opt": "adam"}] * 10 + [{"opt": "sgd"}] * 10)
    assert str(region(*word)) == "opt = lion"


def test_two_conditions_where_one_is_not_enough() -> None:
    good: list[dict[str, Any]] = [{"lr": lr, "amp": amp} for lr, amp in [(1, True)] * 12 + [(9, False)] * 12]
    bad, well = bad_and_good([{"lr": 9, "amp": True}] * 8, good)
    assert str(region(bad, well)) == "amp = true and lr >= 9"


def test_few_runs_are_no_evidence_but_for_what_physics_explains() -> None:
    bad, good = bad_and_good([{"batch_size": 64, "alpha": 3}], [{"batch_size": b, "alpha": 1} for b in (8, 16, 32)])
    assert region(bad, good) is None
    found = region(bad, good, "out_of_memory")
    assert str(found) == "batch_size >= 64"
    assert found is not None
    assert found.conditions[0].nearest is None  # alpha differs too
    bad, good = bad_and_good([{"lr": 1, "alpha": 3}], [{"lr": 0.5, "alpha": 1}])
    assert str(region(bad, good, "diverged")) == "lr >= 1"
    assert region(bad, good, "worse") is None


def test_the_contrast_is_a_run_that_nothing_else_tells_from_the_group() -> None:
    adamw: dict[str, Any] = {"opt": "adamw", "depth": 4}
    bad, good = bad_and_good(
        [{**adamw, "lr": 0.5, "steps": 10, "width": 8}, {**adamw, "lr": 0.9, "steps": 10, "width": 16}],
        [
            {**adamw, "opt": "sgd", "lr": 0.1},
            {**adamw, "lr": 0.03, "depth": 2},
            {**adamw, "lr": 0.01, "steps": 500, "width": 64},  # a budget, and what the group has in two values
            {"opt": "adamw", "lr": 0.02},  # nothing says that its depth was another one
            {**adamw, "lr": 0.001},
        ],
    )
    found = region(bad, good, "diverged")
    assert str(found) == "lr >= 0.5"
    assert found is not None
    assert (found.nearest, found.outside) == ("0.02", 5)


def test_what_could_never_be_unlikely_is_no_try() -> None:
    # 4 of 4 at batch 512 and 0 of 8: one of C(12, 4) = 495 ways. The nine constants could never be told from chance;
    # with them, and both signs of each number, 0.002 times 31 would be 0.063.
    same = {f"constant_{i}": i for i in range(9)}
    rates = (1e-4, 1e-3, 1e-2, 1e-1)
    bad, good = bad_and_good(
        [{**same, "lr": lr, "batch_size": 512} for lr in rates],
        [{**same, "lr": lr, "batch_size": size} for lr in rates for size in (32, 128)],
    )
    assert str(region(bad, good, "unknown")) == "batch_size >= 512"
    assert region(bad[:2], good, "unknown") is None  # one of 45 ways, but any rare value of two runs would be


def test_a_larger_batch_that_fitted_is_no_explanation() -> None:
    bad, good = bad_and_good([{"batch_size": 64}], [{"batch_size": 32}, {"batch_size": 128}])
    assert region(bad, good, "out_of_memory") is None


def test_what_every_run_has_and_what_no_other_logs_sets_nothing_apart() -> None:
    bad, good = bad_and_good([{"lr": 1, "new": 5}] * 9, [{"lr": 1}] * 30)
    assert region(bad, good) is None
    assert region(bad, []) is None
    assert region([], good) is None


def test_a_region_may_hold_most_of_a_group() -> None:
    bad, good = bad_and_good(
        [{"lr": x} for x in (10, 11, 12, 13, 14, 15, 16, 1)], [{"lr": x} for x in (1, 2, 3, 4, 5, 6) * 4]
    )
    found = region(bad, good)
    assert found is not None
    assert (str(found), found.covered) == ("lr >= 10", 7)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), min_size=2, max_size=25))
def test_the_order_of_runs_makes_no_difference(rows: list[tuple[int, int, bool]]) -> None:
    runs = runs_from(
        (failed if is_bad else record)(f"r{i}", {"lr": lr, "batch_size": size})
        for i, (lr, size, is_bad) in enumerate(rows)
    )
    bad, good = [r for r in runs if r.ending == "dead_end"], [r for r in runs if r.ending == "worked"]
    first = region(bad, good, "out_of_memory")
    random.Random(3).shuffle(bad)
    assert region(bad, good[::-1], "out_of_memory") == first
    if first is not None:
        assert first.covered == sum(first.holds(run) for run in bad)
        assert first.inside == sum(first.holds(run) for run in good)
