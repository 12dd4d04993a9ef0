"""Stores as MLflow 3 lays them out, made large: for measuring how fast they are read."""

from __future__ import annotations

import hashlib
import random
import sqlite3
from pathlib import Path

START = 1_760_000_000_000
"""Milliseconds since 1970 of the first run."""

SCHEMA = """
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY);
CREATE TABLE experiments (
    experiment_id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(256) NOT NULL, artifact_location VARCHAR(256),
    lifecycle_stage VARCHAR(32), creation_time BIGINT, last_update_time BIGINT,
    workspace VARCHAR(63) DEFAULT 'default' NOT NULL,
    CONSTRAINT uq_experiments_workspace_name UNIQUE (workspace, name));
CREATE TABLE runs (
    run_uuid VARCHAR(32) NOT NULL PRIMARY KEY, name VARCHAR(250), source_type VARCHAR(20), source_name VARCHAR(500),
    entry_point_name VARCHAR(50), user_id VARCHAR(256), status VARCHAR(9), start_time BIGINT, end_time BIGINT,
    source_version VARCHAR(50), lifecycle_stage VARCHAR(20), artifact_uri VARCHAR(200), experiment_id INTEGER,
    deleted_time BIGINT);
CREATE TABLE params ("key" VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL,
    CONSTRAINT param_pk PRIMARY KEY ("key", run_uuid));
CREATE TABLE tags ("key" VARCHAR(250) NOT NULL, value VARCHAR(8000), run_uuid VARCHAR(32) NOT NULL,
    CONSTRAINT tag_pk PRIMARY KEY ("key", run_uuid));
CREATE TABLE metrics ("key" VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL,
    run_uuid VARCHAR(32) NOT NULL, step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
    CONSTRAINT metric_pk PRIMARY KEY ("key", timestamp, step, run_uuid, value, is_nan));
CREATE TABLE latest_metrics ("key" VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT, step BIGINT NOT NULL,
    is_nan BOOLEAN NOT NULL, run_uuid VARCHAR(32) NOT NULL, CONSTRAINT latest_metric_pk PRIMARY KEY ("key", run_uuid));
CREATE INDEX index_params_run_uuid ON params (run_uuid);
CREATE INDEX index_tags_run_uuid ON tags (run_uuid);
CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);
CREATE INDEX index_latest_metrics_run_uuid ON latest_metrics (run_uuid);
"""


def run_id(number: int) -> str:
    return hashlib.md5(str(number).encode()).hexdigest()


def parameters(number: int, count: int) -> list[tuple[str, str]]:
    draw = random.Random(number)
    named = {
        "lr": draw.choice(("0.1", "0.01", "0.001", "0.0003")),
        "batch_size": str(2 ** draw.randint(3, 9)),
        "optimizer": draw.choice(("adam", "sgd", "adamw")),
        "seed": str(number),
    }
    rest = {f"group{i % 7}.option_{i}": str(draw.randint(0, 9)) for i in range(count)}
    return list({**named, **rest}.items())[:count]


