"""Reading repositories through git, none of which is obeyed."""

from __future__ import annotations

import os
import shutil
import stat
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from git_folders import GitFolder
from hypothesis import given
from hypothesis import strategies as st

from tried.storage import git_objects
from tried.storage.git_formats import MESSAGE_LIMIT, GitObject, parse_commit, parse_tree, trailers_of
from tried.storage.git_objects import changed_paths
from tried.storage.repository import Repository


@pytest.fixture
def work(tmp_path: Path) -> GitFolder:
    return GitFolder(tmp_path / "work")


def repository_of(folder: Path) -> Repository:
    found = Repository.at(folder)
    assert found is not None
    return found


def test_commits_by_their_short_names(work: GitFolder) -> None:
    work.write("train.py", "LR = 0.1\n")
    first = work.commit("first")
    second = work.commit("Raise it\n\nA reason.\n\nTried: dead-end too high\nSigned-off-by: S <s@example.org>")
    found = repository_of(work.path).commits_named([first[:7], second, "0000000", "main", "HEAD", "x; touch y", ""])
    assert set(found) == {first[:7], second}
    assert found[first[:7]].id == first
    assert found[second].parents == (first,)
    assert found[second].subject == "Raise it"
    assert found[second].trailers == (("Tried", "dead-end too high"), ("Signed-off-by", "S <s@example.org>"))
    # git-init, add, commit, rev-parse, add: each takes the next minute.
    assert found[first[:7]].time == datetime.fromtimestamp(1_700_000_000 + 3 * 60, UTC)


def test_files_of_commits(work: GitFolder) -> None:
    work.write("a b/train.py", "LR = 0.1 # é\n")
    work.write("data.bin", "\0\1")
    first = work.commit("first")
    work.write("a b/train.py", "LR = 0.2\n")
    second = work.commit("second")
    repository = repository_of(work.path / "a b")
    assert repository.root == work.path
    assert repository.file_at(first, "a b/train.py") == "LR = 0.1 # é\n"
    assert repository.file_at(second[:8], "a b/train.py") == "LR = 0.2\n"
    for commit, path in [(first, "none"), (first, "data.bin"), (first, "a b"), ("f" * 40, "x"), (first, "a\nb")]:
        assert repository.file_at(commit, path) is None


def test_what_is_checked_out(work: GitFolder) -> None:
    assert repository_of(work.path).head() is None
    assert repository_of(work.path).working_state() is None
    work.write("train.py", "LR = 0.1\n")
    first = work.commit("first")
    second = work.commit("second")
    state = repository_of(work.path).working_state()
    assert state is not None
    assert (state.commit, state.parent, state.dirty, state.branch) == (second, first, False, "main")
    work.write("new.txt", "not under version control")
    assert repository_of(work.path).is_dirty() is False
    work.write("train.py", "LR = 0.2\n")
    assert repository_of(work.path).is_dirty() is True
    work.git("checkout", "-q", "-f", first)
    state = repository_of(work.path).working_state()
    assert state is not None
    assert (state.commit, state.parent, state.dirty, state.branch) == (first, None, False, None)


def test_refs_loose_and_packed(work: GitFolder) -> None:
    work.write("x", "x")
    first = work.commit("first")
    work.git("update-ref", "refs/exps/ab/cdef/one", first)
    work.git("pack-refs", "--all")
    second = work.commit("second")
    work.git("update-ref", "refs/exps/ab/cdef/two", second)
    work.git("symbolic-ref", "refs/exps/ab/link", "refs/heads/main")
    repository = repository_of(work.path)
    assert repository.refs("refs/exps") == {"refs/exps/ab/cdef/one": first, "refs/exps/ab/cdef/two": second}
    assert repository.refs("refs/heads") == {"refs/heads/main": second}, "the loose one is the newer"
    assert repository.refs("refs/none") == {}
    assert repository.head() == second


