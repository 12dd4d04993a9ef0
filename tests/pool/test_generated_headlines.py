"""One line about a run: what somebody wrote of it, else what it shows itself."""

from __future__ import annotations

from typing import Any

import pytest

from tried.pool.headline import (
    ERROR_CHARACTERS,
    error_line,
    first_sentence,
    headline_of,
    line_about,
    shown_duration,
    shown_number,
    written_of,
)
from tried.pool.record import Duration, ExperimentRecord


def record(outcome: str | None = None, **fields: Any) -> ExperimentRecord:
    concluded = {"conclusion": {"outcome": outcome}} if outcome else {}
    return ExperimentRecord.model_validate({"id": "r"} | concluded | fields)


@pytest.mark.parametrize(
    ("said", "headline"),
    [
        (record(), ""),
        (record(metrics={"val_f1": 0.9}), "val_f1 0.9"),
        (record("completed", metrics={"epoch": 3}), "finished"),
        (record("completed", metrics={"val_loss": 0.123456}), "finished, val_loss 0.1235"),
        (record("failed", duration=12), "failed after 12 s"),
        (record("failed", duration=12, error="shape mismatch"), "failed after 12 s: shape mismatch"),
        (record("Crashed", error="a\nKeyError: 'x'\n"), "failed: KeyError: 'x'"),
        (record("failed", error="RuntimeError: CUDA out of memory", cause="out_of_memory"), "out of memory"),
        (record("failed", cause="diverged", metrics={"val_loss": "nan"}), "diverged: val_loss is NaN"),
        (record("failed", cause="diverged", error="ValueError: NaN in grads"), "diverged: ValueError: NaN in grads"),
        (record("failed", cause="diverged"), "diverged"),
        (record("stopped", duration=150), "stopped after 2 min"),
        (record("running"), "running"),
        (record("pruned", metrics={"val_acc": 0.5}), "pruned, val_acc 0.5"),
    ],
)
def test_headlines(said: ExperimentRecord, headline: str) -> None:
    assert headline_of(said) == headline


def test_the_step_is_told_of_the_metric_that_counts() -> None:
    diverged = record("failed", cause="diverged", metrics={"aux": "nan", "val_loss": "nan"})
    assert headline_of(diverged, {"aux": 3, "val_loss": 400}) == "diverged: val_loss is NaN at step 400"
    assert headline_of(diverged, {"val_loss": None}) == "diverged: val_loss is NaN"
    assert headline_of(diverged, {"other": 5}) == "diverged: val_loss is NaN"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("Traceback\n  x\nfoo.bar.BazError: no\n\nat exit: bye\n", "foo.bar.BazError: no"),
        ("ValueError: first\nKeyError: last\n", "KeyError: last"),
        ("Segmentation fault (core dumped)\n", "Segmentation fault (core dumped)"),
        ("RuntimeError: real\nUserWarning: beside the point\n", "RuntimeError: real"),
        ("E" + "x" * 400, "E" + "x" * (ERROR_CHARACTERS - 2) + "…"),
    ],
)
def test_the_line_that_names_an_error(text: str, line: str) -> None:
    assert error_line(text) == line


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (90_000, "25 h")],
)
def test_durations(seconds: int, shown: str) -> None:
    assert shown_duration(Duration(secs=seconds)) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.912, "0.912"),
        (0.00012345, "0.0001234"),
        (123456.0, "1.235e+05"),
        (float("nan"), "NaN"),
        (float("-inf"), "-inf"),
    ],
)
def test_numbers(value: float, shown: str) -> None:
    assert shown_number(value) == shown


NOTE = "Worse: lr 0.01 forgets the pretrained weights. Tried twice."
GENERATED = "finished, val_acc 0.6"


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ({"source": "mlflow", "notes": NOTE}, "Worse: lr 0.01 forgets the pretrained weights."),
        ({"source": "hydra", "aliases": ["wandb:3k2j9x1a"], "notes": NOTE}, NOTE[:46]),
        ({"source": "sacred", "notes": "Does a lower lr help?"}, ""),
        ({"source": "mlflow", "notes": NOTE, "conclusion": {"headline": " needs\n warmup "}}, "needs warmup"),
        ({"source": "mlflow", "notes": " \n"}, ""),
        ({}, ""),
    ],
)
def test_what_somebody_wrote_is_the_headline_or_the_first_sentence_of_notes_on_the_result(
    said: dict[str, Any], written: str
) -> None:
    run = record(**{"generated_headline": GENERATED, **said})
    assert written_of(run) == written
    assert line_about(run) == (written or GENERATED)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lr 0.5 diverges, i.e. so does 1.0. Use 0.1.", "lr 0.5 diverges, i.e. so does 1.0."),
        ("## Result\n\n- no gain\n  over adam\n\nMore.", "no gain over adam"),
        ("# Only a heading", "Only a heading"),
        ("Why? Nobody knows.", "Why?"),
        ("过拟合。再试。", "过拟合。"),
        ("", ""),
    ],
)
def test_the_first_sentence_of_notes(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence
