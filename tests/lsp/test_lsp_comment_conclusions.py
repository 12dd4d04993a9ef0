"""A comment in a config becomes the conclusion of the runs that it is about, by a code action."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import make_workspace
from raw_client import VSCODE_LIKE, Message, RawClient, RequestFailed

REASON = "diverges, warmup did not help"
CONFIG = f"optimizer:\n  lr: 0.5  # dead end: {REASON}\nbatch_size: 32\ndepth: 12  # works: at last\n"


def run(record_id: str, lr: float, outcome: str, **fields: Any) -> dict[str, Any]:
    params = {"optimizer.lr": lr, "batch_size": 32, "depth": 12, **fields.pop("params", {})}
    return {
        "id": record_id,
        "params": params,
        "research_line": "tiny",
        "conclusion": {"outcome": outcome, "derived": True},
        **fields,
    }


POOL = (
    run("near", 0.5, "failed"),
    run("far", 0.5, "failed", params={"batch_size": 8}),
    run("said", 0.5, "failed", verdict="dead_end"),
    run("cold", 0.1, "failed"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("comments").resolve()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    make_workspace(folder, *POOL)
    client = RawClient()
    client.initialize(VSCODE_LIKE, [folder], options={"editor": {"debounce_ms": 0, "typing_pause_ms": 0}})
    yield client
    assert client.finish() == 0
    assert client.stderr == ""


@pytest.fixture
def uri(client: RawClient, folder: Path) -> Iterator[str]:
    journal = make_workspace(folder, *POOL)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    yield uri
    client.close(uri)


def actions_at(client: RawClient, uri: str, line: int) -> list[Message]:
    place = {"line": line, "character": 3}
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    }
    return [
        action
        for action in client.request("textDocument/codeAction", params) or []
        if action.get("command", {}).get("command") == "tried.concludeRecords"
    ]


def awaited(client: RawClient, uri: str, line: int, count: int) -> list[Message]:
    deadline = time.monotonic() + 10
    while len(actions := actions_at(client, uri, line)) != count:
        assert time.monotonic() < deadline, actions
        time.sleep(0.02)
    return actions


def test_what_is_offered_and_what_it_writes(client: RawClient, folder: Path, uri: str) -> None:
    everyone, nearest = awaited(client, uri, 1, 2)
    assert everyone["title"] == f"Conclude “{REASON}” (a dead end) of 2 runs"
    assert nearest["title"] == f"Conclude “{REASON}” (a dead end) of near alone"
    assert everyone["kind"] == "quickfix"
    journal = folder / ".tried" / "pool.jsonl"
    before = journal.read_bytes()

    answer = client.request("workspace/executeCommand", everyone["command"])

    written = [json.loads(line) for line in journal.read_bytes()[len(before) :].splitlines()]
    assert answer == {"records": ["near", "far"], "amendments": [one["id"] for one in written]}
    assert [(one["amends"], one["verdict"], one["conclusion"]) for one in written] == [
        ("near", "dead_end", {"headline": REASON}),
        ("far", "dead_end", {"headline": REASON}),
    ]
    awaited(client, uri, 1, 0)


def test_elsewhere_and_where_no_run_fits_there_is_nothing(client: RawClient, uri: str) -> None:
    awaited(client, uri, 1, 2)
    assert [actions_at(client, uri, line) for line in (0, 2, 3)] == [[], [], []]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"records": ["near", "nobody"], "verdict": "dead_end"}, "'nobody'"),
        ({"records": [], "verdict": "dead_end"}, "a list of ids"),
        ({"records": ["near"]}, "nothing to write down"),
        ({"records": ["near"], "verdict": "great"}, "verdict must be one of"),
    ],
)
def test_mistakes_write_nothing(
    client: RawClient, folder: Path, uri: str, arguments: dict[str, Any], said: str
) -> None:
    awaited(client, uri, 1, 2)
    before = (folder / ".tried" / "pool.jsonl").read_bytes()
    command = {"command": "tried.concludeRecords", "arguments": [{"uri": uri, **arguments}]}
    with pytest.raises(RequestFailed, match=said):
        client.request("workspace/executeCommand", command)
    assert (folder / ".tried" / "pool.jsonl").read_bytes() == before