def tags(number: int) -> list[tuple[str, str]]:
    return [
        ("mlflow.runName", f"run-{number}"),
        ("mlflow.user", "somebody"),
        ("mlflow.source.name", "train.py"),
        ("mlflow.source.type", "LOCAL"),
        ("mlflow.source.git.commit", hashlib.sha1(str(number // 50).encode()).hexdigest()),
        ("team", "vision"),
    ]


def metrics(number: int) -> list[tuple[str, float, int]]:
    """(name, last value, last step); every hundredth run diverged."""
    draw = random.Random(-number)
    loss = float("nan") if number % 100 == 99 else draw.random()
    return [("train_loss", loss, 9), ("val_loss", draw.random(), 9), ("val_acc", draw.random(), 9), ("epoch", 9.0, 9)]


def status(number: int) -> str:
    return "FAILED" if number % 20 == 19 else "FINISHED"


def make_mlflow_database(path: Path, runs: int, params: int) -> None:
    """A database of MLflow 3 with so many runs of so many parameters each, 4 metrics of 10 steps, 6 tags.

    One that is there already is an empty one that MLflow itself has made: its tables are filled.
    """
    is_new = not path.exists()
    with sqlite3.connect(path) as connection:
        connection.executescript("PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY;" + (SCHEMA if is_new else ""))
        connection.executemany(
            "INSERT OR REPLACE INTO experiments (experiment_id, name, artifact_location, lifecycle_stage,"
            " creation_time, last_update_time) VALUES (?,?,?,'active',?,?)",
            [(i, name, f"mlruns/{i}", START, START) for i, name in enumerate(("Default", "images"))],
        )
        for number in range(runs):
            uuid = run_id(number)
            start = START + number * 60_000
            connection.execute(
                "INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, user_id, status,"
                " start_time, end_time, source_version, lifecycle_stage, artifact_uri, experiment_id)"
                " VALUES (?,?,'UNKNOWN','','','somebody',?,?,?,'','active',?,1)",
                (uuid, f"run-{number}", status(number), start, start + 50_000, f"mlruns/1/{uuid}/artifacts"),
            )
            connection.executemany(
                "INSERT INTO params (key, value, run_uuid) VALUES (?,?,?)",
                [(k, v, uuid) for k, v in parameters(number, params)],
            )
            connection.executemany(
                "INSERT INTO tags (key, value, run_uuid) VALUES (?,?,?)", [(k, v, uuid) for k, v in tags(number)]
            )
            for name, last, step in metrics(number):
                nan = last != last
                rows = [
                    (
                        name,
                        0.0 if nan and s >= 5 else (1.0 if nan else last),
                        start + s * 1000,
                        uuid,
                        s,
                        int(nan and s >= 5),
                    )
                    for s in range(step + 1)
                ]
                connection.executemany(
                    "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan) VALUES (?,?,?,?,?,?)", rows
                )
                connection.execute(
                    "INSERT INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid) VALUES (?,?,?,?,?,?)",
                    (name, rows[-1][1], rows[-1][2], step, int(nan), uuid),
                )
    connection.close()


def make_mlflow_files(path: Path, runs: int, params: int) -> None:
    """A file store (`mlruns`) at `path` of the same runs."""
    folder = path / "1"
    folder.mkdir(parents=True)
    (folder / "meta.yaml").write_text(
        f"artifact_location: file:///x/mlruns/1\ncreation_time: {START}\nexperiment_id: '1'\n"
        f"last_update_time: {START}\nlifecycle_stage: active\nname: images\n",
        encoding="utf-8",
    )
    for number in range(runs):
        uuid = run_id(number)
        run = folder / uuid
        start = START + number * 60_000
        for name in ("params", "metrics", "tags", "artifacts"):
            (run / name).mkdir(parents=True)
        (run / "meta.yaml").write_text(
            f"artifact_uri: file:///x/mlruns/1/{uuid}/artifacts\nend_time: {start + 50_000}\nentry_point_name: ''\n"
            f"experiment_id: '1'\nlifecycle_stage: active\nrun_id: {uuid}\nrun_name: run-{number}\nrun_uuid: {uuid}\n"
            f"source_name: ''\nsource_type: 4\nsource_version: ''\nstart_time: {start}\n"
            f"status: {4 if status(number) == 'FAILED' else 3}\ntags: []\nuser_id: somebody\n",
            encoding="utf-8",
        )
        for key, value in parameters(number, params):
            (run / "params" / key).write_text(value, encoding="utf-8")
        for key, value in tags(number):
            (run / "tags" / key).write_text(value, encoding="utf-8")
        for name, last, step in metrics(number):
            nan = last != last
            lines = [
                f"{start + s * 1000} {'nan' if nan and s >= 5 else (1.0 if nan else last)} {s}\n"
                for s in range(step + 1)
            ]
            (run / "metrics" / name).write_text("".join(lines), encoding="utf-8")
