"""Rows of a results table whose commits are in the repository that it lies in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from git_folders import GitFolder

from tried.pool.outcome import is_dead_end
from tried.pool.record import ExperimentRecord
from tried.pool.sources.tables import commits as table_commits
from tried.pool.sources.tables.results_table import ResultsTableSource
from tried.storage.commit_cache import cache_of
from tried.storage.git_objects import Objects

HEADER = "commit\tval_bpb\tstatus\tdescription"


class Search:
    """An agent's search in a repository: it changes a file, commits, runs, writes a row, resets what was no help."""

    def __init__(self, folder: Path, config: str = "train.py") -> None:
        self.work = GitFolder(folder / "work")
        self.state = folder / "state"
        self.config = config
        self.rows = [HEADER]
        self.values: dict[str, Any] = {"DEPTH": 8, "LR": 0.1}
        self.code = "relu"
        self.work.write(".gitignore", "results.tsv\n")

    def text(self, values: dict[str, Any]) -> str:
        if self.config.endswith(".yaml"):
            return "".join(f"{key.lower()}: {value}\n" for key, value in values.items())
        lines = [f"def act(x):\n    return {self.code}(x)\n", *(f"{key} = {value}" for key, value in values.items())]
        return "\n".join([*lines, ""])

    def run(
        self,
        status: str,
        bpb: float,
        description: str,
        message: str = "try",
        *,
        keep: bool | None = None,
        **values: Any,
    ) -> str:
        """The commit's short name. `keep`: it stays, whatever the status says."""
        before = dict(self.values), self.code
        self.code = values.pop("code", self.code)
        self.values |= values
        self.work.write(self.config, self.text(self.values))
        name = self.work.commit(message)[:7]
        self.rows.append(f"{name}\t{bpb}\t{status}\t{description}")
        self.write()
        if not (status == "keep" if keep is None else keep):
            self.work.git("reset", "-q", "--hard", "HEAD~1")
            self.values, self.code = before
        return name

    def write(self, extra: str = "") -> None:
        self.work.write("results.tsv", "\n".join([*self.rows, extra]))

    @property
    def source(self) -> ResultsTableSource:
        return ResultsTableSource(self.work.path / "results.tsv", self.work.path, state=self.state)

    def records(self) -> dict[str, ExperimentRecord]:
        return {record.id.rsplit(":", 1)[1]: record for record in everything(self.source)}


def everything(source: ResultsTableSource, cursor: object | None = None) -> list[ExperimentRecord]:
    records: dict[str, ExperimentRecord] = {}
    while True:
        delta = source.scan(cursor)
        records.update((record.id, record) for record in delta.upserts)
        cursor = delta.cursor
        if not delta.more:
            return list(records.values())


def changes_of(record: ExperimentRecord) -> list[dict[str, Any]]:
    assert record.derivation is not None
    return [change.model_dump(by_alias=True, exclude_unset=True) for change in record.derivation.changes]


@pytest.fixture
def search(tmp_path: Path) -> Search:
    return Search(tmp_path)


def test_parameters_parent_and_changes_come_from_the_commits(search: Search) -> None:
    base = search.run("keep", 1.0, "baseline")
    worse = search.run("discard", 1.1, "a higher rate", LR=0.5)
    deeper = search.run("keep", 0.9, "deeper", DEPTH=10)
    last = search.run("discard", 0.95, "both", DEPTH=12, LR=0.05, EXTRA="'x'")
    found = search.records()
    assert found[base].params == {"DEPTH": 8, "LR": 0.1}
    assert found[worse].params == {"DEPTH": 8, "LR": 0.5}
    assert found[last].params == {"DEPTH": 12, "LR": 0.05, "EXTRA": "x"}
    assert found[base].parent is None
    assert found[worse].parent == found[deeper].parent == found[base].id
    assert found[last].parent == found[deeper].id
    assert changes_of(found[worse]) == [{"change": "ParamChanged", "key": "LR", "from": 0.1, "to": 0.5}]
    assert changes_of(found[last]) == [
        {"change": "ParamChanged", "key": "DEPTH", "from": 10, "to": 12},
        {"change": "ParamChanged", "key": "LR", "from": 0.1, "to": 0.05},
        {"change": "ParamAdded", "key": "EXTRA", "value": "x"},
    ]
    derivation = found[last].derivation
    assert derivation is not None
    assert derivation.summary == "DEPTH 10 → 12, LR 0.1 → 0.05, EXTRA x (new)"
    assert derivation.computed
    assert derivation.metric_delta["val_bpb"].before == 0.9
    assert derivation.metric_delta["val_bpb"].after == 0.95
    git = found[worse].git
    assert git["commit"] == worse
    assert len(git["sha"]) == 40
    assert git["sha"].startswith(worse)


