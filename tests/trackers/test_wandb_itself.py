"""Runs that W&B itself wrote, offline: finished, failed, killed, diverged, resumed, a sweep."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import Said, problems_of, scan_all
from tried.pool.sources.wandb.folders import WandbSource, store_at


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, write_with_tracker: Any) -> Path:
    folder = tmp_path_factory.mktemp("wandb_itself")
    write_with_tracker("write_wandb.py", folder)
    return folder


@pytest.fixture(scope="module")
def said(project: Path) -> Said:
    return scan_all(WandbSource(project / "wandb", project))


@pytest.fixture(scope="module")
def records(said: Said) -> Mapping[str, ExperimentRecord]:
    return {key.removeprefix("wandb:"): record for key, record in said.records.items()}


def test_every_run_is_there_and_nothing_is_skipped(said: Said, records: Mapping[str, ExperimentRecord]) -> None:
    others = ["diverged", "exception", "exit", "finished", "interrupt", "killed", "resumed"]
    assert sorted(name for name in records if records[name].sweep is None) == others
    assert len(records) == len(others) + 3
    assert not said.skipped


def test_the_store_is_found(project: Path) -> None:
    assert store_at(project, [path.name for path in project.iterdir() if path.is_dir()], []) == [project / "wandb"]


def test_a_finished_run(records: Mapping[str, ExperimentRecord], project: Path) -> None:
    record = records["finished"]
    assert record.name == "wider ✓ 网络"
    assert record.params == {
        "lr": 0.001,
        "model": {"width": 64, "block": {"act": "gelu"}},
        "layers": [1, 2],
        "flag": True,
        "nothing": None,
        "prompt": "x" * 6000,
        "path": "naïve/文件",
        "late": 7,
    }
    assert record.numbers == pytest.approx({"val_loss": 0.7, "eval.f1": 0.75, "train/loss": -1.0, "best/epoch": 3})
    assert record.notes == "edited afterwards"
    assert record.tags == ["baseline", "works", "group=ablation", "job_type=train"]
    assert (record.outcome, record.verdict, record.role) == ("completed", "works", "experiment")
    assert record.directions == {"val_loss": "min"}
    assert (record.experiment, record.research_line) == ("denoise", "denoise")
    assert record.time is not None
    assert record.duration is not None
    [place] = record.places
    assert (project / place).is_dir()


def test_a_diverged_run_says_at_which_step(records: Mapping[str, ExperimentRecord]) -> None:
    record = records["diverged"]
    assert record.metrics == {"val_loss": "nan", "scale": "inf"}
    assert (record.outcome, record.cause) == ("failed", "diverged")
    assert record.headline == "diverged: val_loss is NaN at step 400"


def test_its_log_has_several_blocks(project: Path) -> None:
    [log] = (project / "wandb").glob("offline-run-*-diverged/*.wandb")
    assert log.stat().st_size > 3 * 32 * 1024


def test_an_exception(records: Mapping[str, ExperimentRecord]) -> None:
    record = records["exception"]
    assert (record.outcome, record.cause) == ("failed", "code_error")
    assert record.error is not None
    assert record.error.endswith("ValueError: shape mismatch: (3, 4) and (4, 3) ✗")
    assert record.headline.endswith("ValueError: shape mismatch: (3, 4) and (4, 3) ✗")
    assert record.metrics == {"val_loss": 0.75}


def test_an_exit_with_1(records: Mapping[str, ExperimentRecord]) -> None:
    assert records["exit"].outcome == "failed"
    assert records["exit"].params == {"lr": 0.2}


def test_an_interrupt(records: Mapping[str, ExperimentRecord]) -> None:
    assert (records["interrupt"].outcome, records["interrupt"].cause) == ("stopped", "stopped")


def test_a_killed_run_is_there_and_has_not_ended(records: Mapping[str, ExperimentRecord]) -> None:
    record = records["killed"]
    assert record.outcome == "running"
    assert record.last_written is not None
    assert record.time is not None


def test_a_resumed_run_is_one(records: Mapping[str, ExperimentRecord]) -> None:
    record = records["resumed"]
    assert (record.outcome, record.params, record.metrics) == ("completed", {"lr": 0.1, "part": 1}, {"val_loss": 0.4})
    assert len(record.places) == 2


def test_members_know_their_sweep(records: Mapping[str, ExperimentRecord]) -> None:
    members = sorted((one for one in records.values() if one.sweep), key=lambda one: one.name)
    assert [one.name for one in members] == ["member 0", "member 1", "member 2"]
    assert {one.sweep for one in members} == {"wandb:sweep/sw9"}
    assert [one.params["lr"] for one in members] == [1.0, 0.1, 0.01]


def test_the_source_does_what_every_source_must(project: Path) -> None:
    assert problems_of(WandbSource, project / "wandb") == []


def test_runs_are_in_the_order_of_time(said: Said) -> None:
    times = [record.places[0].split("-")[2] for record in said.records.values()]
    assert all(one <= other for one, other in itertools.pairwise(times))
