"""What was learnt from commits is kept, and bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tried.storage import commit_cache
from tried.storage.commit_cache import CommitCache, KnownCommit, KnownConfig, cache_of

ONE = KnownCommit("a" * 40, ("b" * 40,), "2026-01-01T00:00:00Z", ("dead-end x",), {"train.py": "c" * 40})
CONFIG = KnownConfig({"LR": 0.1, "x": [1, "é", None]}, ("STEPS",), "abcd")


def test_what_is_saved_is_there_again(tmp_path: Path) -> None:
    cache = CommitCache(tmp_path / "deep" / "c.jsonl")
    cache.add_commit(ONE)
    cache.add_config("c" * 40, "train.py", CONFIG)
    cache.set_table("results.tsv", "train.py")
    assert cache.save()
    again = CommitCache(cache.path)
    assert (again.commits, again.configs, again.tables) == (
        {ONE.id: ONE},
        {("c" * 40, "train.py"): CONFIG},
        {"results.tsv": "train.py"},
    )


def test_a_file_names_its_schema_and_one_of_another_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    cache = CommitCache(path)
    cache.add_commit(ONE)
    assert cache.save()
    text = path.read_text()
    assert text.splitlines()[0] == '{"schema":"tried.commits/v1"}'

    older = tmp_path / "older.jsonl"
    older.write_text(text.partition("\n")[2])
    assert CommitCache(older).commits == cache.commits
    torn = tmp_path / "torn.jsonl"
    torn.write_text('{"schema\n' + text)
    assert CommitCache(torn).commits == cache.commits

    newer = tmp_path / "newer.jsonl"
    newer.write_text(text.replace("/v1", "/v2"))
    before = newer.read_bytes()
    strange = CommitCache(newer)
    assert strange.commits == {}
    strange.add_commit(ONE)
    assert strange.save()
    assert newer.read_bytes() == before


def test_only_what_is_new_is_written(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    cache = CommitCache(path)
    cache.add_commit(ONE)
    cache.save()
    before = path.read_bytes()
    cache.add_commit(ONE)
    cache.save()
    assert path.read_bytes() == before
    cache.add_commit(KnownCommit("d" * 40))
    cache.save()
    assert path.read_bytes().startswith(before)
    assert set(CommitCache(path).commits) == {"a" * 40, "d" * 40}


def test_what_is_known_of_two_files_of_a_commit_adds_up(tmp_path: Path) -> None:
    cache = CommitCache(None)
    cache.add_commit(ONE)
    cache.add_commit(KnownCommit(ONE.id, ONE.parents, ONE.time, ONE.tried, {"other.py": "e" * 40}))
    assert cache.commits[ONE.id].configs == {"train.py": "c" * 40, "other.py": "e" * 40}


def test_commits_by_the_beginnings_of_their_names() -> None:
    cache = CommitCache(None)
    for name in ("abc1" + "0" * 36, "abc2" + "0" * 36):
        cache.add_commit(KnownCommit(name))
    assert cache.find("abc1") == "abc1" + "0" * 36
    assert cache.find("abc") is None
    assert cache.find("abd") is None
    assert cache.find("abc2" + "0" * 36) == "abc2" + "0" * 36


def test_two_processes_do_not_lose_each_others(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    first, second = CommitCache(path), CommitCache(path)
    first.add_commit(ONE)
    second.add_commit(KnownCommit("d" * 40))
    assert first.save()
    assert second.save()
    assert set(CommitCache(path).commits) == {"a" * 40, "d" * 40}


def test_a_line_that_was_left_torn_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    cache = CommitCache(path)
    cache.add_commit(ONE)
    cache.save()
    with path.open("ab") as file:
        file.write(b'{"commit": "eee')
    cache.add_commit(KnownCommit("d" * 40))
    cache.save()
    assert set(CommitCache(path).commits) == {"a" * 40, "d" * 40}


def test_the_older_half_goes_when_it_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit_cache, "SIZE_LIMIT", 4_000)
    path = tmp_path / "c.jsonl"
    cache = CommitCache(path)
    for number in range(100):
        cache.add_commit(KnownCommit(f"{number:040x}", configs={"c.yaml": f"{number:040x}"}))
        cache.add_config(f"{number:040x}", "c.yaml", KnownConfig({"n": number}))
        assert cache.save()
        assert path.stat().st_size <= 4_000
    left = CommitCache(path)
    assert f"{99:040x}" in left.commits
    assert f"{0:040x}" not in left.commits
    assert {blob for blob, _ in left.configs} >= {commit.configs["c.yaml"] for commit in left.commits.values()}


def test_each_repository_has_its_own(tmp_path: Path) -> None:
    one, other = cache_of(tmp_path / "a", tmp_path), cache_of(tmp_path / "b", tmp_path)
    assert one is not None
    assert one != other
    assert one.parent == tmp_path / "commits"


def test_it_lies_in_the_users_state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = cache_of(tmp_path / "a")
    assert path is not None
    assert path.parent == tmp_path / "state" / "tried" / "commits"


def test_without_a_home_commits_are_known_as_long_as_the_process_lives(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(commit_cache, "state_folder", lambda: None)
    cache = CommitCache(cache_of(tmp_path / "a"))
    cache.add_commit(KnownCommit("a" * 40))
    assert cache.save()
    assert cache.find("aaaa") == "a" * 40
    assert list(tmp_path.iterdir()) == []
