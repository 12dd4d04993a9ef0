"""What MLflow says of a run as a tracked run: the one function that databases, folders and servers share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tried.draft.parameters import flatten, parameters_of
from tried.draft.syntax import parse
from tried.pool.outcome import cause_of
from tried.pool.sources.mlflow.run import RunInfo, metric, moment, parameter, place_from, project_of_run, tracked_run
from tried.pool.sources.tracked_run import record_of

NESTED: dict[str, Any] = {
    "encoder": {"layers": [{"units": 64, "act": "relu"}, {"units": 8, "act": None}], "dropout": 0.1},
    "loss weights": [0.5, 1.0],
    "flags": {"ema": True, "note": 'it\'s a "test"'},
}
AS_YAML = """
model:
  encoder:
    layers:
      - {units: 64, act: relu}
      - {units: 8, act: ~}
    dropout: 1e-1
  loss weights: [0.5, 1]
  flags: {ema: yes, note: 'it''s a "test"'}
"""


@pytest.mark.parametrize("times", [1, 80])
def test_a_mapping_logged_as_text_compares_with_the_config_that_it_came_from(times: int) -> None:
    """Also one that is longer than what is compared as text."""
    nested = {**NESTED, **{f"more_{i}": {"a": i, "b": [i, str(i)]} for i in range(times)}}
    config = AS_YAML + "".join(f"  more_{i}: {{a: {i}, b: [{i}, '{i}']}}\n" for i in range(times))
    text = repr(nested)
    assert (len(text) > 2_000) == (times == 80)
    record = record_of(tracked_run(RunInfo(run_id="r"), {"model": text}, {}, {}))
    logged = {key: value.value for key, value in flatten(record.params).items()}
    drafted = {p.key: p.value for p in parameters_of(parse(config, "yaml").entries)}
    assert logged == drafted


@pytest.mark.parametrize(
    "text",
    [
        "{'a': <function f at 0x7f>}",
        "{" * 3_000,
        "[" * 3_000 + "{",
        "{'a': __import__('os').system('touch hit')}",
        "[1, 2",
        "{'a': 1} and more",
        "{1, 2}",
        "{'k': '" + "x" * 30_000 + "'}",
        "",
    ],
)
def test_text_that_is_no_mapping_stays_text(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parameter(text) == text
    assert list(tmp_path.iterdir()) == []


def test_a_plain_list_stays_as_it_was_logged() -> None:
    assert parameter("['drop_constant_values', 'drop_duplicates']") == "['drop_constant_values', 'drop_duplicates']"
    assert parameter(b"a\xff") == "a\ufffd"
    assert parameter(3) == 3


def test_what_stands_for_infinity_is_infinity() -> None:
    largest = 1.7976931348623157e308
    assert [metric(value) for value in (largest, -largest, 1e308, 0)] == [float("inf"), float("-inf"), 1e308, 0]


def test_times_are_milliseconds_or_nothing() -> None:
    assert str(moment(1_700_000_000_123)) == "2023-11-14 22:13:20.123000+00:00"
    assert [moment(value) for value in (None, "soon", True, 1e300, float("nan"), -(10**20))] == [None] * 6


def test_a_status_in_words_and_in_numbers() -> None:
    said = [
        tracked_run(RunInfo(run_id="r", status=s), {}, {}, {}).status
        for s in ("KILLED", 5, "SCHEDULED", 2, "odd", None)
    ]
    assert said == ["killed", "killed", "waiting", "waiting", None, None]


TRACEBACK = "Traceback (most recent call last):\n" + "  in main\n" * 20 + "ValueError: shapes (8,) and (9,) not aligned"


@pytest.mark.parametrize(
    ("params", "tags", "headline", "cause"),
    [
        ({}, {"error": "CUDA out of memory"}, "out of memory after 1 s", "out_of_memory"),
        ({"exception": "KeyError: 'lr'"}, {}, "failed after 1 s: KeyError: 'lr'", "code_error"),
        (
            {},
            {"error": "ValueError", "Traceback": TRACEBACK},
            "failed after 1 s: ValueError: shapes (8,) and (9,) not aligned",
            "code_error",
        ),
        ({"error": "0.05"}, {"exception": "None"}, "failed after 1 s", None),
    ],
)
def test_a_failed_run_may_say_why_in_a_tag_or_a_parameter(
    params: dict[str, str], tags: dict[str, str], headline: str, cause: str | None
) -> None:
    info = RunInfo(run_id="r", status="FAILED", started=1_700_000_000_000, ended=1_700_000_001_000)
    record = record_of(tracked_run(info, {**params, "lr": "0.1"}, {}, tags))
    assert record.headline == headline
    assert cause_of(record) == (cause or "unknown")
    assert record.notes is None
    assert dict(record.params) == ({"lr": "0.1"} if cause else {"error": "0.05", "lr": "0.1"})


def test_what_a_run_that_finished_calls_an_error_is_no_failure() -> None:
    info = RunInfo(run_id="r", status="FINISHED")
    record = record_of(tracked_run(info, {}, {"f1": 0.5}, {"error": "retried the download once"}))
    assert (record.outcome, record.error, record.tags) == ("completed", None, ["error=retried the download once"])


def test_parts_of_a_project() -> None:
    tags = {"mlflow.source.type": "PROJECT", "mlflow.source.name": "https://host/x/repo#steps/load"}
    assert project_of_run({**tags, "mlflow.project.entryPoint": "main"}) == ("https://host/x/repo", "steps/load")
    assert project_of_run({**tags, "mlflow.project.entryPoint": "etl"}) == ("https://host/x/repo", "steps/load:etl")
    assert project_of_run({**tags, "mlflow.source.type": "LOCAL"}) is None
    run = tracked_run(RunInfo(run_id="r"), {}, {}, tags)
    assert run.name == "repo#steps/load"


@pytest.mark.parametrize("text", ["${hydra:run.dir}", "s3://bucket/run", "", "a\0b"])
def test_what_names_no_folder_is_none(tmp_path: Path, text: str) -> None:
    assert tracked_run(RunInfo(run_id="r"), {"output_dir": text}, {}, {}, homes=[tmp_path]).folder is None


@pytest.mark.parametrize(
    ("store", "project", "folder"),
    [
        ("work", "work", "work/out"),
        ("work/a", "work", "work/a/out"),
        ("stores", "work", "work/out"),
        ("stores", None, "stores/out"),
    ],
)
@pytest.mark.parametrize("exists", [False, True])
def test_what_a_relative_folder_is_told_from_does_not_hang_on_what_is_there(
    tmp_path: Path, store: str, project: str | None, folder: str, exists: bool
) -> None:
    if exists:
        for place in ("work", "work/a", "stores"):
            (tmp_path / place / "out").mkdir(parents=True)
    homes = [tmp_path / store, *([tmp_path / project] if project is not None else [])]
    for params, tags in (({}, {"hydra.run.dir": "x/../out"}), ({"output_dir": "out"}, {})):
        run = tracked_run(RunInfo(run_id="r"), params, {}, tags, homes=homes)
        assert run.folder == str(tmp_path / folder)


def test_places_are_told_from_the_project(tmp_path: Path) -> None:
    assert place_from(tmp_path / "mlruns" / "0" / "r", tmp_path) == "mlruns/0/r"
    assert place_from(tmp_path, tmp_path / "other") == tmp_path.as_posix()
