"""Completion of values: what is offered where, in which order, and what the text is after it is taken."""

from __future__ import annotations

import copy
import itertools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import edit
from lsprotocol import types as t
from neovim_session import neovim_fixture
from pytest_lsp import LanguageClient
from raw_client import Message, RawClient, until
from tried_workspace import CONFIG, RECORDS, applied, capabilities, finished, started

from stopwatch import least_seconds
from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.lsp.completion import value_at
from tried.text import LineIndex

CURSOR = "|"
RATES = ["0.01", "0.03", "0.1", "0.5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("completion").resolve()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = started(folder)
    uri = (folder / "first.yaml").as_uri()
    client.open(uri, CONFIG)
    until(lambda: client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}))  # the pool is there
    yield client
    finished(client)


def asked(
    client: RawClient, folder: Path, marked: str, name: str = "a.yaml", language: str = "yaml", **context: Any
) -> Any:
    """The answer where the cursor is marked, in a file that nobody is typing in."""
    uri = (folder / name).as_uri()
    client.close(uri)
    client.open(uri, marked.replace(CURSOR, ""), language)
    return complete(client, uri, marked, **context)


def complete(client: RawClient, uri: str, marked: str, **context: Any) -> Any:
    before = marked[: marked.index(CURSOR)]
    line = before.count("\n")
    position = {"line": line, "character": len(before) - before.rfind("\n") - 1}
    params = {"textDocument": {"uri": uri}, "position": position, "context": {"triggerKind": 1, **context}}
    return client.request("textDocument/completion", params)


def labels(answer: Any) -> list[str]:
    return [item["label"] for item in answer["items"]] if answer else []


def with_rate(marked: str) -> str:
    return CONFIG.replace("0.1\n", f"{marked}\n")


def test_values_of_the_key_the_best_first(client: RawClient, folder: Path) -> None:
    answer = asked(client, folder, with_rate("|"))
    assert answer["isIncomplete"] is False
    assert labels(answer) == RATES
    assert [item["detail"] for item in answer["items"]] == [
        "2 runs · best val_acc 0.9",
        "1 run · val_acc 0.8",
        "3 runs · best val_acc 0.7 · 1 dead end",
        "1 run, a dead end",
    ]
    assert answer["items"][0] == {
        "label": "0.01",
        "labelDetails": {"description": "2 runs · best val_acc 0.9"},
        "kind": 12,
        "detail": "2 runs · best val_acc 0.9",
        "documentation": {
            "kind": "markdown",
            "value": "`optimizer.lr` `0.01` · 2 runs\n\nBest: **val_acc 0.9** in `EXP-2`\n\n2 worked.\n\n"
            "Latest: `EXP-3`, `EXP-2`",
        },
        "sortText": "0000",
        "filterText": "0.01",
        "textEdit": {
            "range": {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 6}},
            "newText": "0.01",
        },
    }
    sorted_by_text = sorted(answer["items"], key=lambda item: item["sortText"])
    assert sorted_by_text == answer["items"]
    assert not [item for item in answer["items"] if "preselect" in item]


def test_what_only_ever_ended_badly_is_struck_through(client: RawClient, folder: Path) -> None:
    *others, last = asked(client, folder, with_rate("|"))["items"]
    assert (last["label"], last["tags"]) == ("0.5", [1])
    assert not [item for item in others if "tags" in item]


JSON = '{{"optimizer": {{"lr": {}, "name": "adamw"}},\n "batch_size": 64, "depth": 12, "warmup": 100}}\n'
TOML = "batch_size = 64\ndepth = 12\nwarmup = 100\n[optimizer]\nlr = {}\nname = 'adamw'\n"
PYTHON = "batch_size = 64\ndepth = 12\nwarmup = 100\noptimizer = dict(lr={}, name='adamw')\n"
FIELDS = "class Optimizer:\n    lr: float = {}\n    name: str = 'adamw'\n\nbatch_size = 64\ndepth = 12\nwarmup = 100\n"
DOTENV = "OPTIMIZER__LR={}\nBATCH_SIZE=64\nDEPTH=12\nWARMUP=100\n"
SHELL = "#!/bin/sh\nexport BATCH_SIZE=64 DEPTH=12 WARMUP=100\nOPTIMIZER__LR={} python train.py\n"
YAML = CONFIG.replace("0.1\n", "{}\n")
FLOW = "optimizer: {{lr: {}, name: adamw}}\nbatch_size: 64\ndepth: 12\nwarmup: 100\n"


@pytest.mark.parametrize("half", ["|", "0.|", "0.|3", "7|", "|0.1", "0|.1", "0.1|"])
@pytest.mark.parametrize(
    ("name", "language", "text"),
    [
        ("a.yaml", "yaml", YAML),
        ("flow.yaml", "yaml", FLOW),
        ("a.json", "json", JSON),
        ("a.toml", "toml", TOML),
        ("a.py", "python", PYTHON),
        ("fields.py", "python", FIELDS),
        (".env", "dotenv", DOTENV),
        ("run.sh", "shellscript", SHELL),
    ],
)
def test_the_whole_value_is_replaced_in_all_languages(
    client: RawClient, folder: Path, name: str, language: str, text: str, half: str
) -> None:
    marked = text.format(half)
    answer = asked(client, folder, marked, name, language)
    assert labels(answer) == RATES
    before = marked.replace(CURSOR, "")
    assert applied(before, answer["items"][0]["textEdit"]) == text.format("0.01")
    assert applied(before, answer["items"][3]["textEdit"]) == text.format("0.5")


