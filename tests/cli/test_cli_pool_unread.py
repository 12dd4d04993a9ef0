"""`tried pool` lists what could not be read, and what is not used, at the first look."""

from __future__ import annotations

import json

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
