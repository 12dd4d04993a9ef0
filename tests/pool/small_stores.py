"""A small store of each tracker, made by hand, and what makes it grow: the same for every source that is tried out."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from git_folders import GitFolder

Build = Callable[[Path], Path]
"""Makes a store in an empty folder; its path."""

Grow = Callable[[Path], None]
"""Adds a run to a store."""


def put(path: Path, content: str, *, age: float = 3_600.0) -> None:
    """A file that was written so many seconds ago: what is younger may be half written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    moment = time.time() - age
    os.utime(path, (moment, moment))


def put_json(path: Path, content: Any, *, age: float = 3_600.0) -> None:
    put(path, json.dumps(content), age=age)


def database(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


MLFLOW = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name TEXT, lifecycle_stage TEXT);
CREATE TABLE runs (run_uuid TEXT PRIMARY KEY, name TEXT, status TEXT, start_time BIGINT, end_time BIGINT,
  lifecycle_stage TEXT, experiment_id INTEGER, artifact_uri TEXT, deleted_time BIGINT);
CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT, PRIMARY KEY (key, run_uuid));
CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT, PRIMARY KEY (key, run_uuid));
CREATE TABLE latest_metrics (key TEXT, value FLOAT, timestamp BIGINT, step BIGINT, is_nan BOOLEAN, run_uuid TEXT,
  PRIMARY KEY (key, run_uuid));
INSERT INTO experiments VALUES (1, 'tiny', 'active');
INSERT INTO runs VALUES ('aaa', 'first', 'FINISHED', 1790000000000, 1790000060000, 'active', 1, '', NULL);
INSERT INTO params VALUES ('lr', '0.1', 'aaa');
INSERT INTO latest_metrics VALUES ('val_loss', 0.0, 1790000050000, 7, 1, 'aaa');
INSERT INTO tags VALUES ('mlflow.note.content', 'too high — 学習率', 'aaa');
"""


def mlflow_database(folder: Path) -> Path:
    database(folder / "mlflow.db", MLFLOW)
    return folder / "mlflow.db"


def grow_mlflow_database(path: Path) -> None:
    database(
        path,
        """
        INSERT INTO runs VALUES ('bbb', 'second', 'FAILED', 1790000100000, 1790000160000, 'active', 1, '', NULL);
        INSERT INTO params VALUES ('lr', '0.2', 'bbb');
        INSERT INTO tags VALUES ('dead-end', 'true', 'aaa');
        """,
    )


def mlflow_run(folder: Path, run: str, status: int, lr: str) -> None:
    meta = (
        f"artifact_uri: x\nend_time: 1790000060000\nexperiment_id: '1'\nlifecycle_stage: active\nrun_id: {run}\n"
        f"run_name: {run}\nrun_uuid: {run}\nstart_time: 1790000000000\nstatus: {status}\n"
    )
    put(folder / "1" / run / "params" / "optim" / "lr", lr)
    put(folder / "1" / run / "metrics" / "val_loss", "1790000050000 nan 7\n")
    put(folder / "1" / run / "tags" / "mlflow.note.content", "too high")
    put(folder / "1" / run / "meta.yaml", meta)


def mlflow_files(folder: Path) -> Path:
    put(folder / "mlruns" / "1" / "meta.yaml", "experiment_id: '1'\nname: tiny\nlifecycle_stage: active\n")
    mlflow_run(folder / "mlruns", "a" * 32, 3, "0.1")
    return folder / "mlruns"


def grow_mlflow_files(path: Path) -> None:
    mlflow_run(path, "b" * 32, 4, "0.2")


def hydra_job(folder: Path, day: str, lr: str) -> None:
    job = folder / day / "10-00-00"
    put(job / ".hydra" / "config.yaml", f"lr: {lr}\nmodel:\n  depth: 3\n")
    put(job / ".hydra" / "overrides.yaml", f"- lr={lr}\n")
    put(job / ".hydra" / "hydra.yaml", "hydra:\n  job:\n    name: train\n")
    put(job / "train.log", "[2026-10-01 10:00:00,000][__main__][INFO] - epoch 1\n")


def hydra_folders(folder: Path) -> Path:
    hydra_job(folder / "outputs", "2026-10-01", "0.1")
    return folder / "outputs"


def grow_hydra_folders(path: Path) -> None:
    hydra_job(path, "2026-10-02", "0.2")


def wandb_run(folder: Path, run: str, lr: float) -> None:
    files = folder / f"run-20261001_100000-{run}" / "files"
    put(files / "config.yaml", f"lr:\n  desc: null\n  value: {lr}\n")
    put_json(files / "wandb-summary.json", {"val_loss": 2.0, "_runtime": 60, "_timestamp": 1790000060.0})
    put_json(files / "wandb-metadata.json", {"startedAt": "2026-10-01T10:00:00Z", "program": "train.py"})


def wandb_folders(folder: Path) -> Path:
    wandb_run(folder / "wandb", "abcd1234", 0.1)
    return folder / "wandb"


def grow_wandb_folders(path: Path) -> None:
    wandb_run(path, "efgh5678", 0.2)


OPTUNA = """
CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name TEXT);
CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction TEXT, study_id INTEGER,
  objective INTEGER);
CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state TEXT,
  datetime_start DATETIME, datetime_complete DATETIME);
CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name TEXT, param_value FLOAT,
  distribution_json TEXT);
CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, objective INTEGER, value FLOAT,
  value_type TEXT);
CREATE TABLE trial_user_attributes (trial_user_attribute_id INTEGER PRIMARY KEY, trial_id INTEGER, key TEXT,
  value_json TEXT);
INSERT INTO studies VALUES (1, 'search');
INSERT INTO study_directions VALUES (1, 'MINIMIZE', 1, 0);
"""


def optuna_trial(number: int, state: str) -> str:
    space = json.dumps({"name": "FloatDistribution", "attributes": {"step": None, "low": 0, "high": 1, "log": False}})
    return f"""
    INSERT INTO trials VALUES ({number + 1}, {number}, 1, '{state}', '2026-10-01 10:00:00', '2026-10-01 10:01:00');
    INSERT INTO trial_params VALUES ({number + 1}, {number + 1}, 'lr', 0.{number + 1}, '{space}');
    INSERT INTO trial_values VALUES ({number + 1}, {number + 1}, 0, {number}.5, 'FINITE');
    """


def optuna_database(folder: Path) -> Path:
    database(folder / "optuna.db", OPTUNA + optuna_trial(0, "COMPLETE") + optuna_trial(1, "FAIL"))
    return folder / "optuna.db"


def grow_optuna_database(path: Path) -> None:
    database(path, optuna_trial(2, "PRUNED"))


def optuna_operations(number: int) -> str:
    space = json.dumps({"name": "FloatDistribution", "attributes": {"step": None, "low": 0, "high": 1, "log": False}})
    operations: list[dict[str, Any]] = [
        {"op_code": 4, "study_id": 0, "datetime_start": "2026-10-01T10:00:00+00:00"},
        {"op_code": 5, "trial_id": number, "param_name": "lr", "param_value_internal": 0.1, "distribution": space},
        {"op_code": 6, "trial_id": number, "state": 1, "values": [0.5], "datetime_complete": "2026-10-01T10:01:00"},
    ]
    return "".join(json.dumps({"worker_id": "w", **operation}) + "\n" for operation in operations)


def optuna_journal(folder: Path) -> Path:
    study = {"op_code": 0, "worker_id": "w", "study_name": "search", "directions": [1]}
    put(folder / "journal.log", json.dumps(study) + "\n" + optuna_operations(0))
    return folder / "journal.log"


def grow_optuna_journal(path: Path) -> None:
    with path.open("a") as file:
        file.write(optuna_operations(1))


def sacred_run(folder: Path, number: int, lr: float) -> None:
    run = {
        "status": "COMPLETED",
        "start_time": "2026-10-01T10:00:00.000000",
        "stop_time": "2026-10-01T10:01:00.000000",
        "heartbeat": "2026-10-01T10:01:00.000000",
        "result": 0.5,
        "experiment": {"name": "tiny"},
        "meta": {},
    }
    put_json(folder / str(number) / "config.json", {"lr": lr, "seed": 1})
    put_json(folder / str(number) / "metrics.json", {"val.loss": {"steps": [1], "values": [0.5], "timestamps": []}})
    put_json(folder / str(number) / "run.json", run)


def sacred_runs(folder: Path) -> Path:
    sacred_run(folder / "runs", 1, 0.1)
    return folder / "runs"


def grow_sacred_runs(path: Path) -> None:
    sacred_run(path, 2, 0.2)


def lightning_version(folder: Path, number: int, lr: float) -> None:
    put(folder / f"version_{number}" / "hparams.yaml", f"lr: {lr}\ndepth: 3\n")
    put(folder / f"version_{number}" / "metrics.csv", "epoch,step,val_loss\n0,10,2.5\n1,20,2.25\n")


def lightning_logs(folder: Path) -> Path:
    lightning_version(folder / "lightning_logs", 0, 0.1)
    return folder / "lightning_logs"


def grow_lightning_logs(path: Path) -> None:
    lightning_version(path, 1, 0.2)


def soma_run(folder: Path, run: str) -> None:
    manifest = {"schema_version": 1, "run_id": run, "kind": "train", "name": run, "created_at": "2026-10-01T10:00:00Z"}
    put_json(folder / run / "manifest.json", manifest)
    put_json(folder / run / "status.json", {"state": "completed", "finished_at": "2026-10-01T10:01:00Z"})


def soma_runs(folder: Path) -> Path:
    soma_run(folder / ".soma" / "runs", "run_20261001T100000_ab12")
    return folder / ".soma" / "runs"


def grow_soma_runs(path: Path) -> None:
    soma_run(path, "run_20261002T100000_cd34")


def dvc_experiments(folder: Path) -> Path:
    repository = GitFolder(folder)
    repository.write(".dvc/config", "")
    repository.write("params.yaml", "lr: 0.1\n")
    start = repository.commit("first")
    _dvc_experiment(repository, start, "early-one", "lr: 0.2\n")
    return folder / ".dvc"


def _dvc_experiment(repository: GitFolder, start: str, name: str, params: str) -> None:
    repository.write("params.yaml", params)
    made = repository.commit(f"dvc: commit experiment {name}")
    repository.git("reset", "-q", "--hard", start)
    repository.git("update-ref", f"refs/exps/{start[:2]}/{start[2:]}/{name}", made)


def grow_dvc_experiments(path: Path) -> None:
    repository = GitFolder(path.parent)
    _dvc_experiment(repository, repository.git("rev-parse", "HEAD"), "late-one", "lr: 0.3\n")