@pytest.mark.parametrize(
    ("name", "language", "marked", "after"),
    [
        ("a.yaml", "yaml", CONFIG.replace("lr: 0.1", "lr:|"), CONFIG.replace("0.1", "0.01")),
        ("a.yaml", "yaml", CONFIG.replace("lr: 0.1", "lr: |  # low"), CONFIG.replace("0.1", "0.01  # low")),
        ("a.yaml", "yaml", CONFIG.replace("0.1", '"0.|1"'), CONFIG.replace("0.1", '"0.01"')),
        ("a.json", "json", JSON.format('"0|"'), JSON.format('"0.01"')),
        ("a.toml", "toml", TOML.replace("= {}", "=|"), TOML.format("0.01")),
        ("a.py", "python", PYTHON.format("0.1|  # low\n"), PYTHON.format("0.01  # low\n")),
    ],
)
def test_quotes_blanks_and_comments_stay(
    client: RawClient, folder: Path, name: str, language: str, marked: str, after: str
) -> None:
    answer = asked(client, folder, marked, name, language)
    assert labels(answer) == RATES
    assert applied(marked.replace(CURSOR, ""), answer["items"][0]["textEdit"]) == after


NAMES = ["adamw", "lion", "0x1F", "sgd"]


@pytest.mark.parametrize(
    ("name", "language", "marked", "written"),
    [
        ("a.yaml", "yaml", YAML.format("0.1").replace("adamw", "|"), ["adamw", "lion", '"0x1F"', "sgd"]),
        ("a.yaml", "yaml", YAML.format("0.1").replace("adamw", "'|'"), ["'adamw'", "'lion'", "'0x1F'", "'sgd'"]),
        ("a.json", "json", JSON.format("0.1").replace('"adamw"', "|"), ['"adamw"', '"lion"', '"0x1F"', '"sgd"']),
        ("a.json", "json", JSON.format("0.1").replace("adamw", "a|"), ['"adamw"', '"lion"', '"0x1F"', '"sgd"']),
        ("a.toml", "toml", TOML.format("0.1").replace("adamw", "|"), ["'adamw'", "'lion'", "'0x1F'", "'sgd'"]),
        ("a.py", "python", PYTHON.format("0.1").replace("'adamw'", "|"), ['"adamw"', '"lion"', '"0x1F"', '"sgd"']),
    ],
)
def test_text_is_written_as_the_language_has_it(
    client: RawClient, folder: Path, name: str, language: str, marked: str, written: Sequence[str]
) -> None:
    answer = asked(client, folder, marked, name, language)
    assert labels(answer) == NAMES
    assert [item["textEdit"]["newText"] for item in answer["items"]] == written


@pytest.mark.parametrize(
    ("marked", "language"),
    [
        (CONFIG.replace("seed: 3", "seed: |"), "yaml"),  # volatile
        (CONFIG + "gpu: |\n", "yaml"),  # hardware
        (CONFIG + "# lr: |\n", "yaml"),
        (CONFIG + "unheard_of: |\n", "yaml"),
        (CONFIG.replace("lr:", "l|r:"), "yaml"),
        (CONFIG.replace("batch_size", "|batch_size"), "yaml"),
        (CONFIG.replace("0.1", "0.1 |"), "yaml"),
        (CONFIG + "|", "yaml"),
        (CONFIG + "note: |\n".replace("|", ">\n  lr: |"), "yaml"),
        (CONFIG.replace("optimizer:", "optimizer: |"), "yaml"),
        ("services:\n  web:\n    image: |\n", "yaml"),
        ("x = 'lr: |'\n" + PYTHON.format("0.1"), "python"),
        ("def f():\n    lr = |\n" + PYTHON.format("0.1"), "python"),
    ],
)
def test_nothing_is_offered_elsewhere(client: RawClient, folder: Path, marked: str, language: str) -> None:
    name = "elsewhere.py" if language == "python" else "elsewhere.yaml"
    assert asked(client, folder, marked, name, language) is None


def test_no_character_brings_values_up_by_itself(folder: Path) -> None:
    """`optimizer:` and Enter begins a section, and must not become `optimizer: sgd`."""
    client = RawClient()
    try:
        offered = client.initialize(capabilities(), [folder])["capabilities"]["completionProvider"]
        assert "triggerCharacters" not in offered
        assert client.finish() == 0
    finally:
        client.kill()


def test_to_who_rests_on_a_value_all_others_are_shown(client: RawClient, folder: Path) -> None:
    """Editors keep what begins with what stands before the cursor."""
    answer = asked(client, folder, CONFIG.replace("0.1\n", "0.1|\n"))
    assert {item["filterText"] for item in answer["items"]} == {"0.1"}


