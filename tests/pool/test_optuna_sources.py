"""Optuna's databases and journals, made by hand: old ones, torn ones, and others' files."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tried.pool.sources.kit import Said, problems_of, scan_all
from tried.pool.sources.optuna import database as optuna_database
from tried.pool.sources.optuna import journal as optuna_journal
from tried.pool.sources.optuna.database import OptunaDatabaseSource
from tried.pool.sources.optuna.journal import OptunaJournalSource
from tried.pool.sources.optuna.trial import Study, Trial, run_of_trial
from tried.pool.sources.source import BATCH, Source
from tried.pool.sources.tracked_run import record_of

LINEAR = json.dumps({"name": "FloatDistribution", "attributes": {"low": 0.0, "high": 1.0, "log": False, "step": None}})
CHOICES = json.dumps({"name": "CategoricalDistribution", "attributes": {"choices": ["sgd", "adam"]}})
TABLES = {
    "studies": "study_id INTEGER PRIMARY KEY, study_name VARCHAR(512)",
    "study_directions": "id INTEGER PRIMARY KEY, direction VARCHAR(8), study_id INTEGER, objective INTEGER",
    "trials": "trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state VARCHAR(8),"
    " datetime_start DATETIME, datetime_complete DATETIME",
    "trial_params": "param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name VARCHAR(512), param_value FLOAT,"
    " distribution_json TEXT",
    "trial_values": "trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, objective INTEGER, value FLOAT,"
    " value_type VARCHAR(7)",
}
OLDEST = {
    "studies": "study_id INTEGER PRIMARY KEY, study_name VARCHAR(512), direction VARCHAR(8)",
    "trials": "trial_id INTEGER PRIMARY KEY, study_id INTEGER, state VARCHAR(8), datetime_start DATETIME,"
    " datetime_complete DATETIME",
    "trial_params": TABLES["trial_params"],
    "trial_values": "trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, value FLOAT",
    "trial_system_attributes": "id INTEGER PRIMARY KEY, trial_id INTEGER, key VARCHAR(512), value_json TEXT",
}
"""Of Optuna 1: a study has one direction, in its own row, and trials are numbered by their order."""


def _database(path: Path, tables: dict[str, str] | None = None) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    for name, columns in (tables or TABLES).items():
        connection.execute(f"CREATE TABLE {name} ({columns})")
    return connection


def _trial(connection: sqlite3.Connection, number: int, value: float = 0.5, state: str = "COMPLETE") -> None:
    """Trial `number` of study 1, which is trial number + 1 of the table."""
    times = ("2026-01-02 03:04:05.500000", "2026-01-02 03:05:05.500000")
    connection.execute("INSERT INTO trials VALUES (?, ?, 1, ?, ?, ?)", (number + 1, number, state, *times))
    connection.execute("INSERT INTO trial_params VALUES (NULL, ?, 'lr', ?, ?)", (number + 1, number / 1000, LINEAR))
    connection.execute("INSERT INTO trial_params VALUES (NULL, ?, 'opt', 1.0, ?)", (number + 1, CHOICES))
    if state == "COMPLETE":
        connection.execute("INSERT INTO trial_values VALUES (NULL, ?, 0, ?, 'FINITE')", (number + 1, value))


def _said(source: Source, before: Said | None = None) -> Said:
    return scan_all(source, before.cursor if before else None, before)


def _line(code: int, **fields: Any) -> str:
    return json.dumps({"op_code": code, "worker_id": "w", **fields}) + "\n"


def _journal() -> str:
    return (
        _line(0, study_name="tune", directions=[2])
        + _line(4, study_id=0, datetime_start="2026-01-02T03:04:05+00:00")
        + _line(5, trial_id=0, param_name="opt", param_value_internal=1, distribution=CHOICES)
        + _line(7, trial_id=0, step=1, intermediate_value=0.5)
        + _line(6, trial_id=0, state=1, values=[0.75], datetime_complete="2026-01-02T03:05:05+00:00")
    )


def test_a_database_source_does_what_every_source_must(tmp_path: Path) -> None:
    connection = _database(tmp_path / "optuna.db")
    connection.execute("INSERT INTO studies VALUES (1, 'tune')")
    for number in range(8):
        _trial(connection, number, state="RUNNING" if number == 7 else "COMPLETE")
    connection.close()

    def grow(path: Path) -> None:
        with sqlite3.connect(path) as grown:
            _trial(grown, 8)
            grown.execute("UPDATE trials SET state = 'FAIL' WHERE number = 7")
        grown.close()

    assert problems_of(lambda path: OptunaDatabaseSource(path), tmp_path / "optuna.db", grow) == []


def test_a_journal_source_does_what_every_source_must(tmp_path: Path) -> None:
    (tmp_path / "optuna.log").write_text(_journal() + _line(4, study_id=0, datetime_start="2026-01-02T03:06:05+00:00"))

    def grow(path: Path) -> None:
        with path.open("a") as file:
            file.write(_line(6, trial_id=1, state=3, values=None) + _line(4, study_id=0))

    assert problems_of(lambda path: OptunaJournalSource(path), tmp_path / "optuna.log", grow) == []


def test_many_trials_come_in_batches(tmp_path: Path) -> None:
    connection = _database(tmp_path / "optuna.db")
    connection.execute("INSERT INTO studies VALUES (1, 'tune')")
    connection.execute("BEGIN")
    for number in range(BATCH + 10):
        _trial(connection, number, value=1 - number / 10_000)
    connection.execute("COMMIT")
    said = _said(OptunaDatabaseSource(tmp_path / "optuna.db"))
    assert [(len(delta.upserts), delta.more) for delta in said.deltas] == [(BATCH + 1, True), (10, False)]
    assert said.records["optuna:tune/2003"].params == {"lr": 2.003, "opt": "adam"}
    assert said.records["optuna:tune/2003"].timestamp == "2026-01-02T03:04:05.500000Z"


def test_the_oldest_tables_are_read(tmp_path: Path) -> None:
    connection = _database(tmp_path / "optuna.db", OLDEST)
    connection.execute("INSERT INTO studies VALUES (1, 'tune', 'MAXIMIZE'), (2, 'other', 'NOT_SET')")
    for study, state in ((1, "COMPLETE"), (2, "COMPLETE"), (1, "FAIL")):
        connection.execute("INSERT INTO trials VALUES (NULL, ?, ?, '2019-01-02 03:04:05', NULL)", (study, state))
    connection.execute("INSERT INTO trial_values VALUES (NULL, 1, 0.5)")
    reason = "Setting status of trial#1 as TrialState.FAIL because of: ValueError('bad shape')"
    connection.execute("INSERT INTO trial_system_attributes VALUES (NULL, 3, 'fail_reason', ?)", (json.dumps(reason),))
    connection.close()
    said = _said(OptunaDatabaseSource(tmp_path / "optuna.db"))
    assert {i for i, record in said.records.items() if record.role == "experiment"} == {
        *("optuna:tune/0", "optuna:tune/1", "optuna:other/0")
    }
    assert said.records["optuna:tune/0"].metrics == {"value": 0.5}
    assert said.records["optuna:tune/0"].directions == {"value": "max"}
    assert said.records["optuna:other/0"].directions == {}
    assert said.records["optuna:tune/1"].error == reason


def test_a_trial_of_a_new_study_in_the_place_of_one_of_a_deleted_study(tmp_path: Path) -> None:
    connection = _database(tmp_path / "optuna.db")
    connection.execute("INSERT INTO studies VALUES (1, 'tune')")
    _trial(connection, 0)
    source = OptunaDatabaseSource(tmp_path / "optuna.db")
    said = _said(source)
    assert set(said.records) == {"optuna:tune", "optuna:tune/0"}
    for table in ("trials", "trial_params", "trial_values", "studies"):
        connection.execute(f"DELETE FROM {table}")
    connection.execute("INSERT INTO studies VALUES (1, 'again')")
    _trial(connection, 0, value=0.25)
    said = _said(source, said)
    assert set(said.records) == {"optuna:again", "optuna:again/0"}
    assert said.records["optuna:again/0"].metrics == {"value": 0.25}


def test_others_and_damaged_databases_are_told(tmp_path: Path) -> None:
    path = tmp_path / "optuna.db"
    _database(path, {"t": "x"}).close()
    assert [skip.why for skip in _said(OptunaDatabaseSource(path)).skipped] == [
        "is an SQLite database, but none of Optuna's: it has no table of trials"
    ]
    path.unlink()
    connection = _database(path)
    connection.execute("INSERT INTO studies VALUES (1, 'tune')")
    for number in range(60):
        _trial(connection, number)
    connection.close()
    whole = path.read_bytes()
    for cut in range(0, len(whole), 4096):
        path.write_bytes(whole[:cut] + b"\xa5" * 4096 + whole[cut + 4096 :])
        said = _said(OptunaDatabaseSource(path))
        complete = [r for r in said.records.values() if r.params and r.metrics]
        assert said.skipped or len(complete) == 60, cut


def test_a_line_that_is_being_written_is_left_for_the_next_scan(tmp_path: Path) -> None:
    text = _journal()
    path = tmp_path / "optuna.log"
    source = OptunaJournalSource(path)
    path.write_text("")
    said = _said(source)
    for end in range(0, len(text), 7):
        path.write_text(text[:end])
        said = _said(source, said)
        assert said.skipped == (), end
    path.write_text(text)
    said = _said(source, said)
    record = said.records["optuna:tune/0"]
    assert (record.params, record.metrics, record.directions) == ({"opt": "adam"}, {"value": 0.75}, {"value": "max"})
    assert record.duration is not None
    assert record.duration.secs == 60
    assert said.records["optuna:tune"].outcome == "completed"


def test_lines_that_mean_nothing_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "optuna.log"
    broken = [
        *(
            "no json\n",
            "[1]\n",
            "{}\n",
            _line(5, trial_id=99),
            _line(4, study_id=7),
            _line(6, trial_id=0, state="x\ud800"),
        ),
        *(_line(8, trial_id=0, user_attr=5), _line(77, trial_id=0), _line(4, study_id=-1), "{" * 5_000 + "\n"),
    ]
    path.write_bytes((_line(0, study_name="s") + "".join(broken) + _journal()).encode("utf-8", "surrogatepass"))
    said = _said(OptunaJournalSource(path))
    assert said.records["optuna:s"].role == "sweep"
    assert said.records["optuna:tune"].role == "sweep"
    assert {skip.where for skip in said.skipped} >= {"line 2", "line 3", "line 4", "line 5", "line 6"}


def test_an_operation_on_a_trial_that_has_ended_changes_nothing(tmp_path: Path) -> None:
    """As when two workers finish the same trial: the first one counts, as it does for Optuna."""
    path = tmp_path / "optuna.log"
    path.write_text(_journal() + _line(6, trial_id=0, state=3, values=None) + _line(8, trial_id=0, user_attr={"a": 1}))
    record = _said(OptunaJournalSource(path)).records["optuna:tune/0"]
    assert (record.outcome, record.tags) == ("completed", [])


def test_a_journal_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "optuna.log"
    path.write_text(_journal())
    source = OptunaJournalSource(path)
    said = _said(source)
    path.write_text(_line(0, study_name="another one", directions=[1]))
    said = _said(source, said)
    assert list(said.records) == ["optuna:another one"]
    path.unlink()
    said = _said(source, said)
    assert [skip.why for skip in said.skipped] == ["there is no such file"]
    assert _said(source, said).deltas[0].is_empty


def test_a_longer_journal_with_the_same_head_is_another_one(tmp_path: Path) -> None:
    """As when a study is begun again under the same name."""
    path = tmp_path / "optuna.log"
    head = _line(0, study_name="tune", directions=[1]) + _line(2, study_id=0, user_attr={"note": "x" * 500})
    path.write_text(head + _line(4, study_id=0, datetime_start="2026-03-01T10:00:00"))
    source = OptunaJournalSource(path)
    said = _said(source)
    assert list(said.records) == ["optuna:tune/0", "optuna:tune"]
    other = head + _line(2, study_id=0, user_attr={"note": "y" * 5_000}) + _line(0, study_name="second", directions=[1])
    moved = tmp_path / "moved"
    moved.write_text(other)
    moved.replace(path)
    assert set(_said(source, said).records) == {"optuna:tune", "optuna:second"}
    path.write_text(head + _line(4, study_id=0, datetime_start="2026-03-01T10:00:00"))
    said = _said(source)
    path.write_text(other)  # into the same file
    assert set(_said(source, said).records) == {"optuna:tune", "optuna:second"}


def test_a_line_that_is_too_long_is_told_once_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optuna_journal, "READ_AT_ONCE", 1_000)
    path = tmp_path / "optuna.log"
    path.write_text("x" * 10_500 + "\n" + _journal())
    source = OptunaJournalSource(path)
    said = _said(source)
    assert said.records["optuna:tune"].outcome == "completed"
    assert [(skip.where, skip.why) for skip in said.skipped] == [("line 1", "is longer than 0 MiB and was passed over")]
    assert source.scan(said.cursor).is_empty


def test_gigabytes_without_a_line_end_are_given_up(tmp_path: Path) -> None:
    path = tmp_path / "optuna.log"
    path.write_text(_journal())
    lines = _journal().count("\n")
    with path.open("r+b") as file:
        file.truncate(10 * 1024**3)  # takes no room
    source = OptunaJournalSource(path)
    said = _said(source)
    assert len(said.deltas) < 30
    assert said.records["optuna:tune"].outcome == "completed"
    assert [(skip.where, skip.why) for skip in said.skipped] == [
        (f"line {lines + 1}", "is longer than 4 MiB and was passed over"),
        (f"line {lines + 1}", "is longer than 64 MiB: nothing that stands behind it is read"),
    ]
    with path.open("ab") as file:
        file.write(b"more\n")
    assert source.scan(said.cursor).is_empty


def test_user_attributes_can_conclude_a_trial() -> None:
    attributes = {"tried.conclusion": "too deep", "tried.verdict": "dead-end", "epochs": 3, "setup": {"a": [1, 2]}}
    record = record_of(run_of_trial(Study("s"), Trial(0, "COMPLETE", attributes=attributes)))
    assert (record.headline, record.verdict) == ("too deep", "dead_end")
    assert record.tags == ["epochs=3", 'setup={"a": [1, 2]}']


def test_stores_are_found_by_what_they_hold(tmp_path: Path) -> None:
    _database(tmp_path / "study.db").close()
    _database(tmp_path / "other.db", {"t": "x"}).close()
    (tmp_path / "journal.log").write_text(_journal())
    (tmp_path / "train.log").write_text("epoch 1\n")
    (tmp_path / "folder.log").mkdir()
    names = [path.name for path in tmp_path.iterdir()]
    assert optuna_database.store_at(tmp_path, [], names) == [tmp_path / "study.db"]
    assert optuna_journal.store_at(tmp_path, [], names) == [tmp_path / "journal.log"]
