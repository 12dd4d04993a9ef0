"""MLflow's databases: what is read, what a later scan says, and what becomes of databases that are not as they should
be. The tables are made by hand; what MLflow itself writes is read in tests/trackers."""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from mlflow_stores import OLDEST, START, TABLES, add_metric, add_run, make_database

from tried.pool.sources.common import sqlite_file
from tried.pool.sources.kit import Said, problems_of, scan_all
from tried.pool.sources.mlflow.database import MlflowDatabaseSource, store_at
from tried.pool.sources.mlflow.tables import CHUNK
from tried.pool.sources.source import BATCH


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = make_database(tmp_path / "mlflow.db")
    yield connection
    connection.close()


def _said(folder: Path, before: Said | None = None, name: str = "mlflow.db") -> Said:
    source = MlflowDatabaseSource(folder / name, folder)
    return scan_all(source, before.cursor if before else None, before)


def _news(said: Said) -> list[str]:
    return [record.id for delta in said.deltas for record in delta.upserts]


def test_a_source_of_this_kind_does_what_every_source_must(tmp_path: Path, database: sqlite3.Connection) -> None:
    for number in range(12):
        tags = {"mlflow.parentRunId": "r0"} if 0 < number < 4 else {}
        add_run(database, f"r{number}", {"lr": str(number)}, {"loss": math.nan if number == 7 else 0.5}, tags)

    def grow(path: Path) -> None:
        with sqlite3.connect(path) as connection:
            add_run(connection, "new", {"lr": "5"}, {"loss": 1.0}, {"mlflow.parentRunId": "r5"})
            connection.execute("UPDATE runs SET status = 'KILLED' WHERE run_uuid = 'r2'")
        connection.close()

    assert problems_of(lambda path: MlflowDatabaseSource(path), tmp_path / "mlflow.db", grow) == []


def test_runs_come_in_the_order_of_time_in_batches_with_a_total(tmp_path: Path, database: sqlite3.Connection) -> None:
    count = BATCH + CHUNK + 1
    database.execute("BEGIN")
    for number in range(count):
        add_run(database, f"r{number}", {"n": str(number)}, start_time=START - number)
    database.execute("COMMIT")
    said = _said(tmp_path)
    assert [len(delta.upserts) for delta in said.deltas] == [BATCH, CHUNK + 1]
    assert [(delta.more, delta.total) for delta in said.deltas] == [(True, count), (False, count)]
    assert list(said.records)[:2] == [f"mlflow:r{count - 1}", f"mlflow:r{count - 2}"]
    assert said.records["mlflow:r7"].params == {"n": "7"}


def test_what_infinity_and_nan_are_kept_as_is_understood(tmp_path: Path, database: sqlite3.Connection) -> None:
    add_run(database, "r", metrics={"loss": 1.0, "top": 1.7976931348623157e308, "low": -1.7976931348623157e308})
    for step in (3, 4):
        add_metric(database, "r", "loss", math.nan, step)
    record = _said(tmp_path).records["mlflow:r"]
    assert record.metrics == {"loss": "nan", "top": "inf", "low": "-inf"}
    assert (record.cause, record.generated_headline) == ("diverged", "diverged: loss is NaN at step 3")


def test_tags_become_note_verdict_parent_folder_and_commit(tmp_path: Path, database: sqlite3.Connection) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    tags = {
        "mlflow.note.content": "It learned nothing.",
        "mlflow.runName": "named by its tag",
        "mlflow.user": "somebody",
        "mlflow.source.git.commit": "0123abc",
        "comment": "see the log",
        "explanation": "x" * 200,
        "tried.verdict": "dead-end",
        "tried.parent": "b" * 32,
        "stage": "two",
    }
    add_run(database, "r", {"output_dir": "runs/a"}, tags=tags)
    add_run(
        database, "s", {"output_dir": "runs/none"}, tags={"hydra.run.dir": "/data/out/../b", "tried.parent": "dvc:x"}
    )
    records = _said(tmp_path).records
    record = records["mlflow:r"]
    assert record.name == "named by its tag"
    assert record.notes == "It learned nothing.\n\nsee the log\n\nexplanation: " + "x" * 200
    assert (record.verdict, record.parent) == ("dead_end", "mlflow:" + "b" * 32)
    assert (record.git, record.tags) == ({"sha": "0123abc"}, ["stage=two"])
    assert record.run_dir == str(tmp_path / "runs" / "a")
    assert (record.experiment, record.research_line) == ("images", "images")
    assert (records["mlflow:s"].run_dir, records["mlflow:s"].parent) == ("/data/b", "dvc:x")


