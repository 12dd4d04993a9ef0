"""Runs that Sacred itself wrote, read from the folders of its file observer."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tried.draft.parameters import TRUNCATED, flatten
from tried.pool.sources.kit import Said, problems_of, scan_all
from tried.pool.sources.sacred_runs import SacredRunsSource, store_at

KILLED = -9


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, write_with_tracker: Callable[..., CompletedProcess[str]]) -> Path:
    folder = tmp_path_factory.mktemp("sacred")
    write_with_tracker("write_sacred.py", folder)
    write_with_tracker("write_sacred.py", folder, "killed", codes=(KILLED,))
    return folder / "runs"


@pytest.fixture(scope="module")
def said(runs: Path) -> Said:
    return scan_all(SacredRunsSource(runs, runs.parent))


def test_the_store_is_seen_and_read(runs: Path, said: Said) -> None:
    assert list(store_at(runs, sorted(path.name for path in runs.iterdir() if path.is_dir()), [])) == [runs]
    assert said.skipped == ()
    assert list(said.records) == [f"sacred:runs/{number}" for number in range(1, 6)]


def test_what_a_run_says(runs: Path, said: Said) -> None:
    record = said.records["sacred:runs/1"]
    assert (record.name, record.experiment, record.notes) == ("digits", "digits", "no warmup this time")
    assert record.run_dir == str(runs / "1")
    assert record.metrics == {"best_step": 20.0, "val_loss": 1.25, "result": 0.5}
    assert record.time is not None
    assert abs((datetime.now(UTC) - record.time).total_seconds()) < 600
    values = flatten(record.params)
    assert values["lr"].value == 0.1
    assert values["seed"].value == 7
    assert values["model.widths"].value == ("list", 64, 32)
    assert values["model.bias"].value == ("bool", True)
    assert values["title"].value == "grösse 模型 🚀"
    assert values["long"].value is TRUNCATED


@pytest.mark.parametrize(
    ("end", "outcome", "cause", "headline"),
    [
        ("well", "completed", None, "finished, val_loss 1.25"),
        ("raised", "failed", "code_error", "failed after 0 s: ValueError: shapes (3,4) and (5,6) not aligned"),
        ("interrupted", "stopped", "stopped", "stopped after 0 s"),
        ("nan", "failed", "diverged", "diverged: val_loss is NaN at step 20"),
        ("killed", "running", None, "running"),
    ],
)
def test_how_each_ended(said: Said, end: str, outcome: str, cause: str | None, headline: str) -> None:
    (record,) = (record for record in said.records.values() if record.params["end"] == end)
    assert (record.outcome, record.cause, record.generated_headline) == (outcome, cause, headline)
    assert record.last_written is not None


def test_the_kit_finds_nothing_wrong(runs: Path) -> None:
    for path in runs.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert problems_of(SacredRunsSource, runs, quiet_seconds=1.0) == []
