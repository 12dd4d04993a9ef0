"""Diagnostics pulled by a client that can be told to pull again, as VS Code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_workspace import CONFIG, HARMLESS, TOO_DEEP, edit, journal_line, make_workspace
from raw_client import VSCODE_LIKE, RawClient

PAUSE = 0.9
DEBOUNCE = 0.2
FAST = {"editor": {"debounce_ms": int(1000 * DEBOUNCE), "typing_pause_ms": int(1000 * PAUSE)}}
REFRESH = "workspace/diagnostic/refresh"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pull").resolve()
    make_workspace(folder)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = RawClient()
    result = client.initialize(VSCODE_LIKE, [folder], options=FAST)
    assert result["capabilities"]["diagnosticProvider"] == {
        "identifier": "tried",
        "interFileDependencies": False,
        "workspaceDiagnostics": True,
    }
    yield client
    assert client.finish() == 0
    assert client.stderr == ""
    assert client.pushes == []


@pytest.fixture
def uri(client: RawClient, folder: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    uri = (folder / f"{request.node.name}.yaml").as_uri()
    yield uri
    client.close(uri)
    assert client.leftovers() == []
    usual = ("window/workDoneProgress/create", "workspace/configuration", "client/registerCapability")
    client.requests = [request for request in client.requests if request["method"] in usual]


def test_a_pull_waits_until_its_version_is_analysed(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    report = client.pull(uri)
    assert report["kind"] == "full"
    assert [item["code"] for item in report["items"]] == ["dead-end"]
    client.change(uri, 2, edit(2, 6, 9, "0.1"))
    assert client.pull(uri)["items"] == []


def test_a_pull_waits_for_a_pause_in_the_edits(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS)
    client.pull(uri)
    started = time.monotonic()
    client.change(uri, 2, edit(0, 6, 6, "x"))
    pulled = client.start_request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    time.sleep(DEBOUNCE / 2)
    client.change(uri, 3, edit(2, 6, 9, "0.5"), edit(0, 6, 7, ""))
    assert len(client.result(pulled)["items"]) == 1
    assert time.monotonic() - started > 1.4 * DEBOUNCE


def test_an_unchanged_answer_is_not_sent_twice(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    first = client.pull(uri)
    again = client.pull(uri, previous=first["resultId"])
    assert again == {"kind": "unchanged", "resultId": first["resultId"]}
    client.change(uri, 2, edit(6, 17, 17, " "))
    later = client.pull(uri, previous=first["resultId"])
    assert later["kind"] == "full"  # the editor may have moved what it shows
    assert later["items"] == first["items"]


def test_a_new_finding_on_the_line_being_typed_is_pulled_after_a_pause(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS)
    client.pull(uri)
    client.change(uri, 2, edit(2, 8, 9, "5"))
    started = time.monotonic()
    assert client.pull(uri)["items"] == []
    client.take_request(REFRESH, seconds=PAUSE + 1)
    assert time.monotonic() - started > PAUSE - 0.05
    assert len(client.pull(uri)["items"]) == 1


def test_an_edit_alone_does_not_ask_for_another_pull(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    client.pull(uri)
    client.change(uri, 2, edit(2, 6, 9, "0.1"))
    client.pull(uri)
    time.sleep(0.2)
    assert not [request for request in client.requests if request["method"] == REFRESH]


def test_a_pool_that_grows_asks_for_another_pull(client: RawClient, folder: Path, uri: str) -> None:
    client.open(uri, HARMLESS.replace("depth: 12", "depth: 48"))
    assert client.pull(uri)["items"] == []
    started = time.monotonic()
    with (folder / ".tried" / "pool.jsonl").open("a") as file:
        file.write(journal_line(TOO_DEEP))
    client.take_request(REFRESH, seconds=3)
    assert time.monotonic() - started < 2.0
    assert len(client.pull(uri)["items"]) == 1
    make_workspace(folder)
    client.take_request(REFRESH, seconds=3)
    assert client.pull(uri)["items"] == []


def test_file_events_are_taken_where_they_are_offered(client: RawClient, folder: Path, uri: str) -> None:
    """Sooner than by looking."""
    client.open(uri, HARMLESS.replace("depth: 12", "depth: 48"))
    client.pull(uri)
    registered = client.take_request("client/registerCapability")["registrations"]
    if registered[0]["method"] != "workspace/didChangeWatchedFiles":
        registered = client.take_request("client/registerCapability")["registrations"]
    patterns = {watcher["globPattern"] for watcher in registered[0]["registerOptions"]["watchers"]}
    assert {"**/.tried/pool.jsonl", "**/tried.toml", "**/*.tsv"} <= patterns
    journal = folder / ".tried" / "pool.jsonl"
    with journal.open("a") as file:
        file.write(journal_line(TOO_DEEP))
    changes = [{"uri": journal.as_uri(), "type": 2}]
    client.notify("workspace/didChangeWatchedFiles", {"changes": changes})
    client.take_request(REFRESH, seconds=3)
    assert len(client.pull(uri)["items"]) == 1
    make_workspace(folder)
    client.take_request(REFRESH, seconds=3)


def test_a_pull_of_a_file_that_is_not_open_is_empty(client: RawClient, folder: Path, uri: str) -> None:
    assert client.pull((folder / "never-opened.yaml").as_uri()) == {"kind": "full", "items": []}


def test_closing_answers_a_waiting_pull(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS)
    client.pull(uri)
    client.change(uri, 2, edit(2, 6, 9, "0.5"))
    pulled = client.start_request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    client.close(uri)
    assert client.result(pulled, seconds=1) == {"kind": "full", "items": []}


def test_a_cancelled_pull_is_answered_as_cancelled(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS)
    client.pull(uri)
    client.change(uri, 2, edit(2, 6, 9, "0.5"))
    pulled = client.start_request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    client.notify("$/cancelRequest", {"id": pulled})
    assert client.response(pulled, seconds=1)["error"]["code"] == -32800
    assert len(client.pull(uri)["items"]) == 0  # the line is still being typed
    client.take_request(REFRESH, seconds=PAUSE + 1)
