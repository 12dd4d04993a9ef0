"""Hints beside values that were tried: where they stand, what they say, and where there are none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import edit, journal_line
from raw_client import NEOVIM_LIKE, Message, RawClient, until
from tried_workspace import CONFIG, finished, started, tried

WHOLE: Message = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hints").resolve()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = started(folder, inlay_hints={"enable": True})
    yield client
    finished(client)


def hints(client: RawClient, uri: str, place: Message = WHOLE) -> Any:
    return client.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": place})


def labels(found: list[Message]) -> list[tuple[int, int, str]]:
    return [(hint["position"]["line"], hint["position"]["character"], hint["label"]) for hint in found]


def opened(client: RawClient, folder: Path, name: str, text: str, language: str = "yaml") -> str:
    uri = (folder / name).as_uri()
    client.open(uri, text, language)
    client.pull(uri)
    return uri


def test_what_came_of_the_values(client: RawClient, folder: Path) -> None:
    """Of EXP-1 to EXP-7: 0.1 in EXP-1, 6 and 7, of which 6 ended badly; adamw in EXP-1, 2, 3 and 5, of which 5 did. The
    depth and the warm-up were the same in all runs, the batch size of the config in none."""
    uri = opened(client, folder, "a.yaml", CONFIG)
    found = until(lambda: hints(client, uri))
    assert labels(found) == [(1, 9, "3 runs · best 0.7 · 1 dead end"), (2, 13, "4 runs · best 0.9 · 1 dead end")]
    assert found[0]["paddingLeft"] is True
    assert found[0]["tooltip"] == {
        "kind": "markdown",
        "value": "`optimizer.lr` `0.1` · 3 runs\n\nBest: **val_acc 0.7** in `EXP-1`\n\n"
        "2 worked, 1 dead end: `EXP-6`\n\nLatest: `EXP-7`, `EXP-6`, `EXP-1`",
    }


def test_only_in_the_lines_that_are_asked_for(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "range.yaml", CONFIG)
    until(lambda: hints(client, uri))
    second = {"start": {"line": 2, "character": 0}, "end": {"line": 3, "character": 0}}
    assert labels(hints(client, uri, second)) == [(2, 13, "4 runs · best 0.9 · 1 dead end")]
    assert hints(client, uri, {"start": {"line": 4, "character": 0}, "end": {"line": 6, "character": 0}}) is None


def test_they_follow_the_text(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "follows.yaml", CONFIG)
    until(lambda: hints(client, uri))
    client.change(uri, 2, edit(1, 6, 9, "0.5"))
    assert labels(hints(client, uri))[0] == (1, 9, "1 run, a dead end")
    client.change(uri, 3, edit(1, 6, 9, "7.0"))
    assert [hint["position"]["line"] for hint in hints(client, uri)] == [2]


def test_columns_are_those_of_the_client(client: RawClient, folder: Path) -> None:
    text = '{"note": "𝄞", "optimizer": {"lr": 0.1, "name": "adamw"}, "depth": 12, "warmup": 100, "batch_size": 1}'
    uri = opened(client, folder, "wide.json", text, "json")
    found = until(lambda: hints(client, uri))
    before = text.index("0.1") + 3 + 1  # the clef is two units of UTF-16
    assert labels(found)[0] == (0, before, "3 runs · best 0.7 · 1 dead end")


def test_they_are_off_unless_somebody_wants_them(tmp_path: Path) -> None:
    client = started(tmp_path)
    uri = opened(client, tmp_path, "a.yaml", CONFIG)
    until(lambda: client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}))
    assert hints(client, uri) is None
    finished(client)


def test_the_client_asks_again_when_the_pool_has_grown(tmp_path: Path) -> None:
    client = started(tmp_path, inlay_hints={"enable": True})
    uri = opened(client, tmp_path, "a.yaml", CONFIG)
    until(lambda: hints(client, uri))
    until(lambda: refreshes(client))
    client.requests.clear()
    journal = tmp_path / ".tried" / "pool.jsonl"
    with journal.open("a") as file:
        file.write(journal_line(tried("EXP-8", 0.95)))
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    until(lambda: refreshes(client))
    assert labels(hints(client, uri))[0][2] == "4 runs · best 0.95 · 1 dead end"
    finished(client)


def refreshes(client: RawClient) -> int:
    return [request["method"] for request in client.requests].count("workspace/inlayHint/refresh")


def test_a_client_without_markdown_gets_plain_text(tmp_path: Path) -> None:
    plain = {**NEOVIM_LIKE, "textDocument": {}}
    client = started(tmp_path, plain, inlay_hints={"enable": True})
    uri = (tmp_path / "a.yaml").as_uri()
    client.open(uri, CONFIG)
    (first, _) = until(lambda: hints(client, uri))
    assert first["tooltip"].startswith("optimizer.lr 0.1 · 3 runs\n\nBest: val_acc 0.7 in EXP-1")
    finished(client)