def test_a_signature_of_refs_is_given_no_sooner_than_it_can_be_trusted(work: GitFolder) -> None:
    first = work.commit("first")
    repository = repository_of(work.path)
    assert repository.refs_signature("refs/heads") is None, "another may come within the same tick of the clock"

    def age(seconds: int) -> None:
        for place in (work.path / ".git" / "refs").rglob("*"):
            if place.is_dir():
                os.utime(place, (seconds, seconds))

    age(1_700_000_000)
    before = repository.refs_signature("refs/heads")
    assert before is not None
    assert repository.refs_signature("refs/heads") == before
    work.git("branch", "other", first)
    age(1_700_000_001)
    assert repository.refs_signature("refs/heads") not in (None, before)


def test_a_worktree_is_read_and_a_forged_one_is_not(work: GitFolder, tmp_path: Path) -> None:
    work.write("x", "x")
    first = work.commit("first")
    work.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = repository_of(tmp_path / "side")
    assert side.head() == first
    assert side.common == repository_of(work.path).common
    assert side.is_dirty() is False
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {work.path / '.git'}\n")
    assert Repository.at(forged) is None
    (forged / ".git").write_text("gitdir: ../nowhere\n")
    assert Repository.at(forged) is None


def test_a_submodule_belongs_to_the_repository_around_it(work: GitFolder, tmp_path: Path) -> None:
    other = GitFolder(tmp_path / "other")
    other.write("x", "x")
    inner = other.commit("inner")
    work.write("y", "y")
    work.commit("first")
    work.git("submodule", "--quiet", "add", str(other.path), "sub")
    assert repository_of(work.path / "sub").head() == inner


@pytest.mark.parametrize("what", ["nothing", "empty .git", "bare", "broken HEAD", "a link"])
def test_where_there_is_no_repository(what: str, work: GitFolder, tmp_path: Path) -> None:
    work.commit("first")
    place = tmp_path / "place"
    place.mkdir()
    if what == "empty .git":
        (place / ".git").mkdir()
    elif what == "bare":
        work.git("clone", "-q", "--bare", str(work.path), str(place / "bare"))
        place /= "bare"
    elif what == "broken HEAD":
        shutil.copytree(work.path / ".git", place / ".git")
        (place / ".git" / "HEAD").unlink()
    elif what == "a link":
        (place / ".git").symlink_to(work.path / ".git")
    assert Repository.at(place) is None


def test_a_shallow_clone_gives_what_it_has(work: GitFolder, tmp_path: Path) -> None:
    first = work.commit("first")
    second = work.commit("second")
    work.git("clone", "-q", "--depth", "1", f"file://{work.path}", str(tmp_path / "clone"))
    found = repository_of(tmp_path / "clone").commits_named([first, second])
    assert set(found) == {second}
    assert found[second].parents == (first,)


def test_an_object_that_is_broken_costs_no_other(work: GitFolder) -> None:
    commits = []
    for number in range(4):
        work.write("train.py", f"LR = {number}\n")
        commits.append(work.commit(f"number {number}"))
    broken = work.path / ".git" / "objects" / commits[1][:2] / commits[1][2:]
    broken.chmod(stat.S_IRUSR | stat.S_IWUSR)
    broken.write_bytes(b"no object")
    (work.path / ".git" / "objects" / commits[2][:2] / commits[2][2:]).unlink()
    repository = repository_of(work.path)
    assert set(repository.commits_named(commits)) == {commits[0], commits[3]}
    assert repository.files_at([(commit, "train.py") for commit in commits]) == ["LR = 0\n", None, None, "LR = 3\n"]


def test_a_name_that_fits_two_objects_is_none(work: GitFolder) -> None:
    for number in range(1_500):
        work.write(f"{number}.txt", str(number))
    work.commit("first")
    hashes = [line.split()[0] for line in work.git("rev-list", "--all", "--objects").splitlines()]
    counts = Counter(name[:4] for name in hashes)
    shared = next(name for name, count in counts.items() if count > 1)
    alone = next(name for name in hashes if counts[name[:4]] == 1)
    with repository_of(work.path).objects() as objects:
        found = objects.find([shared, alone[:4], alone[:3]])
    assert [item and item[0] for item in found] == [None, alone, None]


