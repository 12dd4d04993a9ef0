"""Which run folders are to be read again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.sources.common.folder_watch import (
    RESTLESS_LIMIT,
    RUNNING_SECONDS,
    SLICE,
    YOUNG_SECONDS,
    FolderWatch,
    Listing,
    Signature,
    joined,
    listing_of,
    look_at,
    signature_of,
    signature_of_folder,
)

NOW = 1_800_000_000.0
OLD = int((NOW - 30 * 24 * 3600) * 1e9)
FRESH = int((NOW - 1) * 1e9)


class Folders:
    """Runs with their signatures, and how often they were asked for."""

    def __init__(self, signatures: dict[str, Signature]) -> None:
        self.signatures = signatures
        self.asked: list[str] = []

    def signature(self, key: str) -> Signature | None:
        self.asked.append(key)
        return self.signatures.get(key)

    @property
    def keys(self) -> list[str]:
        return list(self.signatures)


def test_new_folders_are_due_in_batches_and_then_no_more() -> None:
    folders = Folders({f"r{number}": (OLD, number) for number in range(5)})
    first = look_at(None, folders.keys, folders.signature, NOW, limit=2)
    assert (first.due, first.more, first.total) == (("r0", "r1"), True, 5)
    second = look_at(first.then(), folders.keys, folders.signature, NOW, limit=2)
    assert (second.due, second.more) == (("r2", "r3"), True)
    third = look_at(second.then(), folders.keys, folders.signature, NOW, limit=2)
    assert (third.due, third.more) == (("r4",), False)
    fourth = look_at(third.then(), folders.keys, folders.signature, NOW, limit=2)
    assert (fourth.due, fourth.gone, fourth.more) == ((), (), False)


def test_a_young_folder_is_looked_at_in_each_scan_and_an_old_one_in_turn() -> None:
    count = 3 * SLICE
    folders = Folders({f"r{number:04}": (OLD, number) for number in range(count)} | {"young": (FRESH, 1)})
    watch = look_at(None, folders.keys, folders.signature, NOW, limit=count + 1).then()
    assert watch.restless == {"young"}
    folders.asked.clear()
    for _ in range(4):
        watch = look_at(watch, folders.keys, folders.signature, NOW).then()
    assert folders.asked.count("young") == 4
    assert all(folders.asked.count(key) in (1, 2) for key in folders.keys if key != "young")
    assert len(folders.asked) <= 4 * (SLICE + 1)


def test_a_change_of_an_old_one_is_seen_within_a_turn() -> None:
    folders = Folders({f"r{number:04}": (OLD, number) for number in range(3 * SLICE)})
    watch = look_at(None, folders.keys, folders.signature, NOW).then()
    folders.signatures["r1499"] = (OLD + 1, 7)
    due: list[str] = []
    for _ in range(4):
        look = look_at(watch, folders.keys, folders.signature, NOW)
        due += look.due
        watch = look.then()
    assert due == ["r1499"]


@pytest.mark.parametrize(
    ("age", "is_running", "is_restless"),
    [
        (YOUNG_SECONDS - 1, False, True),
        (YOUNG_SECONDS + 1, False, False),
        (YOUNG_SECONDS + 1, True, True),
        (RUNNING_SECONDS - 1, True, True),
        (RUNNING_SECONDS + 1, True, False),
        (-1, False, True),
        (-RUNNING_SECONDS - 1, True, False),  # a clock that was wrong
    ],
)
def test_what_is_restless(age: float, is_running: bool, is_restless: bool) -> None:
    folders = Folders({"r": (int((NOW - age) * 1e9), 1)})
    watch = look_at(None, ["r"], folders.signature, NOW).then(running=["r"] if is_running else [])
    assert ("r" in watch.restless) is is_restless


def test_a_running_one_that_nothing_was_written_to_grows_old() -> None:
    folders = Folders({"r": (FRESH, 1)})
    watch = look_at(None, ["r"], folders.signature, NOW).then(running=["r"])
    later = look_at(watch, ["r"], folders.signature, NOW + YOUNG_SECONDS + 5).then()
    assert later.running == later.restless == {"r"}
    assert look_at(later, ["r"], folders.signature, NOW + RUNNING_SECONDS + 5).then().restless == frozenset()


def test_of_many_restless_ones_the_newest_are_looked_at_in_each_scan_and_the_others_in_turn() -> None:
    count = 5_000
    folders = Folders({f"r{number:04}": (FRESH - (count - number), number) for number in range(count)})
    watch = look_at(None, folders.keys, folders.signature, NOW, limit=count).then()
    assert len(watch.restless) == count
    folders.asked.clear()
    scans = count // SLICE
    for _ in range(scans):
        watch = look_at(watch, folders.keys, folders.signature, NOW).then()
    assert len(folders.asked) <= scans * (RESTLESS_LIMIT + SLICE)
    assert set(folders.asked) == set(folders.keys)
    assert all(folders.asked.count(f"r{number:04}") == scans for number in (count - 1, count - RESTLESS_LIMIT))
    assert folders.asked.count(f"r{count - RESTLESS_LIMIT - 1:04}") == 1


def test_what_is_half_written_is_looked_at_before_newer_ones() -> None:
    others = {f"r{number:04}": (FRESH, number) for number in range(2 * RESTLESS_LIMIT + 2 * SLICE)}
    folders = Folders(others | {"z": (FRESH - 1, 1)})
    watch = look_at(None, folders.keys, folders.signature, NOW).then(unfinished=["z"])
    assert look_at(watch, folders.keys, folders.signature, NOW).due == ("z",)


def test_one_that_has_ended_is_running_no_more() -> None:
    folders = Folders({"r": (FRESH, 1)})
    watch = look_at(None, ["r"], folders.signature, NOW).then(running=["r"])
    folders.signatures["r"] = (FRESH + 1, 2)
    look = look_at(watch, ["r"], folders.signature, NOW)
    assert look.due == ("r",)
    assert look.then().running == frozenset()


def test_an_unfinished_one_is_due_until_it_is_finished_and_keeps_no_other_waiting() -> None:
    folders = Folders({"a": (OLD, 1), "b": (OLD, 2)})
    watch = look_at(None, folders.keys, folders.signature, NOW, limit=1).then(unfinished=["a"])
    look = look_at(watch, folders.keys, folders.signature, NOW, limit=1)
    assert (look.due, look.more) == (("b",), True)
    look = look_at(look.then(), folders.keys, folders.signature, NOW, limit=1)
    assert (look.due, look.more) == (("a",), False)
    assert look_at(look.then(), folders.keys, folders.signature, NOW, limit=1).due == ()


def test_folders_that_are_there_no_more_are_gone() -> None:
    folders = Folders({"a": (OLD, 1), "b": (OLD, 2), "c": (OLD, 3)})
    watch = look_at(None, folders.keys, folders.signature, NOW).then(running=["b"])
    del folders.signatures["b"]
    look = look_at(watch, ["a", "c"], folders.signature, NOW)
    assert look.gone == ("b",)
    watch = look.then()
    assert set(watch.seen) == {"a", "c"}
    assert watch.running == frozenset()
    del folders.signatures["c"]
    assert look_at(watch, ["a", "c"], folders.signature, NOW).gone == ("c",)


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3)), max_size=30))
def test_after_all_batches_nothing_is_due_and_everything_is_known(steps: list[tuple[str, int]]) -> None:
    folders = Folders({})
    watch = FolderWatch()
    known: dict[str, Signature] = {}
    for key, version in steps:
        if version:
            folders.signatures[key] = (FRESH, version)
        else:
            folders.signatures.pop(key, None)
        while True:
            look = look_at(watch, sorted(folders.keys), folders.signature, NOW, limit=2)
            for gone in look.gone:
                del known[gone]
            known.update({each: folders.signatures[each] for each in look.due})
            watch = look.then()
            if not look.more:
                break
        assert known == folders.signatures


def test_signatures_of_files(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert signature_of([one, two]) is None
    one.write_text("a")
    os.utime(one, ns=(5, 5_000))
    first = signature_of([one, two])
    assert first is not None
    assert first[0] == 5_000
    two.write_text("")
    os.utime(two, ns=(5, 7_000))
    assert (signature_of([one, two]) or (0, 0))[0] == 7_000
    two.unlink()
    assert signature_of([one, two]) == first
    assert signature_of(["nul\0byte"]) is None


def test_signatures_of_folders(tmp_path: Path) -> None:
    assert signature_of_folder(tmp_path / "none") is None
    (tmp_path / "file").write_text("a")
    os.utime(tmp_path / "file", ns=(5, 5_000))
    (tmp_path / "folder").mkdir()
    first = signature_of_folder(tmp_path)
    assert first is not None
    assert first[0] == 5_000
    (tmp_path / "folder" / "inner").write_text("a")
    assert signature_of_folder(tmp_path) == first
    (tmp_path / "file").write_text("ab")
    assert signature_of_folder(tmp_path) != first
    assert joined(None, None) is None
    assert (joined((3, 1), None, (5, 2)) or (0, 0))[0] == 5
    assert joined((3, 1), None) != joined(None, (3, 1))


def _write(path: Path) -> None:
    path.write_text("")


def _make(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("add", [_write, _make])
def test_a_listing_holds_until_something_is_added(tmp_path: Path, add: Callable[[Path], None]) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").mkdir()
    (tmp_path / "f").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.utime(tmp_path, (1_000, 1_000))
    first = listing_of(str(tmp_path), None, NOW)
    assert first == Listing(("a", "b"), ("f",), 1_000 * 10**9)
    assert listing_of(str(tmp_path), first, NOW) is first
    add(tmp_path / "g")
    second = listing_of(str(tmp_path), first, NOW)
    assert second is not None
    assert "g" in second.folders + second.files


def test_a_listing_of_what_changes_just_now_does_not_hold(tmp_path: Path) -> None:
    moment = tmp_path.stat().st_mtime
    first = listing_of(str(tmp_path), None, moment + 1)
    assert first == Listing()
    assert listing_of(str(tmp_path), first, moment + 1) is not first


def test_listings_of_what_is_gone_or_closed(tmp_path: Path) -> None:
    assert listing_of(str(tmp_path / "none"), Listing(("a",)), NOW) is None
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        if os.access(closed, os.R_OK):
            pytest.skip("whoever runs this may read everything")
        assert listing_of(str(closed), Listing(("a",), (), 7), NOW) == Listing(("a",), (), 0, "Permission denied")
    finally:
        closed.chmod(0o755)
