"""DVC's experiments from git refs and from its queue, made by hand; tests/trackers has the real DVC."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from git_folders import GitFolder

from tried.pool.outcome import is_dead_end
from tried.pool.record import ExperimentRecord
from tried.pool.sources.common.run_files import Unreadable
from tried.pool.sources.dvc import experiments as dvc_experiments
from tried.pool.sources.dvc.experiments import DvcExperimentsSource, store_at
from tried.pool.sources.dvc.files import flattened, locked_params, merged, metrics_in, named_files
from tried.pool.sources.kit import problems_of
from tried.storage.repository import Repository

PIPELINE = """
stages:
  train:
    cmd: python train.py
    params: [lr, other.yaml: [depth]]
    metrics: [scores.json]
"""


class DvcFolder(GitFolder):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.write(".dvc/.gitignore", "/tmp\n")
        self.write(".dvc/config", "")
        self.write("params.yaml", "lr: 0.1\nmodel: {depth: 3}\n")
        self.write("dvc.yaml", PIPELINE)
        self.start = self.commit("first")

    def experiment(self, name: str, message: str = "dvc: commit experiment abc", **files: str) -> str:
        """A commit on top of the one that is checked out, named by nothing but its ref."""
        for path, text in files.items():
            self.write(path.replace("__", "/").replace("_yaml", ".yaml").replace("_json", ".json"), text)
        start = self.git("rev-parse", "HEAD")
        made = self.commit(message)
        self.git("reset", "-q", "--hard", start)
        self.git("update-ref", f"refs/exps/{start[:2]}/{start[2:]}/{name}", made)
        return made

    def queued(self, name: str, log: str = "", *, status: int = 4, code: int | None = 255, **more: Any) -> str:
        self.write("params.yaml", "lr: 0.7\n")
        stash = self.git("stash", "create")
        self.git("checkout", "-q", "-f", ".")
        self.git("update-ref", "refs/exps/celery/failed", stash)
        told = {"name": name, "baseline_rev": self.start, "location": "dvc-task", "status": status, "result_ref": None}
        place = f".dvc/tmp/exps/run/{stash}/{stash}"
        self.write(f"{place}.run", json.dumps(told | more))
        self.write(f"{place}.json", json.dumps({"pid": 1, "returncode": code}))
        self.write(f"{place}.out", log)
        return stash

    @property
    def source(self) -> DvcExperimentsSource:
        return DvcExperimentsSource(self.path / ".dvc", self.path)

    def records(self) -> dict[str, ExperimentRecord]:
        delta = self.source.scan(None)
        assert delta.skipped == ()
        return {record.id: record for record in delta.upserts}


@pytest.fixture
def work(tmp_path: Path) -> DvcFolder:
    return DvcFolder(tmp_path / "work")


def test_parameters_and_metrics_of_an_experiment(work: DvcFolder) -> None:
    made = work.experiment(
        "lone-lynx",
        "Try more",
        params_yaml="lr: 0.5\nmodel: {depth: 4}\n",
        other_yaml="depth: 9\nlr: 0.5\n",
        scores_json='{"train": {"loss": 0.25}, "f1": 0.5, "words": "none"}',
        dvclive__metrics_json='{"acc": 0.75, "step": 3}',
    )
    (record,) = work.records().values()
    assert record.id == "dvc:lone-lynx"
    assert record.name == "lone-lynx"
    assert record.params == {"lr": 0.5, "model.depth": 4, "depth": 9}
    assert record.metrics == {"acc": 0.75, "step": 3, "train.loss": 0.25, "f1": 0.5}
    assert record.notes == "Try more"
    assert record.outcome == "completed"
    assert record.git == {"sha": made, "dirty": False}
    assert record.source == "dvc"
    assert record.research_line == "work"
    assert record.parent is None
    assert record.time is not None


def test_a_message_that_dvc_made_is_no_note(work: DvcFolder) -> None:
    work.experiment("one")
    assert work.records()["dvc:one"].notes is None


def test_a_metric_that_is_no_number_is_divergence(work: DvcFolder) -> None:
    work.experiment("one", dvclive__metrics_json='{"loss": "nan"}')
    work.experiment("two", dvclive__metrics_json='{"loss": NaN}')
    for record in work.records().values():
        assert math.isnan(record.numbers["loss"])
        assert record.cause == "diverged"
        assert is_dead_end(record)


def test_a_trailer_concludes(work: DvcFolder) -> None:
    work.experiment("one", "Higher\n\nTried: dead-end it diverges at 0.5")
    record = work.records()["dvc:one"]
    assert record.verdict == "dead_end"
    assert record.conclusion is not None
    assert record.conclusion.headline == "it diverges at 0.5"
    assert not record.conclusion.derived


def test_what_it_started_from_is_its_parent_where_that_has_metrics(work: DvcFolder) -> None:
    work.experiment("first")
    work.write("dvclive/metrics.json", '{"acc": 0.5}')
    base = work.commit("Applied the best\n\nIn full.")
    work.experiment("second")
    found = work.records()
    assert set(found) == {"dvc:first", "dvc:second", f"dvc:{base[:10]}"}
    assert found["dvc:first"].parent is None
    assert found["dvc:second"].parent == f"dvc:{base[:10]}"
    assert found[f"dvc:{base[:10]}"].name == "Applied the best"
    assert found[f"dvc:{base[:10]}"].metrics == {"acc": 0.5}


def test_an_experiment_from_an_experiment(work: DvcFolder) -> None:
    made = work.experiment("first")
    work.git("checkout", "-q", made)
    work.experiment("second")
    assert work.records()["dvc:second"].parent == "dvc:first"


def test_of_a_shared_name_the_oldest_has_it(work: DvcFolder) -> None:
    work.experiment("same", params_yaml="lr: 1\n")
    source = work.source
    first = source.scan(None)
    later = work.commit("later")
    work.experiment("same", params_yaml="lr: 2\n")
    assert {key: record.params["lr"] for key, record in work.records().items()} == {
        "dvc:same": 1,
        f"dvc:same@{later[:7]}": 2,
    }
    assert [record.id for record in source.scan(first.cursor).upserts] == [f"dvc:same@{later[:7]}"]


def test_only_what_is_new_is_said(work: DvcFolder) -> None:
    work.experiment("one", params_yaml="lr: 1\n")
    work.experiment("two", params_yaml="lr: 2\n")
    source = work.source
    first = source.scan(None)
    assert source.scan(first.cursor).is_empty
    work.experiment("three", params_yaml="lr: 3\n")
    second = source.scan(first.cursor)
    assert [record.id for record in second.upserts] == ["dvc:three"]
    start = f"refs/exps/{work.start[:2]}/{work.start[2:]}"
    work.git("update-ref", "-d", f"{start}/one")
    work.experiment("two", params_yaml="lr: 22\n")
    third = source.scan(second.cursor)
    assert third.removed == ("dvc:one",)
    assert [record.params["lr"] for record in third.upserts] == [22]
    work.git("pack-refs", "--all")
    fourth = source.scan(third.cursor)
    assert fourth.is_empty
    assert not fourth.reset


def test_refs_of_dvcs_own_are_no_experiments(work: DvcFolder) -> None:
    for name in ("exec/EXEC_HEAD", "stash", "celery/stash", "apply/last"):
        work.git("update-ref", f"refs/exps/{name}", work.start)
    assert work.records() == {}


def test_what_failed_in_the_queue(work: DvcFolder) -> None:
    log = 'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nValueError: bad shape\n'
    stash = work.queued("grim-gnu", log)
    (record,) = work.records().values()
    assert record.id == f"dvc:grim-gnu@{stash[:7]}"
    assert record.outcome == "failed"
    assert record.cause == "code_error"
    assert record.params == {"lr": 0.7}
    assert record.error is not None
    assert record.error.endswith("ValueError: bad shape")
    assert record.git == {"sha": work.start, "dirty": True}
    assert is_dead_end(record)


@pytest.mark.parametrize("place", [".dvc/tmp", ".dvc/tmp/exps/run", ".dvc/tmp/exps/run/@"])
def test_a_queue_behind_a_link_is_not_read(work: DvcFolder, tmp_path: Path, place: str) -> None:
    stash = work.queued("grim-gnu")
    assert list(work.records()) == [f"dvc:grim-gnu@{stash[:7]}"]
    inner = work.path / place.replace("@", stash)
    inner.rename(tmp_path / "elsewhere")
    inner.symlink_to(tmp_path / "elsewhere")
    assert work.records() == {}


@pytest.mark.parametrize(
    ("status", "more", "outcome"),
    [(2, {}, "running"), (5, {}, "stopped"), (3, {}, None), (6, {}, None), (1, {"location": "workspace"}, None)],
)
def test_other_states_of_the_queue(work: DvcFolder, status: int, more: dict[str, Any], outcome: str | None) -> None:
    work.queued("x", status=status, code=None, **more)
    assert [record.outcome for record in work.records().values()] == ([outcome] if outcome else [])


def test_a_queued_run_that_goes_on(work: DvcFolder) -> None:
    stash = work.queued("x", status=2, code=None)
    source = work.source
    first = source.scan(None)
    assert [record.outcome for record in first.upserts] == ["running"]
    place = work.path / ".dvc/tmp/exps/run" / stash / f"{stash}.run"
    place.write_text(place.read_text().replace('"status": 2', '"status": 4,  "x": 1'))
    second = source.scan(first.cursor)
    assert [(record.id, record.outcome) for record in second.upserts] == [(first.upserts[0].id, "failed")]
    assert second.removed == ()
    shutil.rmtree(place.parent)
    assert source.scan(second.cursor).removed == (first.upserts[0].id,)


def test_bad_files_are_told_and_cost_nothing_else(work: DvcFolder) -> None:
    work.experiment("one", params_yaml="lr: 0.5\nx: [\n", dvclive__metrics_json='{"acc": 0.75', scores_json='{"f1": 1}')
    work.experiment("two", dvc_yaml="a: &a [*a, !!python/object/apply:os.system [x]]\n- {")
    start = f"{work.start[:2]}/{work.start[2:]}"
    work.git("update-ref", f"refs/exps/{start}/zero", work.start)
    (work.path / ".git/refs/exps" / start / "gone").write_text("f" * 40 + "\n")
    broken = work.queued("three")
    (work.path / f".dvc/tmp/exps/run/{broken}/{broken}.run").write_text('{"name": ')
    delta = work.source.scan(None)
    assert {record.id for record in delta.upserts} == {"dvc:one", "dvc:two", "dvc:zero"}
    one = next(record for record in delta.upserts if record.id == "dvc:one")
    assert one.params["lr"] == 0.5
    assert one.metrics == {"f1": 1}
    told = {(skipped.where, skipped.why.split()[0]) for skipped in delta.skipped}
    assert told == {
        ("experiment one", "params.yaml:"),
        ("experiment one", "dvclive/metrics.json"),
        ("experiment two", "dvc.yaml"),
        ("experiment gone", "its"),
        (f".dvc/tmp/exps/run/{broken[:12]}", "is"),
    }
    assert "its commit is missing; fetch it, or remove it with `dvc exp remove`" in {s.why for s in delta.skipped}


def test_without_git_or_a_repository_that_is_told_once(
    work: DvcFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work.experiment("one")
    source = work.source
    first = source.scan(None)
    (work.path / ".git").rename(tmp_path / "hidden")
    second = source.scan(first.cursor)
    assert second.reset
    assert [skipped.why for skipped in second.skipped] == [
        "lies in no git repository that can be read, and DVC keeps experiments in git"
    ]
    assert source.scan(second.cursor).is_empty
    (tmp_path / "hidden").rename(work.path / ".git")
    third = source.scan(second.cursor)
    assert third.reset
    assert [record.id for record in third.upserts] == ["dvc:one"]
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(tmp_path))
        assert "git was not found" in source.scan(None).skipped[0].why
    shutil.rmtree(work.path / ".dvc")
    assert [skipped.why for skipped in source.scan(third.cursor).skipped] == ["there is no such folder"]


def test_a_dvc_folder_below_the_repositorys_root(tmp_path: Path) -> None:
    work = GitFolder(tmp_path / "work")
    work.write("sub/.dvc/config", "")
    work.write("sub/params.yaml", "lr: 0.1\n")
    work.write("params.yaml", "lr: 9\n")
    start = work.commit("first")
    work.git("update-ref", f"refs/exps/{start[:2]}/{start[2:]}/one", start)
    (record,) = DvcExperimentsSource(work.path / "sub" / ".dvc", work.path).scan(None).upserts
    assert record.params == {"lr": 0.1}
    assert record.research_line == "sub"


def test_many_come_in_batches(work: DvcFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        work.experiment(f"e{number}", params_yaml=f"lr: {number}\n")
    monkeypatch.setattr(dvc_experiments, "BATCH", 2)
    source, cursor, found, rounds = work.source, None, [], 0
    while True:
        delta = source.scan(cursor)
        cursor, rounds = delta.cursor, rounds + 1
        found += [record.id for record in delta.upserts]
        assert delta.total == 5
        assert delta.removed == ()
        if not delta.more:
            break
    assert rounds == 3
    assert sorted(found) == [f"dvc:e{number}" for number in range(5)]


def test_it_passes_what_every_source_must(tmp_path: Path) -> None:
    work = DvcFolder(tmp_path / "work")
    work.experiment("one", params_yaml="lr: 0.5\n", dvclive__metrics_json='{"acc": 0.75}')
    work.queued("two", "Traceback (most recent call last):\nValueError: x\n")

    def grow(path: Path) -> None:
        again = DvcFolder.__new__(DvcFolder)
        again.path, again.seconds, again.start = path, 1_800_000_000, work.start
        again.experiment("three", params_yaml="lr: 3\n")

    assert problems_of(lambda path: DvcExperimentsSource(path, path), work.path, grow=grow) == []


def test_where_a_store_is() -> None:
    assert list(store_at(Path("a"), {".dvc", "x"}, set())) == [Path("a/.dvc")]
    assert list(store_at(Path("a"), {"x"}, {".dvc"})) == []


def test_files_that_a_pipeline_names() -> None:
    params, metrics = named_files(
        """