def test_who_types_gets_what_begins_so(client: RawClient, folder: Path) -> None:
    uri = (folder / "typed.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pull(uri)
    client.change(uri, 2, edit(1, 6, 9, "0."))
    answer = complete(client, uri, CONFIG.replace("0.1\n", "0.|\n"))
    assert [item["filterText"] for item in answer["items"]] == RATES
    client.change(uri, 3, edit(2, 8, 13, "'s"))
    answer = complete(client, uri, CONFIG.replace("adamw", "'s|"))
    assert [item["filterText"] for item in answer["items"]] == ["'adamw'", "'lion'", "'0x1F'", "'sgd'"]
    assert {item["textEdit"]["range"]["end"]["character"] for item in answer["items"]} == {10}


def test_switched_off(tmp_path: Path) -> None:
    client = started(tmp_path, completion={"enable": False})
    assert asked(client, tmp_path, with_rate("|")) is None
    finished(client)


@pytest.mark.parametrize(
    ("item", "struck"),
    [({"deprecatedSupport": True}, {"deprecated": True}), ({}, {}), ({"tagSupport": {"valueSet": []}}, {})],
)
def test_what_the_client_can_show(tmp_path: Path, item: Message, struck: Message) -> None:
    can = copy.deepcopy(capabilities())
    can["textDocument"]["completion"] = {"completionItem": item}
    client = started(tmp_path, can)
    uri = (tmp_path / "a.yaml").as_uri()
    client.open(uri, CONFIG)
    last = until(lambda: complete(client, uri, CONFIG.replace("0.1\n", "|0.1\n")))["items"][-1]
    assert last["label"] == "0.5"
    assert {key: last[key] for key in ("tags", "deprecated") if key in last} == struck
    assert "labelDetails" not in last
    assert last["documentation"]["kind"] == "plaintext"
    finished(client)


def test_an_answer_while_somebody_types_is_quick(client: RawClient, folder: Path) -> None:
    uri = (folder / "quick.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pull(uri)
    versions = itertools.count(2)

    def answer() -> None:
        client.change(uri, next(versions), edit(1, 6, 9, "0.3"))
        assert complete(client, uri, CONFIG.replace("0.1\n", "0.3|\n"))

    assert least_seconds(answer, 0.05, clock=time.perf_counter) < 0.05


# Where the cursor is


@pytest.mark.parametrize(
    ("language", "marked", "path", "place"),
    [
        ("python", "cfg = dict(lr=|, b=2)\n", ("cfg", "lr"), ""),
        ("python", "cfg = dict(b=2, lr=|)\n", ("cfg", "lr"), ""),
        ("python", "cfg = dict(b=2, lr='ad|')\n", ("cfg", "lr"), "'ad'"),
        ("python", 'cfg = {"b": 2, "lr": |}\n', ("cfg", "lr"), ""),
        ("toml", "o = { lr = |, b = 2 }\n", ("o", "lr"), ""),
        ("json", '{"a": 1, "lr": |', ("lr",), ""),
        ("yaml", "a: 1\nlr: |", ("lr",), ""),
        ("env", "LR=|", ("LR",), ""),
        ("env", "#!/bin/sh\nLR=${LR:-0.|1} python t.py\n", ("LR",), "0.1"),
    ],
)
def test_the_value_at_the_cursor_of_a_broken_text(
    language: str, marked: str, path: tuple[str, ...], place: str
) -> None:
    offset = marked.index(CURSOR)
    text = marked.replace(CURSOR, "")
    lines = LineIndex(text)
    line = lines.line_span(lines.line_of(offset))
    found = value_at(text, language, drafts_of(parse(text, language), text), offset, line)
    assert found is not None
    assert found.parameter.entry.path == path
    assert found.place.of(text) == place
    assert found.place.covers(offset)


def test_no_value_of_which_a_part_would_stay() -> None:
    marked = '{"a": 1, "lr": |[1, "b": 2}'
    offset = marked.index(CURSOR)
    text = marked.replace(CURSOR, "")
    line = LineIndex(text).line_span(0)
    assert value_at(text, "json", drafts_of(parse(text, "json"), text), offset, line) is None


# As editors have it, checked against the protocol

neovim = neovim_fixture(*RECORDS)


@pytest.mark.asyncio(loop_scope="module")
async def test_in_neovim(neovim: LanguageClient, folder: Path) -> None:
    uri = (folder / "neovim.yaml").as_uri()
    item = t.TextDocumentItem(uri=uri, language_id="yaml", version=1, text=with_rate(""))
    neovim.text_document_did_open(t.DidOpenTextDocumentParams(text_document=item))
    params = t.CompletionParams(t.TextDocumentIdentifier(uri), t.Position(1, 6))
    found = None
    while not found:
        found = await neovim.text_document_completion_async(params)
    assert isinstance(found, t.CompletionList)
    assert [item.label for item in found.items] == RATES
