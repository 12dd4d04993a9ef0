"""The lens over the first entry: its place, its words, its command, and when the client is told to ask again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import edit, journal_line
from lsprotocol import types as t
from neovim_session import neovim_fixture
from pytest_lsp import LanguageClient
from raw_client import VSCODE_LIKE, RawClient, until
from tried_workspace import CONFIG, RECORDS, finished, started, tried

NEAREST = "never run · nearest: EXP-1 (val_acc 0.7), differs in batch_size · 2 dead ends nearby"
"""EXP-5 and EXP-6 each differ in two of the five parameters that are compared: both are two steps away."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lens").resolve()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = started(folder)
    yield client
    finished(client)


def lenses(client: RawClient, uri: str) -> Any:
    return client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})


def opened(client: RawClient, folder: Path, name: str, text: str, language: str = "yaml") -> str:
    """Opened when the pool is there: before that no lens is given."""
    uri = (folder / name).as_uri()
    client.open(uri, text, language)
    client.pull(uri)
    return uri


def title(client: RawClient, uri: str) -> str:
    (lens,) = until(lambda: lenses(client, uri))
    said: str = lens["command"]["title"]
    return said


def test_where_a_new_config_stands(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "new.yaml", "# a comment first\n" + CONFIG)
    (lens,) = until(lambda: lenses(client, uri))
    assert lens == {
        "range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 9}},
        "command": {
            "title": NEAREST,
            "command": "tried.openRecord",
            "arguments": [{"uri": uri, "record": "EXP-1"}],
        },
    }
    answer = client.request("workspace/executeCommand", {k: lens["command"][k] for k in ("command", "arguments")})
    assert answer["shown"]
    client.take_request("window/showDocument")


def test_it_follows_the_text(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "follows.yaml", CONFIG)
    assert title(client, uri).startswith("never run")
    client.change(uri, 2, edit(3, 12, 14, "32"))
    assert title(client, uri) == "ran once: val_acc 0.7"
    client.change(uri, 3, edit(1, 6, 9, "0.01"))
    # The mean of 0.90 and 0.88 is 0.89; both lie 0.01 from it, so the spread is √(0.0002 / 1) = 0.014.
    assert title(client, uri) == "ran 2 times: val_acc 0.890 ± 0.014"
    (lens,) = lenses(client, uri)
    assert lens["command"]["arguments"][0]["record"] == "EXP-3"


def test_each_document_of_a_file_has_its_own(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "several.yaml", f"{CONFIG}---\n{CONFIG.replace('64', '32')}")
    found = until(lambda: lenses(client, uri))
    assert [lens["range"]["start"]["line"] for lens in found] == [0, 8]
    assert found[1]["command"]["title"] == "ran once: val_acc 0.7"


JSON = '{\n "optimizer": {"lr": 0.1, "name": "adamw"},\n "batch_size": 32, "depth": 12, "warmup": 100\n}'
PYTHON = '"""Said."""\n\nbatch_size = 32\ndepth = 12\nwarmup = 100\noptimizer = dict(lr=0.1, name="adamw")\n'


@pytest.mark.parametrize(
    ("name", "language", "text", "line"),
    [
        ("a.toml", "toml", "batch_size = 32\ndepth = 12\nwarmup = 100\n[optimizer]\nlr = 0.1\nname = 'adamw'\n", 0),
        ("a.json", "json", JSON, 1),
        ("a.py", "python", PYTHON, 2),
        ("a.env", "dotenv", "OPTIMIZER__LR=0.1\nOPTIMIZER__NAME=adamw\nBATCH_SIZE=32\nDEPTH=12\nWARMUP=100\n", 0),
    ],
)
def test_all_languages(client: RawClient, folder: Path, name: str, language: str, text: str, line: int) -> None:
    uri = opened(client, folder, name, text, language)
    (lens,) = until(lambda: lenses(client, uri))
    assert (lens["command"]["title"], lens["range"]["start"]["line"]) == ("ran once: val_acc 0.7", line)


def test_nothing_is_said_of_what_is_no_experiment(client: RawClient, folder: Path) -> None:
    for name, text in (("compose.yaml", "services:\n  web:\n    image: nginx\n"), ("few.yaml", "lr: 0.1\nseed: 3\n")):
        assert lenses(client, opened(client, folder, name, text)) is None
    assert lenses(client, (folder / "not-open.yaml").as_uri()) is None


def test_a_config_that_nothing_can_be_compared_with_leads_nowhere(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "other.yaml", "alpha: 1\nbeta: 2\ngamma: 3\nlearning_rate: 0.1\n")
    (lens,) = until(lambda: lenses(client, uri))
    assert lens["command"] == {"title": "never run · nothing comparable among 7 runs", "command": ""}


def test_switched_off(tmp_path: Path) -> None:
    client = started(tmp_path, code_lens={"enable": False})
    uri = opened(client, tmp_path, "a.yaml", CONFIG)
    assert lenses(client, uri) is None
    finished(client)


def test_the_client_asks_again_when_the_pool_has_grown_and_not_after_edits(tmp_path: Path) -> None:
    client = started(tmp_path)
    uri = opened(client, tmp_path, "a.yaml", CONFIG)
    assert title(client, uri).startswith("never run")
    until(lambda: "workspace/codeLens/refresh" in methods(client))  # after the pool was read
    client.requests.clear()
    client.change(
        uri, 2, {"range": {"start": {"line": 6, "character": 6}, "end": {"line": 6, "character": 7}}, "text": "4"}
    )
    assert title(client, uri).startswith("never run")
    time.sleep(0.3)
    assert methods(client) == []
    journal = tmp_path / ".tried" / "pool.jsonl"
    with journal.open("a") as file:
        file.write(journal_line(tried("EXP-8", 0.95, batch_size=64)))
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    until(lambda: "workspace/codeLens/refresh" in methods(client))
    assert title(client, uri) == "ran once: val_acc 0.95"
    assert "workspace/inlayHint/refresh" not in methods(client)  # hints are off
    finished(client)


def methods(client: RawClient) -> list[str]:
    return [request["method"] for request in client.requests]


def test_a_client_that_cannot_ask_again_is_not_told_to(tmp_path: Path) -> None:
    client = started(tmp_path, VSCODE_LIKE)
    uri = opened(client, tmp_path, "a.yaml", CONFIG)
    assert title(client, uri).startswith("never run")
    time.sleep(0.3)
    assert not {"workspace/codeLens/refresh", "workspace/inlayHint/refresh"} & set(methods(client))
    finished(client)


# As editors have it, checked against the protocol

neovim = neovim_fixture(*RECORDS)


@pytest.mark.asyncio(loop_scope="module")
async def test_in_neovim(neovim: LanguageClient, folder: Path) -> None:
    uri = (folder / "neovim.yaml").as_uri()
    item = t.TextDocumentItem(uri=uri, language_id="yaml", version=1, text=CONFIG.replace("64", "32"))
    neovim.text_document_did_open(t.DidOpenTextDocumentParams(text_document=item))
    found = None
    while not found:
        found = await neovim.text_document_code_lens_async(t.CodeLensParams(t.TextDocumentIdentifier(uri)))
    assert found[0].command is not None
    assert found[0].command.title == "ran once: val_acc 0.7"
