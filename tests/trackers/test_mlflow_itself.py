"""MLflow writes runs into a database and a file store; both are read to the same records."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tried.draft.parameters import comparable, flatten, parameters_of
from tried.draft.syntax import parse
from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import Said, scan_all
from tried.pool.sources.mlflow.database import MlflowDatabaseSource
from tried.pool.sources.mlflow.files import MlflowFilesSource
from tried.pool.sources.source import Source

Write = Callable[..., subprocess.CompletedProcess[str]]

CONFIG = """
model:
  optimizer: {name: adamw, lr: 1e-3, betas: [0.9, 0.999]}
  layers:
    - {units: 64, bias: true}
    - {units: 32, bias: null}
batch_size: 32
bias: true
dropout: null
opt:
  lr: 0.01
"""


@dataclass(frozen=True)
class Written:
    folder: Path
    source: Source
    ids: dict[str, str]
    said: Said

    def record(self, name: str) -> ExperimentRecord:
        return self.said.records[f"mlflow:{self.ids[name]}"]


@pytest.fixture(scope="module", params=["database", "files"])
def written(
    request: pytest.FixtureRequest, write_with_tracker: Write, tmp_path_factory: pytest.TempPathFactory
) -> Written:
    folder = tmp_path_factory.mktemp(request.param)
    done = write_with_tracker("write_mlflow.py", folder, request.param)
    ids: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    source: Source
    if request.param == "database":
        source = MlflowDatabaseSource(folder / "mlflow.db", folder)
    else:
        source = MlflowFilesSource(folder / "mlruns", folder)
    return Written(folder, source, ids, scan_all(source))


def test_all_runs_are_read_but_the_deleted_one(written: Written) -> None:
    assert written.said.skipped == ()
    assert set(written.said.records) == {f"mlflow:{i}" for name, i in written.ids.items() if name != "deleted"}


def test_a_run_says_what_was_logged(written: Written) -> None:
    record = written.record("finished")
    assert (record.name, record.outcome, record.experiment, record.source) == (
        "finished",
        "completed",
        "images",
        "mlflow",
    )
    assert record.notes == "Warmup did not help.\nNext: smaller steps."
    assert record.verdict == "dead_end"
    assert record.tags == ["team=vision"]
    assert record.metrics == {"val/acc": 0.7}
    assert record.run_dir == str(written.folder / "outputs" / "a")
    assert record.generated_headline == "finished, val/acc 0.7"
    assert record.time is not None
    assert record.duration is not None


def test_nested_parameters_compare_with_a_nested_config(written: Written) -> None:
    logged = {key: value.value for key, value in flatten(written.record("finished").params).items()}
    drafted = {parameter.key: parameter.value for parameter in parameters_of(parse(CONFIG, "yaml").entries)}
    assert logged == drafted


def test_a_run_that_diverged_did_not_end_with_a_loss_of_zero(written: Written) -> None:
    record = written.record("diverged")
    assert record.metrics == {"train_loss": "nan", "grad_norm": "inf", "floor": "-inf"}
    assert (record.outcome, record.cause) == ("failed", "diverged")
    assert record.generated_headline == "diverged: train_loss is NaN at step 20"


def test_an_exception_a_kill_and_an_end_by_hand_are_told_apart(written: Written) -> None:
    assert written.record("failed").outcome == "failed"
    assert written.record("killed").outcome == "running"
    assert written.record("killed").last_written is not None
    assert (written.record("terminated").outcome, written.record("terminated").cause) == ("stopped", "stopped")


def test_any_text_and_long_values_come_through(written: Written) -> None:
    record = written.record("unicode")
    assert record.name == "Größe 模型 🚀"
    assert record.params["größe"] == "zwölf\nZeilen"
    assert record.params["long"] == "x" * 6_000
    assert comparable(record.params["long"]).__class__.__name__ == "Cut"
    assert record.params["longest_mapping"] == {f"key_{i}": i for i in range(300)}


def test_a_sweep_and_its_members(written: Written) -> None:
    parent = written.record("sweep")
    assert parent.role == "sweep"
    assert parent.sweep is None
    for number in range(3):
        member = written.record(f"member {number}")
        assert (member.role, member.sweep, member.parent) == ("experiment", parent.id, None)


def test_folds_are_steps_of_the_experiment_that_has_their_mean(written: Written) -> None:
    assert written.record("folds").role == "experiment"
    assert written.record("folds").metrics == {"auc": 0.85}
    assert [(written.record(f"fold {i}").role, written.record(f"fold {i}").sweep) for i in (0, 1)] == [
        ("step", None)
    ] * 2


def test_what_changes_later_is_all_that_is_said_later(written: Written, write_with_tracker: Write) -> None:
    task = "more" if written.source.path.name == "mlflow.db" else "more-files"
    write_with_tracker("write_mlflow.py", written.folder, task)
    later = scan_all(written.source, written.said.cursor, written.said)
    said = [record.name for delta in later.deltas for record in delta.upserts]
    assert sorted(said) == ["finished", "new"]
    finished = later.records[f"mlflow:{written.ids['finished']}"]
    assert finished.notes == "It was the schedule."
    assert finished.metrics == {"val/acc": 0.9}
    assert finished.tags == []
    assert f"mlflow:{written.ids['failed']}" not in later.records
    at_once = scan_all(written.source)
    assert at_once.records == later.records
