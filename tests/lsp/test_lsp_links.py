"""Links from the ids of records, and going to them, as an editor of the standard protocol has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, TOO_DEEP, make_workspace
from lsprotocol import types as t
from neovim_session import file_of, neovim_fixture
from pytest_lsp import LanguageClient
from raw_client import NEOVIM_LIKE, VSCODE_LIKE, Message, RawClient

FAST = {"editor": {"debounce_ms": 0}}
HASHED = {**BASELINE, "id": "mlflow:c94d1f60aa5b4b6d9f3e2b1c0d8e7f6a", "name": "hashed"}
TEXT = (
    "# Like exp-2, but 🙂 deeper than exp-3.\n"
    "optimizer:\n"
    "  lr: 0.1  # tried: retry exp-2 because warmup is longer\n"
    "parent: mlflow:c94d1f60\n"
    "exp-3: 1\n"
    "model:\n"
    "  depth: 12\n"
    "batch_size: 64\n"
)
in_one_loop = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("links").resolve()
    make_workspace(folder, BASELINE, DIVERGED, TOO_DEEP, HASHED)
    return folder


neovim = neovim_fixture()


def opened(client: LanguageClient, folder: Path, name: str) -> t.TextDocumentIdentifier:
    uri = (folder / name).as_uri()
    item = t.TextDocumentItem(uri=uri, language_id="yaml", version=1, text=TEXT)
    client.text_document_did_open(t.DidOpenTextDocumentParams(text_document=item))
    return t.TextDocumentIdentifier(uri=uri)


@in_one_loop
async def test_ids_are_links_to_the_page_of_the_run_or_one_of_ours(neovim: LanguageClient, folder: Path) -> None:
    document = opened(neovim, folder, "a.yaml")
    links = await neovim.text_document_document_link_async(t.DocumentLinkParams(text_document=document))
    assert links is not None
    web = "https://example.org/runs/2"
    assert [(link.range.start.line, link.data, link.target == web) for link in links] == [
        (0, {"record": "exp-2"}, True),
        (0, {"record": "exp-3"}, False),
        (2, {"record": "exp-2"}, True),
        (3, {"record": HASHED["id"]}, False),
    ]
    assert links[0].tooltip is None  # this editor shows none
    page = file_of(links[1].target or "")
    assert page.read_text(encoding="utf-8").startswith("# ✗ exp-3\n\n**out of memory after 19 s**\n")
    assert not page.is_relative_to(folder)


@in_one_loop
async def test_an_id_leads_to_a_page_about_its_record(neovim: LanguageClient, folder: Path) -> None:
    document = opened(neovim, folder, "b.yaml")
    found = await neovim.text_document_definition_async(
        t.DefinitionParams(text_document=document, position=t.Position(line=3, character=12))
    )
    assert isinstance(found, Sequence)
    (link,) = found
    assert isinstance(link, t.LocationLink)
    assert link.origin_selection_range is not None
    uri = link.target_uri
    text = file_of(uri).read_text(encoding="utf-8")
    assert text.startswith("# · mlflow:c94d1f60aa5b4b6d9f3e2b1c0d8e7f6a\n\n")
    assert "| `optimizer.lr` | `0.1` |" in " ".join(text.split())


@in_one_loop
async def test_elsewhere_there_is_nothing_to_go_to(neovim: LanguageClient, folder: Path) -> None:
    document = opened(neovim, folder, "c.yaml")
    for line, character in ((0, 3), (1, 2), (4, 2), (7, 13)):  # a word, a key, an id as a key, a number
        position = t.Position(line=line, character=character)
        params = t.DefinitionParams(text_document=document, position=position)
        assert not await neovim.text_document_definition_async(params), (line, character)


@pytest.fixture(params=[VSCODE_LIKE, NEOVIM_LIKE], ids=["utf-16", "utf-8"])
def raw(request: pytest.FixtureRequest, folder: Path) -> Iterator[tuple[RawClient, Message]]:
    client = RawClient()
    capabilities: Message = request.param
    client.initialize(capabilities, [folder], options=FAST)
    yield client, capabilities
    assert client.finish() == 0
    assert client.stderr == ""


def test_columns_count_as_the_client_counts(raw: tuple[RawClient, Message], folder: Path) -> None:
    """The face before `exp-3` is 2 units in utf-16 and 4 in utf-8."""
    client, capabilities = raw
    uri = (folder / "columns.yaml").as_uri()
    client.open(uri, TEXT)
    links = client.request("textDocument/documentLink", {"textDocument": {"uri": uri}})
    at = [link["range"] for link in links if link["data"] == {"record": "exp-3"}]
    start = 33 if capabilities is VSCODE_LIKE else 35
    assert at == [{"start": {"line": 0, "character": start}, "end": {"line": 0, "character": start + 5}}]


def test_a_client_that_takes_links_gets_the_word_it_came_from(folder: Path) -> None:
    client = RawClient()
    able = {"definition": {"linkSupport": True}, "documentLink": {"tooltipSupport": True}}
    text = {**VSCODE_LIKE["textDocument"], **able}
    client.initialize({**VSCODE_LIKE, "textDocument": text}, [folder], options=FAST)
    uri = (folder / "linked.yaml").as_uri()
    client.open(uri, TEXT)
    place = {"line": 2, "character": 28}
    (link,) = client.request("textDocument/definition", {"textDocument": {"uri": uri}, "position": place})
    assert link["originSelectionRange"] == {
        "start": {"line": 2, "character": 26},
        "end": {"line": 2, "character": 31},
    }
    assert file_of(link["targetUri"]).is_file()
    links = client.request("textDocument/documentLink", {"textDocument": {"uri": uri}})
    assert [one["tooltip"] for one in links] == [
        "✗ exp-2: diverged after 200 steps",
        "✗ exp-3: out of memory after 19 s",
        "✗ exp-2: diverged after 200 steps",
        "· mlflow:c94d1f60aa5b4b6d9f3e2b1c0d8e7f6a: hashed",
    ]
    assert client.finish() == 0


def test_switched_off_and_in_what_is_no_config_there_are_none(folder: Path) -> None:
    client = RawClient()
    client.initialize(VSCODE_LIKE, [folder], options={**FAST, "links": {"enable": False}})
    uri = (folder / "off.yaml").as_uri()
    client.open(uri, TEXT)
    assert client.request("textDocument/documentLink", {"textDocument": {"uri": uri}}) is None
    unknown = {"textDocument": {"uri": (folder / "closed.yaml").as_uri()}}
    assert client.request("textDocument/documentLink", unknown) is None
    other = (folder / "package-lock.json").as_uri()
    client.open(other, '{"exp-2": "exp-2"}', "json")
    place = {"line": 0, "character": 14}
    assert client.request("textDocument/definition", {"textDocument": {"uri": other}, "position": place}) is None
    assert client.finish() == 0


def test_a_run_that_comes_is_linked(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    journal = make_workspace(folder, BASELINE)
    client = RawClient()
    client.initialize(VSCODE_LIKE, [folder], options=FAST)
    uri = (folder / "a.yaml").as_uri()
    client.open(uri, CONFIG + "parent: exp-2\n")
    ask = {"textDocument": {"uri": uri}}
    assert client.request("textDocument/documentLink", ask) == []
    make_workspace(folder, BASELINE, DIVERGED)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    client.wait(lambda: bool(client.request("textDocument/documentLink", ask)), 10.0, "a link to exp-2")
    assert client.finish() == 0
