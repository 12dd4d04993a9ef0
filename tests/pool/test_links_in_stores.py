"""Links inside of stores: nothing that lies behind one gets into a record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from small_stores import hydra_folders, lightning_version, mlflow_files, put, wandb_folders, wandb_run

from tried.pool.sources.hydra.folders import HydraFoldersSource
from tried.pool.sources.kit import scan_all
from tried.pool.sources.mlflow.files import MlflowFilesSource
from tried.pool.sources.source import Source
from tried.pool.sources.wandb.folders import WandbSource

SECRET = "TOPSECRET"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """What a link may lead to: each file of it speaks of the secret."""
    home = tmp_path / "outside"
    put(home / "secret.yaml", f"run_name: {SECRET}\nname: {SECRET}\nlr: {{value: {SECRET}}}\n")
    put(home / "secret.json", f'{{"{SECRET}": 1}}')
    put(home / "secret.log", f"Traceback (most recent call last):\nValueError: {SECRET}\n")
    put(home / "values" / SECRET, SECRET)
    put(home / "files" / "config.yaml", f"lr: {{value: {SECRET}}}\n")
    put(home / "files" / "output.log", f"Traceback (most recent call last):\nValueError: {SECRET}\n")
    put(home / ".hydra" / "config.yaml", f"lr: {SECRET}\n")
    put(home / "version_0" / "metrics.csv", f"step,{SECRET}\n1,2\n")
    put(home / "wandb" / "run-20260301_100000-secret" / "files" / "config.yaml", f"lr: {{value: {SECRET}}}\n")
    return home


def _said(source: Source) -> tuple[str, list[str]]:
    """(all that the records say, all that was left out)"""
    said = scan_all(source)
    return " ".join(record.to_json() for record in said.records.values()), [skip.why for skip in said.skipped]


def _put_in_place(path: Path, target: Path) -> None:
    if path.is_dir():
        path.rename(path.with_name(f"{path.name}.away"))
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("place", "target", "why"),
    [
        ("params", "values", "params is a link and is not read"),
        ("tags", "values", "tags is a link and is not read"),
        ("metrics", "values", "metrics is a link and is not read"),
        ("meta.yaml", "secret.yaml", "meta.yaml cannot be read: it is a link, which is not followed"),
        (
            "../meta.yaml",
            "secret.yaml",
            "the experiment's name is unknown: meta.yaml cannot be read: it is a link, which is not followed",
        ),
    ],
)
def test_in_a_file_store_of_mlflow(tmp_path: Path, outside: Path, place: str, target: str, why: str) -> None:
    store = mlflow_files(tmp_path / "project")
    run = next(path.parent for path in sorted(store.glob("*/*/meta.yaml")))
    _put_in_place(run / place, outside / target)
    records, skipped = _said(MlflowFilesSource(store, store.parent))
    assert SECRET not in records
    assert why in skipped


@pytest.mark.parametrize(
    ("place", "target", "why"),
    [
        ("files", "files", "is a link and is not read"),
        ("files/config.yaml", "secret.yaml", "is a link and is not read"),
        ("files/wandb-summary.json", "secret.json", "is a link and is not read"),
        ("files/wandb-metadata.json", "secret.json", "is a link and is not read"),
        ("run-@.wandb", "secret.json", "is a link and is not read"),
    ],
)
def test_in_a_folder_of_wandb(tmp_path: Path, outside: Path, place: str, target: str, why: str) -> None:
    store = wandb_folders(tmp_path / "project")
    run = min(path for path in store.iterdir() if path.name.startswith("run-"))
    _put_in_place(run / place.replace("@", run.name.rsplit("-", 1)[-1]), outside / target)
    records, skipped = _said(WandbSource(store, store.parent))
    assert SECRET not in records
    assert why in skipped


def _job(folder: Path) -> Path:
    return min(path.parent.parent for path in hydra_folders(folder).rglob("config.yaml"))


def _with_wandb(folder: Path) -> Path:
    job = _job(folder)
    wandb_run(job / "wandb", "20260301_100000-inner", 0.5)
    return next((job / "wandb").iterdir())


def _with_versions(folder: Path) -> Path:
    job = _job(folder)
    lightning_version(job / "lightning_logs", 0, 0.5)
    return job / "lightning_logs"


@pytest.mark.parametrize(
    ("make", "place", "target"),
    [
        (_job, "wandb", "wandb"),
        (_job, "wandb/run-20260301_100000-secret", "wandb/run-20260301_100000-secret"),
        (_with_wandb, "files", "files"),
        (_with_wandb, "files/config.yaml", "secret.yaml"),
        (_job, "lightning_logs", ""),
        (_job, "csv", ""),
        (_with_versions, "version_0", "version_0"),
        (_with_versions, "version_0/metrics.csv", "version_0/metrics.csv"),
        (_job, ".hydra", ".hydra"),
        (_job, ".hydra/config.yaml", ".hydra/config.yaml"),
        (_job, "train.log", "secret.log"),
        (_job, "metrics.json", "secret.json"),
    ],
)
def test_in_a_job_of_hydra(
    tmp_path: Path, outside: Path, make: Callable[[Path], Path], place: str, target: str
) -> None:
    project = tmp_path / "project"
    _put_in_place(make(project) / place, outside / target)
    records, _ = _said(HydraFoldersSource(project / "outputs", project))
    assert bool(records) == (place != ".hydra"), "a folder with a link of that name is no job"
    assert SECRET not in records


def test_a_store_that_is_behind_a_link_itself_is_read(tmp_path: Path) -> None:
    """Whoever names it, or allows it, wants it read."""
    project = tmp_path / "project"
    job = _job(project)
    put(job / "metrics.json", '{"loss": 0.25}')
    (tmp_path / "here").symlink_to(job)
    records, skipped = _said(HydraFoldersSource(tmp_path / "here"))
    assert '"loss":0.25' in records.replace(" ", "")
    assert skipped == []
