"""The language that selects runs: values as they compare everywhere, and errors that point at their place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.history.run import Run, run_of
from tried.pool.record import ExperimentRecord
from tried.review.selection import SelectionError, parse_selection, unknown_name


def run(record_id: str = "a", **fields: Any) -> Run:
    return run_of(ExperimentRecord.model_validate({"id": record_id, **fields}), 0)


HOT = run(
    "mlflow:7f3a",
    params={"optimizer.lr": 0.003, "dataset": "CIFAR", "amp": True, "betas": "[0.9, 0.99]", "blurb": "x" * 500},
    metrics={"val/loss": "nan", "val_f1": 0.5},
    tags=["Paper", "second try"],
    conclusion={"outcome": "failed"},
    error="ValueError: shape mismatch 3 != 4",
    research_line="vision",
    experiment="Night Runs",
    sweep="s1",
    timestamp="2026-03-01T22:00:00Z",
    duration=90,
    aliases=["wandb:x1"],
)


@pytest.mark.parametrize(
    "text",
    [
        "lr=3e-3",
        "lr == 0.0030",
        "optimizer.lr >= 3E-3",
        "optimizer/lr<=.003",
        "param:lr > 0.0029 and param:lr < 0.0031",
        "dataset = cifar",
        "dataset in (mnist, 'CIFAR')",
        "amp = yes",
        "betas = '[0.9,0.99]'",
        "warmup = null",
        "lr != null",
        "not lr = 1 and not (dataset = mnist or dataset = svhn)",
        "dataset = mnist or lr = 0.003 and amp = true",
        "OUTCOME = Failed and cause = diverged",
        "ending = dead-end",
        "tag = paper",
        "tags = 'Second Try'",
        "line = Vision and experiment = 'night runs' and sweep = s1",
        "id = wandb:x1",
        "concluded = false",
        "error ~ 'shape mismatch'",
        "id ~ 7f3",
        "tag ~ try",
        "val_f1 < 0.6",
        "metric:f1 = 0.5 or metric:val_f1 = 0.5",
        "loss = nan",
        "time >= 2026-03-01 and time <= 2026-03-01 and time = 2026-03-01",
        "time > 2026-03-01T21:59:59Z",
        "duration > 89 and seconds <= 90",
        "verdict = none",
        "'optimizer.lr' = 0.003",
    ],
)
def test_what_selects_the_run(text: str) -> None:
    assert parse_selection(text).selects(HOT)


@pytest.mark.parametrize(
    "text",
    [
        "lr > 0.003",
        "lr = 3e-4",
        "dataset = cif",
        "dataset ~ mnist",
        "lr != 0.003",
        "warmup != 5",
        "warmup < 5",
        "not warmup = null",
        "lr = null",
        "dataset > 3",
        "metric:lr = 0.003",
        "loss < 5",
        "blurb = abc",
        "blurb != abc",
        "blurb > 3",
        "time < 2026-03-01",
        "cause = out_of_memory",
        "dataset = mnist or lr = 1 and amp = true",
        "(dataset = cifar or lr = 1) and amp = false",
    ],
)
def test_what_does_not(text: str) -> None:
    assert not parse_selection(text).selects(HOT)


def test_any_of_several_keys_of_a_name_is_enough() -> None:
    two = run(params={"encoder.lr": 0.1, "head.lr": 0.2})
    assert parse_selection("lr = 0.1 and lr = 0.2").selects(two)
    assert not parse_selection("encoder.lr = 0.2").selects(two)
    assert not parse_selection("lr != 0.1").selects(two)


def test_a_whole_key_hides_no_longer_one() -> None:
    sacred = run(metrics={"f1": 0.3, "result.f1": 0.6}, params={"lr": 1, "head.lr": 2})
    assert parse_selection("f1 = 0.6 and f1 = 0.3 and lr = 2 and lr = 1").selects(sacred)
    assert not parse_selection("f1 != 0.3").selects(sacred)
    assert not parse_selection("result.f1 = 0.3").selects(sacred)


def test_a_merged_record_is_of_all_its_sources() -> None:
    merged = run("mlflow:1", source="mlflow", aliases=["wandb:x1", "outputs/2026-11-30"])
    assert parse_selection("source = wandb and source = MLflow and source ~ wan").selects(merged)
    assert not parse_selection("source = hydra or source != wandb or source = null").selects(merged)
    assert not parse_selection("source = outputs").selects(merged)
    assert parse_selection("source = journal").selects(run())


def test_a_seed_can_be_asked_for() -> None:
    assert parse_selection("seed = 3").selects(run(params={"seed": 3}))


def test_the_order_of_runs_stays() -> None:
    runs = [run(name, params={"lr": lr}) for name, lr in (("c", 1), ("a", 2), ("b", 3))]
    assert [one.id for one in parse_selection("lr >= 2 or lr = 1").of(runs)] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("text", "said", "offset"),
    [
        ("", "give a condition", 0),
        ("lr >=", "expected a value after >=", 5),
        ("lr >= and x", "expected a value after >=", 6),
        ("lr", "expected = != < <= > >= ~ or `in` after lr", 2),
        ("lr = 1 x = 2", "expected `and` or `or`", 7),
        ("lr = 1 && x = 2", "write `and`", 7),
        ("(lr = 1", "this ( has no )", 0),
        ("lr = 1)", "expected `and` or `or`", 6),
        ("tag = group=ablation", "stands in quotes, as in 'group=ablation'", 11),
        ("(tag = group=ablation or lr = 1)", "stands in quotes, as in 'group=ablation'", 12),
        ("lr = 1 <", "stands in quotes, as in '1<'", 7),
        ("lr < high", "< compares with a number", 5),
        ("name > 3", "name is no number", 7),
        ("name = 'x", "this ' has no other", 7),
        ("time > soon", "a date, such as 2026-03-01", 7),
        ("x in 1", "expected ( and the values", 5),
        ("= 3", "expected the name", 0),
        ("-- = 3", "-- names nothing", 0),
        ("lr = 1 and", "expected the name", 10),
        ("(" * 60 + "a=1" + ")" * 60, "more than 50", 51),
        ("not " * 60 + "a=1", "more than 50", 204),
    ],
)
def test_mistakes_are_shown_at_their_place(text: str, said: str, offset: int) -> None:
    with pytest.raises(SelectionError) as raised:
        parse_selection(text)
    assert said in str(raised.value)
    assert raised.value.offset == offset


def test_the_caret_stands_below_the_place() -> None:
    with pytest.raises(SelectionError) as raised:
        parse_selection("lr >=\tand x")
    assert raised.value.picture == "  lr >= and x\n        ^"


def test_a_name_that_no_run_has_is_an_error_and_similar_ones_are_named() -> None:
    selection = parse_selection("dataset = cifar and lrr > 3")
    error = unknown_name(selection, [HOT])
    assert error is not None
    assert str(error) == "no run has a parameter or metric lrr; did you mean optimizer.lr?"
    assert error.offset == 20
    assert unknown_name(parse_selection("val_f1 > 0 and lr = 3 and tag = x"), [HOT]) is None


@given(st.text(alphabet="lr=<>!~()'\", and0.13x\n\0é", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    error: SelectionError | None = None
    try:
        assert parse_selection(text).selects(HOT) in (True, False)
    except SelectionError as raised:
        error = raised
    assert error is None or (0 <= error.offset <= len(text) and str(error))
