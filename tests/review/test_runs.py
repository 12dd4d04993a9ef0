"""The runs of a history in the order of the pool, and the newest of them."""

from __future__ import annotations

from typing import Any

import pytest
from review_pool import record

from tried.pool.history.parameter_history import ParameterHistory
from tried.review.runs import is_concluded, last_without_time, newest_in, runs_in

HISTORY = ParameterHistory.empty().updated(
    (),
    [
        record("a", {"lr": 1}, timestamp="2026-03-02T00:00:00Z"),
        record("b", {"lr": 2}, research_line="audio", timestamp="2026-03-03T00:00:00Z"),
        record("c", {"lr": 3}),
        record("step", {"lr": 4}, role="step", timestamp="2026-03-09T00:00:00Z"),
        record("d", {"lr": 5}, research_line="audio", timestamp="2026-03-03T00:00:00Z"),
    ],
)


def crashed_row(description: str, **fields: Any) -> dict[str, Any]:
    """A row of a results table whose status is crash."""
    conclusion = {"outcome": "crashed", "headline": description}
    return {"name": description, "source": "results-table", "conclusion": conclusion, **fields}


def test_all_experiments_of_all_lines_in_the_order_of_the_pool() -> None:
    runs = runs_in(HISTORY)
    assert [run.id for run in runs] == ["a", "b", "c", "d"]
    assert (len(runs), runs[1].id, [run.id for run in runs[2:]]) == (4, "b", ["c", "d"])
    assert [run.id for run in runs] == ["a", "b", "c", "d"]


def test_the_newest_by_time_then_by_the_order_of_the_pool() -> None:
    newest = newest_in(HISTORY)
    assert newest is not None
    assert newest.id == "d"
    without_times = newest_in(ParameterHistory.empty().updated((), [record("x", {}), record("y", {})]))
    assert without_times is not None
    assert without_times.id == "y"


def test_a_row_without_a_time_behind_the_newest_of_its_table_is_newer() -> None:
    table = [
        record("results-table:r.tsv:1", {}, timestamp="2026-03-02T00:00:00Z"),
        record("results-table:r.tsv:2", {}),
        record("results-table:other.tsv:1", {}),
    ]
    assert getattr(newest_in(ParameterHistory.empty().updated((), table)), "id", None) == "results-table:r.tsv:2"
    later = record("mlflow:x", {}, timestamp="2026-03-03T00:00:00Z")
    history = ParameterHistory.empty().updated((), [*table, later])
    assert getattr(newest_in(history), "id", None) == "mlflow:x"
    assert getattr(last_without_time(history), "id", None) == "results-table:other.tsv:1"
    assert last_without_time(ParameterHistory.empty().updated((), table[1:])) is None
    assert last_without_time(ParameterHistory.empty().updated((), [later])) is None


@pytest.mark.parametrize("ids", [("PEAT-01", "PEAT-02"), ("lab:1", "lab:2"), ("results-table:a.tsv:1", "lab:2")])
def test_what_has_no_time_and_is_no_row_of_that_table_is_not_newer(ids: tuple[str, str]) -> None:
    """A line of a journal may stand anywhere."""
    records = [record(ids[0], {}, timestamp="2026-03-02T00:00:00Z"), record(ids[1], {})]
    history = ParameterHistory.empty().updated((), records)
    assert getattr(newest_in(history), "id", None) == ids[0]
    assert getattr(last_without_time(history), "id", None) == ids[1]


def test_an_empty_history() -> None:
    assert list(runs_in(ParameterHistory.empty())) == []
    assert newest_in(ParameterHistory.empty()) is None


@pytest.mark.parametrize(
    ("fields", "concluded"),
    [
        ({}, False),
        ({"verdict": "inconclusive"}, True),
        ({"conclusion": {"headline": "too hot"}}, True),
        ({"conclusion": {"headline": "failed after 3 s", "derived": True}}, False),
        ({"conclusion": {"outcome": "failed"}}, False),
        ({"generated_headline": "failed after 3 s"}, False),
        ({"notes": "with more warmup", "source": "sacred"}, False),
        ({"notes": "diverged, since there was no warmup", "source": "sacred"}, True),
        ({"notes": "with more warmup", "source": "wandb"}, True),
        ({"notes": "  ", "source": "mlflow"}, False),
        (crashed_row("MXFP8 via torchao"), False),
        (crashed_row("MXFP8 via torchao, 64-bit"), False),
        (crashed_row("MXFP8 via torchao with a dtype mismatch"), True),
        (crashed_row("weight tying: loss stuck at 10.82"), True),
        (crashed_row("batch 131K (assert fail: not divisible)"), True),
        (crashed_row("MXFP8 - no kernels here"), True),
        (crashed_row("weight tying", notes="error: KeyError: 'wte'"), True),
        (crashed_row("weight tying", cause="infrastructure"), True),
        (crashed_row("weight tying", verdict="dead_end"), True),
        (crashed_row("weight tying", conclusion={"outcome": "crashed", "headline": "needs a smaller rate"}), True),
        (crashed_row("weight tying", source=None), True),
        (crashed_row("weight tying", conclusion={"outcome": "completed", "headline": "weight tying"}), True),
    ],
)
def test_what_counts_as_a_conclusion(fields: dict[str, Any], concluded: bool) -> None:
    fields.setdefault("conclusion", None)
    assert is_concluded(record("a", {}, **fields)) is concluded