def test_a_scan_says_what_has_changed_and_no_more(tmp_path: Path, database: sqlite3.Connection) -> None:
    for number in range(200):
        add_run(database, f"r{number}", {"lr": str(number)}, {"acc": 0.5}, {"team": "a"})
    said = _said(tmp_path)
    assert len(said.records) == 200
    changes = {
        "INSERT INTO tags VALUES ('mlflow.note.content', 'why', 'r5')": ["r5"],
        "UPDATE tags SET value = 'who' WHERE key = 'mlflow.note.content'": ["r5"],
        "DELETE FROM tags WHERE key = 'mlflow.note.content'": ["r5"],
        "DELETE FROM tags WHERE run_uuid = 'r9'": ["r9"],
        "UPDATE runs SET status = 'KILLED' WHERE run_uuid = 'r199'": ["r199"],
        "INSERT INTO params VALUES ('late', '1', 'r17')": ["r17"],
        "UPDATE runs SET lifecycle_stage = 'deleted' WHERE run_uuid = 'r3'": [],
        "UPDATE runs SET lifecycle_stage = 'active' WHERE run_uuid = 'r3'": ["r3"],
        "UPDATE runs SET lifecycle_stage = lifecycle_stage": [],
        "DELETE FROM runs WHERE run_uuid = 'r199'": [],
    }
    for change, expected in changes.items():
        database.execute(change)
        said = _said(tmp_path, said)
        assert _news(said) == [f"mlflow:{name}" for name in expected], change
        assert said.records == _said(tmp_path).records, change
    add_metric(database, "r17", "acc", 0.75, 1)
    said = _said(tmp_path, said)
    assert _news(said) == ["mlflow:r17"]
    assert said.records["mlflow:r17"].metrics == {"acc": 0.75}
    database.execute("UPDATE experiments SET name = 'sounds'")
    said = _said(tmp_path, said)
    assert {record.experiment for record in said.records.values()} == {"sounds"}
    database.execute("UPDATE experiments SET lifecycle_stage = 'deleted'")
    assert _said(tmp_path, said).records == {}


def test_rows_that_vacuum_has_renumbered_are_found(tmp_path: Path, database: sqlite3.Connection) -> None:
    for number in range(20):
        add_run(database, f"r{number}", {"lr": str(number)}, {"acc": 0.5})
    said = _said(tmp_path)
    for table in ("runs", "params", "metrics", "latest_metrics"):
        database.execute(f"DELETE FROM {table} WHERE run_uuid IN ('r1', 'r2', 'r3')")
    database.execute("VACUUM")
    add_metric(database, "r8", "acc", 0.9, 1)
    later = _said(tmp_path, said)
    assert later.records == _said(tmp_path).records
    assert later.records["mlflow:r8"].metrics == {"acc": 0.9}


def test_a_child_that_comes_later_changes_its_parent(tmp_path: Path, database: sqlite3.Connection) -> None:
    add_run(database, "p", status="RUNNING")
    said = _said(tmp_path)
    assert said.records["mlflow:p"].role == "experiment"
    add_run(database, "a", {"lr": "1"}, tags={"mlflow.parentRunId": "p"})
    said = _said(tmp_path, said)
    assert said.records["mlflow:p"].role == "launcher"
    add_run(database, "b", {"lr": "2"}, tags={"mlflow.parentRunId": "p"})
    said = _said(tmp_path, said)
    assert sorted(_news(said)) == ["mlflow:a", "mlflow:b", "mlflow:p"]
    assert said.records["mlflow:p"].role == "sweep"
    assert {said.records[f"mlflow:{name}"].sweep for name in "ab"} == {"mlflow:p"}
    database.execute("DELETE FROM runs WHERE run_uuid = 'b'")
    said = _said(tmp_path, said)
    assert said.records == _said(tmp_path).records
    assert said.records["mlflow:a"].sweep is None


