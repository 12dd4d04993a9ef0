"""Hydra's output folders, made by hand in the layout that Hydra writes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tried.draft.parameters import UNKNOWN, flatten
from tried.pool.record import ExperimentRecord
from tried.pool.sources.hydra.folders import HydraFoldersSource, store_at
from tried.pool.sources.kit import problems_of, scan_all

HYDRA = """hydra:
  run:
    dir: outputs/${now:%Y-%m-%d}/${now:%H-%M-%S}
  launcher:
    _target_: hydra._internal.core_plugins.basic_launcher.BasicLauncher
  help:
    app_name: ${hydra.job.name}
  mode: RUN
  job:
    name: train
    chdir: null
    id: ???
  runtime:
    version: 1.3.2
    cwd: /nowhere
    config_sources:
    - path: hydra.conf
    output_dir: @OUT@
"""
START = datetime(2026, 3, 1, 10, 0, 0, tzinfo=UTC).timestamp()
TRACE = 'Traceback (most recent call last):\n  File "train.py", line 3, in main\nValueError: shapes differ\n'


def make_job(
    folder: Path,
    config: str = "lr: 0.1\nmodel:\n  depth: 3\n  width: ${lr}\n",
    overrides: str = "- lr=0.1\n- model.depth=3\n",
    hydra: str = HYDRA,
    files: Mapping[str, str] | None = None,
    when: float = START,
) -> Path:
    inner = folder / ".hydra"
    inner.mkdir(parents=True)
    (inner / "config.yaml").write_text(config)
    (inner / "overrides.yaml").write_text(overrides)
    (inner / "hydra.yaml").write_text(hydra.replace("@OUT@", str(folder)))
    for name, text in (files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (when, when))
    return folder


def one(folder: Path, **said: Any) -> ExperimentRecord:
    """The record of one job below `folder/outputs`."""
    make_job(folder / "outputs" / "2026-03-01" / "10-00-00", **said)
    (record,) = scan_all(HydraFoldersSource(folder / "outputs", folder)).records.values()
    return record


def test_a_job_becomes_a_record(tmp_path: Path) -> None:
    record = one(tmp_path)
    folder = str(tmp_path / "outputs" / "2026-03-01" / "10-00-00")
    assert json.loads(record.to_json()) == {
        "id": "hydra:outputs/2026-03-01/10-00-00",
        "name": "train lr=0.1 model.depth=3",
        "params": {"lr": 0.1, "model": {"depth": 3, "width": "${lr}"}},
        "timestamp": "2026-03-01T10:00:00Z",
        "research_line": "train",
        "experiment": "train",
        "run_id": "outputs/2026-03-01/10-00-00",
        "run_dir": folder,
        "places": [folder],
        "source": "hydra",
        "last_written": "2026-03-01T10:00:00Z",
        "overrides": ["lr=0.1", "model.depth=3"],
        "schema_version": 2,
        "kind": "experiment",
    }
    values = flatten(record.params)
    assert values["model.depth"].value == 3
    assert values["model.width"].value is UNKNOWN


def test_a_traceback_in_its_log_is_how_it_ended(tmp_path: Path) -> None:
    lines = "[2026-03-01 10:00:00,100][__main__][INFO] - epoch 1: loss 2.0\n"
    log = lines + "[2026-03-01 10:00:12,200][__main__][ERROR] - \n" + TRACE
    record = one(tmp_path, files={"train.log": log, "metrics.json": '{"val_f1": 0.5}'})
    assert (record.outcome, record.cause) == ("failed", "code_error")
    assert record.generated_headline == "failed after 12 s: ValueError: shapes differ"
    assert record.error == TRACE.strip()
    assert record.metrics == {"val_f1": 0.5}


@pytest.mark.parametrize(
    ("files", "outcome", "metrics"),
    [
        ({}, None, {}),
        ({"train.log": "[2026-03-01 10:00:00,100][x][INFO] - epoch 1: loss 2.0\n"}, None, {}),
        ({"job_return.pickle": "never opened"}, None, {}),
        (
            {"metrics.json": '{"val": {"f1": 0.5, "note": "x", "ok": true}, "n": "3"}'},
            "completed",
            {"val.f1": 0.5, "n": 3.0},
        ),
        ({"metrics.json": '{"loss": [3, 2], "words": ["a"]}'}, "completed", {"loss": 2.0}),
        ({"metrics.json": "{}"}, None, {}),
        ({"results.json": '[{"step": 1, "loss": 3}, {"step": 2, "loss": 2}]'}, None, {"loss": 2.0}),
        (
            {"metrics.json": '{"iteration": 1, "loss": 3}\n{"iteration": 2, "loss": 2}\n{"iter'},
            None,
            {"loss": 2.0},
        ),
        ({"metrics.csv": "step,loss,acc\n0,3,\n1,,0.5\n2,2,\n3,1"}, None, {"loss": 2.0, "acc": 0.5}),
        ({"csv/version_0/metrics.csv": "epoch,step,val/loss\n0,9,2\n"}, None, {"val/loss": 2.0}),
        ({"lightning_logs/version_0/metrics.csv": "epoch,step,test/acc\n0,9,0.5\n"}, None, {"test/acc": 0.5}),
        ({"metrics.csv": "step,loss,test/acc\n0,3,\n9,2,\n9,,0.5\n"}, "completed", {"loss": 2.0, "test/acc": 0.5}),
        ({"metrics.csv": "step,loss,test/acc\n0,3,0.4\n9,2,0.5\n"}, None, {"loss": 2.0, "test/acc": 0.5}),
    ],
)
def test_results_tell_of_a_good_end_and_a_history_alone_does_not(
    tmp_path: Path, files: dict[str, str], outcome: str | None, metrics: dict[str, float]
) -> None:
    record = one(tmp_path, files=files)
    assert (record.outcome, record.metrics) == (outcome, metrics)


@pytest.mark.parametrize(("done", "outcome"), [(10, "completed"), (5, None)])
def test_the_state_of_a_trainer_is_a_history(tmp_path: Path, done: int, outcome: str | None) -> None:
    rows = [{"epoch": 0.5, "loss": 2.0, "step": 5}, {"epoch": 1.0, "eval_loss": 1.5, "step": 10}, 7]
    state = json.dumps({"global_step": done, "max_steps": 10, "log_history": rows})
    record = one(tmp_path, files={"trainer_state.json": state})
    assert (record.metrics, record.outcome) == ({"loss": 2.0, "eval_loss": 1.5}, outcome)


def test_the_last_epoch_that_was_wanted_is_a_good_end(tmp_path: Path) -> None:
    history = {"metrics.csv": "epoch,step,val_loss\n0,9,2\n1,19,1.5\n"}
    assert one(tmp_path / "a", config="trainer: {max_epochs: 2}\n", files=history).outcome == "completed"
    assert one(tmp_path / "b", config="trainer: {max_epochs: 3}\n", files=history).outcome is None
    on_its_way = {"metrics.json": '{"epoch": 1, "val_loss": 2}'}
    assert one(tmp_path / "c", config="max_epochs: 3\n", files=on_its_way).outcome is None
    assert one(tmp_path / "d", config="max_epochs: 2\n", files=on_its_way).outcome == "completed"


def test_a_loss_that_is_no_number_has_diverged_at_a_step(tmp_path: Path) -> None:
    record = one(tmp_path, files={"metrics.csv": "step,val_loss\n100,2\n200,nan\n300,nan\n"})
    assert (record.outcome, record.cause) == ("failed", "diverged")
    assert record.generated_headline == "diverged: val_loss is NaN at step 200"
    assert record.metrics == {"val_loss": "nan"}


def test_jobs_of_a_sweep_know_it(tmp_path: Path) -> None:
    sweep = tmp_path / "multirun" / "2026-03-01" / "10-00-00"
    for number in (10, 2, 0):
        make_job(sweep / str(number), overrides=f"- lr={number}\n- hydra.mode=MULTIRUN\n")
    (sweep / "multirun.yaml").write_text("hydra: {}\n")
    said = scan_all(HydraFoldersSource(tmp_path / "multirun", tmp_path))
    assert list(said.records) == [f"hydra:multirun/2026-03-01/10-00-00/{number}" for number in (0, 2, 10)]
    assert {record.sweep for record in said.records.values()} == {"hydra:multirun/2026-03-01/10-00-00"}
    assert [record.name for record in said.records.values()] == ["train lr=0", "train lr=2", "train lr=10"]


def test_a_sweep_whose_jobs_lie_deeper_is_told_by_its_file(tmp_path: Path) -> None:
    make_job(tmp_path / "outputs" / "s" / "lr=0.1" / "seed=1")
    (tmp_path / "outputs" / "s" / "multirun.yaml").write_text("hydra: {}\n")
    (record,) = scan_all(HydraFoldersSource(tmp_path / "outputs", tmp_path)).records.values()
    assert record.sweep == "hydra:outputs/s"


@pytest.mark.parametrize(
    ("key", "saved", "log", "timestamp"),
    [
        # a machine two hours east of Greenwich: the file's time counts
        ("2026-03-01/12-00-00", START, "", "2026-03-01T10:00:00Z"),
        # copied later: the name counts, for what it is
        ("2026-03-01/10-00-00", START + 10 * 86_400, "", "2026-03-01T10:00:00Z"),
        # a job of a sweep that began half an hour before
        ("2026-03-01/09-30-00/3", START, "[2026-03-01 10:00:00,100][x][INFO] - go\n", "2026-03-01T10:00:00Z"),
        ("2026-03-01/09-30-00/3", START + 10 * 86_400, "[2026-03-01 10:00:07,100][x] - go\n", "2026-03-01T10:00:07Z"),
        ("my_job", START, "", "2026-03-01T10:00:00Z"),
    ],
)
def test_when_it_began(tmp_path: Path, key: str, saved: float, log: str, timestamp: str) -> None:
    make_job(tmp_path / "outputs" / key, files={"train.log": log}, when=saved)
    (record,) = scan_all(HydraFoldersSource(tmp_path / "outputs", tmp_path)).records.values()
    assert record.timestamp == timestamp


def test_a_long_log_is_timed_from_its_first_line(tmp_path: Path) -> None:
    lines = (f"[2026-03-01 10:{n // 60:02}:{n % 60:02},000][x][INFO] - {'.' * 100}\n" for n in range(3_000))
    log = "".join(lines) + TRACE
    assert len(log) > 5 * 64 * 1024
    record = one(tmp_path, files={"train.log": log}, when=START + 10 * 86_400)
    assert record.timestamp == "2026-03-01T10:00:00Z"
    assert record.generated_headline == "failed after 49 min: ValueError: shapes differ"


def test_the_config_may_name_line_and_tags(tmp_path: Path) -> None:
    record = one(tmp_path, config="experiment_name: warmups\ntags: [dev, dead-end]\n")
    assert (record.research_line, record.experiment, record.tags) == ("warmups", "train", ["dev", "dead-end"])
    assert record.verdict == "dead_end"


def test_the_config_may_say_what_came_of_it(tmp_path: Path) -> None:
    config = "lr: 0.1\ntried:\n  hypothesis: warmup helps\n  verdict: dead end\n  parent: hydra:outputs/x\n"
    record = one(tmp_path, config=config, overrides="- +tried.hypothesis='warmup helps'\n")
    assert (record.hypothesis, record.verdict, record.parent) == ("warmup helps", "dead_end", "hydra:outputs/x")
    assert record.params == {"lr": 0.1}


def test_a_launcher_that_is_not_the_usual_one_is_kept(tmp_path: Path) -> None:
    slurm = HYDRA.replace(
        "hydra._internal.core_plugins.basic_launcher.BasicLauncher", "hydra_plugins.x.y.SlurmLauncher"
    )
    assert json.loads(one(tmp_path, hydra=slurm).to_json())["launcher"] == "slurm"


def test_the_output_folder_is_the_one_that_the_job_knew(tmp_path: Path) -> None:
    record = one(tmp_path, hydra=HYDRA.replace("@OUT@", "/moved/from/here/"))
    assert record.run_dir == "/moved/from/here"
    assert record.places == [str(tmp_path / "outputs" / "2026-03-01" / "10-00-00")]
    assert one(tmp_path / "b", hydra=HYDRA.replace("@OUT@", "${x}")).run_dir == str(
        tmp_path / "b" / "outputs" / "2026-03-01" / "10-00-00"
    )


def test_a_job_without_hydras_own_settings_is_a_record_all_the_same(tmp_path: Path) -> None:
    record = one(tmp_path, hydra="", overrides="")
    assert (record.name, record.params["lr"]) == ("job", 0.1)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (".hydra/config.yaml", "lr: [1\n", "is no YAML: line 2: did not find expected ',' or ']'"),
        (".hydra/config.yaml", "[" * 5_000, "is no YAML: line 1: exceeded maximum nesting depth"),
        ("metrics.json", "{", "is no JSON: line 1: expecting property name enclosed in double quotes"),
    ],
)
def test_what_is_broken_is_told_and_the_record_stays(tmp_path: Path, name: str, text: str, why: str) -> None:
    job = make_job(tmp_path / "outputs" / "2026-03-01" / "10-00-00", files={name: text})
    source = HydraFoldersSource(tmp_path / "outputs", tmp_path)
    said = scan_all(source)
    assert [(one.where, one.why) for one in said.skipped] == [(f"2026-03-01/10-00-00/{name}", why)]
    assert list(said.records) == ["hydra:outputs/2026-03-01/10-00-00"]
    # mended, it is taken back
    (job / name).write_text("lr: 0.2\n" if name.endswith("yaml") else "{}")
    after = scan_all(source, said.cursor, said)
    assert after.skipped == ()
    assert list(after.records) == ["hydra:outputs/2026-03-01/10-00-00"]


def test_what_is_half_written_is_left_for_next_time(tmp_path: Path) -> None:
    job = make_job(tmp_path / "outputs" / "a")
    (job / ".hydra" / "config.yaml").write_text("lr: [0.1,")
    source = HydraFoldersSource(tmp_path / "outputs", tmp_path)
    said = scan_all(source)
    assert (said.records, said.skipped) == ({}, ())
    (job / ".hydra" / "config.yaml").write_text("lr: [0.1, 0.2]\n")
    after = scan_all(source, said.cursor, said)
    assert after.records["hydra:outputs/a"].params == {"lr": [0.1, 0.2]}


def test_jobs_come_grow_and_go(tmp_path: Path) -> None:
    source = HydraFoldersSource(tmp_path / "outputs", tmp_path)
    first = make_job(tmp_path / "outputs" / "2026-03-01" / "10-00-00")
    said = scan_all(source)
    make_job(tmp_path / "outputs" / "2026-03-01" / "10-05-00")
    said = scan_all(source, said.cursor, said)
    assert len(said.records) == 2
    (first / "metrics.json").write_text('{"val_f1": 0.5}')
    said = scan_all(source, said.cursor, said)
    assert said.records["hydra:outputs/2026-03-01/10-00-00"].metrics == {"val_f1": 0.5}
    shutil.rmtree(first)
    said = scan_all(source, said.cursor, said)
    assert list(said.records) == ["hydra:outputs/2026-03-01/10-05-00"]


def test_a_run_of_wandb_in_the_jobs_folder_is_the_jobs_own(tmp_path: Path) -> None:
    run = "wandb/run-20260301_100003-ab12cd34/files"
    job = make_job(
        tmp_path / "outputs" / "a",
        files={
            f"{run}/wandb-summary.json": '{"val_f1": 0.5, "_step": 9, "_runtime": 12}',
            f"{run}/wandb-metadata.json": '{"git": {"commit": "abc"}}',
            f"{run}/config.yaml": "lr: {value: 9}\n",
            "wandb/run-20260301_090000-older000/files/wandb-summary.json": '{"val_f1": 0.1}',
        },
    )
    source = HydraFoldersSource(tmp_path / "outputs", tmp_path)
    said = scan_all(source)
    record = said.records["hydra:outputs/a"]
    assert (record.metrics, record.params["lr"], record.aliases) == ({"val_f1": 0.5}, 0.1, ["wandb:ab12cd34"])
    assert record.git == {"sha": "abc"}
    assert record.places == [str(job), str((job / run).parent)]
    (job / run / "wandb-summary.json").write_text('{"val_f1": 0.75}')
    (job / run / "output.log").write_text(TRACE)
    said = scan_all(source, said.cursor, said)
    record = said.records["hydra:outputs/a"]
    assert (record.metrics, record.outcome) == ({"val_f1": 0.75}, "failed")


def test_loops_and_links_are_not_followed(tmp_path: Path) -> None:
    job = make_job(tmp_path / "outputs" / "2026-03-01" / "10-00-00")
    (tmp_path / "outputs" / "loop").symlink_to(tmp_path / "outputs")
    (tmp_path / "outputs" / "latest").symlink_to(job)
    secret = tmp_path / "secret.json"
    secret.write_text('{"loss": 42}')
    (job / "metrics.json").symlink_to(secret)
    said = scan_all(HydraFoldersSource(tmp_path / "outputs", tmp_path))
    assert list(said.records) == ["hydra:outputs/2026-03-01/10-00-00"]
    assert said.records["hydra:outputs/2026-03-01/10-00-00"].metrics == {}
    assert [(one.where, one.why) for one in said.skipped] == [
        ("2026-03-01/10-00-00/metrics.json", "is a link and is not read")
    ]


def test_a_folder_that_is_missing_is_told_once(tmp_path: Path) -> None:
    source = HydraFoldersSource(tmp_path / "outputs", tmp_path)
    said = scan_all(source)
    assert [one.why for one in said.skipped] == ["there is no such folder"]
    assert source.scan(said.cursor).is_empty
    make_job(tmp_path / "outputs" / "a")
    after = scan_all(source, said.cursor, said)
    assert (list(after.records), after.skipped) == (["hydra:outputs/a"], ())


def test_where_a_store_is_seen(tmp_path: Path) -> None:
    assert store_at(tmp_path, ["outputs", "multirun"], []) == []
    make_job(tmp_path / "outputs" / "2026-03-01" / "10-00-00")
    (tmp_path / "multirun").mkdir()
    assert store_at(tmp_path, ["outputs", "multirun"], []) == [tmp_path / "outputs"]
    dated = make_job(tmp_path / "logs" / "train" / "multiruns" / "2026-03-01_10-00-00" / "0")
    assert store_at(dated, [".hydra"], []) == [tmp_path / "logs" / "train" / "multiruns"]
    named = make_job(tmp_path / "exp" / "baseline")
    assert store_at(named, [".hydra"], []) == [named]
    make_job(tmp_path / "exp" / "wide")
    assert store_at(named, [".hydra"], []) == [tmp_path / "exp"]
    assert store_at(tmp_path, [".hydra"], []) == []


def test_a_source_of_one_job_and_one_of_another_name(tmp_path: Path) -> None:
    job = make_job(tmp_path / "exp" / "baseline")
    assert list(scan_all(HydraFoldersSource(job, tmp_path)).records) == ["hydra:exp/baseline"]
    make_job(tmp_path / "exp" / "outputs" / "a")
    assert list(scan_all(HydraFoldersSource(tmp_path / "exp", tmp_path)).records) == ["hydra:exp/baseline"]


def test_the_kit_finds_nothing_wrong(tmp_path: Path) -> None:
    store = tmp_path / "place" / "outputs"
    make_job(store / "2026-03-01" / "10-00-00", files={"train.log": TRACE})
    make_job(
        store / "2026-03-02" / "9-00-00", files={"metrics.json": '{"loss": 1}', "csv/version_0/metrics.csv": "a\n1\n"}
    )

    def grow(folder: Path) -> None:
        make_job(folder / "2026-03-03" / "10-00-00")

    assert problems_of(HydraFoldersSource, store, grow, quiet_seconds=1.0) == []