def test_a_commit_gives_its_time_where_the_table_gives_none(search: Search) -> None:
    search.run("keep", 1.0, "baseline")
    assert [record.timestamp for record in search.records().values()] == ["2023-11-14T22:16:20Z"]


def test_code_that_changed_is_told_beside_the_words(search: Search) -> None:
    base = search.run("keep", 1.0, "baseline")
    other = search.run("discard", 1.1, "swap relu for gelu", code="gelu")
    both = search.run("discard", 1.1, "gelu, slower", code="gelu", LR=0.05)
    found = search.records()
    code = [
        {"change": "CodeChanged", "from_sha": found[base].git["sha"], "to_sha": found[name].git["sha"]}
        for name in (other, both)
    ]
    assert changes_of(found[other]) == [code[0], {"change": "Unspecified", "reason": "swap relu for gelu"}]
    assert changes_of(found[both]) == [
        {"change": "ParamChanged", "key": "LR", "from": 0.1, "to": 0.05},
        code[1],
        {"change": "Unspecified", "reason": "gelu, slower"},
    ]
    derivation = found[both].derivation
    assert derivation is not None
    assert derivation.summary == "LR 0.1 → 0.05, code"


def test_what_was_learnt_holds_when_the_commits_are_gone(search: Search) -> None:
    search.run("keep", 1.0, "baseline")
    discarded = search.run("discard", 1.1, "LR up", "try\n\nTried: dead-end it diverges", LR=0.5)
    search.run("keep", 0.9, "deeper", DEPTH=10)
    before = search.records()
    search.work.forget()
    assert search.work.git("cat-file", "-t", discarded, check=False) == "", "git has forgotten it"
    after = search.records()
    assert {name: record.to_json() for name, record in after.items()} == {
        name: record.to_json() for name, record in before.items()
    }
    assert after[discarded].params["LR"] == 0.5
    search.state = search.state / "another"
    anew = search.records()
    assert anew[discarded].params == {}
    assert anew[discarded].parent == before[discarded].parent, "the last that was kept before it"
    assert {name: record.params for name, record in anew.items() if name != discarded} == {
        name: record.params for name, record in before.items() if name != discarded
    }


def test_a_trailer_is_the_rows_conclusion(search: Search) -> None:
    base = search.run("keep", 1.0, "baseline")
    dead = search.run("keep", 0.9, "LR up", "x\n\nTried: dead-end: it diverges later", LR=0.5)
    plain = search.run("discard", 1.2, "LR down", "x\n\nTried: inconclusive", LR=0.01)
    found = search.records()
    assert [(found[name].verdict, found[name].headline) for name in (base, dead, plain)] == [
        ("works", "baseline"),
        ("dead_end", "it diverges later"),
        ("inconclusive", "LR down"),
    ]
    assert found[dead].name == "LR up"
    assert is_dead_end(found[dead])
    assert not is_dead_end(found[plain])


def test_after_a_revert_a_row_comes_from_what_was_kept(search: Search) -> None:
    """Agents that revert instead of resetting leave the discarded commit among the ancestors."""
    base = search.run("keep", 1.0, "baseline")
    search.run("discard", 1.1, "LR up", keep=True, LR=0.5)
    search.work.git("revert", "--no-edit", "HEAD")
    search.values["LR"] = 0.1
    later = search.run("discard", 1.2, "deeper", DEPTH=10)
    found = search.records()
    assert found[later].parent == found[base].id
    assert changes_of(found[later]) == [{"change": "ParamChanged", "key": "DEPTH", "from": 8, "to": 10}]


