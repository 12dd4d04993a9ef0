"""Many lines go in at one write, or none does."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tried.pool import journal
from tried.pool.record import ExperimentRecord
from tried.storage.files import StorageError, append_lines

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def test_lines_follow_each_other_and_a_torn_one_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"torn")
    append_lines(path, (b"one", b"two"))
    append_lines(path, ())
    append_lines(path, iter([b"three"]))
    assert path.read_bytes() == b"torn\none\ntwo\nthree\n"


def test_nothing_makes_no_file(tmp_path: Path) -> None:
    append_lines(tmp_path / "log.jsonl", ())
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_leaves_none_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    append_lines(path, (b"zero",))
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:6]))
    with pytest.raises(StorageError, match="nothing was written"):
        append_lines(path, (b"one", b"two"))
    assert path.read_bytes() == b"zero\n"


def test_one_write_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    write = os.write

    def counted(descriptor: int, data: bytes) -> int:
        written.append(len(data))
        return write(descriptor, data)

    amendments = [journal.conclusion_of(f"run-{i}", "too hot", "dead_end", NOW) for i in range(50)]
    monkeypatch.setattr(os, "write", counted)
    path = journal.write_down(tmp_path, amendments)
    lines = path.read_bytes().splitlines()
    assert [json.loads(line)["amends"] for line in lines] == [f"run-{i}" for i in range(50)]
    assert path.stat().st_size in written


def test_one_that_is_too_long_keeps_all_out(tmp_path: Path) -> None:
    records = [ExperimentRecord(id="short"), ExperimentRecord(id="long", notes="x" * journal.LINE_LIMIT)]
    with pytest.raises(ValueError, match="'long' takes"):
        journal.append_all(tmp_path / "pool.jsonl", records)
    assert list(tmp_path.iterdir()) == []


def test_the_cause_of_a_conclusion_is_kept(tmp_path: Path) -> None:
    told = journal.conclusion_of("a", "broke", None, NOW, "code_error")
    bare = journal.conclusion_of("a", "broke", None, NOW)
    assert (told.cause, told.verdict, bare.cause) == ("code_error", None, None)
    assert told.id != bare.id
    folded = journal.fold(ExperimentRecord.model_validate({"id": "a", "conclusion": {"outcome": "failed"}}), [told])
    assert (folded.cause, folded.headline, folded.outcome) == ("code_error", "broke", "failed")
