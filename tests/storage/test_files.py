"""Appending and replacing files so that nobody ever sees half of it."""

import os
import threading
from pathlib import Path

import pytest
from filelock import FileLock

from tried.storage.files import StorageError, append_lines, locked, replace_file


def test_an_append_makes_the_file_and_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "log.jsonl"
    append_lines(path, (b"one",))
    append_lines(path, (b"two",))
    assert path.read_bytes() == b"one\ntwo\n"


def test_a_torn_last_line_is_closed_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'one\n{"id":"to')
    append_lines(path, (b"two",))
    assert path.read_bytes() == b'one\n{"id":"to\ntwo\n'


def test_a_line_with_a_line_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="line end"):
        append_lines(tmp_path / "log.jsonl", (b"one\ntwo",))
    assert not (tmp_path / "log.jsonl").exists()


def test_each_line_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    synced: list[int] = []
    write, fsync = os.write, os.fsync
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"torn")

    def note_write(descriptor: int, data: bytes) -> int:
        written.append(bytes(data))
        return write(descriptor, data)

    def note_sync(descriptor: int) -> None:
        synced.append(descriptor)
        fsync(descriptor)

    monkeypatch.setattr(os, "write", note_write)
    monkeypatch.setattr(os, "fsync", note_sync)
    append_lines(path, (b"x" * 100_000,))
    assert [data for data in written if b"x" in data] == [b"\n" + b"x" * 100_000 + b"\n"]
    assert synced


def test_a_write_that_does_not_fit_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    append_lines(path, (b"one",))
    write = os.write
    monkeypatch.setattr(
        os, "write", lambda descriptor, data: write(descriptor, data[:3]) if len(data) > 9 else write(descriptor, data)
    )
    with pytest.raises(StorageError, match=r"log\.jsonl: nothing was written: only 3 of 12 bytes fitted"):
        append_lines(path, (b"two two two",))
    assert path.read_bytes() == b"one\n"


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(StorageError, match=r"log\.jsonl: nothing was written: is a directory"):
        append_lines(tmp_path / "log.jsonl", (b"one",))


def test_a_file_in_the_folders_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("")
    with pytest.raises(StorageError, match="the folder cannot be made"):
        append_lines(tmp_path / "folder" / "log.jsonl", (b"one",))


def test_a_lock_that_another_holds_is_waited_for_and_then_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    with (
        FileLock(tmp_path / ".log.jsonl.lock"),
        pytest.raises(StorageError, match="another process has held the lock"),
        locked(path, 0.05),
    ):
        pass
    release = threading.Timer(0.2, (held := FileLock(tmp_path / ".log.jsonl.lock", thread_local=False)).release)
    held.acquire()
    release.start()
    append_lines(path, (b"one",))
    assert path.read_bytes() == b"one\n"


def test_replacing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "deep" / "cache.bin"
    replace_file(path, b"old")
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StorageError, match="no space left on device"):
        replace_file(path, b"newest")
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in path.parent.iterdir()] == ["cache.bin"], "no temporary file is left"


def test_a_file_that_is_replaced_keeps_its_mode_and_a_new_one_has_the_usual(tmp_path: Path) -> None:
    (usual := tmp_path / "usual").touch()
    path = tmp_path / "file"
    replace_file(path, b"old")
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o640)
    replace_file(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o640)
