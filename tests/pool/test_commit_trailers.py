"""Conclusions in commit messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from git_folders import GitFolder

from tried.pool.journal import fold
from tried.pool.outcome import is_dead_end
from tried.pool.pool import Pool
from tried.pool.record import ExperimentRecord
from tried.pool.sources import commit_trailers
from tried.pool.sources.commit_trailers import CommitTrailersSource, store_at
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.trailers import Conclusion, commit_key, conclusion_in


@pytest.fixture
def work(tmp_path: Path) -> GitFolder:
    return GitFolder(tmp_path / "work")


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["dead-end lr 0.5 diverges"], Conclusion("dead_end", "lr 0.5 diverges")),
        (["Dead end: too slow"], Conclusion("dead_end", "too slow")),
        (["dead_end"], Conclusion("dead_end", "")),
        (["works — by far the best"], Conclusion("works", "by far the best")),
        (["inconclusive, one seed"], Conclusion("inconclusive", "one seed")),
        (["workspace was wrong"], Conclusion(None, "workspace was wrong")),
        (["works-ish"], Conclusion(None, "works-ish")),
        (["works first", "dead-end later"], Conclusion("dead_end", "first; later")),
        (["works"] * 2, Conclusion("works", "")),
        ([], None),
        ([" "], None),
    ],
)
def test_what_a_trailer_says(values: list[str], found: Conclusion | None) -> None:
    assert conclusion_in(values) == found


def test_commits_with_a_trailer_amend_what_ran_from_them(work: GitFolder) -> None:
    work.commit("nothing to say")
    dead = work.commit("Raise it\n\nTried: dead-end lr 0.5 diverges\n")
    work.git("checkout", "-q", "-b", "side")
    good = work.commit("Tried: works")
    work.git("checkout", "-q", "main")
    delta = CommitTrailersSource(work.path / ".git").scan(None)
    assert delta.skipped == ()
    first, second = delta.upserts
    assert (first.kind, first.id, first.amends) == ("amendment", f"trailer:{dead}", f"commit:{dead}")
    assert first.verdict == "dead_end"
    assert first.headline == "lr 0.5 diverges"
    assert first.time is not None
    assert (second.amends, second.verdict, second.conclusion) == (f"commit:{good}", "works", None)
    record = ExperimentRecord(id="mlflow:1", params={"lr": 0.5}, git={"sha": dead})
    assert commit_key(record) == first.amends
    folded = fold(record, [first])
    assert is_dead_end(folded)
    assert folded.headline == "lr 0.5 diverges"


def test_only_what_is_new_is_looked_at(work: GitFolder) -> None:
    work.commit("Tried: works")
    source = CommitTrailersSource(work.path / ".git")
    first = source.scan(None)
    assert source.scan(first.cursor).is_empty
    later = work.commit("Tried: dead-end x")
    second = source.scan(first.cursor)
    assert [amendment.amends for amendment in second.upserts] == [f"commit:{later}"]
    work.git("branch", "another")
    work.git("gc", "-q")
    third = source.scan(second.cursor)
    assert third.is_empty
    work.git("reset", "-q", "--hard", "HEAD~1")
    assert source.scan(third.cursor).is_empty, "what was concluded stays"


def test_a_detached_head_is_looked_at(work: GitFolder) -> None:
    work.commit("first")
    work.git("checkout", "-q", "--detach")
    lone = work.commit("Tried: works")
    assert [a.amends for a in CommitTrailersSource(work.path / ".git").scan(None).upserts] == [f"commit:{lone}"]


def test_a_worktree_sees_the_same(work: GitFolder, tmp_path: Path) -> None:
    commit = work.commit("Tried: works")
    work.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (amendment,) = CommitTrailersSource(tmp_path / "side" / ".git").scan(None).upserts
    assert amendment.amends == f"commit:{commit}"


def test_a_long_history_is_bounded(work: GitFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = [work.commit(f"{number}\n\nTried: works") for number in range(6)]
    monkeypatch.setattr(commit_trailers, "COMMIT_LIMIT", 4)
    delta = CommitTrailersSource(work.path / ".git").scan(None)
    assert [a.amends for a in delta.upserts] == [f"commit:{commit}" for commit in commits[2:]]


def test_what_is_no_repository_is_told_once(work: GitFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    source = CommitTrailersSource(tmp_path / "empty" / ".git")
    delta = source.scan(None)
    assert [skipped.why for skipped in delta.skipped] == ["is no repository that can be read"]
    assert source.scan(delta.cursor).is_empty
    work.commit("Tried: works")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert [s.why for s in CommitTrailersSource(work.path / ".git").scan(None).skipped] == [
        "git was not found: add it to PATH"
    ]


@pytest.mark.parametrize(
    ("git", "key"),
    [
        ({"sha": "A" * 40}, f"commit:{'a' * 40}"),
        ({"sha": "a" * 40, "dirty": False}, f"commit:{'a' * 40}"),
        ({"sha": "a" * 40, "dirty": True}, None),
        ({"commit": "a" * 7}, None),
        ({"commit": "a" * 7, "sha": "b" * 64}, f"commit:{'b' * 64}"),
        ("a" * 40, None),
        (None, None),
        ({"sha": 3}, None),
    ],
)
def test_which_records_ran_from_a_commit(git: Any, key: str | None) -> None:
    assert commit_key(ExperimentRecord(id="x", git=git)) == key


def test_where_a_repository_is() -> None:
    assert list(store_at(Path("a"), {".git"}, set())) == [Path("a/.git")]
    assert list(store_at(Path("a"), set(), {".git"})) == [Path("a/.git")]
    assert list(store_at(Path("a"), {"git"}, set())) == []


def test_the_pool_concludes_the_only_run_of_a_commit(work: GitFolder, tmp_path: Path) -> None:
    commit = work.commit("x\n\nTried: dead-end lr 0.5 diverges")
    journal = tmp_path / "runs.jsonl"

    def write(*lines: dict[str, Any]) -> None:
        journal.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    run = {"id": "mlflow:1", "params": {"lr": 0.5}, "git": {"sha": commit}}
    other = {"id": "mlflow:2", "params": {"lr": 0.5}, "git": {"sha": "c" * 40}}
    pool = Pool([JournalSource(journal), CommitTrailersSource(work.path / ".git")])
    write(other)
    assert [record.verdict for record in pool.refresh().records.values()] == [None]
    write(other, run)
    found = pool.refresh().records
    assert {key: (record.verdict, record.headline) for key, record in found.items()} == {
        "mlflow:1": ("dead_end", "lr 0.5 diverges"),
        "mlflow:2": (None, ""),
    }
    write(other, run, {**run, "id": "mlflow:3"})
    assert {record.verdict for record in pool.refresh().records.values()} == {None}, "nobody knows of which it speaks"
    write(other, run, {**run, "id": "mlflow:3", "git": {"sha": commit, "dirty": True}})
    assert pool.refresh().records["mlflow:1"].verdict == "dead_end"
    write(other)
    waiting = pool.refresh().sources[1]
    assert waiting.waiting_amendments == 1
    assert [skipped.why for skipped in waiting.skipped] == [
        f"concludes no run: of the pool's none, or several, came from commit:{commit[:12]}"
    ]