def test_the_oldest_tables_are_read(tmp_path: Path) -> None:
    connection = make_database(tmp_path / "mlflow.db", OLDEST)
    add_run(connection, "r", {"lr": "0.1"}, tags={"mlflow.note.content": "old"})
    for time, value in ((1, 0.1), (3, 0.3), (2, 0.2)):
        connection.execute("INSERT INTO metrics VALUES ('acc', ?, ?, 'r')", (value, time))
    connection.close()
    said = _said(tmp_path)
    record = said.records["mlflow:r"]
    assert said.skipped == ()
    assert (record.params, record.metrics, record.notes) == ({"lr": "0.1"}, {"acc": 0.3}, "old")
    assert (record.outcome, record.experiment) == ("completed", "images")


@pytest.mark.parametrize("missing", ["params", "tags", "metrics", "latest_metrics", "experiments"])
def test_a_database_that_lacks_a_table_is_read_and_says_so(tmp_path: Path, missing: str) -> None:
    connection = make_database(tmp_path / "mlflow.db")
    add_run(connection, "r", {"lr": "1"}, {"acc": 0.5}, {"team": "a"})
    connection.execute(f"DROP TABLE {missing}")
    connection.close()
    said = _said(tmp_path)
    assert list(said.records) == ["mlflow:r"]
    expected = [] if missing == "latest_metrics" else [f"has no table {missing}: what it would tell of runs is unknown"]
    assert [skip.why for skip in said.skipped] == expected
    assert said.records["mlflow:r"].metrics == {"acc": 0.5}
    assert said.records["mlflow:r"].params == ({} if missing == "params" else {"lr": "1"})


def test_foreign_and_unusable_files_are_told_once_and_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    expected = {
        b"": "is empty: nothing has been written to it yet",
        os.urandom(64) * 300: "is no SQLite database, or is encrypted: tried reads plain ones only",
    }
    said = _said(tmp_path)
    assert [skip.why for skip in said.skipped] == ["there is no such file"]
    for data, why in expected.items():
        path.write_bytes(data)
        said = _said(tmp_path, said)
        assert said.skipped[-1].why == why
        assert _said(tmp_path, said).deltas[0].is_empty
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.commit()
    other.close()
    said = _said(tmp_path, said)
    assert said.skipped[-1].why == "is an SQLite database, but none of MLflow's: it has no table of runs"
    path.unlink()
    connection = make_database(path)
    add_run(connection, "r")
    connection.close()
    said = _said(tmp_path, said)
    assert (list(said.records), said.skipped) == (["mlflow:r"], ())


def test_a_folder_in_place_of_the_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").mkdir()
    assert [skip.why for skip in _said(tmp_path).skipped] == ["is a folder, not a database"]


def test_a_locked_database_is_told_only_if_nothing_is_known(tmp_path: Path, database: sqlite3.Connection) -> None:
    add_run(database, "r")
    said = _said(tmp_path)
    database.execute("BEGIN EXCLUSIVE")
    database.execute("INSERT INTO tags VALUES ('team', 'b', 'r')")
    assert _said(tmp_path, said).deltas[0].is_empty
    first = _said(tmp_path)
    assert [skip.why for skip in first.skipped] == ["is locked by another program: tried looks again at the next scan"]
    assert _said(tmp_path, first).deltas[0].is_empty
    database.execute("COMMIT")
    assert _said(tmp_path, said).records["mlflow:r"].tags == ["team=b"]
    after = _said(tmp_path, first)
    assert (list(after.records), after.skipped) == (["mlflow:r"], ())


