"""Hovers on findings, keys and components, in Markdown and without; everything from data is shown as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, edit, make_workspace
from raw_client import NEOVIM_LIKE, RawClient

HOSTILE = {
    **DIVERGED,
    "id": "exp-9",
    "params": {**DIVERGED["params"], "optimizer.lr": 0.9},
    "url": "command:evil",
    "conclusion": {"headline": "<img src=x> [click](command:rm) **bold**\n# big \x1b[31m&lt;", "outcome": "failed"},
    "derivation": {
        "from": "exp-1",
        "changes": [{"change": "ParamChanged", "key": "optimizer.lr", "from": 0.1, "to": 0.9}],
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hover").resolve()
    make_workspace(folder, BASELINE, DIVERGED, HOSTILE)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = RawClient()
    client.initialize(NEOVIM_LIKE, [folder])
    yield client
    assert client.finish() == 0
    assert client.leftovers() == []
    assert client.stderr == ""


@pytest.fixture
def uri(client: RawClient, folder: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    uri = (folder / f"{request.node.name}.yaml").as_uri()
    yield uri
    client.close(uri)


def test_a_finding_tells_the_reason_first_then_when_what_differs_the_run_and_the_score(
    client: RawClient, uri: str
) -> None:
    client.open(uri, CONFIG)
    hover = client.hover(uri, 2, 7)
    assert hover["contents"]["kind"] == "markdown"
    text = hover["contents"]["value"]
    assert text.startswith("**diverged after 200 steps**")
    parts = [
        "(2026-10-02)",
        "`batch_size` `64` here, `32` there",
        "(https://example.org/runs/2)",
        "| lexical ",
        "| **score**",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert "█" in text
    assert hover["range"] == {"start": {"line": 2, "character": 2}, "end": {"line": 2, "character": 9}}


def test_the_key_of_a_finding_tells_it_too(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    assert client.hover(uri, 2, 2) == client.hover(uri, 2, 8)


def test_a_key_tells_what_was_tried_for_it(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    text = client.hover(uri, 3, 2)["contents"]["value"]
    assert "`batch_size` in `tiny` · 3 runs" in text
    assert "`64` **has never been tried.**" in text
    assert "| `32`" in text


def test_a_key_that_no_run_sets(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG + "weight_decay: 0.1\n")
    assert client.hover(uri, 7, 3)["contents"]["value"] == "`weight_decay` **has never been tried:** no run sets it."


def test_a_component(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG.replace("model:\n", "model:\n  _target_: nets.TinyNet\n"))
    text = client.hover(uri, 5, 8)["contents"]["value"]
    assert "**TinyNet** · `filter:TinyNet`" in text


def test_places_with_nothing_to_tell(client: RawClient, folder: Path, uri: str) -> None:
    client.open(uri, CONFIG + "\n# a comment\n")
    assert client.hover(uri, 8, 3) is None
    assert client.hover(uri, 999, 999) is None
    assert client.hover((folder / "not-open.yaml").as_uri(), 0, 0) is None


def test_a_hover_does_not_wait_for_a_pause(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    client.change(uri, 2, edit(2, 6, 9, "0.9"))
    text = client.hover(uri, 2, 7)["contents"]["value"]
    assert "exp-9" in text


def test_hostile_text_is_plain_text(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG.replace("0.5", "0.9"))
    text = client.hover(uri, 2, 7)["contents"]["value"]
    first = text.split("\n", 1)[0]
    assert first.startswith("**\\<img src=x>")
    assert not re.search(r"(?<!\\)\]\(command:", text)  # a backslash keeps it from being a link
    assert "command:evil" not in text
    assert "\x1b" not in text
    assert "\n# big" not in text
    (found,) = client.pushed(uri)
    assert "\n" not in found["message"]
    assert "\x1b" not in found["message"]


def test_plain_text_for_a_client_without_markdown(folder: Path) -> None:
    client = RawClient()
    try:
        client.initialize({}, [folder])
        uri = (folder / "plain.yaml").as_uri()
        client.open(uri, CONFIG)
        contents = client.hover(uri, 2, 7)["contents"]
        assert contents["kind"] == "plaintext"
        assert contents["value"].startswith("diverged after 200 steps\n")
        assert "**" not in contents["value"]
        assert "Open the run (https://example.org/runs/2)" in contents["value"]
        assert client.finish() == 0
        assert client.requests == []  # it said that it can do nothing
    finally:
        client.kill()