def test_work_that_goes_on_from_what_was_discarded_comes_from_there(search: Search) -> None:
    search.run("keep", 1.0, "baseline")
    middle = search.run("discard", 1.1, "LR up", keep=True, LR=0.5)
    later = search.run("discard", 1.2, "deeper", DEPTH=10)
    found = search.records()
    assert found[later].parent == found[middle].id
    assert changes_of(found[later]) == [{"change": "ParamChanged", "key": "DEPTH", "from": 8, "to": 10}]


def test_commits_that_no_row_names_lie_between(search: Search) -> None:
    base = search.run("keep", 1.0, "baseline")
    for number in range(30):
        search.work.write("notes.md", str(number))
        search.work.commit("notes")
    later = search.run("discard", 1.2, "deeper", DEPTH=10)
    found = search.records()
    assert found[later].parent == found[base].id


def test_what_git_denies_is_no_parent(search: Search) -> None:
    search.run("keep", 1.0, "baseline")
    search.work.git("checkout", "-q", "--orphan", "other")
    alone = search.run("discard", 1.2, "afresh", keep=True, DEPTH=10)
    found = search.records()
    assert found[alone].parent is None


def test_what_git_denies_is_no_parent_though_it_has_ancestors(search: Search) -> None:
    search.run("keep", 1.0, "baseline")
    search.work.git("checkout", "-q", "--orphan", "other")
    search.work.commit("named by no row")
    alone = search.run("discard", 1.2, "afresh", keep=True, DEPTH=10)
    assert search.records()[alone].parent is None


def test_a_commit_between_may_have_been_made_where_clocks_differ(search: Search) -> None:
    base = search.run("keep", 1.0, "baseline")
    search.work.seconds -= 3 * 60  # the next commit is a minute older than the last
    search.work.git("commit", "-q", "--allow-empty", "-m", "named by no row")
    later = search.run("discard", 1.2, "deeper", DEPTH=10)
    found = search.records()
    assert found[later].parent == found[base].id


def test_a_kept_row_without_a_commit_is_believed(search: Search) -> None:
    search.rows.append("-\t1.0\tkeep\tbaseline")
    search.work.write("notes.md", "")
    search.work.commit("before")
    later = search.run("discard", 1.2, "deeper", DEPTH=10)
    found = search.records()
    assert ":row-" in (found[later].parent or "")


def test_targets_that_alternate_are_compared_with_their_own(search: Search) -> None:
    search.rows = ["commit\tval_bpb\tstatus\tdescription\ttarget"]
    first = search.run("keep", 1.0, "baseline\teasy")
    second = search.run("keep", 1.0, "deeper\thard", DEPTH=9)
    third = search.run("keep", 1.0, "faster\teasy", LR=0.2)
    found = search.records()
    assert found[second].parent is None
    assert found[third].parent == found[first].id
    assert found[third].params == {"target": "easy", "DEPTH": 9, "LR": 0.2}


def test_a_row_says_of_its_run_what_the_file_says_of_all(search: Search) -> None:
    search.rows = ["commit\tval_bpb\tstatus\tdescription\tlr"]
    name = search.run("keep", 1.0, "baseline\t0.7")
    assert search.records()[name].params == {"lr": "0.7", "DEPTH": 8}


def test_a_config_of_data_beside_the_table(tmp_path: Path) -> None:
    search = Search(tmp_path, "conf.yaml")
    search.work.write("pyproject.toml", "[project]\nname = 'x'\n")
    search.work.write("tools.py", "import os\n")
    base = search.run("keep", 1.0, "baseline", LR=0.2)
    other = search.run("discard", 1.1, "swap the optimiser", LR=0.3)
    found = search.records()
    assert found[base].params == {"depth": 8, "lr": 0.2}
    assert changes_of(found[other]) == [{"change": "ParamChanged", "key": "lr", "from": 0.2, "to": 0.3}, {
        "change": "Unspecified",
        "reason": "swap the optimiser",
    }]  # fmt: skip