def test_what_another_process_is_writing_is_read_when_it_has_ended(
    tmp_path: Path, database: sqlite3.Connection
) -> None:
    add_run(database, "r")
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sqlite3, sys\n"
            "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "c.execute('BEGIN IMMEDIATE')\n"
            "c.execute(\"INSERT INTO tags VALUES ('team', 'b', 'r')\")\n"
            "print('writing', flush=True); sys.stdin.readline()\n"
            "c.execute('COMMIT'); print('done', flush=True)\n",
            str(tmp_path / "mlflow.db"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == "writing\n"
    said = _said(tmp_path)
    assert said.records["mlflow:r"].tags == []
    writer.stdin.write("\n")
    writer.stdin.flush()
    assert writer.stdout.readline() == "done\n"
    writer.communicate(timeout=10)
    assert _said(tmp_path, said).records["mlflow:r"].tags == ["team=b"]


def test_a_write_ahead_log_is_read_and_none_is_made(tmp_path: Path, database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    add_run(database, "r")
    said = _said(tmp_path)
    assert list(said.records) == ["mlflow:r"]
    add_run(database, "s")
    said = _said(tmp_path, said)
    assert _news(said) == ["mlflow:s"]
    database.close()
    before = sorted(path.name for path in tmp_path.iterdir())
    assert before == ["mlflow.db"]
    assert len(_said(tmp_path).records) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_write_ahead_log_that_was_copied_or_left_is_read_and_nothing_is_made_beside_it(
    tmp_path: Path, database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA wal_autocheckpoint = 0")
    add_run(database, "r")
    database.commit()
    left = tmp_path / "left"
    left.mkdir()
    for name in ("mlflow.db", "mlflow.db-wal"):
        shutil.copy(tmp_path / name, left / name)
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in left.iterdir()}
    assert store_at(left, [], ["mlflow.db"]) == [left / "mlflow.db"]
    said = _said(left)
    assert (list(said.records), said.skipped) == (["mlflow:r"], ())
    (left / "mlflow.db-wal").write_bytes(b"")
    assert list(_said(left).records) == [], "all that was written stood in the log"
    shutil.copy(tmp_path / "mlflow.db-wal", left)
    monkeypatch.setattr(sqlite_file, "COPY_LIMIT", 1_000)
    assert [skip.why for skip in _said(left).skipped] == [
        "was left in the middle of a write: the program that writes to it mends it when it next opens it"
    ]
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in left.iterdir()} == before


def test_a_write_that_was_cut_off_is_told(tmp_path: Path, database: sqlite3.Connection) -> None:
    database.execute("PRAGMA cache_size = 1")
    add_run(database, "r", {f"k{i}": "x" * 500 for i in range(50)})
    database.execute("PRAGMA cache_spill = 1")
    database.execute("BEGIN")
    database.execute("UPDATE params SET value = value || 'y'")
    cut = tmp_path / "cut"
    cut.mkdir()
    for name in ("mlflow.db", "mlflow.db-journal"):
        shutil.copy(tmp_path / name, cut / name)
    database.execute("ROLLBACK")
    before = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in cut.iterdir()}
    said = _said(cut)
    assert [skip.why for skip in said.skipped] == [
        "was left in the middle of a write: the program that writes to it mends it when it next opens it"
    ]
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in cut.iterdir()} == before


def test_a_damaged_database_gives_what_can_be_read_or_says_why_not(
    tmp_path: Path, database: sqlite3.Connection
) -> None:
    database.execute("PRAGMA journal_mode = MEMORY")
    for number in range(40):
        add_run(database, f"r{number:02}", {f"k{i}": f"{number}-{i}" * 8 for i in range(20)}, {"acc": 0.5})
    database.close()
    whole = (tmp_path / "mlflow.db").read_bytes()
    page = 4096
    partly = 0
    for cut in range(0, len(whole), page):
        for data in (whole[:cut], whole[:cut] + b"\xff\x07\x00garbage" * 409 + whole[cut + 4090 :]):
            (tmp_path / "mlflow.db").write_bytes(data)
            said = _said(tmp_path)
            assert said.skipped or len(said.records) == 40, cut
            incomplete = [r.id for r in said.records.values() if len(r.params) != 20 or r.metrics != {"acc": 0.5}]
            for record_id in incomplete:
                assert f"run {record_id.removeprefix('mlflow:')}" in {skip.where for skip in said.skipped}, cut
            partly += 0 < len(incomplete) < 40 == len(said.records)
    assert partly > 5, "a damaged page of parameters leaves the other runs whole"


