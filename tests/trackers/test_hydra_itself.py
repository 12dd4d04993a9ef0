"""Jobs that Hydra itself ran, read from the folders that it left."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tried.draft.parameters import TRUNCATED, UNKNOWN, flatten
from tried.pool.record import ExperimentRecord
from tried.pool.sources.hydra.folders import HydraFoldersSource, store_at
from tried.pool.sources.kit import Said, problems_of, scan_all

KILLED = -9


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, write_with_tracker: Callable[..., CompletedProcess[str]]) -> Path:
    folder = tmp_path_factory.mktemp("hydra")
    write_with_tracker("write_hydra.py", folder, "lr=0.2", "hydra.run.dir=outputs/wide/first")
    ends = "end=well,caught,logged,raised,diverged,killed"
    write_with_tracker("write_hydra.py", folder, "-m", ends, "+seed=7", codes=(KILLED,))
    return folder


@pytest.fixture(scope="module")
def single(project: Path) -> ExperimentRecord:
    said = scan_all(HydraFoldersSource(project / "outputs", project))
    assert said.skipped == ()
    (record,) = said.records.values()
    return record


@pytest.fixture(scope="module")
def sweep(project: Path) -> Said:
    return scan_all(HydraFoldersSource(project / "multirun", project))


def test_both_stores_are_seen(project: Path) -> None:
    found = store_at(project, sorted(path.name for path in project.iterdir() if path.is_dir()), [])
    assert list(found) == [project / "outputs", project / "multirun"]


def test_a_single_job(single: ExperimentRecord, project: Path) -> None:
    assert single.id == "hydra:outputs/wide/first"
    assert single.name == "write_hydra lr=0.2"
    assert (single.experiment, single.sweep) == ("write_hydra", None)
    assert single.run_dir == str(project / "outputs" / "wide" / "first")
    assert single.metrics == {"val_loss": 0.5, "epoch": 2.0}
    assert single.generated_headline == "finished, val_loss 0.5"
    assert single.time is not None
    assert abs((datetime.now(UTC) - single.time).total_seconds()) < 600
    values = flatten(single.params)
    assert values["lr"].value == 0.2
    assert values["warmup"].value is UNKNOWN
    assert values["model.widths"].value == ("list", 64, 32)
    assert values["model.dropout"].value is None
    assert values["title"].value == "grösse 模型 🚀"
    assert values["long"].value is TRUNCATED  # its length is that at which MLflow cuts values


def test_the_jobs_of_a_sweep(sweep: Said, project: Path) -> None:
    (day,) = (project / "multirun").iterdir()
    (clock,) = day.iterdir()
    assert sweep.skipped == ()
    assert len(sweep.records) == 6
    for number, record in enumerate(sweep.records.values()):
        assert record.id == f"hydra:multirun/{day.name}/{clock.name}/{number}"
        assert record.sweep == f"hydra:multirun/{day.name}/{clock.name}"
        assert record.name.startswith("write_hydra end=")
        assert record.name.endswith(" +seed=7")
        assert record.params["seed"] == 7


@pytest.mark.parametrize(
    ("end", "outcome", "cause", "headline"),
    [
        ("well", "completed", None, "finished, val_loss 0.5"),
        ("caught", "completed", None, "finished, val_loss 0.5"),
        ("logged", "failed", "code_error", "failed after 0 s: ValueError: shapes (3,4) and (5,6) not aligned"),
        ("raised", None, None, None),  # Hydra writes it nowhere
        ("diverged", "failed", "diverged", "diverged: val_loss is NaN"),
        ("killed", None, None, None),
    ],
)
def test_how_each_ended(sweep: Said, end: str, outcome: str | None, cause: str | None, headline: str | None) -> None:
    (record,) = (record for record in sweep.records.values() if record.params["end"] == end)
    assert (record.outcome, record.cause, record.generated_headline) == (outcome, cause, headline)
    assert record.last_written is not None


def test_the_kit_finds_nothing_wrong(project: Path) -> None:
    def settled(path: Path) -> HydraFoldersSource:
        return HydraFoldersSource(path)

    for path in (project / "multirun").rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert problems_of(settled, project / "multirun", quiet_seconds=1.0) == []
