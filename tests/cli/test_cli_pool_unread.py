"""`tried pool` lists what could not be read, and what is not used, at the first look."""

from __future__ import annotations

import json
import os
from pathlib import Path

from cli_runner import Runner


def test_amendments_remarks_and_a_torn_last_line_are_shown(tried: Runner) -> None:
    journal = tried.journal(
        {"id": "a", "timestamp": "yesterday"}, {"id": "am", "kind": "amendment", "amends": "a", "notes": "x"}
    )
    with journal.open("a") as file:
        file.write('{"id":"b')

    result = tried("pool")

    assert result.lines[0].startswith(".tried/pool.jsonl  journal: 1 record, 0 dead ends, 1 amendment; conclusion 0%")
    assert result.lines[1:3] == [
        "    not read: line 3: unfinished: 8 bytes without a line end; not read",
        "    not read: line 1: `timestamp` is not used: 'yesterday' is no time such as 2026-03-01T10:00:00Z",
    ]
    (source,) = json.loads(tried("pool", "--json").out)["sources"]
    assert [skipped["where"] for skipped in source["skipped"]] == ["line 3", "line 1"]


def test_concluding_tells_of_a_pool_that_cannot_be_read(tried: Runner) -> None:
    (tried.folder / ".tried" / "pool.jsonl").mkdir(parents=True)

    result = tried("conclude", "hot", "too hot")

    assert result.status == 2
    assert result.err.startswith("tried: .tried/pool.jsonl: is a folder, not a journal; see `tried pool`\n")
    assert "no past experiments found" not in result.err
    assert "but in what could not be read (see above)" in result.err


def test_a_link_out_of_the_workspace_is_told_and_neither_read_nor_written(tried: Runner, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    elsewhere = tried.journal({"id": "theirs"}, name="elsewhere.jsonl")
    before = elsewhere.read_bytes()
    tried.write("work/.soma/experiments.jsonl", '{"id":"ours"}\n')
    (folder / ".tried").mkdir()
    (folder / ".tried" / "pool.jsonl").symlink_to(elsewhere)
    os.chdir(folder)

    shown, written = tried("pool"), tried("conclude", "ours", "too hot", "--dead-end")

    why = "is a link out of the workspace and is not read without your consent"
    assert shown.err == f"tried: {folder}/.tried/pool.jsonl: {why}\n"
    assert shown.lines[0].startswith(".soma/experiments.jsonl  journal: 1 record")
    assert written.status == 2
    assert "is a link out of the workspace and is not written to; put a file in its place" in written.err
    assert elsewhere.read_bytes() == before


def test_paths_that_no_system_takes_are_told(tried: Runner) -> None:
    result = tried("pool", "--pool", "x" * 5000)

    assert result.status == 0
    assert "not read: the file: cannot be read: file name too long" in result.out
    assert tried("pool", "x" * 5000).err.endswith("--pool " + "x" * 5000 + "\n")
