"""Dead ends, improvement, importance: the definitions, case by case."""

import math
from typing import Any

import pytest
from pool_records import moved, record

from tried.pool.outcome import (
    cause_of,
    direction_of,
    importance,
    improved,
    is_dead_end,
    is_debug_run,
    objective_of,
    worked,
)
from tried.pool.record import ExperimentRecord

NAN = math.nan


def test_a_declared_direction_wins_over_the_name() -> None:
    run = record(directions={"val_loss": "max"})
    assert direction_of("val_loss", run) == "max"
    assert direction_of("val_loss", record(), {"val_loss": "max"}) == "max"
    assert direction_of("val_loss", run, {"val_loss": "min"}) == "max", "the record's own word is the nearest"
    assert direction_of("val/loss", record(), {"val_loss": "max"}) == "max", "another spelling is the same metric"
    assert direction_of("val_loss") == "min"
    assert direction_of("gap") is None


@pytest.mark.parametrize("outcome", ["failed", "crashed", "FAILED", " crash ", "error"])
def test_a_run_that_failed_or_crashed_is_a_dead_end(outcome: str) -> None:
    assert is_dead_end(record(conclusion={"outcome": outcome}))


@pytest.mark.parametrize("outcome", ["completed", "running", "killed", None])
def test_other_outcomes_alone_are_no_dead_end(outcome: str | None) -> None:
    assert not is_dead_end(record(conclusion={"outcome": outcome}))


def test_all_known_deltas_wrong_is_a_dead_end() -> None:
    assert is_dead_end(moved("val_loss", 1.0, 1.1))
    assert is_dead_end(moved("accuracy", 0.9, 0.8))
    assert not is_dead_end(moved("val_loss", 1.0, 0.9))


def test_one_right_or_unmoved_delta_saves_it() -> None:
    worse_and = {"val_loss": {"before": 1.0, "after": 1.1}}
    assert is_dead_end(record(derivation={"metric_delta": {**worse_and, "accuracy": {"before": 0.9, "after": 0.8}}}))
    assert not is_dead_end(
        record(derivation={"metric_delta": {**worse_and, "accuracy": {"before": 0.8, "after": 0.9}}})
    )
    assert not is_dead_end(record(derivation={"metric_delta": {**worse_and, "accuracy": {"delta": 0}}})), (
        "zero is not wrong"
    )


def test_what_is_not_known_makes_no_dead_end() -> None:
    assert not is_dead_end(moved("gap", 1.0, 0.5)), "up is better for ranking only"
    assert not is_dead_end(moved("epoch", 10, 5)), "bookkeeping"
    assert not is_dead_end(moved("val_loss", 1.0, None))
    assert is_dead_end(
        record(
            derivation={"metric_delta": {"val_loss": {"delta": 0.1}, "gap": {"delta": 1}, "accuracy": {"before": 1.0}}}
        )
    ), "the one that is known decides"
    assert is_dead_end(moved("epoch", 10, 5, directions={"epoch": "max"})), "declared, so it counts"


def test_becoming_nan_is_wrong_and_recovering_from_it_is_right() -> None:
    assert is_dead_end(moved("val_loss", 1.0, NAN))
    assert is_dead_end(record(derivation={"metric_delta": {"val_loss": {"before": 1.0, "after": "nan"}}}))
    assert not is_dead_end(moved("val_loss", NAN, 1.0))
    assert improved(moved("val_loss", NAN, 1.0))


def test_a_bare_delta_is_a_delta() -> None:
    assert is_dead_end(record(derivation={"metric_delta": {"val_loss": 0.2}}))
    assert improved(record(derivation={"metric_delta": {"val_loss": -0.2}}))


@pytest.mark.parametrize("verdict", ["works", "inconclusive"])
def test_a_verdict_overrides_the_automatic_judgement(verdict: str) -> None:
    assert not is_dead_end(record(conclusion={"outcome": "crashed"}, verdict=verdict))
    assert is_dead_end(moved("val_loss", 1.0, 0.5, verdict="dead_end"))


