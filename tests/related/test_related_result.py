"""The result of replicates: values worked out by hand."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from related_pool import record, scored

from tried.pool.history.run import run_of
from tried.pool.record import ExperimentRecord
from tried.related.result import Result, result_of, shown_number


def result(*records: ExperimentRecord) -> Result | None:
    return result_of(run_of(each, order) for order, each in enumerate(records))


def accuracies(*values: float | str) -> Result | None:
    return result(*(scored(f"r{place}", value) for place, value in enumerate(values)))


def test_three_replicates() -> None:
    found = accuracies(0.908, 0.912, 0.916)  # deviations of 0.004, 0 and 0.004: a variance of 2 · 0.000016 / 2
    assert found is not None
    assert (found.metric, found.direction, found.count) == ("val_acc", "max", 3)
    assert found.mean == pytest.approx(0.912, abs=1e-12)
    assert found.spread == pytest.approx(0.004, abs=1e-12)
    assert str(found) == "0.912 ± 0.004"


def test_a_single_run_has_no_spread() -> None:
    assert accuracies(0.91234) == Result("val_acc", "max", 0.91234, None, 1)
    assert str(accuracies(0.91234)) == "0.9123"


def test_what_is_no_number_is_left_out() -> None:
    assert accuracies("nan", 0.5, "inf") == Result("val_acc", "max", 0.5, None, 1)
    assert accuracies("nan", "inf") is None
    assert result(record("r1")) is None
    assert result() is None


def test_the_metric_that_most_are_judged_by_counts_of_equals_the_first() -> None:
    loss = record("a", metrics={"val_loss": 2.0})
    assert result(loss, scored("b", 0.5)) == Result("val_loss", "min", 2.0, None, 1)
    assert result(loss, scored("b", 0.5), scored("c", 0.5)) == Result("val_acc", "max", 0.5, 0.0, 2)


def test_equal_values_have_no_spread_whatever_their_sum_is_rounded_to() -> None:
    found = accuracies(*[0.1] * 7)
    assert found == Result("val_acc", "max", 0.1, 0.0, 7)
    assert str(found) == "0.1 ± 0"


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [
        (0.91234, 0.0043, "0.912 ± 0.004"),
        (0.91234, 0.0012, "0.9123 ± 0.0012"),
        (0.9, 0.0123, "0.900 ± 0.012"),
        (0.9, 0.034, "0.90 ± 0.03"),
        (0.9, 0.0997, "0.90 ± 0.10"),
        (71.26, 3.4, "71 ± 3"),
        (71.26, 1.25, "71.3 ± 1.2"),
        (1234.5, 17.0, "1234 ± 17"),
        (12345.0, 250.0, "12345 ± 2.5e+02"),
        (-0.5, 0.25, "-0.5 ± 0.2"),
        (3e-12, 2e-13, "3e-12 ± 2e-13"),
        (5e9, 2e6, "5e+09 ± 2e+06"),
        (2.5, 0.0, "2.5 ± 0"),
    ],
)
def test_the_text_shows_no_more_than_the_noise_allows(mean: float, spread: float, text: str) -> None:
    assert str(Result("m", None, mean, spread, 2)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.912, "0.912"),
        (0.91236, "0.9124"),
        (15000, "15000"),
        (1234567.8, "1234568"),
        (2e7, "2e+07"),
        (1.5e-7, "1.5e-07"),
    ],
)
def test_single_numbers(value: float, text: str) -> None:
    assert shown_number(value) == text


def test_values_at_the_end_of_what_a_float_can_hold() -> None:
    largest = 1.7e308
    found = accuracies(largest, largest, -largest)
    assert found is not None
    assert (found.spread, math.isfinite(found.mean)) == (None, True)
    assert found.mean == pytest.approx(largest / 3)
    close = accuracies(largest, largest / 2)
    assert close is not None
    assert close.spread is not None
    assert close.mean == pytest.approx(0.75 * largest)
    assert close.spread == pytest.approx(0.25 * largest * math.sqrt(2))


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=20))
def test_mean_and_spread_are_those_of_exact_arithmetic(values: list[float]) -> None:
    found = accuracies(*values)
    assert found is not None
    assert found.spread is not None
    scale = max(map(abs, values)) or 1.0
    assert found.mean == pytest.approx(statistics.mean(values), abs=1e-12 * scale)
    assert found.spread == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-9 * scale)
