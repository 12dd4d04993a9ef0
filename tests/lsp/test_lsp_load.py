"""While a large pool is being read: the server answers, other folders go on, and it still ends with its client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, make_workspace
from raw_client import NEOVIM_LIKE, RawClient, no_findings

MANY = 6_000
HOVER = {"textDocument": {"uri": "file:///not/open.yaml"}, "position": {"line": 0, "character": 0}}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large").resolve()
    params = {f"key_{number}": number for number in range(40)}
    others = [{**BASELINE, "id": f"other-{number}", "params": {**params, "seed": number}} for number in range(MANY)]
    make_workspace(folder, *others, BASELINE, DIVERGED)
    return folder


@pytest.fixture
def client() -> Iterator[RawClient]:
    client = RawClient()
    yield client
    client.kill()


def test_loading_holds_nothing_up(client: RawClient, large: Path, tmp_path: Path) -> None:
    make_workspace(tmp_path)
    client.initialize(NEOVIM_LIKE, [large, tmp_path])
    slow, quick = (large / "next.yaml").as_uri(), (tmp_path / "next.yaml").as_uri()
    client.open(slow, CONFIG)
    client.take_request("window/workDoneProgress/create")
    client.open(quick, CONFIG)
    waits = []
    while quick not in client.diagnostics:
        started = time.monotonic()
        assert client.request("textDocument/hover", HOVER) is None
        waits.append(time.monotonic() - started)
    assert client.diagnostics[quick]
    assert slow not in client.diagnostics
    assert max(waits) < 1.0
    assert client.hover(slow, 2, 7) is None  # it waits a second, not for ever
    assert client.pushed(slow, seconds=30)
    assert "exp-2" in client.hover(slow, 2, 7)["contents"]["value"]
    assert client.finish() == 0
    assert client.stderr == ""


def test_the_client_may_leave_meanwhile(client: RawClient, large: Path) -> None:
    client.initialize(NEOVIM_LIKE, [large])
    client.open((large / "next.yaml").as_uri(), CONFIG)
    client.take_request("window/workDoneProgress/create")
    time.sleep(0.2)
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(2.0) == 1
    assert client.stderr == ""


def test_closing_a_file_does_not_stop_the_loading(client: RawClient, large: Path) -> None:
    client.initialize(NEOVIM_LIKE, [large])
    uri = (large / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    client.take_request("window/workDoneProgress/create")
    client.close(uri)
    client.open(uri, CONFIG, version=2)
    client.pushed(uri, seconds=30)
    assert [message["method"] for message in client.requests].count("window/workDoneProgress/create") == 0
    assert client.finish() == 0


def test_settings_that_change_meanwhile_are_taken(client: RawClient, large: Path) -> None:
    workspace = {**NEOVIM_LIKE["workspace"], "configuration": False}
    client.initialize({**NEOVIM_LIKE, "workspace": workspace}, [large])
    uri = (large / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    client.take_request("window/workDoneProgress/create")
    time.sleep(0.2)
    assert uri not in client.diagnostics
    client.notify("workspace/didChangeConfiguration", {"settings": {"tried": {"findings": {"enable": False}}}})
    client.pushed(uri, until=no_findings, seconds=30)
    assert client.finish() == 0