def test_improved_asks_the_objective_alone_if_one_is_named() -> None:
    deltas = {"metric_delta": {"accuracy": {"delta": 0.1}, "val_loss": {"delta": 0.1}}}
    assert improved(record(derivation=deltas))
    assert improved(record(derivation=deltas, objective="accuracy"))
    assert not improved(record(derivation=deltas, objective="val_loss"))
    assert improved(record(derivation=deltas, objective="Accuracy")), "another spelling"
    assert not improved(record(derivation=deltas, objective="f1")), "it says nothing of the objective"


def test_improved_takes_up_as_better_where_nothing_is_known() -> None:
    assert improved(moved("gap", 1.0, 2.0))
    assert not improved(moved("gap", 2.0, 1.0))
    assert not improved(moved("epoch", 1, 2)), "bookkeeping"
    assert improved(moved("memory_gb", 2, 1, objective="memory_gb", directions={"memory_gb": "min"}))
    assert not improved(record())


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, 0.3),
        ({"conclusion": {"headline": "fine"}}, 0.5),
        ({"conclusion": {"outcome": "completed"}}, 0.5),
        ({"conclusion": {"reviewer": "Ada"}}, 0.5),
        ({"conclusion": {"headline": " ", "outcome": None, "reviewer": ""}}, 0.3),
        ({"conclusion": {"outcome": "completed", "derived": True}}, 0.3),
        ({"generated_headline": "val_loss 0.3"}, 0.3),
        ({"hypothesis": "wider is better"}, 0.5),
        ({"notes": "wider is better"}, 0.5),
        ({"hypothesis": "wider", "notes": "wider"}, 0.5),
        ({"derivation": {"from": "run-0"}}, 0.4),
        ({"derivation": {"metric_delta": {"val_loss": -1}}}, 0.6),
        ({"conclusion": {"outcome": "crashed"}}, 0.6),
        ({"conclusion": {"outcome": "crashed", "derived": True}}, 0.3),
        ({"conclusion": {"outcome": "crashed", "derived": True}, "notes": "out of memory"}, 0.6),
        ({"verdict": "dead_end"}, 0.3),
        ({"verdict": "dead_end", "hypothesis": "wider"}, 0.6),
        ({"conclusion": {"outcome": "failed"}, "notes": "x", "derivation": {"from": "run-0"}}, 0.8),
        ({"conclusion": {"headline": "x"}, "notes": "x", "derivation": {"metric_delta": {"val_loss": -1}}}, 1.0),
    ],
)
def test_importance_adds_up(fields: dict[str, Any], expected: float) -> None:
    assert importance(record(**fields)) == pytest.approx(expected, abs=1e-12)