params: [more.toml, ../out.yaml, /etc/passwd, "${x}.yaml"]
metrics: [m.json]
stages:
  a: {cmd: x, wdir: sub, params: [lr, p.json: [a], q.yaml: null], metrics: [s.json: {cache: false}]}
  b: {foreach: [1, 2], do: {cmd: x, metrics: ["m${item}.json", fixed.json]}}
  c: null
"""
    )
    assert params == ("params.yaml", "dvclive/params.yaml", "more.toml", "sub/p.json", "sub/q.yaml")
    assert metrics == ("dvclive/metrics.json", "m.json", "sub/s.json", "fixed.json")
    assert named_files(None) == (("params.yaml", "dvclive/params.yaml"), ("dvclive/metrics.json",))
    assert named_files("- 1\n")[1] == ("dvclive/metrics.json",)


def test_what_the_stages_ran_with() -> None:
    lock = "schema: '2.0'\nstages:\n  a:\n    params:\n      params.yaml: {lr: 0.5, m: {d: 1}}\n      o.yaml: {lr: 3}\n"
    assert locked_params(lock) == {"lr": 0.5, "m.d": 1}
    assert locked_params("stages: 3") == {}
    with pytest.raises(Unreadable):
        locked_params("a: [")


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("m.json", '{"a": {"b": 1}, "c": "inf", "d": true, "e": null, "f": [1]}', {"a.b": 1, "c": math.inf}),
        ("m.yaml", "a: .5\nb: nan\n", {"a": 0.5}),
        ("m.toml", "a = 1\n[b]\nc = 2.5\n", {"a": 1, "b.c": 2.5}),
        ("auc.txt", "0.75\n", {"auc": 0.75}),
        ("m.json", "[1, 2]", {}),
    ],
)
def test_metrics_files(path: str, text: str, found: dict[str, float]) -> None:
    read = metrics_in(path, text)
    read.pop("b", None)
    assert read == found


def test_metrics_that_cannot_be_read() -> None:
    for path, text in (("m.json", "{"), ("m.toml", "a ="), ("m.yaml", "a: ["), ("m.json", "[" * 100_000)):
        with pytest.raises(Unreadable):
            metrics_in(path, text)


def test_keys_of_several_files() -> None:
    assert merged([("a.yaml", {"x": 1, "y": 1}), ("b/c.yaml", {"x": 2, "y": 1, "z": 3})]) == {
        "x": 1,
        "y": 1,
        "b.c.x": 2,
        "z": 3,
    }
    deep: dict[str, Any] = {"v": 1}
    for _ in range(5_000):
        deep = {"k": deep}
    assert len(list(flattened(deep))) == 1


def test_refs_that_nobody_touched_are_not_read_again(work: DvcFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = work.path / ".git" / "refs" / "exps" / work.start[:2] / work.start[2:]
    folder.mkdir(parents=True)
    for number in range(300):
        (folder / f"e{number}").write_text(f"{work.start}\n")
    os.utime(folder, (1_700_000_000, 1_700_000_000))
    for above in (folder.parent, folder.parent.parent):
        os.utime(above, (1_700_000_000, 1_700_000_000))
    source, cursor, count = work.source, None, 0
    while True:
        delta = source.scan(cursor)
        cursor, count = delta.cursor, count + len(delta.upserts)
        if not delta.more:
            break
    assert count == 300
    assert isinstance(cursor, dvc_experiments.DvcCursor)
    assert cursor.signature is not None
    with monkeypatch.context() as patched:
        patched.setattr(Repository, "refs", lambda *_: pytest.fail("refs were read"))
        assert source.scan(cursor).is_empty
