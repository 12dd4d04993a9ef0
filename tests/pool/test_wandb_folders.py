"""A `wandb` folder as a source: what a run says, what is half there, and what a scan costs."""

from __future__ import annotations

import json
import math
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from wandb_files import (
    config_record,
    exit_record,
    field,
    history_record,
    items,
    metric_record,
    online_run,
    run_record,
    summary_record,
)

from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import problems_of, scan_all
from tried.pool.sources.wandb import folders as wandb_folders
from tried.pool.sources.wandb.folders import WandbSource, store_at

CONFIG = """
wandb_version: 1
_wandb:
  desc: null
  value:
    cli_version: 0.25.1
    e:
      one:
        git: {commit: 5f1c0de5f1c0de5f1c0de5f1c0de5f1c0de5f1c0}
        startedAt: "2026-03-01T10:15:07.25Z"
        root: /work/project
lr:
  desc: null
  value: 1e-3
model:
  value:
    width: 64
    acts: [gelu, relu]
plain: 7
"""
SUMMARY = '{"val_loss": 0.25, "_runtime": 90.5, "_timestamp": 1772360200, "_step": 400, "_wandb": {"runtime": 90}}'
TRACEBACK = (
    'step 1\nTraceback (most recent call last):\n  File "t.py", line 3, in <module>\nValueError: shapes differ\n'
)
OLD = time.time() - 7 * 24 * 3600


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "project" / "wandb"


def settle(store: Path, when: float = OLD) -> None:
    """Let all files be as old as that."""
    for path in store.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (when, when))


def only(store: Path) -> ExperimentRecord:
    said = scan_all(WandbSource(store, store.parent))
    assert len(said.records) == 1
    assert not said.skipped
    return next(iter(said.records.values()))


def test_an_online_folder_without_a_log(store: Path) -> None:
    online_run(store, "ab12", CONFIG, SUMMARY)
    record = only(store)
    assert record.id == "wandb:ab12"
    assert record.name == "ab12"
    assert record.params == {"lr": 0.001, "model": {"width": 64, "acts": ["gelu", "relu"]}, "plain": 7}
    assert record.metrics == {"val_loss": 0.25}
    assert record.time == datetime(2026, 3, 1, 10, 15, 7, 250_000, UTC)
    assert record.duration is not None
    assert (record.duration.secs, record.duration.nanos) == (90, 500_000_000)
    assert record.git == {"sha": "5f1c0de5f1c0de5f1c0de5f1c0de5f1c0de5f1c0"}
    assert record.places == ["wandb/run-20260301_101500-ab12"]
    assert record.outcome is None, "nothing says how it ended"
    assert record.research_line is None


def test_what_the_log_adds(store: Path) -> None:
    log = [
        run_record(
            "ab12",
            {"lr": 0.001},
            project="denoise",
            name="wider net",
            notes="more channels",
            tags=["baseline", "dead-end"],
            group="ablation",
            job_type="train",
            sweep="sw9",
        ),
        metric_record("val_loss", 1),
        exit_record(0),
    ]
    online_run(store, "ab12", None, SUMMARY, log=log)
    record = only(store)
    assert (record.name, record.notes) == ("wider net", "more channels")
    assert record.tags == ["baseline", "dead-end", "group=ablation", "job_type=train"]
    assert (record.research_line, record.experiment, record.sweep) == ("denoise", "denoise", "wandb:sweep/sw9")
    assert record.verdict == "dead_end"
    assert record.directions == {"val_loss": "min"}
    assert record.outcome == "completed"
    assert record.headline == "finished, val_loss 0.25"


def test_a_failure_is_told_by_exit_code_and_output(store: Path) -> None:
    online_run(store, "ab12", CONFIG, SUMMARY, output=TRACEBACK, log=[run_record("ab12", {"lr": 1}), exit_record(1)])
    record = only(store)
    assert (record.outcome, record.cause) == ("failed", "code_error")
    assert record.headline == "failed after 90 s: ValueError: shapes differ"


def test_output_alone_tells_a_failure(store: Path) -> None:
    online_run(store, "ab12", CONFIG, '{"_runtime": 3}', output=TRACEBACK)
    assert only(store).outcome == "failed"


def test_an_interrupt_is_stopped(store: Path) -> None:
    online_run(store, "ab12", CONFIG, SUMMARY, log=[run_record("ab12", {"lr": 1}), exit_record(255)])
    assert (only(store).outcome, only(store).cause) == ("stopped", "stopped")


def test_nan_with_the_step_at_which_it_began(store: Path) -> None:
    log = [
        run_record("ab12", {"lr": 1}),
        history_record(100, {"val_loss": 3.0}),
        history_record(400, {"val_loss": math.nan}),
        exit_record(0),
    ]
    online_run(store, "ab12", CONFIG, '{"val_loss": NaN, "best": {"f1": Infinity}}', log=log)
    record = only(store)
    assert record.metrics == {"val_loss": "nan", "best.f1": "inf"}
    assert (record.outcome, record.cause) == ("failed", "diverged")
    assert record.headline == "diverged: val_loss is NaN at step 400"


