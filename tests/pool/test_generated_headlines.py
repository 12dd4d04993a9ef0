"""One line about a run of which nobody wrote any."""

from __future__ import annotations

from typing import Any

import pytest

from tried.pool.headline import ERROR_CHARACTERS, error_line, headline_of, shown_duration, shown_number
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
