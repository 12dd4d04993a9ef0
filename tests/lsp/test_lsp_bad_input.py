"""Whatever is opened or lies in the pool: the server lives, says what is wrong, and goes on with the rest."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, journal_line, make_workspace, put_whole
from raw_client import NEOVIM_LIKE, RawClient, no_findings

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad").resolve()
    make_workspace(folder)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = RawClient()
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    yield client
    assert client.finish() == 0
    assert "Traceback" not in client.stderr


@pytest.fixture(autouse=True)
def the_server_lives(client: RawClient, folder: Path) -> Iterator[None]:
    """After each test a config is still judged, quickly, and nothing was said that the test did not expect."""
    yield
    uri = (folder / "alive.yaml").as_uri()
    client.open(uri, CONFIG)
    assert len(client.pushed(uri, seconds=5)) == 1
    client.close(uri)
    client.pushed(uri, until=no_findings)
    assert client.leftovers() == []


BOMB = "a: &a [1, 2, 3]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

TEXTS = {
    "empty.yaml": "",
    "blank.yaml": "\n \n\t\n",
    "one-character.yaml": "{",
    "nested-lists.yaml": "- " * 10_000 + "x",
    "nested-flow.yaml": "[" * 10_000 + "]" * 10_000,
    "nested-indents.yaml": "".join(" " * depth + f"k{depth}:\n" for depth in range(1_000)),
    "nested.json": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "nested.toml": "a = " + "[" * 10_000 + "]" * 10_000,
    "nested.py": "A = " + "(" * 10_000 + "1" + ")" * 10_000,
    "nested.env": "A=" + "$(" * 10_000 + ")" * 10_000,
    "bomb.yaml": BOMB + CONFIG,
    "self-reference.yaml": "a: &a\n  b: *a\n",
    "one-long-line.json": '{"lr": "' + "x" * 500_000 + '"}',
    "replacement.yaml": "a: \ufffd\ufffe\n" + "lr: 0.1\n",
    "controls.yaml": "".join(map(chr, range(1, 32))) + "\nlr: 0.1\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_awkward_texts(client: RawClient, folder: Path, name: str) -> None:
    language = {"yaml": "yaml", "json": "json", "toml": "toml", "py": "python", "env": "dotenv"}[name.rsplit(".")[-1]]
    uri = (folder / name).as_uri()
    client.open(uri, TEXTS[name], language)
    client.pushed(uri, until=lambda found: True, seconds=10)
    client.hover(uri, 0, 1)
    client.close(uri)


def test_a_large_file_is_one_line_in_the_log(client: RawClient, folder: Path) -> None:
    uri = (folder / "large.yaml").as_uri()
    line = "key: value\n"
    client.open(uri, CONFIG + line * 110_000)
    client.pushed(uri, until=no_findings)
    assert "large.yaml is left alone: larger than editor.max_file_bytes" in client.take("window/logMessage")["message"]
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    for version in range(2, 6):
        client.change(uri, version, {"range": place, "text": "# typed\n"})
    assert client.hover(uri, 2, 7) is None
    client.change(uri, 6, {"text": CONFIG})  # the whole text, small enough now
    client.pushed(uri)
    client.close(uri)


def test_fifty_megabytes_are_skipped_quickly(client: RawClient, folder: Path) -> None:
    uri = (folder / "huge.yaml").as_uri()
    text = "x" * (50 * 2**20)
    started = time.monotonic()
    client.open(uri, text)
    assert client.hover(uri, 0, 0) is None
    assert time.monotonic() - started < 5.0
    client.wait(lambda: "32 MB" in client.stderr, 5, "a line in the log")
    client.change(uri, 2, {"text": CONFIG})  # it was never taken in
    client.close(uri)
    assert uri not in client.diagnostics


def test_binary_data_is_one_line_in_the_log(client: RawClient, folder: Path) -> None:
    uri = (folder / "binary.yaml").as_uri()
    client.open(uri, "\0\1\2" * 100)
    client.pushed(uri, until=no_findings)
    assert "binary.yaml is left alone: binary data" in client.take("window/logMessage")["message"]
    client.close(uri)


def test_a_pool_with_a_broken_and_a_huge_line(client: RawClient, folder: Path) -> None:
    """Their places are told; the records around them are read."""
    uri = (folder / "after.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pushed(uri)
    huge = {**BASELINE, "id": "exp-huge", "notes": "x" * 10 * 2**20}
    lines = [journal_line(BASELINE), "{broken\n", journal_line(huge), journal_line(DIVERGED)]
    put_whole(folder / ".tried" / "pool.jsonl", "".join(lines).encode() + b'{"id": "caf\xe9"}\n')
    message = client.take("window/logMessage", seconds=10)
    assert message["type"] == 2
    assert "pool.jsonl" in message["message"]
    assert "line 2" in message["message"]
    assert "1 more" in message["message"]  # invalid UTF-8, which is read with replacement characters
    assert len(client.request("tried/related", {"textDocument": {"uri": uri}})["results"]) == 4
    assert len(client.diagnostics[uri]) == 1
    client.close(uri)
    make_workspace(folder)


@pytest.mark.parametrize("wrong", ["directory", "unreadable"])
def test_a_pool_that_cannot_be_read(tmp_path: Path, wrong: str) -> None:
    folder = tmp_path.resolve()
    journal = make_workspace(folder)
    if wrong == "directory":
        journal.unlink()
        journal.mkdir()
    else:
        journal.chmod(0)
        if os.access(journal, os.R_OK):
            pytest.skip("this user may read everything")
    client = RawClient()
    try:
        client.initialize(NEOVIM_LIKE, [folder], options=FAST)
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri, until=no_findings)
        assert "pool.jsonl" in client.take("window/logMessage")["message"]
        assert client.finish() == 0
        assert "Traceback" not in client.stderr
    finally:
        client.kill()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    client = RawClient()
    try:
        client.initialize(NEOVIM_LIKE, [tmp_path / "gone"], options=FAST)
        uri = (tmp_path / "gone" / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri, until=no_findings)
        assert client.finish() == 0
        assert "Traceback" not in client.stderr
    finally:
        client.kill()