def test_a_long_history_is_looked_through_only_for_a_run_that_went_wrong(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tried.pool.sources.wandb.folder.LOG_BESIDE_FILES", 2 * 32 * 1024)
    steps = [history_record(step, {"loss": math.nan if step == 700 else 1.0, "pad": "p" * 200}) for step in range(1400)]
    log = [run_record("ab12", {"lr": 1}, name="long"), *steps, exit_record(0)]
    online_run(store, "ab12", CONFIG, '{"loss": NaN}', log=log)
    assert only(store).headline == "diverged: loss is NaN at step 700"
    online_run(store, "cd34", CONFIG, '{"loss": 1.0}', log=log, started="20260302_000000")
    record = scan_all(WandbSource(store)).records["wandb:cd34"]
    assert (record.name, record.outcome) == ("long", "completed")


def test_media_text_and_own_keys_are_no_metrics(store: Path) -> None:
    summary = {
        "eval": {"f1": 0.5, "loss": {"min": 0.1}},
        "acc": {"max": 0.9, "last": 0.8},
        "samples": {"_type": "table-file", "nrows": 3},
        "text": "done",
        "flag": True,
        "list": [1, 2],
        "none": None,
        "bad": "NaN",
        "_step": 3,
        "steps": 12,
    }
    online_run(store, "ab12", CONFIG, json.dumps(summary))
    assert only(store).metrics == {
        "eval.f1": 0.5,
        "eval.loss": 0.1,
        "acc.max": 0.9,
        "acc.last": 0.8,
        "bad": "nan",
        "steps": 12,
    }


def test_a_run_without_an_end_runs_and_says_when_it_was_last_heard_of(store: Path) -> None:
    online_run(store, "ab12", log=[], prefix="offline-run")
    settle(store, 1_772_400_000.0)
    record = only(store)
    assert record.outcome == "running"
    assert record.last_written == "2026-03-01T21:20:00Z"
    assert record.time == datetime(2026, 3, 1, 10, 15, tzinfo=UTC)


def test_a_run_resumed_in_several_folders_is_one(store: Path) -> None:
    first = [run_record("ab12", {"lr": 0.1, "seed": 1}, name="first", notes="why", tags=["a"]), exit_record(1)]
    later = [run_record("ab12", {"lr": 0.2}, name="second"), summary_record({"val_loss": 0.2}), exit_record(0)]
    online_run(store, "ab12", CONFIG, '{"val_loss": 0.5, "val_f1": 0.7}', log=first, output=TRACEBACK)
    online_run(store, "ab12", log=later, prefix="offline-run", started="20260302_101500")
    record = only(store)
    assert record.params["lr"] == 0.2
    assert record.metrics == {"val_loss": 0.2, "val_f1": 0.7}
    assert (record.name, record.notes, record.tags) == ("second", "why", ["a"])
    assert (record.outcome, record.error) == ("completed", None)
    assert record.places == ["wandb/run-20260301_101500-ab12", "wandb/offline-run-20260302_101500-ab12"]


def test_the_log_of_a_resumed_run_does_not_have_all_parameters(store: Path) -> None:
    resumed = field(17, field(1, "ab12") + field(18, 1) + field(4, items({"lr": 0.5})))
    online_run(store, "ab12", CONFIG, SUMMARY, log=[resumed, exit_record(0)])
    assert only(store).params == {"lr": 0.001, "model": {"width": 64, "acts": ["gelu", "relu"]}, "plain": 7}


def test_links_are_not_read_twice(store: Path) -> None:
    folder = online_run(store, "ab12", CONFIG, SUMMARY)
    (store / "latest-run").symlink_to(folder.name)
    (store / "run-20260301_101500-cd34").symlink_to(folder.name)
    (store / "debug.log").write_text("…")
    assert only(store).id == "wandb:ab12"


def test_an_agents_folder_tells_the_sweep(store: Path) -> None:
    online_run(store, "ab12", CONFIG, SUMMARY)
    source = WandbSource(store)
    first = source.scan(None)
    assert first.upserts[0].sweep is None
    (store / "sweep-k3j2").mkdir()
    (store / "sweep-k3j2" / "config-ab12.yaml").write_text("wandb_version: 1\n")
    second = source.scan(first.cursor)
    assert [record.sweep for record in second.upserts] == ["wandb:sweep/k3j2"]
    assert source.scan(second.cursor).is_empty


@pytest.mark.parametrize(
    ("job_type", "summary", "role"),
    [
        ("sweep-controller", "{}", "launcher"),
        ("preprocess", "{}", "step"),
        ("preprocess", '{"val_f1": 0.5}', "experiment"),
        ("train", "{}", "experiment"),
        ("eval", "{}", "experiment"),
    ],
)
def test_roles(store: Path, job_type: str, summary: str, role: str) -> None:
    online_run(store, "ab12", CONFIG, summary, log=[run_record("ab12", {"lr": 1}, job_type=job_type), exit_record(0)])
    assert only(store).role == role


def test_the_output_folder_of_a_job(store: Path) -> None:
    (store.parent / ".hydra").mkdir(parents=True)
    online_run(store, "ab12", CONFIG, SUMMARY)
    assert only(store).run_dir == str(store.parent.absolute())


@pytest.mark.parametrize(
    ("config", "folder"),
    [
        ("hydra: {value: {run: {dir: outputs/a/b}}}", "/work/project/outputs/a/b"),
        ("output_dir: {value: /data/out/../runs/1}", "/data/runs/1"),
        ("output_dir: {value: 's3://bucket/out'}", None),
        ("hydra: {value: {run: {dir: 'outputs/${now:%Y}'}}}", None),
    ],
)
def test_an_output_folder_that_the_configuration_names(store: Path, config: str, folder: str | None) -> None:
    online_run(store, "ab12", config, SUMMARY, metadata={"root": "/work/project"})
    assert only(store).run_dir == folder


@pytest.mark.parametrize("is_named", [False, True])
def test_a_job_that_comes_or_goes_after_its_run_was_read_is_seen(store: Path, is_named: bool) -> None:
    job = store.parent / "outputs" / "job" if is_named else store.parent
    online_run(store, "ab12", "lr:\n  value: 1\n", SUMMARY)
    metadata = store / "run-20260301_101500-ab12" / "files" / "wandb-metadata.json"
    metadata.write_text(json.dumps({"root": str(job)}))
    settle(store)
    source = WandbSource(store, store.parent)
    said = source.scan(None)
    assert [record.run_dir for record in said.upserts] == [None]
    (job / ".hydra").mkdir(parents=True)
    said = source.scan(said.cursor)
    assert [record.run_dir for record in said.upserts] == [str(job)]
    said = source.scan(said.cursor)
    assert said.is_empty
    (job / ".hydra").rmdir()
    said = source.scan(said.cursor)
    assert [record.run_dir for record in said.upserts] == [None]
    assert source.scan(said.cursor).is_empty


def test_labels_and_parents_that_somebody_wrote(store: Path) -> None:
    config = "tried: {value: {parent: xy98, hypothesis: wider helps}}\nlr: {value: 1}"
    log = [run_record("ab12", {}, tags=["tried.verdict=works", "baseline"]), exit_record(0)]
    online_run(store, "ab12", config, '{"tried.conclusion": "no gain"}', log=log)
    record = only(store)
    assert (record.parent, record.hypothesis, record.verdict) == ("wandb:xy98", "wider helps", "works")
    assert record.headline == "no gain"
    assert record.tags == ["baseline"]


# What cannot be read


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("config.yaml", "lr: {value: [1", "is no YAML"),
        ("config.yaml", "- a\n- b\n", "holds no keys"),
        ("config.yaml", "a: &a [x, x, x, x]\n" + "".join(f"k{n}: &k{n} [*a, *a, *a]\n" for n in range(3)) * 1, ""),
        ("wandb-summary.json", '{"val_loss": 0.', "is no JSON"),
        ("wandb-summary.json", "[" * 100_000, "is nested too deep"),
        ("wandb-summary.json", "", "is empty"),
        ("wandb-metadata.json", "[1]", "holds no keys"),
    ],
)
def test_a_broken_file_is_counted_and_the_rest_is_a_record(store: Path, file: str, content: str, why: str) -> None:
    folder = online_run(store, "ab12", CONFIG, SUMMARY)
    (folder / "files" / file).write_text(content)
    settle(store)
    said = scan_all(WandbSource(store))
    assert list(said.records) == ["wandb:ab12"]
    if why:
        assert [(one.where, why in one.why) for one in said.skipped] == [(f"{folder.name}/{file}", True)]
    else:
        assert not said.skipped


