"""What lies at a path that somebody names, under whatever name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import small_stores
from small_stores import Build

from tried.pool.sources import registry
from tried.pool.sources.sniffing import kind_of, source_of


@pytest.mark.parametrize(
    ("build", "kind"),
    [
        (small_stores.mlflow_database, registry.MLFLOW_DATABASE),
        (small_stores.optuna_database, registry.OPTUNA_DATABASE),
        (small_stores.optuna_journal, registry.OPTUNA_JOURNAL),
        (small_stores.mlflow_files, registry.MLFLOW_FILES),
        (small_stores.wandb_folders, registry.WANDB),
        (small_stores.hydra_folders, registry.HYDRA),
        (small_stores.sacred_runs, registry.SACRED),
        (small_stores.lightning_logs, registry.LIGHTNING),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_copy_under_another_name_is_known_by_what_it_holds(tmp_path: Path, build: Build, kind: object) -> None:
    original = tmp_path / "original"
    original.mkdir()
    store = build(original)
    copy = tmp_path / "backup-2026"
    shutil.move(store, copy)
    assert kind_of(copy) is kind
    assert source_of(copy, tmp_path).scan(None).upserts


def test_what_fits_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.jsonl").write_text('{"id": "a"}\n')
    small_stores.database(tmp_path / "cars.db", "CREATE TABLE cars (name TEXT);")
    folder = source_of(tmp_path / "empty", tmp_path)
    first = folder.scan(None)
    assert [(one.where, one.why) for one in first.skipped] == [
        (
            "the source",
            "is a folder, not a journal, and neither a tracker's store nor a folder with a pool in it",
        )
    ]
    assert folder.scan(first.cursor).is_empty
    (said,) = source_of(tmp_path / "cars.db", tmp_path).scan(None).skipped
    assert said.why == "is a database of something else: it has neither runs of MLflow nor trials of Optuna"
    assert [r.id for r in source_of(tmp_path / "notes.jsonl", tmp_path).scan(None).upserts] == ["a"]
    assert source_of(tmp_path / "missing", tmp_path).scan(None).skipped[0].why == "there is no such file"


def test_a_kind_that_is_switched_off_is_not_read_though_it_is_named(tmp_path: Path) -> None:
    store = small_stores.mlflow_database(tmp_path)
    source = source_of(store, tmp_path, disabled=["mlflow"])
    assert [one.why for one in source.scan(None).skipped] == ["is not read: mlflow is switched off (pool.disable)"]
    assert source.line_of("x") is None


def test_a_folder_with_stores_in_it_is_none_itself(tmp_path: Path) -> None:
    small_stores.mlflow_database(tmp_path)
    small_stores.wandb_folders(tmp_path)
    assert kind_of(tmp_path) is None
