"""Experiments that the real DVC and DVCLive write."""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tried.draft.parameters import TRUNCATED, flatten
from tried.pool.outcome import is_dead_end
from tried.pool.record import ExperimentRecord
from tried.pool.sources.dvc.experiments import DvcExperimentsSource

Writer = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def folder(write_with_tracker: Writer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dvc")
    write_with_tracker("write_dvc.py", folder, "queue")
    return folder


@pytest.fixture(scope="module")
def records(folder: Path) -> dict[str, ExperimentRecord]:
    delta = DvcExperimentsSource(folder / ".dvc", folder).scan(None)
    assert delta.skipped == ()
    return {record.id.partition("@")[0].removeprefix("dvc:"): record for record in delta.upserts}


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_every_experiment_is_there_and_what_failed_in_the_queue(
    folder: Path, records: dict[str, ExperimentRecord]
) -> None:
    baseline = git(folder, "rev-parse", "HEAD")[:10]
    assert set(records) == {"fine", "diverging", "saved", "queued-bad", baseline}


def test_parameters_are_those_that_it_ran_with(records: dict[str, ExperimentRecord]) -> None:
    values = flatten(records["diverging"].params)
    assert {key: values[key].value for key in ("lr", "model.depth", "model.betas")} == {
        "lr": 0.3,
        "model.depth": 5,
        "model.betas": ("list", 0.9, 0.95),
    }
    assert flatten(records["saved"].params)["lr"].value == 0.02
    assert flatten(records["saved"].params)["note"].value == "y"
    long = flatten(records["fine"].params).get("note")
    assert long is None or long.value is TRUNCATED or long.recorded == "x" * 6_000


def test_metrics(records: dict[str, ExperimentRecord]) -> None:
    assert records["fine"].numbers["best"] == 0.9
    assert records["fine"].numbers["train.loss"] == pytest.approx(0.1 / 3)
    assert math.isnan(records["diverging"].numbers["train.loss"])


def test_how_they_ended(folder: Path, records: dict[str, ExperimentRecord]) -> None:
    baseline = git(folder, "rev-parse", "HEAD")[:10]
    assert {name: (record.outcome, record.cause) for name, record in records.items() if name != baseline} == {
        "fine": ("completed", None),
        "diverging": ("failed", "diverged"),
        "saved": ("completed", None),
        "queued-bad": ("failed", "out_of_memory"),
    }
    assert "out of memory" in records["queued-bad"].headline
    assert flatten(records["queued-bad"].params)["lr"].value == 0.6
    assert [name for name, record in records.items() if is_dead_end(record)] == ["diverging", "saved", "queued-bad"]


def test_words_of_people(records: dict[str, ExperimentRecord]) -> None:
    assert records["fine"].notes == "größer wagen ✓"
    assert records["diverging"].notes is None
    assert records["saved"].verdict == "dead_end"
    assert records["saved"].headline == "too slow"


def test_what_started_from_a_commit_with_metrics_has_it_as_its_parent(
    folder: Path, records: dict[str, ExperimentRecord]
) -> None:
    baseline = git(folder, "rev-parse", "HEAD")
    assert records["saved"].parent == f"dvc:{baseline[:10]}"
    assert records["queued-bad"].parent == f"dvc:{baseline[:10]}"
    assert records["fine"].parent is None
    assert records[baseline[:10]].name == "Keep what was fine"
    assert records[baseline[:10]].numbers["best"] == 0.9


def test_a_removed_experiment_goes(folder: Path, records: dict[str, ExperimentRecord]) -> None:
    source = DvcExperimentsSource(folder / ".dvc", folder)
    first = source.scan(None)
    assert source.scan(first.cursor).is_empty
    name = next(ref for ref in git(folder, "for-each-ref", "--format=%(refname)").split() if ref.endswith("/diverging"))
    git(folder, "update-ref", "-d", name)
    second = source.scan(first.cursor)
    assert second.removed == ("dvc:diverging",)
    assert second.upserts == ()