def test_rows_that_come_with_other_runs_are_counted(tmp_path: Path) -> None:
    """As from a damaged index; here by a collation for which two ids are equal."""
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection:
        connection.executescript(
            """
            CREATE TABLE experiments (experiment_id, name, lifecycle_stage);
            CREATE TABLE runs (run_uuid TEXT, name, status, start_time, end_time, lifecycle_stage, experiment_id);
            CREATE TABLE params (key, value, run_uuid TEXT COLLATE NOCASE);
            CREATE TABLE tags (key, value, run_uuid TEXT COLLATE NOCASE);
            CREATE TABLE latest_metrics (key, value, step, is_nan, run_uuid TEXT COLLATE NOCASE, timestamp);
            CREATE TABLE metrics (key, value, step, is_nan, run_uuid TEXT, timestamp);
            INSERT INTO experiments VALUES (1, 'e', 'active');
            INSERT INTO runs VALUES ('a', 'n', 'FINISHED', 1790000000000, 1790000060000, 'active', 1);
            INSERT INTO params VALUES ('lr', '1', 'a'), ('lr', '9', 'A');
            INSERT INTO tags VALUES ('t', 'x', 'A');
            INSERT INTO latest_metrics VALUES ('loss', 0.5, 1, 0, 'a', 1), ('loss', 9.0, 1, 0, 'A', 1);
            """
        )
    said = _said(tmp_path)
    (record,) = said.records.values()
    assert (record.params, record.metrics) == ({"lr": "1"}, {"loss": 0.5})
    assert [skip.why for skip in said.skipped] == [
        "3 rows came with runs that they are not of: the database is damaged"
    ]


def test_ids_that_are_numbers_are_ids(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "mlflow.db")) as connection:
        connection.executescript(
            """
            CREATE TABLE experiments (experiment_id, name, lifecycle_stage);
            CREATE TABLE runs (run_uuid INTEGER, name, status, start_time, end_time, lifecycle_stage, experiment_id);
            CREATE TABLE params (key, value, run_uuid INTEGER);
            CREATE TABLE tags (key, value, run_uuid INTEGER);
            CREATE TABLE metrics (key, value, step, is_nan, run_uuid INTEGER, timestamp);
            INSERT INTO runs VALUES (7, 'n', 'FINISHED', 1790000000000, 1790000060000, 'active', 1);
            INSERT INTO params VALUES ('lr', '1', 7);
            INSERT INTO metrics VALUES ('loss', 0.5, 1, 0, 7, 1);
            """
        )
    said = _said(tmp_path)
    assert {name: (record.params, record.metrics) for name, record in said.records.items()} == {
        "mlflow:7": ({"lr": "1"}, {"loss": 0.5})
    }
    assert said.skipped == ()


def test_a_schema_that_is_no_text_is_told(tmp_path: Path, database: sqlite3.Connection) -> None:
    add_run(database, "a", {"lr": "1"})
    database.commit()
    assert list(_said(tmp_path).records) == ["mlflow:a"]
    database.execute("PRAGMA writable_schema = ON")
    database.execute("UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = 'CREATE ' || name WHERE name = 'tags'")
    database.commit()
    (skip,) = _said(tmp_path).skipped
    assert skip.why.startswith("is damaged (")


def test_text_that_is_no_text_and_values_of_other_types(tmp_path: Path, database: sqlite3.Connection) -> None:
    add_run(database, "r", name=7, start_time="soon", end_time=1e300, status=None)
    database.execute("INSERT INTO params VALUES ('bytes', X'ff00', 'r'), ('number', 1.5, 'r')")
    database.execute("INSERT INTO params VALUES (CAST(X'6bff' AS TEXT), CAST(X'76fe' AS TEXT), 'r')")
    database.execute("INSERT INTO tags VALUES ('empty', NULL, 'r')")
    database.execute("INSERT INTO latest_metrics VALUES ('acc', 'high', 1, 1, 0, 'r')")
    said = _said(tmp_path)
    record = said.records["mlflow:r"]
    assert record.params == {"bytes": "\ufffd\0", "number": "1.5", "k\ufffd": "v\ufffd"}
    assert (record.name, record.timestamp, record.metrics) == ("7", None, {})
    assert record.to_json()


def test_databases_are_found_by_their_tables(tmp_path: Path) -> None:
    make_database(tmp_path / "mlflow.db").close()
    make_database(tmp_path / "runs.sqlite").close()
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE t (x)").connection.close()
    (tmp_path / "text.db").write_text("no database", encoding="utf-8")
    names = [path.name for path in tmp_path.iterdir()]
    assert store_at(tmp_path, [], names) == [tmp_path / "mlflow.db", tmp_path / "runs.sqlite"]
    assert TABLES.keys() > OLDEST.keys()