def test_a_config_that_would_run_code_is_data(store: Path, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    online_run(store, "ab12", f"lr: {{value: !!python/object/apply:os.mkdir ['{mark}']}}", SUMMARY)
    settle(store)
    assert list(scan_all(WandbSource(store)).records) == ["wandb:ab12"]
    assert not mark.exists()


def test_a_half_written_file_is_left_for_the_next_scan(store: Path) -> None:
    source = WandbSource(store)
    online_run(store, "ab12", CONFIG, SUMMARY)
    first = source.scan(None)
    folder = online_run(store, "cd34", CONFIG, '{"val_loss"', started="20260302_000000")
    second = source.scan(first.cursor)
    assert second.is_empty
    (folder / "files" / "wandb-summary.json").write_text(SUMMARY)
    third = source.scan(second.cursor)
    assert [record.id for record in third.upserts] == ["wandb:cd34"]
    assert not third.skipped


def test_what_stays_broken_is_told_once_and_taken_back_when_it_is_mended(store: Path) -> None:
    source = WandbSource(store)
    folder = online_run(store, "ab12", CONFIG, "{")
    settle(store)
    first = source.scan(None)
    assert len(first.skipped) == 1
    (folder / "files" / "output.log").write_text("more\n")
    second = source.scan(first.cursor)
    assert not second.skipped
    (folder / "files" / "wandb-summary.json").write_text(SUMMARY)
    third = source.scan(second.cursor)
    assert third.reset
    assert not third.skipped
    assert third.upserts[0].metrics == {"val_loss": 0.25}


def test_an_empty_folder_of_a_run_is_told(store: Path) -> None:
    (store / "run-20260301_101500-ab12").mkdir(parents=True)
    said = scan_all(WandbSource(store))
    assert not said.records
    assert [(one.where, "nothing is known of this run" in one.why) for one in said.skipped] == [
        ("run-20260301_101500-ab12", True)
    ]


def test_a_store_that_is_not_there_and_comes(store: Path) -> None:
    source = WandbSource(store)
    first = source.scan(None)
    assert [one.why for one in first.skipped] == ["there is no such folder"]
    assert source.scan(first.cursor).is_empty
    online_run(store, "ab12", CONFIG, SUMMARY)
    second = source.scan(first.cursor)
    assert (second.reset, [record.id for record in second.upserts]) == (True, ["wandb:ab12"])


# Scanning again


def fill(store: Path, runs: int) -> None:
    for number in range(runs):
        online_run(store, f"r{number:04d}", f"lr: {{value: {number}}}", SUMMARY, started=f"20260301_{number:06d}")


def test_changes_are_seen_wherever_they_are(store: Path) -> None:
    fill(store, 3)
    settle(store)
    source = WandbSource(store)
    cursor = source.scan(None).cursor
    summary = store / "run-20260301_000001-r0001" / "files" / "wandb-summary.json"
    summary.write_text('{"val_loss": 0.125}')
    second = source.scan(cursor)
    assert [(record.id, record.metrics) for record in second.upserts] == [("wandb:r0001", {"val_loss": 0.125})]
    for path in sorted((store / "run-20260301_000002-r0002").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (store / "run-20260301_000002-r0002").rmdir()
    third = source.scan(second.cursor)
    assert third.removed == ("wandb:r0002",)
    assert source.scan(third.cursor).is_empty


def test_old_runs_are_looked_at_in_turn(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wandb_folders, "SLICE", 2)
    fill(store, 7)
    settle(store)
    source = WandbSource(store)
    cursor: Any = source.scan(None).cursor
    looked: list[str] = []
    look = wandb_folders._look

    def noted(path: Path, name: Any) -> tuple[int, float]:
        looked.append(name.run_id)
        return look(path, name)

    monkeypatch.setattr(wandb_folders, "_look", noted)
    rounds = []
    for _ in range(4):
        looked.clear()
        cursor = source.scan(cursor).cursor
        rounds.append(list(looked))
    assert [len(each) for each in rounds] == [2, 2, 2, 1]
    assert sorted(name for each in rounds for name in each) == [f"r{number:04d}" for number in range(7)]


def test_a_large_store_comes_in_batches_in_the_order_of_time(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wandb_folders, "BATCH", 3)
    fill(store, 8)
    said = scan_all(WandbSource(store))
    assert [len(delta.upserts) for delta in said.deltas] == [3, 3, 2]
    assert [delta.more for delta in said.deltas] == [True, True, False]
    assert list(said.records) == [f"wandb:r{number:04d}" for number in range(8)]
    assert said.deltas[0].total == 8


def test_the_source_does_what_every_source_must(store: Path) -> None:
    fill(store, 3)
    online_run(
        store,
        "off1",
        log=[run_record("off1", {"lr": 1}), config_record({"a": 2}), exit_record(0)],
        prefix="offline-run",
    )

    def grow(path: Path) -> None:
        online_run(path, "new1", CONFIG, SUMMARY, started="20260401_000000")

    assert problems_of(WandbSource, store, grow) == []


def test_where_stores_are(tmp_path: Path) -> None:
    online_run(tmp_path / "wandb", "ab12", CONFIG, SUMMARY)
    (tmp_path / "other" / "wandb" / "sdk").mkdir(parents=True)
    assert store_at(tmp_path, ["wandb", "src"], []) == [tmp_path / "wandb"]
    assert store_at(tmp_path / "other", ["wandb"], []) == []
    assert store_at(tmp_path, ["src"], ["wandb"]) == []