def test_large_objects_are_left(work: GitFolder) -> None:
    work.write("large.py", "x" * 2_000)
    commit = work.commit("first")
    with repository_of(work.path).objects() as objects:
        assert objects.read([f"{commit}:large.py"], limit=1_999) == [None]
        (item,) = objects.read([f"{commit}:large.py"], limit=2_000)
        assert item is not None
        assert len(item.data) == 2_000


def test_more_names_than_a_pipe_holds(work: GitFolder) -> None:
    work.write("train.py", "LR = 0.1\n")
    commit = work.commit("first")
    names = [f"{commit}:{'n' * 900}{number}" for number in range(1_000)] + [f"{commit}:train.py"]
    with repository_of(work.path).objects() as objects:
        found = objects.read(names)
    assert found[:-1] == [None] * 1_000
    assert found[-1] is not None
    assert found[-1].data == b"LR = 0.1\n"


def test_without_git_there_is_nothing(work: GitFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commit = work.commit("first")
    monkeypatch.setenv("PATH", str(tmp_path))
    repository = repository_of(work.path)
    assert repository.commits_named([commit]) == {}
    assert repository.head() == commit, "refs are files"
    assert repository.is_dirty() is None


def test_a_git_in_the_present_folder_is_not_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\ntouch started\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_objects.git_executable() is None
    monkeypatch.setenv("PATH", ".")
    assert git_objects.git_executable() is None


def test_a_git_that_hangs_is_given_up(work: GitFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commit = work.commit("first")
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").write_text("#!/bin/sh\nexec sleep 30\n")
    (tools / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    with git_objects.reading_objects(work.path / ".git" / "objects", seconds=0.3) as objects:
        assert objects.find([commit, commit]) == [None, None]


def test_nothing_that_a_repository_configures_is_started(work: GitFolder, tmp_path: Path) -> None:
    trap = tmp_path / "trap.sh"
    sprung = tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\ncat\n")
    trap.chmod(0o755)
    work.write("train.py", "LR = 0.1\n")
    work.write(".gitattributes", "*.py diff=evil filter=evil merge=evil\n")
    first = work.commit("first")
    for key in (
        *("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "core.askPass", "core.gitProxy"),
        *("diff.evil.textconv", "diff.evil.command", "diff.external", "filter.evil.clean", "filter.evil.smudge"),
        *("filter.evil.process", "pager.status", "pager.cat-file", "credential.helper", "gpg.program"),
        *("uploadpack.packObjectsHook", "remote.origin.uploadpack", "core.alternateRefsCommand"),
    ):
        work.git("config", key, str(trap))
    work.git("config", "alias.cat-file", f"!{trap}")
    work.git("config", "core.hooksPath", str(tmp_path))
    work.git("config", "remote.origin.url", f"ext::{trap}")
    work.git("config", "remote.origin.promisor", "true")
    work.git("config", "extensions.partialClone", "origin")
    work.git("config", "core.repositoryFormatVersion", "1")
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        shutil.copy(trap, tmp_path / hook)
    (work.path / "train.py").write_text("LR = 0.2\n")
    os.utime(work.path / "train.py", (1, 1))
    before = {path: path.stat().st_mtime_ns for path in (work.path / ".git").rglob("*")}
    repository = repository_of(work.path)
    assert repository.file_at(first, "train.py") == "LR = 0.1\n"
    assert repository.commits_named([first, "f" * 40, "f" * 7]).keys() == {first}
    assert repository.is_dirty() is True
    assert repository.working_state() is not None
    assert not sprung.exists()
    assert {path: path.stat().st_mtime_ns for path in (work.path / ".git").rglob("*")} == before, "nothing was written"
    # The trap does work: git itself would have walked into it.
    work.git("status", check=False)
    assert sprung.exists()


def test_paths_that_a_commit_changed(work: GitFolder) -> None:
    work.write("conf/a.yaml", "lr: 1\n")
    work.write("conf/b.yaml", "lr: 1\n")
    work.write("top.py", "x = 1\n")
    first = work.commit("first")
    work.write("conf/b.yaml", "lr: 2\n")
    work.write("new/c.yaml", "lr: 2\n")
    (work.path / "top.py").unlink()
    second = work.commit("second")
    repository = repository_of(work.path)
    with repository.objects() as objects:
        both = objects.commits([first, second])
        assert sorted(changed_paths(objects, both[first].tree, both[second].tree)) == ["conf/b.yaml", "new/c.yaml"]
        assert sorted(changed_paths(objects, None, both[first].tree)) == ["conf/a.yaml", "conf/b.yaml", "top.py"]
        (tree,) = objects.read([both[first].tree])
    assert {name: mode for name, (mode, _) in parse_tree(tree).items()} == {"conf": "40000", "top.py": "100644"}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("Tried: dead-end lr 0.5 diverges", [("Tried", "dead-end lr 0.5 diverges")]),
        ("x\n\nTried: works\n  well\n\nand more words: here", [("Tried", "works well")]),
        ("x\n\nNot a: trailer because\nof this", []),
        ("Fixes: 3", []),
        ("x\n\nReviewed-by: A\nTried: inconclusive", [("Reviewed-by", "A"), ("Tried", "inconclusive")]),
        ("", []),
    ],
)
def test_trailers(message: str, found: list[tuple[str, str]]) -> None:
    assert list(trailers_of(message)) == found


@given(st.binary(max_size=200))
def test_whatever_an_object_holds(data: bytes) -> None:
    for kind in ("commit", "tree", "blob"):
        item = GitObject("a" * 40, kind, data)
        commit = parse_commit(item)
        assert (commit is None) == (kind != "commit")
        assert all(len(name) <= 40 for _, name in parse_tree(item).values())


def test_a_commit_in_another_encoding_and_one_that_would_take_forever(work: GitFolder) -> None:
    for encoding, said in (
        ("latin-1", "gr\xf6\xdfer"),
        ("punycode", "gr\ufffd\ufffder"),
        ("nonsense", "gr\ufffd\ufffder"),
    ):
        head = f"tree {'0' * 40}\ncommitter S <s@e> 1700000000 +0000\nencoding {encoding}\n\n".encode()
        commit = parse_commit(GitObject("a" * 40, "commit", head + b"gr\xf6\xdfer"))
        assert commit is not None
        assert commit.subject == said
    long = parse_commit(GitObject("a" * 40, "commit", b"\n\nx\n" + b" y\n" * 1_000_000))
    assert long is not None
    assert len(long.message) <= MESSAGE_LIMIT


def test_times_beyond_all_calendars(work: GitFolder) -> None:
    commit = parse_commit(GitObject("a" * 40, "commit", b"committer S <s@e> 999999999999 +0000\n\nx"))
    assert commit is not None
    assert commit.time is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("place", ["info/alternates", "pack/pack-a.idx", "info/commit-graph", "elsewhere"])
def test_a_pipe_among_the_objects_is_not_waited_for(
    work: GitFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    first = work.commit("first")
    objects = work.path / ".git" / "objects"
    repository = repository_of(work.path)
    assert set(repository.commits_named([first])) == {first}
    if place == "elsewhere":
        place = str(tmp_path / "other" / "info" / "alternates")
        (objects / "info" / "alternates").write_text(f"# theirs\n{tmp_path / 'other'}\n")
    (objects / place).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(objects / place)
    started: list[object] = []
    monkeypatch.setattr(git_objects, "start_git", lambda *arguments: started.append(arguments))
    assert repository.commits_named([first]) == {}
    assert repository.is_dirty() is None
    assert started == []


def test_alternates_are_read_and_a_circle_of_them_ends(work: GitFolder, tmp_path: Path) -> None:
    first = work.commit("first")
    objects = work.path / ".git" / "objects"
    other = GitFolder(tmp_path / "other")
    (other.path / ".git" / "objects" / "info" / "alternates").write_text(f"{objects}\n")
    (objects / "info" / "alternates").write_text(f"{other.path / '.git' / 'objects'}\n")
    assert set(repository_of(other.path).commits_named([first])) == {first}
