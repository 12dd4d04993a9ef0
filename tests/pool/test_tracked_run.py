"""What a tracker says of a run, and the record that this makes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.outcome import cause_of, is_dead_end, worked
from tried.pool.reading import read_line
from tried.pool.record import ExperimentRecord
from tried.pool.sources.tracked_run import ERROR_LIMIT, TAG_LIMIT, TrackedRun, record_of

TRACE = 'Traceback (most recent call last):\n  File "train.py", line 3, in main\n    fit()\n'
OOM = TRACE + "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
MISMATCH = TRACE + "ValueError: shapes (3,4) and (5,6) not aligned"
LIMIT = "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***"


def run(**said: Any) -> TrackedRun:
    return TrackedRun(**({"kind": "mlflow", "native_id": "r1"} | said))


def ending(**said: Any) -> tuple[str | None, str | None, str | None]:
    record = record_of(run(**said))
    return record.outcome, record.cause, record.generated_headline


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, (None, None, None)),
        ({"status": "finished"}, ("completed", None, "finished")),
        ({"status": "finished", "metrics": {"val_f1": 0.912}}, ("completed", None, "finished, val_f1 0.912")),
        ({"status": "finished", "exit_code": 0}, ("completed", None, "finished")),
        ({"exit_code": 0}, ("completed", None, "finished")),
        ({"status": "running"}, ("running", None, "running")),
        ({"status": "waiting", "error": MISMATCH}, ("running", None, "running")),
        ({"status": "pruned", "metrics": {"val_loss": 2.5}}, ("pruned", None, "pruned, val_loss 2.5")),
        ({"status": "failed", "seconds": 12}, ("failed", None, "failed after 12 s")),
        ({"status": "killed", "seconds": 7200}, ("stopped", "stopped", "stopped after 2 h")),
        # an error in the log, whatever the status says
        (
            {"status": "finished", "seconds": 12, "error": MISMATCH},
            ("failed", "code_error", "failed after 12 s: ValueError: shapes (3,4) and (5,6) not aligned"),
        ),
        ({"status": "running", "error": OOM}, ("failed", "out_of_memory", "out of memory")),
        ({"error": OOM, "seconds": 19}, ("failed", "out_of_memory", "out of memory after 19 s")),
        ({"status": "killed", "error": OOM}, ("failed", "out_of_memory", "out of memory")),
        ({"status": "failed", "error": TRACE + "mylib.Halt: x"}, ("failed", "code_error", "failed: mylib.Halt: x")),
        (
            {"status": "failed", "error": TRACE + "RuntimeError: NCCL error in: x"},
            ("failed", "infrastructure", "failed: RuntimeError: NCCL error in: x"),
        ),
        # interrupts
        ({"status": "failed", "error": TRACE + "KeyboardInterrupt"}, ("stopped", "stopped", "stopped")),
        ({"status": "finished", "error": TRACE + "KeyboardInterrupt"}, ("stopped", "stopped", "stopped")),
        ({"error": LIMIT, "seconds": 86400}, ("stopped", "stopped", "stopped after 24 h")),
        ({"status": "running", "error": "Killed"}, ("stopped", "stopped", "stopped")),
        (
            {"status": "failed", "error": "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.batch. Killed"},
            ("failed", "out_of_memory", "out of memory"),
        ),
        # exit codes
        ({"status": "finished", "exit_code": 1}, ("failed", None, "failed")),
        ({"status": "running", "exit_code": 1}, ("failed", None, "failed")),
        ({"exit_code": 137}, ("stopped", "stopped", "stopped")),
        ({"exit_code": -15}, ("stopped", "stopped", "stopped")),
        ({"status": "failed", "exit_code": 255}, ("stopped", "stopped", "stopped")),
        ({"exit_code": 1, "error": TRACE + "KeyboardInterrupt"}, ("stopped", "stopped", "stopped")),
        ({"exit_code": 139}, ("failed", "code_error", "failed")),
        ({"exit_code": 137, "error": OOM}, ("failed", "out_of_memory", "out of memory")),
        # numbers that are none
        (
            {"status": "finished", "metrics": {"val_loss": float("nan"), "val_f1": 0.1}},
            ("failed", "diverged", "diverged: val_loss is NaN"),
        ),
        (
            {"status": "finished", "metrics": {"val_loss": float("nan")}, "nonfinite": {"val_loss": 400}},
            ("failed", "diverged", "diverged: val_loss is NaN at step 400"),
        ),
        (
            {"status": "killed", "metrics": {"loss": float("inf")}, "nonfinite": {"loss": 7}},
            ("failed", "diverged", "diverged: loss is inf at step 7"),
        ),
        ({"metrics": {"train/loss": "nan"}}, ("failed", "diverged", "diverged: train/loss is NaN")),
        ({"status": "running", "metrics": {"loss": float("nan")}}, ("running", None, "running")),
        (
            {"status": "finished", "metrics": {"val_acc": 0.5, "f1_of_rare_class": float("nan")}},
            ("completed", None, "finished, val_acc 0.5"),
        ),
        (
            {"status": "finished", "metrics": {"score": float("nan"), "val_acc": 0.5}, "objective": "score"},
            ("failed", "diverged", "diverged: score is NaN"),
        ),
        # a metric that was NaN and became a number again has not diverged
        (
            {"status": "finished", "metrics": {"val_loss": 0.5}, "nonfinite": {"val_loss": 3}},
            ("completed", None, "finished, val_loss 0.5"),
        ),
        # the best infinity is a strange number, but no divergence
        ({"status": "finished", "metrics": {"val_acc": float("inf")}}, ("completed", None, "finished, val_acc inf")),
        (
            {"status": "finished", "metrics": {"val_acc": float("-inf")}},
            ("failed", "diverged", "diverged: val_acc is -inf"),
        ),
    ],
)
def test_how_it_ended(said: dict[str, Any], expected: tuple[str | None, str | None, str | None]) -> None:
    assert ending(**said) == expected


def test_what_status_derives_is_no_conclusion() -> None:
    conclusion = record_of(run(status="finished")).conclusion
    assert conclusion is not None
    assert conclusion.derived
    assert conclusion.headline is None


def test_labels_of_a_person_go_before_the_status() -> None:
    labels = {
        "tried.conclusion": "warmup did not help",
        "tried/verdict": "Dead-End",
        "tried_hypothesis": "warmup helps",
        "tried.parent": "mlflow:r0",
        "tried.research_line": "warmups",
        "tried.cause": "diverged",
        "tried.unheard_of": "x",
        "TRIED.outcome": "y",
        "stage": "dev",
        "baseline": "true",
    }
    record = record_of(run(status="finished", labels=labels, tags=["a", "a", ""], experiment="e"))
    assert record.conclusion is not None
    assert (record.conclusion.headline, record.conclusion.outcome) == ("warmup did not help", "completed")
    assert not record.conclusion.derived
    assert (record.verdict, record.cause, record.hypothesis) == ("dead_end", "diverged", "warmup helps")
    assert (record.parent, record.research_line, record.experiment) == ("mlflow:r0", "warmups", "e")
    assert record.tags == ["a", "TRIED.outcome=y", "stage=dev", "baseline"]
    assert is_dead_end(record)


def test_an_outcome_of_a_person_stands_without_a_headline_and_without_our_cause() -> None:
    record = record_of(run(status="failed", error=MISMATCH, labels={"tried.outcome": "completed"}))
    assert record.conclusion is not None
    assert (record.outcome, record.conclusion.derived, record.cause) == ("completed", False, None)
    assert worked(record)
    assert cause_of(record) is None


@pytest.mark.parametrize(
    ("tags", "labels", "verdict"),
    [
        (["dead-end"], {}, "dead_end"),
        (["Dead_End"], {}, "dead_end"),
        (["deadend", "dead end"], {}, "dead_end"),
        (["works"], {}, "works"),
        (["inconclusive"], {}, "inconclusive"),
        ([], {"dead-end": "true"}, "dead_end"),
        ([], {"dead-end": "false"}, None),
        ([], {"verdict": "works"}, "works"),
        (["works"], {"tried.verdict": "dead end"}, "dead_end"),
        (["works", "dead-end"], {}, None),
        (["works in progress", "no dead-end"], {}, None),
        ([], {"tried.verdict": "perhaps"}, None),
    ],
)
def test_verdicts(tags: list[str], labels: dict[str, str], verdict: str | None) -> None:
    assert record_of(run(tags=tags, labels=labels)).verdict == verdict


def test_fields_go_where_they_belong() -> None:
    started = datetime(2026, 3, 1, 10, 0, tzinfo=timezone(timedelta(hours=2)))
    record = record_of(
        run(
            name="baseline",
            params={"lr": 0.1},
            started=started,
            ended=started + timedelta(seconds=90.5),
            last_written=datetime(2026, 3, 1, 8, 2),
            note="  tried again \n",
            sweep="mlflow:s",
            role="step",
            folder="/x/outputs/1",
            commit="abc",
            dirty=True,
            url="http://h/1",
            aliases=["1"],
            places=["/x/outputs/1"],
            directions={"z": "max"},
            more={"pipeline_summary": "two steps"},
        )
    )
    told = json.loads(record.to_json())
    assert told == {
        "id": "mlflow:r1",
        "name": "baseline",
        "params": {"lr": 0.1},
        "timestamp": "2026-03-01T08:00:00Z",
        "duration": {"secs": 90, "nanos": 500_000_000},
        "notes": "tried again",
        "directions": {"z": "max"},
        "run_id": "r1",
        "run_dir": "/x/outputs/1",
        "role": "step",
        "sweep": "mlflow:s",
        "git": {"sha": "abc", "dirty": True},
        "url": "http://h/1",
        "source": "mlflow",
        "last_written": "2026-03-01T08:02:00Z",
        "aliases": ["1"],
        "places": ["/x/outputs/1"],
        "pipeline_summary": "two steps",
        "schema_version": 2,
        "kind": "experiment",
    }


def test_long_texts_are_cut() -> None:
    record = record_of(run(error="x" * 9_000 + "\nValueError: y", status="failed", labels={"k": "v" * 900}))
    assert record.error is not None
    assert len(record.error) == ERROR_LIMIT
    assert record.error.endswith("\nValueError: y")
    assert [len(tag) for tag in record.tags] == [TAG_LIMIT]


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        ({"a\ud800": "b\udfff"}, {"a\ufffd": "b\ufffd"}),
        ({"a": "é", "b": 1}, {"a": "é", "b": 1}),
        ({"a": 10**2000}, {"a": hex(10**2000)}),
        ({"a": datetime(2026, 3, 1, tzinfo=UTC)}, {"a": "2026-03-01 00:00:00+00:00"}),
        ({"a": (1, {2: "\ud800"})}, {"a": [1, {"2": "\ufffd"}]}),
        ({1: "x"}, {"1": "x"}),
        ({"a": float("nan")}, {"a": "nan"}),
    ],
)
def test_parameters_become_what_a_file_can_hold(params: dict[Any, Any], kept: dict[str, Any]) -> None:
    line = record_of(run(params=params)).to_json().encode()
    assert read_line(line).records[0].params == kept


def test_deep_parameters_are_cut() -> None:
    deep: list[Any] = []
    for _ in range(3_000):
        deep = [deep]
    assert read_line(record_of(run(params={"a": deep, "b": 1})).to_json().encode()).records[0].params["b"] == 1


@pytest.mark.parametrize(
    "said",
    [
        {"native_id": "\ud800"},
        {"name": "\ud800", "tags": ["\ud800"], "note": "\ud800"},
        {"started": datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))},
        {"started": datetime(2026, 1, 1), "ended": datetime(2026, 1, 1, 1, tzinfo=UTC)},
        {"seconds": float("nan")},
        {"seconds": -5.0},
        {"labels": {"k": None}},
        {"metrics": {"a": "x", "b": None, "c": [1], "d": {"e": float("inf")}}},
        {"more": {"architecture": "none", "tags": 5, "id": ""}},
        {"metrics": {"loss": "1" * 5000}},
        {"name": 7, "note": "x"},
        {"metrics": {"\ud800": 1}, "more": {"x": {"\ud800": "\ud800"}}},
    ],
)
def test_whatever_a_tracker_holds_makes_a_record_that_can_be_written(said: dict[str, Any]) -> None:
    record = record_of(run(**said))
    assert record.id
    assert [each.id for each in read_line(record.to_json().encode("utf-8")).records] == [record.id]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_STATUS = st.sampled_from([None, "finished", "failed", "killed", "running", "waiting", "pruned"])
_RUNS = st.builds(
    TrackedRun,
    kind=st.just("x"),
    native_id=st.text(max_size=5),
    name=st.text(max_size=5),
    status=_STATUS,
    exit_code=st.none() | st.integers(-20, 300),
    params=st.dictionaries(st.text(max_size=5), _VALUES, max_size=4),
    metrics=st.dictionaries(st.sampled_from(["loss", "val_acc", "é"]), _VALUES, max_size=3),
    nonfinite=st.dictionaries(st.sampled_from(["loss", "val_acc"]), st.none() | st.integers(), max_size=2),
    started=st.none() | st.datetimes(timezones=st.none() | st.just(UTC)),
    ended=st.none() | st.datetimes(),
    note=st.none() | st.text(max_size=8),
    tags=st.lists(st.text(max_size=5), max_size=3),
    labels=st.dictionaries(st.sampled_from(["tried.outcome", "tried.verdict", "a"]), st.text(max_size=5), max_size=3),
    error=st.none() | st.sampled_from([OOM, LIMIT, "Killed", ""]) | st.text(max_size=20),
)


@given(_RUNS)
def test_a_record_is_the_same_each_time_and_as_the_format_reads_it(tracked: TrackedRun) -> None:
    record = record_of(tracked)
    assert record.to_json() == record_of(tracked).to_json()
    again = read_line(record.to_json().encode("utf-8"))
    assert again.complaints == ()
    assert json.loads(again.records[0].to_json()) == json.loads(record.to_json())
    assert isinstance(record, ExperimentRecord)
    assert record.outcome in (None, "completed", "failed", "stopped", "running", "pruned") or tracked.labels
