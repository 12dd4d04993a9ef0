"""38 runs of W&B as somebody left them: three projects' run folders, with configuration and summary."""

from __future__ import annotations

from pathlib import Path

import pytest

from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import Said, scan_all
from tried.pool.sources.wandb.folders import WandbSource, store_at

STORES = Path(__file__).parents[3] / "shared" / "data" / "stores" / "wandb-online"
pytestmark = pytest.mark.skipif(not STORES.exists(), reason="needs ../shared/data")


@pytest.fixture(scope="module")
def said() -> dict[str, Said]:
    return {folder.name: scan_all(WandbSource(folder / "wandb", folder)) for folder in sorted(STORES.iterdir())}


def record(said: dict[str, Said], folder: str, run_id: str) -> ExperimentRecord:
    return said[folder].records[f"wandb:{run_id}"]


def test_every_run_is_a_record_and_nothing_is_skipped(said: dict[str, Said]) -> None:
    found = sorted(path.name.split("-", 2)[2] for path in STORES.rglob("run-*"))
    assert len(found) == 38
    assert sorted(key.removeprefix("wandb:") for each in said.values() for key in each.records) == found
    assert not [one for each in said.values() for one in each.skipped]


def test_the_stores_are_found() -> None:
    for folder in STORES.iterdir():
        assert store_at(folder, ["wandb"], []) == [folder / "wandb"]


def test_no_parameter_and_no_metric_is_dropped(said: dict[str, Said]) -> None:
    """Against the lines of the files, read as text."""
    records = {key: one for each in said.values() for key, one in each.records.items()}
    for folder in STORES.rglob("run-*"):
        one = records[f"wandb:{folder.name.split('-', 2)[2]}"]
        lines = (folder / "files" / "config.yaml").read_text().splitlines()
        assert sorted(one.params) == sorted(line[:-1] for line in lines if line[0] != " " and line != "_wandb:")
        summary = (folder / "files" / "wandb-summary.json").read_text()
        names = {part.split('"')[1] for part in summary.replace("{", ",").split(",") if '"' in part}
        assert set(one.metrics) == {name for name in names if name[0] != "_" and name != "runtime"}


@pytest.mark.parametrize(
    ("run_id", "metric", "value"),
    [
        ("nx8viusx", "val_bpb", 2.2421),
        ("nx8viusx", "val_loss", 3.7856),
        ("189wwan5", "val_bpb", 1.1359032457871592),
        ("e5ujh1d7", "step_avg_ms", 676.9941978683211),
        ("1bh0d9xu", "val_bpb", 2.207406685677728),
        ("ce1th47g", "train_loss", 3.7327795028686523),
        ("fzb1y9o8", "val_loss", 6.929145795668215),
        ("qltwebo4", "val_bpb", 1.1552031360520438),
        ("p8sqkbqa", "grad_norm", 0.03314758464694023),
    ],
)
def test_metrics(said: dict[str, Said], run_id: str, metric: str, value: float) -> None:
    found = [one for each in said.values() if (one := each.records.get(f"wandb:{run_id}")) is not None]
    assert [one.metrics[metric] for one in found] == [value]


def test_what_else_a_run_says(said: dict[str, Said]) -> None:
    one = record(said, "2026-03-23_LeakyReLU_LegalTTT_ParallelMuon", "nx8viusx")
    assert one.params == {
        "iterations": 50,
        "method": "baseline_SOTA",
        "model_dim": 512,
        "num_heads": 8,
        "num_layers": 11,
        "num_passes": 1,
        "recurrence": False,
        "seed": 1337,
        "train_batch_tokens": 786432,
        "train_seq_len": 2048,
    }
    assert one.timestamp == "2026-03-26T12:20:37.042131Z"
    assert one.duration is not None
    assert one.duration.secs == 454
    assert one.git == {"sha": "b38248cf6d4a1387d06b2906628c717e59747b11"}
    assert one.places == ["wandb/run-20260326_122037-nx8viusx"]


def test_nothing_personal_is_taken_over(said: dict[str, Said]) -> None:
    for each in said.values():
        for one in each.records.values():
            assert "email" not in one.to_json()
            assert "executable" not in one.to_json()