def test_of_several_configs_the_one_that_is_worked_on(tmp_path: Path) -> None:
    search = Search(tmp_path, "model.yaml")
    search.work.write("aaa.yaml", "learning_rate: 0.7\nbatch_size: 3\n")
    search.run("keep", 1.0, "baseline")
    name = search.run("keep", 1.1, "deeper", DEPTH=9)
    assert search.records()[name].params == {"depth": 9, "lr": 0.1}


def test_a_config_in_another_folder(tmp_path: Path) -> None:
    search = Search(tmp_path, "conf/train/base.yaml")
    search.work.write("conf/other.yaml", "learning_rate: 0.7\nbatch_size: 3\n")
    search.run("keep", 1.0, "baseline")
    name = search.run("keep", 1.1, "deeper", DEPTH=9)
    search.run("keep", 1.1, "deeper", DEPTH=10)
    assert search.records()[name].params == {"depth": 9, "lr": 0.1}


def test_a_table_in_a_folder_of_the_repository(tmp_path: Path) -> None:
    search = Search(tmp_path, "phase1/train.py")
    search.work.write("train.py", "DEPTH = 99\nLR = 1\nBATCH_SIZE = 1\n")
    name = search.run("keep", 1.0, "baseline")
    (search.work.path / "results.tsv").rename(search.work.path / "phase1" / "results.tsv")
    source = ResultsTableSource(search.work.path / "phase1" / "results.tsv", search.work.path, state=search.state)
    (record,) = everything(source)
    assert record.params == {"DEPTH": 8, "LR": 0.1}
    assert record.id == f"results-table:phase1/results.tsv:{name}"


def test_only_new_rows_ask_git(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    search.run("keep", 1.0, "baseline")
    source = search.source
    first = source.scan(None)
    asked: list[str] = []
    read = Objects.read

    def watched(self: Any, names: Any, *limit: Any) -> Any:
        asked.extend(names)
        return read(self, names, *limit)

    monkeypatch.setattr(Objects, "read", watched)
    assert source.scan(first.cursor).is_empty
    assert not asked
    new = search.run("discard", 1.1, "deeper", DEPTH=9)
    second = source.scan(first.cursor)
    assert [record.id.rsplit(":")[-1] for record in second.upserts] == [new]
    assert asked
    assert all(name.startswith(new) or len(name) == 40 for name in asked)
    asked.clear()
    assert len(search.source.scan(None).upserts) == 2
    assert not asked, "a new process knows it from the cache"


def test_a_long_table_is_joined_bit_by_bit(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_commits, "AT_ONCE", 2)
    names = [search.run("keep", 1.0, f"try {depth}", DEPTH=depth) for depth in range(5)]
    source = search.source
    delta = source.scan(None)
    assert delta.more
    assert [len(record.params) for record in delta.upserts] == [2, 2, 0, 0, 0]
    assert [record.params["DEPTH"] for record in everything(source)] == [0, 1, 2, 3, 4]
    assert list(search.records()) == names


@pytest.mark.parametrize("what", ["unwritable", "torn", "garbage"])
def test_a_cache_that_fails_costs_nothing(search: Search, what: str) -> None:
    name = search.run("keep", 1.0, "baseline")
    path = cache_of(search.work.path / ".git", search.state)
    assert path is not None
    if what == "unwritable":
        search.state.write_text("a file where the folder would be")
    else:
        search.records()
        data = path.read_bytes()
        path.write_bytes(
            data[: len(data) // 2] if what == "torn" else b'\x00\xff{"commit": [1]}\n[]\n{"config": 3}\n' * 9
        )
    assert search.records()[name].params == {"DEPTH": 8, "LR": 0.1}
    assert search.records()[name].params == {"DEPTH": 8, "LR": 0.1}


def test_commits_of_elsewhere_and_words_are_no_commits(search: Search) -> None:
    search.run("keep", 1.0, "baseline")
    search.rows += ["fedcba9\t1.2\tdiscard\tLR 0.1->0.2", "main\t1.2\tdiscard\tx", "HEAD\t1.2\tdiscard\ty"]
    search.write()
    found = search.records()
    assert [len(record.params) for record in found.values()] == [2, 0, 0, 0]
    assert changes_of(found["fedcba9"]) == [{"change": "ParamChanged", "key": "LR", "from": "0.1", "to": "0.2"}]
