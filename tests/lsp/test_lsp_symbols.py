"""The pool as workspace symbols, in the standard protocol: read on demand, and each leads to a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_workspace import BASELINE, DIVERGED, TOO_DEEP, make_workspace
from lsprotocol import types as t
from neovim_session import file_of, neovim_fixture
from pytest_lsp import LanguageClient
from raw_client import VSCODE_LIKE, Message, RawClient

RESOLVING: Message = {
    **VSCODE_LIKE,
    "workspace": {**VSCODE_LIKE["workspace"], "symbol": {"resolveSupport": {"properties": ["location.range"]}}},
}

in_one_loop = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("symbols").resolve()
    make_workspace(folder, BASELINE, DIVERGED, TOO_DEEP)
    return folder


neovim = neovim_fixture()


async def symbols(client: LanguageClient, query: str) -> list[t.WorkspaceSymbol | t.SymbolInformation]:
    return list(await client.workspace_symbol_async(t.WorkspaceSymbolParams(query=query)) or ())


@in_one_loop
async def test_no_document_is_needed_and_without_a_query_the_latest_come(neovim: LanguageClient) -> None:
    found = await symbols(neovim, "")
    assert [(one.name, one.container_name) for one in found] == [
        ("✗ exp-3 deeper", "tiny · out of memory after 19 s"),
        ("✗ exp-2 higher learning rate", "tiny · diverged after 200 steps"),
        ("· exp-1 baseline", "tiny"),
    ]
    for one in found:
        assert file_of(one.location.uri).read_text(encoding="utf-8").startswith(f"# {one.name[:7]}")
        assert isinstance(one.location, t.Location)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("exp-2", ["exp-2"]),
        ("higher", ["exp-2"]),
        ("learning hig", ["exp-2"]),
        ("depth", ["exp-3", "exp-2", "exp-1"]),
        ("memory", ["exp-3"]),
        ("nothing of the kind", []),
        ("[x](command:y) \u202e\0", []),
    ],
)
@in_one_loop
async def test_what_is_found(neovim: LanguageClient, query: str, found: list[str]) -> None:
    names = [one.name.split()[1] for one in await symbols(neovim, query)]
    assert sorted(names) == sorted(found)


@pytest.fixture(scope="module")
def resolving(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RawClient, Path]]:
    cache = tmp_path_factory.mktemp("cache").resolve()
    client = RawClient(environment={"XDG_CACHE_HOME": str(cache)})
    client.initialize(RESOLVING, [folder])
    yield client, cache
    assert client.finish() == 0
    assert client.stderr == ""


def test_a_page_is_written_when_its_symbol_is_chosen(resolving: tuple[RawClient, Path]) -> None:
    client, cache = resolving
    (found,) = client.request("workspace/symbol", {"query": "deeper"})
    assert set(found["location"]) == {"uri"}
    page = file_of(found["location"]["uri"])
    assert page.is_relative_to(cache)
    assert not page.exists()
    resolved = client.request("workspaceSymbol/resolve", found)
    assert resolved["location"]["uri"] == found["location"]["uri"]
    assert "range" in resolved["location"]
    assert page.read_text(encoding="utf-8").startswith("# ✗ exp-3")


def test_what_cannot_be_resolved_stays_as_it_is(resolving: tuple[RawClient, Path]) -> None:
    client, _ = resolving
    (found,) = client.request("workspace/symbol", {"query": "deeper"})
    for data in (None, 7, {"record": "exp-3"}, {"record": "exp-99", "folder": found["data"]["folder"]}):
        symbol = {**found, "data": data}
        assert client.request("workspaceSymbol/resolve", symbol)["location"] == found["location"]


def test_runs_that_land_while_nothing_is_open_are_found(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    make_workspace(folder, BASELINE)
    client = RawClient()
    client.initialize(RESOLVING, [folder])
    assert [one["name"] for one in client.request("workspace/symbol", {"query": ""})] == ["· exp-1 baseline"]
    make_workspace(folder, BASELINE, DIVERGED)
    client.wait(lambda: len(client.request("workspace/symbol", {"query": ""})) == 2, 10.0, "the second run")
    assert client.finish() == 0


def test_at_most_fifty_of_all_folders(tmp_path: Path) -> None:
    folders = [tmp_path.resolve() / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        made = [{**BASELINE, "id": f"{folder.name}-{number}"} for number in range(40)]
        make_workspace(folder, *made)
    client = RawClient()
    client.initialize(RESOLVING, folders)
    found = client.request("workspace/symbol", {"query": "baseline"})
    assert len(found) == 50
    assert {one["data"]["folder"] for one in found} == set(map(str, folders))
    assert client.finish() == 0


def test_switched_off_and_without_a_folder_there_are_none(folder: Path) -> None:
    client = RawClient()
    client.initialize(RESOLVING, [folder], options={"symbols": {"enable": False}})
    assert client.request("workspace/symbol", {"query": ""}) is None
    assert client.finish() == 0
    client = RawClient()
    client.initialize(RESOLVING)
    assert client.request("workspace/symbol", {"query": ""}) is None
    assert client.finish() == 0


def test_a_hostile_name_is_one_clipped_line(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    attack = "<b>x</b>\u202e\x1b[31m\n[y](command:z) " * 5000
    make_workspace(folder, {**BASELINE, "name": attack, "research_line": attack[:3000], "notes": attack})
    client = RawClient()
    client.initialize(RESOLVING, [folder])
    (found,) = client.request("workspace/symbol", {"query": ""})
    for text in (found["name"], found["containerName"]):
        assert len(text) <= 160
        assert text.isprintable()
    client.request("workspaceSymbol/resolve", found)
    assert client.finish() == 0
