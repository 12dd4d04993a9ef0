"""Small stores as MLflow lays them out, made by hand: tables of several of its versions, and folders."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TABLES: Mapping[str, str] = {
    "experiments": "experiment_id INTEGER PRIMARY KEY, name VARCHAR(256), lifecycle_stage VARCHAR(32)",
    "runs": "run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), source_type VARCHAR(20), status VARCHAR(9),"
    " start_time BIGINT, end_time BIGINT, lifecycle_stage VARCHAR(20), experiment_id INTEGER",
    "params": "key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid)",
    "tags": "key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid)",
    "metrics": "key VARCHAR(250), value FLOAT, timestamp BIGINT, run_uuid VARCHAR(32), step BIGINT, is_nan BOOLEAN,"
    " PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan)",
    "latest_metrics": "key VARCHAR(250), value FLOAT, timestamp BIGINT, step BIGINT, is_nan BOOLEAN,"
    " run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid)",
}
OLDEST: Mapping[str, str] = {
    "experiments": "experiment_id INTEGER PRIMARY KEY, name VARCHAR(256), lifecycle_stage VARCHAR(32)",
    "runs": "run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), status VARCHAR(20), start_time BIGINT,"
    " end_time BIGINT, experiment_id INTEGER",
    "params": "key VARCHAR(250), value VARCHAR(250), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid)",
    "tags": "key VARCHAR(250), value VARCHAR(250), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid)",
    "metrics": "key VARCHAR(250), value FLOAT, timestamp BIGINT, run_uuid VARCHAR(32)",
}
"""Before MLflow 1.0: no steps, no last values, NaN not told from 0, nothing deleted."""

START = 1_700_000_000_000


def make_database(path: Path, tables: Mapping[str, str] = TABLES) -> sqlite3.Connection:
    """An empty store with one experiment, "images" (number 1). Changes are written at once."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    for name, columns in tables.items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
    for name in ("params", "tags", "metrics", "latest_metrics"):
        if tables is TABLES:
            connection.execute(f"CREATE INDEX index_{name}_run_uuid ON {name} (run_uuid)")
    if "experiments" in tables:
        connection.execute("INSERT INTO experiments VALUES (1, 'images', 'active')")
    return connection


def add_run(
    connection: sqlite3.Connection,
    run_id: str,
    params: Mapping[str, Any] | None = None,
    metrics: Mapping[str, float] | None = None,
    tags: Mapping[str, str] | None = None,
    **columns: Any,
) -> None:
    """A finished run of a minute. Metrics are of step 0; NaN is kept as MLflow keeps it."""
    given = {"name": run_id, "status": "FINISHED", "start_time": START, "end_time": START + 60_000, "experiment_id": 1}
    if _has(connection, "runs", "lifecycle_stage"):
        given["lifecycle_stage"] = "active"
    given.update(columns)
    names = ", ".join(("run_uuid", *given))
    marks = ", ".join("?" * (len(given) + 1))
    connection.execute(f"INSERT INTO runs ({names}) VALUES ({marks})", (run_id, *given.values()))
    for table, items in (("params", params), ("tags", tags)):
        for key, value in (items or {}).items():
            connection.execute(f"INSERT INTO {table} (key, value, run_uuid) VALUES (?, ?, ?)", (key, value, run_id))
    for key, number in (metrics or {}).items():
        add_metric(connection, run_id, key, number, 0)


def add_metric(connection: sqlite3.Connection, run_id: str, key: str, value: float, step: int) -> None:
    nan = value != value
    kept = 0.0 if nan else value
    connection.execute(
        "INSERT INTO metrics (key, value, timestamp, run_uuid, step, is_nan) VALUES (?, ?, ?, ?, ?, ?)",
        (key, kept, START + 1000 * step, run_id, step, nan),
    )
    connection.execute(
        "INSERT OR REPLACE INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (key, kept, START + 1000 * step, step, nan, run_id),
    )


def make_run_folder(
    store: Path,
    run_id: str,
    params: Mapping[str, str] | None = None,
    metrics: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
    experiment: str = "1",
    **meta: Any,
) -> Path:
    """A finished run of a minute; `metrics` are whole histories (`"1700000000000 0.5 0\\n"`)."""
    folder = store / experiment / run_id
    for part, items in (("params", params), ("metrics", metrics), ("tags", tags)):
        (folder / part).mkdir(parents=True)
        for key, text in (items or {}).items():
            (folder / part / key).parent.mkdir(parents=True, exist_ok=True)
            (folder / part / key).write_text(text, encoding="utf-8")
    given = {"run_id": run_id, "run_name": run_id, "status": 3, "start_time": START, "end_time": START + 60_000}
    given |= {"lifecycle_stage": "active", "artifact_uri": f"file:///x/{run_id}/artifacts", **meta}
    text = "".join(f"{key}: {'null' if value is None else value}\n" for key, value in given.items())
    (folder / "meta.yaml").write_text(text, encoding="utf-8")
    return folder


def _has(connection: sqlite3.Connection, table: str, column: str) -> bool:
    return any(row[1] == column for row in connection.execute(f"PRAGMA table_info({table})"))
