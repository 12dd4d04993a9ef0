"""Sacred's run folders, made by hand in the layout that its file observer writes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tried.draft.parameters import flatten
from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import problems_of, scan_all
from tried.pool.sources.sacred_runs import SacredRunsSource, store_at

OLD = 1_700_000_000.0


def make_run(folder: Path, config: Any = None, files: dict[str, Any] | None = None, **said: Any) -> Path:
    folder.mkdir(parents=True)
    run = {
        "status": "COMPLETED",
        "command": "main",
        "experiment": {"name": "mnist", "repositories": [{"commit": "abc", "dirty": True, "url": "u"}]},
        "meta": {"comment": "third try", "options": {"UPDATE": ["lr=0.1"]}},
        "host": {"hostname": "box"},
        "start_time": "2026-03-01T10:00:00.000000",
        "stop_time": "2026-03-01T10:00:12.000000",
        "heartbeat": "2026-03-01T10:00:13.000000",
        "result": 0.9,
        "fail_trace": None,
    } | said
    (folder / "run.json").write_text(json.dumps(run))
    (folder / "config.json").write_text(json.dumps({"lr": 0.1, "seed": 7} if config is None else config))
    for name, content in (files or {}).items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    for path in folder.iterdir():
        os.utime(path, (OLD, OLD))
    return folder


def one(folder: Path, **said: Any) -> ExperimentRecord:
    make_run(folder / "runs" / "1", **said)
    (record,) = scan_all(SacredRunsSource(folder / "runs", folder)).records.values()
    return record


def test_a_run_becomes_a_record(tmp_path: Path) -> None:
    record = one(tmp_path, files={"metrics.json": {"loss": {"steps": [0, 10], "values": [2.0, 1.5], "timestamps": []}}})
    folder = str(tmp_path / "runs" / "1")
    assert json.loads(record.to_json()) == {
        "id": "sacred:runs/1",
        "name": "mnist lr=0.1",
        "params": {"lr": 0.1, "seed": 7},
        "metrics": {"loss": 1.5, "result": 0.9},
        "timestamp": "2026-03-01T10:00:00Z",
        "duration": {"secs": 12, "nanos": 0},
        "research_line": "mnist",
        "experiment": "mnist",
        "notes": "third try",
        "run_id": "runs/1",
        "run_dir": folder,
        "git": {"sha": "abc", "dirty": True},
        "source": "sacred",
        "last_written": "2026-03-01T10:00:13Z",
        "places": [folder],
        "conclusion": {"outcome": "completed", "derived": True},
        "generated_headline": "finished, loss 1.5",
        "overrides": ["lr=0.1"],
        "host": "box",
        "schema_version": 2,
        "kind": "experiment",
    }


@pytest.mark.parametrize(
    ("said", "outcome", "cause"),
    [
        ({"status": "COMPLETED"}, "completed", None),
        ({"status": "FAILED", "fail_trace": ["Traceback…\n", "TypeError: no\n"]}, "failed", "code_error"),
        ({"status": "FAILED", "fail_trace": "MemoryError: no\n"}, "failed", "out_of_memory"),
        ({"status": "FAILED"}, "failed", None),
        ({"status": "INTERRUPTED"}, "stopped", "stopped"),
        ({"status": "TIMEOUT"}, "stopped", "stopped"),
        ({"status": "RUNNING", "stop_time": None}, "running", None),
        ({"status": "QUEUED"}, "running", None),
        ({"status": "COMPLETED", "result": float("nan")}, "failed", "diverged"),
        ({"status": None}, None, None),
        ({"status": ["odd"]}, None, None),
    ],
)
def test_how_it_ended(tmp_path: Path, said: dict[str, Any], outcome: str | None, cause: str | None) -> None:
    record = one(tmp_path, **said)
    assert (record.outcome, record.cause) == (outcome, cause)


def test_a_crash_that_only_the_output_shows(tmp_path: Path) -> None:
    trace = 'INFO - mnist - Started run\nTraceback (most recent call last):\n  File "x"\nKeyError: 1\n'
    record = one(tmp_path, status="RUNNING", files={"cout.txt": trace})
    assert (record.outcome, record.cause) == ("failed", "code_error")
    done = trace + "INFO - mnist - Result: 0.9\nINFO - mnist - Completed after 0:00:12\n"
    assert one(tmp_path / "b", files={"cout.txt": done}).outcome == "completed"


def test_a_series_that_is_no_number_any_more(tmp_path: Path) -> None:
    series = '{"val_loss": {"steps": [0, 10, 20], "values": [2.0, NaN, NaN], "timestamps": []}}'
    record = one(tmp_path, result=None, files={"metrics.json": series})
    assert record.generated_headline == "diverged: val_loss is NaN at step 10"


def test_what_jsonpickle_wrote_is_data(tmp_path: Path) -> None:
    number = {"py/object": "numpy.float64", "dtype": "float64", "value": 0.25}
    record = one(
        tmp_path,
        config={"lr": number, "shape": {"py/tuple": [1, 2]}, "x": {"py/object": "os.system", "args": ["ls"]}},
        result={"acc": number, "f1": 0.5},
        files={"info.json": {"best": number, "words": "many"}},
    )
    assert record.params["lr"] == 0.25
    assert record.params["shape"] == [1, 2]
    assert flatten(record.params)["x.args"].value == "ls"
    assert record.metrics == {"best": 0.25, "result.acc": 0.25, "result.f1": 0.5}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("config.json", "{", "is no JSON: line 1: expecting property name enclosed in double quotes"),
        ("config.json", "[" * 100_000, "is nested too deep"),
        ("run.json", "", "is no JSON: line 1: expecting value"),
        ("metrics.json", "\0", "is no JSON: line 1: expecting value"),
    ],
)
def test_what_is_broken_is_told_and_the_record_stays(tmp_path: Path, name: str, text: str, why: str) -> None:
    make_run(tmp_path / "runs" / "1", files={name: text})
    said = scan_all(SacredRunsSource(tmp_path / "runs", tmp_path))
    assert [(one.where, one.why) for one in said.skipped] == [(f"1/{name}", why)]
    assert list(said.records) == ["sacred:runs/1"]


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "1")
    with (tmp_path / "runs" / "1" / "metrics.json").open("wb") as file:
        file.truncate(100 * 1024 * 1024)
    said = scan_all(SacredRunsSource(tmp_path / "runs", tmp_path))
    assert [one.why for one in said.skipped] == ["has 100 MiB; files of up to 16 MiB are read"]
    assert len(said.records) == 1


def test_fields_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    record = one(tmp_path, config=[1], experiment=3, meta="x", host=None, start_time=5, result=[1, "a"])
    assert (record.name, record.params, record.metrics) == ("run", {}, {})


def test_runs_are_in_order_and_other_folders_are_none(tmp_path: Path) -> None:
    for number in (10, 2, 1):
        make_run(tmp_path / "runs" / str(number))
    (tmp_path / "runs" / "_sources").mkdir()
    (tmp_path / "runs" / "3").mkdir()
    said = scan_all(SacredRunsSource(tmp_path / "runs", tmp_path))
    assert list(said.records) == ["sacred:runs/1", "sacred:runs/2", "sacred:runs/10"]
    assert said.skipped == ()


def test_a_run_is_followed(tmp_path: Path) -> None:
    source = SacredRunsSource(tmp_path / "runs", tmp_path)
    run = make_run(tmp_path / "runs" / "1", status="RUNNING", stop_time=None, result=None)
    said = scan_all(source)
    assert said.records["sacred:runs/1"].outcome == "running"
    content = json.loads((run / "run.json").read_text()) | {"status": "FAILED", "fail_trace": ["ValueError: no"]}
    (run / "run.json").write_text(json.dumps(content))
    said = scan_all(source, said.cursor, said)
    assert said.records["sacred:runs/1"].generated_headline == "failed: ValueError: no"


def test_where_a_store_is_seen(tmp_path: Path) -> None:
    make_run(tmp_path / "1")
    assert store_at(tmp_path, ["1", "src"], []) == (tmp_path,)
    assert store_at(tmp_path, ["src"], []) == ()
    (tmp_path / "other" / "1").mkdir(parents=True)
    assert store_at(tmp_path / "other", ["1"], []) == ()
    make_run(tmp_path / "late" / "7")
    assert store_at(tmp_path / "late", ["7"], []) == ()
    assert store_at(tmp_path / "late", ["7", "_sources"], []) == (tmp_path / "late",)


def test_the_kit_finds_nothing_wrong(tmp_path: Path) -> None:
    store = tmp_path / "place" / "runs"
    make_run(store / "1", files={"cout.txt": "x", "info.json": {}})
    make_run(store / "2", status="FAILED", fail_trace=["ValueError: no"])
    assert problems_of(SacredRunsSource, store, lambda path: make_run(path / "3"), quiet_seconds=1.0) == []
