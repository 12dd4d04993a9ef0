"""A job of Hydra's, its run in MLflow and its line in the journal: files as they lie on a disk, one record."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tried.pool.journal import conclude
from tried.pool.pool import Pool
from tried.pool.sources.discovery import discover

NOW = datetime(2026, 5, 1, tzinfo=UTC)
JOB = Path("outputs") / "2026-04-01" / "10-00-00"
RUN = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    job = tmp_path / JOB
    (job / ".hydra").mkdir(parents=True)
    (job / ".hydra" / "config.yaml").write_text("optimizer:\n  lr: 0.3\nmodel:\n  depth: 8\n")
    (job / ".hydra" / "overrides.yaml").write_text("- optimizer.lr=0.3\n")
    (job / ".hydra" / "hydra.yaml").write_text(
        f"hydra:\n  job:\n    name: train\n  runtime:\n    output_dir: {job}\n  run:\n    dir: {JOB.as_posix()}\n"
    )
    (job / "train.log").write_text(
        "[2026-04-01 10:00:00,000][train][INFO] - start\n"
        "[2026-04-01 10:00:09,000][train][ERROR] - Traceback (most recent call last):\n"
        '  File "train.py", line 3, in main\n'
        "ValueError: shapes (8,) and (9,) not aligned\n"
    )
    run = tmp_path / "mlruns" / "0" / RUN
    for folder in ("metrics", "params", "tags", "artifacts"):
        (run / folder).mkdir(parents=True)
    (tmp_path / "mlruns" / "0" / "meta.yaml").write_text("experiment_id: '0'\nname: Default\nlifecycle_stage: active\n")
    (run / "meta.yaml").write_text(
        f"run_id: {RUN}\nrun_uuid: {RUN}\nexperiment_id: '0'\nrun_name: brave-owl\nstatus: 3\nlifecycle_stage: active\n"
        "start_time: 1775037600000\nend_time: 1775037610000\nuser_id: me\n"
    )
    (run / "tags" / "hydra_output_dir").write_text(str(job))
    (run / "params" / "optimizer.lr").write_text("0.3")
    (run / "metrics" / "val_loss").write_text("1775037605000 1.5 1\n")
    return tmp_path


def test_one_run_in_three_places_is_one_record_with_what_each_knows(project: Path) -> None:
    conclude(project, f"hydra:{JOB.as_posix()}", "the mask has one row too many", "dead_end", NOW)
    snapshot = Pool(discover(project).sources, spool_folder=project / "cache").refresh(now=NOW)
    assert list(snapshot.records) == [f"mlflow:{RUN}"]
    run = snapshot.records[f"mlflow:{RUN}"]
    assert f"hydra:{JOB.as_posix()}" in run.aliases
    assert (run.name, run.metrics, run.params["model.depth"]) == ("brave-owl", {"val_loss": 1.5}, 8)
    assert run.outcome == "failed", "finished, says the tracker; the job's log knows better"
    assert "not aligned" in (run.error or "")
    assert (run.headline, run.verdict) == ("the mask has one row too many", "dead_end")
    assert {report.kind: (report.records, report.merged) for report in snapshot.sources} == {
        "journal": (0, 0),
        "mlflow": (1, 1),
        "hydra": (1, 1),
    }
    assert len(run.places) >= 2


def test_the_job_names_the_run_and_its_line_where_the_tracker_only_made_up_a_name(project: Path) -> None:
    meta = project / "mlruns" / "0" / RUN / "meta.yaml"
    meta.write_text(meta.read_text().replace("brave-owl", "trusting-sow-140"))
    config = project / JOB / ".hydra" / "config.yaml"
    config.write_text(config.read_text() + "experiment_name: hydra_birds\n")
    snapshot = Pool(discover(project).sources, spool_folder=project / "cache").refresh(now=NOW)
    run = snapshot.records[f"mlflow:{RUN}"]
    assert (run.name, run.research_line, run.experiment) == ("train optimizer.lr=0.3", "hydra_birds", "Default")


def test_a_line_in_the_journal_that_names_the_folder_has_the_last_word(project: Path) -> None:
    journal = project / ".tried" / "pool.jsonl"
    journal.parent.mkdir()
    line = {"id": "EXP-1", "run_dir": str(project / JOB), "name": "masked", "tags": ["ours"]}
    journal.write_text(json.dumps(line) + "\n")
    snapshot = Pool(discover(project).sources, spool_folder=project / "cache").refresh(now=NOW)
    assert list(snapshot.records) == ["EXP-1"]
    run = snapshot.records["EXP-1"]
    assert run.name == "masked"
    assert set(run.aliases) >= {f"mlflow:{RUN}", f"hydra:{JOB.as_posix()}"}
    assert snapshot.get(f"mlflow:{RUN}") is run
