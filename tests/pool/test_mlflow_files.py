"""MLflow's file stores, made by hand: what is read, what a later scan says, and what is left aside and why."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from mlflow_stores import START, make_run_folder

from tried.pool.sources.filtered import FilteredCursor, FilteredSource, Rules
from tried.pool.sources.kit import Said, problems_of, scan_all
from tried.pool.sources.mlflow import files
from tried.pool.sources.mlflow.files import PATIENCE, SLICE, MlflowFilesSource, store_at
from tried.pool.sources.mlflow.folder import PAGE
from tried.pool.sources.source import touched


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "mlruns"
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "meta.yaml").write_text("experiment_id: '1'\nlifecycle_stage: active\nname: images\n")
    return folder


def _said(store: Path, before: Said | None = None) -> Said:
    return scan_all(MlflowFilesSource(store, store.parent), before.cursor if before else None, before)


def _news(said: Said) -> list[str]:
    return [record.id.removeprefix("mlflow:") for delta in said.deltas for record in delta.upserts]


def test_a_source_of_this_kind_does_what_every_source_must(store: Path) -> None:
    for number in range(12):
        tags = {"mlflow.parentRunId": "r0"} if 0 < number < 4 else {}
        loss = "1 nan 0\n" if number == 7 else "1 0.5 0\n"
        make_run_folder(store, f"r{number}", {"lr": str(number)}, {"loss": loss}, tags)

    def grow(path: Path) -> None:
        make_run_folder(path, "new", {"lr": "7"}, {"loss": "1 0.5 0\n"}, {"mlflow.parentRunId": "r5"})
        (path / "1" / "r2" / "tags" / "mlflow.note.content").write_text("why")

    assert problems_of(lambda path: MlflowFilesSource(path), store, grow) == []


def test_a_run_is_what_its_files_say(store: Path) -> None:
    history = f"{START} 0.5 0\n{START + 9000} 0.75 2\n{START + 9500} 0.7 1\n"
    make_run_folder(
        store,
        "r",
        {"lr": "1e-3", "opt/betas/0": "0.9", "long": "x" * 6_000, "empty": ""},
        {
            "val/acc": history,
            "loss": "5 1.0 0\n6 nan 4\n7 2.0 5\n8 inf 6\n",
            "old": "5 3.5\n",
            "set": "5 1 2 mnist f00\n",
        },
        {"mlflow.note.content": "why", "mlflow.user": "x", "team": "a"},
        run_name="'5'",
    )
    record = _said(store).records["mlflow:r"]
    assert record.params == {"empty": "", "long": "x" * 6_000, "lr": "1e-3", "opt/betas/0": "0.9"}
    assert record.metrics == {"loss": "inf", "old": 3.5, "set": 1.0, "val/acc": 0.75}
    assert (record.name, record.notes, record.tags, record.experiment) == ("5", "why", ["team=a"], "images")
    assert (record.outcome, record.generated_headline) == ("failed", "diverged: loss is inf at step 4")
    assert record.timestamp == "2023-11-14T22:13:20Z"
    assert record.last_written == "2023-11-14T22:14:20Z"
    assert record.places == ["mlruns/1/r"]


def test_the_end_of_a_long_history_is_its_last_value(store: Path) -> None:
    lines = [f"{START + step} {step / 1000} {step}\n" for step in range(5_000)]
    assert len("".join(lines)) > 10 * PAGE
    make_run_folder(store, "r", metrics={"acc": "".join(lines), "torn": "".join(lines) + f"{START} 0."})
    assert _said(store).records["mlflow:r"].metrics == {"acc": 4.999, "torn": 4.999}


def test_numbers_words_and_deletions(store: Path) -> None:
    for status, outcome in (
        (1, "running"),
        (2, "running"),
        (3, "completed"),
        (4, "failed"),
        (5, "stopped"),
        ("FAILED", "failed"),
    ):
        make_run_folder(store, f"r{status}", status=status)
        assert _said(store).records[f"mlflow:r{status}"].outcome == outcome
    make_run_folder(store, "gone", lifecycle_stage="deleted")
    assert "mlflow:gone" not in _said(store).records


def test_a_scan_says_what_has_changed_and_no_more(store: Path) -> None:
    for number in range(5):
        make_run_folder(
            store, f"r{number}", {"lr": "1"}, {"acc": f"{START} 0.5 0\n"}, {"team": "a"}, status=1 if number == 4 else 3
        )
    said = _said(store)
    assert len(said.records) == 5
    running, ended = store / "1" / "r4", store / "1" / "r2"

    def append() -> None:
        with (running / "metrics" / "acc").open("a") as file:
            file.write(f"{START + 70_000} 0.625 1\n")

    def rewrite(text: str, by: str) -> None:
        path = running / "meta.yaml"
        path.write_text(path.read_text().replace(text, by))

    changes = [
        (append, ["r4"]),
        (lambda: (ended / "tags" / "mlflow.note.content").write_text("why"), ["r2"]),
        (lambda: (ended / "tags" / "mlflow.note.content").write_text("because"), ["r2"]),
        (lambda: (ended / "tags" / "team").unlink(), ["r2"]),
        (lambda: (ended / "params" / "late").write_text("1"), ["r2"]),
        (lambda: (ended / "metrics" / "test_acc").write_text("5 0.5 0\n"), ["r2"]),
        (lambda: rewrite("status: 1", "status: 3"), ["r4"]),
        (lambda: os.utime(ended / "tags" / "mlflow.note.content", ns=(5, 5)), []),
        (lambda: make_run_folder(store, "new"), ["new"]),
        (lambda: rewrite("lifecycle_stage: active", "lifecycle_stage: deleted"), []),
        (lambda: rewrite("lifecycle_stage: deleted", "lifecycle_stage: active"), ["r4"]),
        (lambda: shutil.rmtree(store / "1" / "r0"), []),
        (lambda: (store / "1" / "meta.yaml").write_text("name: sounds\n"), ["r1", "r2", "r3", "r4", "new"]),
        (lambda: (store / "1").rename(store / ".trash"), []),
    ]
    for number, (change, expected) in enumerate(changes):
        change()
        said = _said(store, said)
        assert sorted(_news(said)) == sorted(expected), number
        assert said.records == _said(store).records, number
        assert _said(store, said).deltas[0].is_empty, number
    assert said.records == {}


def test_of_many_runs_each_is_looked_at_in_turn(store: Path) -> None:
    count = SLICE + SLICE // 2
    (store / "1" / "r0").mkdir()
    make_run_folder(store, "first")
    for number in range(count):
        shutil.copytree(store / "1" / "first", store / "1" / f"r{number}", dirs_exist_ok=True)
    said = _said(store)
    assert len(said.records) == count + 1
    edited = [f"r{number}" for number in (0, 1, count // 2, count - 1)]
    for name in edited:
        (store / "1" / name / "tags" / "team").write_text("b")
    found: list[str] = []
    for _ in range(2):
        said = _said(store, said)
        found += _news(said)
    assert sorted(found) == sorted(edited)


def test_a_run_that_a_client_names_is_looked_at_before_its_turn(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SLICE", 1)
    for number in range(5):
        make_run_folder(store, f"r{number}", {"lr": str(number)})
    said = _said(store)
    note = store / "1" / "r3" / "tags" / "mlflow.note.content"
    note.write_text("why")
    source = MlflowFilesSource(store, store.parent)
    elsewhere = [store.parent / "x", store / "1", store / "2" / "r3" / "tags" / "a", store / "1" / "no" / "tags"]

    filtered = FilteredSource(source, Rules(research_line="x"))
    cursor = touched(filtered, FilteredCursor(said.cursor, {}), [*elsewhere, note])
    delta = filtered.scan(cursor)

    assert [(record.id, record.notes, record.research_line) for record in delta.upserts] == [("mlflow:r3", "why", "x")]
    assert filtered.scan(delta.cursor).is_empty
    assert touched(source, None, [note]) is None


def test_what_only_looks_like_runs_is_none(store: Path) -> None:
    make_run_folder(store, "r")
    (store / "1" / "in_a_database" / "artifacts" / "model").mkdir(parents=True)
    (store / "1" / "models" / "m-1").mkdir(parents=True)
    (store / "models" / "registered").mkdir(parents=True)
    (store / ".trash" / "2").mkdir(parents=True)
    (store / "notes.txt").write_text("x")
    said = _said(store)
    for _ in range(PATIENCE + 1):
        said = _said(store, said)
    assert (list(said.records), said.skipped) == (["mlflow:r"], ())


def test_a_run_that_is_being_written_is_waited_for(store: Path) -> None:
    run = make_run_folder(store, "r", {"lr": "1"})
    meta = (run / "meta.yaml").read_text()
    (run / "meta.yaml").unlink()
    said = _said(store)
    assert (said.records, said.skipped) == ({}, ())
    for _ in range(PATIENCE):
        said = _said(store, said)
    assert [skip.why for skip in said.skipped] == ["has no meta.yaml: the run was not begun properly, or is deleted"]
    assert _said(store, said).deltas[0].is_empty
    (run / "meta.yaml").write_text(meta)
    assert list(_said(store, said).records) == ["mlflow:r"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "meta.yaml is empty"),
        ("run_id: [\n", "meta.yaml is no YAML"),
        ("- a\n- b\n", "meta.yaml is no mapping"),
        ("a: &a [x, x, x, x, x, x, x, x]\n" + "".join(f"a{i}: &a{i} [*a, *a]\n" for i in range(3)), None),
        ("x: !!python/object/apply:os.system ['touch hit']\nstatus: 3\nlifecycle_stage: active\n", None),
        ("\0\0\0", "meta.yaml is no YAML"),
    ],
)
def test_broken_and_hostile_descriptions(
    store: Path, text: str, why: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store)
    run = make_run_folder(store, "r", {"lr": "1"})
    (run / "meta.yaml").write_text(text)
    make_run_folder(store, "good")
    said = _said(store)
    assert "mlflow:good" in said.records
    if why is None:
        assert said.records["mlflow:r"].params == {"lr": "1"}
    else:
        assert [skip.why[: len(why)] for skip in said.skipped] == [why]
    assert not (store / "hit").exists()


def test_links_are_told_and_not_followed(store: Path) -> None:
    make_run_folder(store, "r", {"lr": "1"})
    (store / "loop").symlink_to(store)
    (store / "1" / "loop").symlink_to(store / "1")
    (store / "1" / "r" / "params" / "loop").symlink_to(store / "1" / "r")
    (store / "1" / "r" / "params" / "secret").symlink_to("/etc/passwd")
    said = _said(store)
    assert said.records["mlflow:r"].params == {"lr": "1"}
    assert [(Path(skip.where).relative_to(store).as_posix(), skip.why) for skip in said.skipped] == [
        ("loop", "is a link, which is not followed"),
        ("1/loop", "is a link, which is not followed"),
    ]


def test_a_pipe_in_place_of_a_file_is_not_waited_for(store: Path) -> None:
    run = make_run_folder(store, "r", {"lr": "1"})
    (run / "meta.yaml").unlink()
    os.mkfifo(run / "meta.yaml")
    os.mkfifo(run / "params" / "pipe")
    assert [skip.why for skip in _said(store).skipped] == [
        "meta.yaml cannot be read: it is a pipe, a socket or a device"
    ]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_what_may_not_be_read_is_told(store: Path) -> None:
    make_run_folder(store, "r")
    closed = make_run_folder(store, "closed", {"lr": "1"})
    (closed / "params").chmod(0)
    try:
        said = _said(store)
    finally:
        (closed / "params").chmod(0o700)
    assert list(said.records) == ["mlflow:r"]
    assert [skip.why for skip in said.skipped] == ["params cannot be read: permission denied"]


def test_the_same_id_in_two_experiments_is_one_run_and_told(store: Path) -> None:
    make_run_folder(store, "r", {"lr": "1"})
    make_run_folder(store, "r", {"lr": "2"}, experiment="2")
    said = _said(store)
    assert [record.params for record in said.records.values()] == [{"lr": "1"}]
    assert [skip.why for skip in said.skipped] == ["has the id of a run of experiment 1: only that one is read"]


def test_a_store_that_is_missing_or_a_file_is_told_and_taken_back(tmp_path: Path) -> None:
    store = tmp_path / "mlruns"
    said = _said(store)
    assert [skip.why for skip in said.skipped] == ["there is no such folder"]
    assert _said(store, said).deltas[0].is_empty
    store.write_text("x")
    said = _said(store, said)
    assert said.skipped[-1].why == "is no folder"
    store.unlink()
    make_run_folder(store, "r", experiment="0")
    said = _said(store, said)
    assert (list(said.records), said.skipped) == (["mlflow:r"], ())
    assert said.records["mlflow:r"].experiment == "Default"


def test_stores_are_found(tmp_path: Path) -> None:
    assert store_at(tmp_path, ["mlruns", "mlartifacts"], []) == [tmp_path / "mlruns"]
    assert store_at(tmp_path, ["mlartifacts", "0"], []) == []
    other = tmp_path / "tracking"
    make_run_folder(other, "r", experiment="0")
    (other / "0" / "meta.yaml").write_text("name: Default\n")
    assert store_at(other, [".trash", "0"], []) == [other]
    assert store_at(other, ["0"], []) == []