def test_importance_never_leaves_its_range() -> None:
    best = record(
        conclusion={"headline": "x"}, notes="x", derivation={"metric_delta": {"val_loss": -1}}, verdict="dead_end"
    )
    assert 0.0 <= importance(best) <= 1.0


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (record(verdict="works"), True),
        (record(verdict="inconclusive", conclusion={"outcome": "completed"}), False),
        (record(conclusion={"outcome": "completed"}), True),
        (record(conclusion={"outcome": "running"}), False),
        (record(), False),
        (record(derivation={"metric_delta": {"val_loss": -1}}), True),
        (record(conclusion={"outcome": "completed"}, metrics={"val_loss": "nan"}), False),
        (record(conclusion={"outcome": "completed"}, metrics={"val_loss": "inf"}), False),
        (moved("val_loss", 1.0, 2.0), False),
    ],
)
def test_worked_is_to_have_ended_well(run: ExperimentRecord, expected: bool) -> None:
    assert worked(run) is expected
    assert not (worked(run) and is_dead_end(run))


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"conclusion": {"outcome": "completed"}}, None),
        ({"conclusion": {"outcome": "crashed", "headline": "CUDA out of memory"}, "verdict": "works"}, None),
        (
            {"conclusion": {"outcome": "crashed", "headline": "CUDA out of memory"}, "cause": "infrastructure"},
            "infrastructure",
        ),
        ({"conclusion": {"outcome": "crashed", "headline": "CUDA out of memory"}}, "out_of_memory"),
        ({"conclusion": {"outcome": "crashed"}, "notes": "Traceback …\nTypeError: no"}, "code_error"),
        ({"conclusion": {"outcome": "crashed"}, "metrics": {"val_loss": "nan"}}, "diverged"),
        ({"conclusion": {"outcome": "crashed"}, "metrics": {"returncode": -9}}, "stopped"),
        ({"conclusion": {"outcome": "crashed"}, "metrics": {"exit_code": 1}}, "code_error"),
        ({"conclusion": {"outcome": "crashed"}}, "unknown"),
        ({"conclusion": {"outcome": "oom"}}, "out_of_memory"),
        ({"verdict": "dead_end", "conclusion": {"headline": "regressed by 2 %"}}, "worse"),
        ({"verdict": "dead_end"}, "unknown"),
        (
            {"verdict": "dead_end", "conclusion": {"outcome": "completed"}, "notes": "batch 64 was OOM, so 32"},
            "unknown",
        ),
        (
            {"verdict": "dead_end", "conclusion": {"outcome": "completed", "headline": "fixed the bug; killed it"}},
            "unknown",
        ),
    ],
)
def test_the_cause_of_a_bad_end(fields: dict[str, Any], cause: str | None) -> None:
    assert cause_of(record(**fields)) == cause


def test_a_finite_result_moved_the_wrong_way_is_worse_whatever_the_notes_mention() -> None:
    assert cause_of(moved("val_loss", 1.0, 1.2, notes="batch 64 ran out of memory; NaN at first")) == "worse"
    assert (
        cause_of(moved("val_loss", 1.0, 1.2, conclusion={"outcome": "completed", "headline": "diverging"}))
        == "diverged"
    )
    assert cause_of(moved("val_loss", 1.0, NAN)) == "diverged"


@pytest.mark.parametrize(
    "fields",
    [
        {"tags": ["debug"]},
        {"tags": ["smoke-test"]},
        {"tags": ["sanity"]},
        {"name": "smoke_lr3"},
        {"name": "DebugRun"},
        {"name": "a dry run of the new loader"},
        {"params": {"fast_dev_run": True}},
        {"params": {"debug": "true"}},
        {"params": {"DRY_RUN": 1}},
    ],
)
def test_marked_debug_runs(fields: dict[str, Any]) -> None:
    assert is_debug_run(record(**fields))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"name": "wildfire smoke flag"},
        {"name": "Ridge sanity check on all rows"},
        {"tags": ["debugger-off", "smokeless"]},
        {"params": {"debug": False}},
        {"name": "dropout 0.1", "notes": "debug"},
    ],
)
def test_experiments_that_only_sound_like_debug_runs(fields: dict[str, Any]) -> None:
    assert not is_debug_run(record(**fields))


def test_the_objective_is_the_named_metric_else_the_most_telling_one() -> None:
    metrics = {"epoch": 3, "train_loss": 0.1, "val_loss": 0.2, "gap": 5}
    assert objective_of(record(metrics=metrics)) == ("val_loss", 0.2, "min")
    assert objective_of(record(metrics=metrics, objective="gap")) == ("gap", 5.0, None)
    assert objective_of(record(metrics=metrics, objective="Val/Loss")) == ("val_loss", 0.2, "min")
    assert objective_of(record(metrics=metrics), usage={"train_loss": 9}) == ("train_loss", 0.1, "min")
    assert objective_of(record(metrics=metrics, derivation={"metric_delta": {"train_loss": 1}})) == (
        "train_loss",
        0.1,
        "min",
    )
    assert objective_of(record(metrics={"epoch": 3, "gap": "5"})) == ("gap", 5.0, None)
    assert objective_of(record(metrics={"epoch": 3, "state": "done"})) is None
