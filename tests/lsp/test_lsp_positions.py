"""Columns in the unit that the client chose, with whatever stands before the squiggle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_workspace import CONFIG, edit, make_workspace
from raw_client import RawClient

REST = "batch_size: 64\nwarmup_steps: 100\nmodel:\n  depth: 12\n"
LINES = {
    "emoji": 'optimizer: {note: "😀", lr: 0.5}',
    "cjk": "optimizer: {説明: 学習率, lr: 0.5}",
    "combining": 'optimizer: {note: "e\u0301", lr: 0.5}',
    "separator": 'optimizer: {note: "a\u2028b\u0085c", lr: 0.5}',
    "family": 'optimizer: {note: "👨‍👩‍👧", lr: 0.5}',
}
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@pytest.fixture(scope="module", params=["utf-8", "utf-16", "utf-32"])
def encoding(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("positions").resolve()
    make_workspace(folder)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path, encoding: str) -> Iterator[RawClient]:
    client = RawClient()
    capabilities = {"general": {"positionEncodings": ["utf-7", encoding, "utf-16"]}}
    result = client.initialize(capabilities, [folder], options={"editor": {"debounce_ms": 0, "typing_pause_ms": 0}})
    assert result["capabilities"]["positionEncoding"] == encoding
    yield client
    assert client.finish() == 0
    assert client.stderr == ""


def columns(line: str, encoding: str) -> tuple[int, int]:
    """Where `0.5` stands, counted by encoding what stands before it."""
    codec, width = CODECS[encoding]
    start = len(line[: line.index("0.5")].encode(codec)) // width
    return start, start + 3


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("name", LINES)
def test_squiggle_hover_and_edit_meet(client: RawClient, folder: Path, encoding: str, name: str, end: str) -> None:
    """A squiggle is where the value is, a hover there finds it, and an edit of that range replaces it."""
    line = LINES[name]
    text = f"# 😀 漢字\u2028\nname: 名前\n{line}\n{REST}".replace("\n", end)
    uri = (folder / f"{name}.yaml").as_uri()
    client.open(uri, text)
    (found,) = client.pushed(uri)
    start, stop = columns(line, encoding)
    assert found["range"] == {"start": {"line": 2, "character": start}, "end": {"line": 2, "character": stop}}
    assert "exp-2" in client.hover(uri, 2, start + 1)["contents"]["value"]
    client.change(uri, 2, edit(2, start, stop, "0.1"))
    client.pushed(uri, until=lambda found: not found)
    client.change(uri, 3, edit(2, start, stop, "0.5"))
    assert [item["range"] for item in client.pushed(uri)] == [found["range"]]
    client.close(uri)


def test_a_lone_surrogate_does_no_harm(client: RawClient, folder: Path) -> None:
    uri = (folder / "surrogate.yaml").as_uri()
    client.open(uri, 'note: "\ud83d"\n' + CONFIG)
    assert client.pushed(uri)[0]["range"]["start"] == {"line": 3, "character": 6}
    client.close(uri)


def test_a_byte_order_mark_counts_as_a_character(client: RawClient, folder: Path, encoding: str) -> None:
    uri = (folder / "bom.yaml").as_uri()
    client.open(uri, "\ufeff" + LINES["cjk"] + "\n" + REST)
    (found,) = client.pushed(uri)
    assert found["range"]["start"] == {"line": 0, "character": columns("\ufeff" + LINES["cjk"], encoding)[0]}
    client.close(uri)
