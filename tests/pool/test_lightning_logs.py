"""Folders of Lightning's loggers, made by hand in the layout that CSVLogger writes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import problems_of, scan_all
from tried.pool.sources.lightning_logs import LightningLogsSource, store_at

START = 1_772_359_200.0  # 2026-03-01T10:00:00Z
HISTORY = "epoch,step,train_loss,val_loss\n0,9,2.5,\n0,9,,2.0\n1,19,1.5,\n1,19,,1.25\n"


def make_version(folder: Path, hparams: str | None = "lr: 0.1\nmax_epochs: 5\n", history: str | None = HISTORY) -> Path:
    folder.mkdir(parents=True)
    for name, text, when in (("hparams.yaml", hparams, START), ("metrics.csv", history, START + 60)):
        if text is not None:
            (folder / name).write_text(text)
            os.utime(folder / name, (when, when))
    return folder


def one(folder: Path, hparams: str | None = "lr: 0.1\n", history: str | None = HISTORY) -> ExperimentRecord:
    make_version(folder / "lightning_logs" / "version_0", hparams, history)
    (record,) = scan_all(LightningLogsSource(folder / "lightning_logs", folder)).records.values()
    return record


def test_a_version_becomes_a_record(tmp_path: Path) -> None:
    folder = str(tmp_path / "lightning_logs" / "version_0")
    assert json.loads(one(tmp_path).to_json()) == {
        "id": "lightning:lightning_logs/version_0",
        "name": "version_0",
        "params": {"lr": 0.1},
        "metrics": {"train_loss": 1.5, "val_loss": 1.25},
        "timestamp": "2026-03-01T10:00:00Z",
        "run_id": "lightning_logs/version_0",
        "run_dir": folder,
        "source": "lightning",
        "generated_headline": "val_loss 1.25",
        "last_written": "2026-03-01T10:01:00Z",
        "places": [folder],
        "schema_version": 2,
        "kind": "experiment",
    }


@pytest.mark.parametrize(
    ("hparams", "history", "outcome"),
    [
        ("max_epochs: 2\n", HISTORY, "completed"),
        ("trainer: {max_epochs: 2}\n", HISTORY, "completed"),
        ("max_epochs: 3\n", HISTORY, None),
        ("max_epochs: -1\n", HISTORY, None),
        ("{}\n", "epoch,step,val_loss,test_loss\n0,9,2.0,\n1,10,1.9,\n1,10,,1.9\n", "completed"),
        ("{}\n", "epoch,step,val_loss,test_loss\n0,9,2.0,2.0\n1,10,1.9,1.9\n", None),
        ("{}\n", "epoch,step,val_loss\n0,9,nan\n", "failed"),
        ("{}\n", None, None),
        (None, HISTORY, None),
    ],
)
def test_how_it_ended(tmp_path: Path, hparams: str | None, history: str | None, outcome: str | None) -> None:
    assert one(tmp_path, hparams, history).outcome == outcome


def test_objects_are_read_as_data(tmp_path: Path) -> None:
    hparams = (
        "loss: !!python/object:torch.nn.modules.loss.MSELoss {reduction: mean}\n"
        "path: !!python/object/apply:pathlib.PosixPath [data, x]\n"
        "cfg: !!python/object:argparse.Namespace\n  lr: 1e-3\n"
    )
    assert one(tmp_path, hparams).params == {"loss": {"reduction": "mean"}, "path": ["data", "x"], "cfg": {"lr": 0.001}}


def test_a_long_history_is_read_at_its_end(tmp_path: Path) -> None:
    rows = "".join(f"{step},0.5,\n" for step in range(600_000))
    record = one(tmp_path, history="step,loss,rare\n0,9,7\n" + rows + "600000,nan,\n")
    assert record.metrics == {"loss": "nan"}
    assert record.generated_headline == "diverged: loss is NaN"


def test_a_row_that_is_being_written_is_left(tmp_path: Path) -> None:
    assert one(tmp_path, history="step,loss\n0,0.25\n1,1").metrics == {"loss": 0.25}


def test_a_training_of_a_hydra_job_has_its_folder(tmp_path: Path) -> None:
    job = tmp_path / "outputs" / "a"
    (job / ".hydra").mkdir(parents=True)
    (job / ".hydra" / "config.yaml").write_text("lr: 0.1\n")
    version = make_version(job / "lightning_logs" / "version_0")
    source = LightningLogsSource(version.parent, tmp_path)
    assert [record.run_dir for record in scan_all(source).records.values()] == [str(job)]
    (job / ".hydra" / "hydra.yaml").write_text("hydra:\n  runtime:\n    output_dir: /elsewhere/a\n")
    assert [record.run_dir for record in scan_all(source).records.values()] == ["/elsewhere/a"]


def test_where_a_store_is_seen(tmp_path: Path) -> None:
    make_version(tmp_path / "lightning_logs" / "version_0")
    assert store_at(tmp_path, ["lightning_logs"], []) == [tmp_path / "lightning_logs"]
    make_version(tmp_path / "logs" / "mine" / "version_3")
    assert store_at(tmp_path / "logs" / "mine", ["version_3"], []) == [tmp_path / "logs" / "mine"]
    (tmp_path / "data" / "version_1").mkdir(parents=True)
    assert store_at(tmp_path / "data", ["version_1"], []) == []
    (record,) = scan_all(LightningLogsSource(tmp_path / "logs" / "mine", tmp_path)).records.values()
    assert (record.id, record.name, record.experiment) == ("lightning:logs/mine/version_3", "mine version_3", "mine")


def test_the_kit_finds_nothing_wrong(tmp_path: Path) -> None:
    store = tmp_path / "place" / "lightning_logs"
    make_version(store / "version_2")
    make_version(store / "version_10", hparams="a: !x [1]\n")
    assert list(scan_all(LightningLogsSource(store)).records)[-1] == "lightning:lightning_logs/version_10"
    assert (
        problems_of(LightningLogsSource, store, lambda path: make_version(path / "version_11"), quiet_seconds=1) == []
    )
