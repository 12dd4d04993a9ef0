"""Pipes and the like in place of files that are read: nothing waits for them, and each is told."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import pytest
from small_stores import mlflow_database, optuna_journal

from tried.pool.sources.discovery import discover
from tried.pool.sources.kit import scan_all
from tried.pool.sources.mlflow.database import MlflowDatabaseSource
from tried.pool.sources.optuna.journal import OptunaJournalSource
from tried.pool.sources.sniffing import source_of
from tried.storage.files import StorageError, append_lines
from tried.storage.repository import Repository
from tried.workspace import Workspace

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")

T = TypeVar("T")
SECONDS = 10


def at_once(call: Callable[[], T]) -> T:
    """What it gives; a test that would hang fails."""
    given: list[T] = []
    thread = threading.Thread(target=lambda: given.append(call()), daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "it waits for a pipe"
    assert given, "it raised"
    return given[0]


@pytest.mark.parametrize(
    "name",
    ["p.jsonl", "p", "optuna.log", "mlflow.db", "study.sqlite3", "results.tsv", "experiments.csv", "pool.journal"],
)
def test_a_pipe_that_is_named_is_told(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    said = at_once(lambda: scan_all(source_of(tmp_path / name, tmp_path)))
    as_database = "cannot be read: it is a pipe, a socket or a device"
    assert [skip.why for skip in said.skipped] == [as_database if name == "mlflow.db" else "is not a file"]
    (tmp_path / "tried.toml").write_text(f'[[pool.sources]]\npath = "{name}"\n')
    state = at_once(lambda: Workspace(tmp_path).refresh())
    assert not state.records


def test_pipes_where_stores_would_be_are_passed_by(tmp_path: Path) -> None:
    for name in ("experiments.jsonl", "optuna.log", "mlflow.db", "results.tsv", "results.csv"):
        os.mkfifo(tmp_path / name)
    assert at_once(lambda: discover(tmp_path)).sources == ()


def test_a_journal_of_optuna_that_becomes_a_pipe_is_told(tmp_path: Path) -> None:
    path = optuna_journal(tmp_path)
    source = OptunaJournalSource(path)
    before = scan_all(source)
    assert before.records
    path.unlink()
    os.mkfifo(path)
    delta = at_once(lambda: source.scan(before.cursor))
    assert [skip.why for skip in delta.skipped] == ["cannot be read: it is a pipe, a socket or a device"]


@pytest.mark.parametrize("end", ["-journal", "-wal", "-shm"])
def test_a_database_beside_which_a_pipe_lies_is_not_opened(tmp_path: Path, end: str) -> None:
    path = mlflow_database(tmp_path)
    os.mkfifo(f"{path}{end}")
    said = at_once(lambda: scan_all(MlflowDatabaseSource(path, tmp_path)))
    assert [skip.why for skip in said.skipped] == [
        f"cannot be read: SQLite would open {path.name}{end}, which is no plain file"
    ]


def test_a_database_behind_a_link_is_read_with_its_own_log(tmp_path: Path) -> None:
    """SQLite keeps what was written last beside the file itself."""
    path = mlflow_database(tmp_path)
    link = tmp_path / "elsewhere" / "here.db"
    link.parent.mkdir()
    link.symlink_to(path)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        before = scan_all(MlflowDatabaseSource(link, tmp_path))
        with writer:
            writer.execute("UPDATE runs SET name = 'told later'")
        after = scan_all(MlflowDatabaseSource(link, tmp_path), before.cursor, before)
    assert before.records
    assert {record.name for record in after.records.values()} == {"told later"}


def test_nothing_is_appended_to_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pool.jsonl")

    def told() -> str:
        with pytest.raises(StorageError) as error:
            append_lines(tmp_path / "pool.jsonl", (b"x" * 200_000,))
        return str(error.value)

    assert "it is a pipe, a socket or a device, not a file" in at_once(told)


def test_a_repository_with_pipes_in_place_of_its_files(tmp_path: Path) -> None:
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / ".git" / "refs").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("config", "packed-refs"):
        os.mkfifo(tmp_path / ".git" / name)
    assert at_once(lambda: [Repository.at(tmp_path)]) != [None]
    repository = Repository.at(tmp_path)
    assert repository is not None
    assert at_once(lambda: [repository.head()]) == [None]


@pytest.mark.parametrize("text", ["[" * 60_000, '{"a":' * 60_000], ids=["lists", "objects"])
def test_a_line_that_is_nested_too_deep_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.jsonl").write_text(f'{text}\n{{"id": "a", "params": {{"lr": 1}}}}\n')
    said = scan_all(source_of(tmp_path / "d.jsonl", tmp_path))
    assert list(said.records) == ["a"]
    assert [skip.where for skip in said.skipped] == ["line 1"]
    (tmp_path / "tried.toml").write_text('[[pool.sources]]\npath = "d.jsonl"\n')
    assert list(Workspace(tmp_path).refresh().records) == ["a"]
