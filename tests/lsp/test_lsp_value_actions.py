"""The value of the best related run as an edit: when it is offered, as what, and what the text is after it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import journal_line, make_workspace
from raw_client import NEOVIM_LIKE, Message, RawClient, until
from tried_workspace import CONFIG, applied, finished, started, tried

from tried.draft.syntax import parse

USE_RATE = "Use 0.01: best of 2 runs (val_acc 0.9)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("values").resolve()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = started(folder)
    uri = (folder / "first.yaml").as_uri()
    client.open(uri, CONFIG)
    until(lambda: client.request("textDocument/codeLens", {"textDocument": {"uri": uri}}))  # the pool is there
    yield client
    finished(client)


def actions(
    client: RawClient, folder: Path, text: str, at: str, name: str = "a.yaml", language: str = "yaml", **context: Any
) -> list[Message]:
    """What is offered at the first character of `at`, and only what gives a value."""
    uri = (folder / name).as_uri()
    client.close(uri)
    client.open(uri, text, language)
    before = text[: text.index(at)]
    place = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": [], **context},
    }
    found = client.request("textDocument/codeAction", params) or []
    return [action for action in found if action["title"].startswith("Use ")]


def edited(text: str, action: Message) -> str:
    (change,) = action["edit"]["documentChanges"]
    (edit,) = change["edits"]
    return applied(text, edit)


def test_the_best_value_is_a_rewriting(client: RawClient, folder: Path) -> None:
    (action,) = actions(client, folder, CONFIG, "0.1")
    assert (action["title"], action["kind"]) == (USE_RATE, "refactor.rewrite")
    assert "diagnostics" not in action
    after = edited(CONFIG, action)
    assert after == CONFIG.replace("0.1", "0.01")
    assert actions(client, folder, after, "0.01") == []


JSON = '{"optimizer": {"lr": 0.1, "name": "lion"},\n "batch_size": 64, "depth": 12, "warmup": 100}\n'
TOML = 'batch_size = 64\ndepth = 12\nwarmup = 100\n[optimizer]\nlr = 0.1  # low\nname = "lion"\n'
PYTHON = "batch_size = 64\ndepth = 12\nwarmup = 100\noptimizer = dict(lr=0.1, name='lion')\n"
SHELL = "#!/bin/sh\nexport BATCH_SIZE=64 DEPTH=12 WARMUP=100\nOPTIMIZER__LR=0.1 OPTIMIZER__NAME=lion python t.py\n"


@pytest.mark.parametrize(
    ("name", "language", "text"),
    [("a.json", "json", JSON), ("a.toml", "toml", TOML), ("a.py", "python", PYTHON), ("a.sh", "shellscript", SHELL)],
)
def test_in_all_languages(client: RawClient, folder: Path, name: str, language: str, text: str) -> None:
    (rate,) = actions(client, folder, text, "0.1", name, language)
    (optimizer,) = actions(client, folder, text, "lion", name, language)
    assert optimizer["title"] == "Use adamw: best of 4 runs (val_acc 0.9), 1 dead end"
    both = edited(edited(text, optimizer), rate)
    assert both == text.replace("0.1", "0.01").replace("lion", "adamw")
    assert [entry.path for entry in parse(both, language).entries] == [e.path for e in parse(text, language).entries]


def test_at_a_finding_it_is_a_quick_fix(client: RawClient, folder: Path) -> None:
    """EXP-5 had this learning rate and ended badly; all else is as it was there."""
    text = CONFIG.replace("0.1", "0.5").replace("64", "32")
    uri = (folder / "dead.yaml").as_uri()
    client.open(uri, text)
    found = until(lambda: client.pull(uri)["items"])
    client.close(uri)
    (action,) = actions(client, folder, text, "0.5", "dead.yaml", diagnostics=found)
    assert (action["title"], action["kind"]) == (USE_RATE, "quickfix")
    assert action["diagnostics"] == found
    client.close(uri)
    client.open(uri, edited(text, action))
    assert client.pull(uri)["items"] == []


@pytest.mark.parametrize(
    ("only", "count"),
    [("refactor", 1), ("refactor.rewrite", 1), ("", 1), ("quickfix", 0), ("refactor.rewrite.more", 0), ("re", 0)],
)
def test_the_kind_that_is_asked_for(client: RawClient, folder: Path, only: str, count: int) -> None:
    assert len(actions(client, folder, CONFIG, "0.1", only=[only])) == count


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (CONFIG, "adamw"),  # the best already
        (CONFIG, "12"),
        (CONFIG, "3\n"),  # a seed
        (CONFIG.replace("0.1", "${oc.env:LR}"), "${oc"),
        (CONFIG.replace("0.1", "&rate 0.1") + "again: *rate\n", "0.1"),  # another entry would change with it
        (CONFIG.replace("0.1", ">\n    0.1"), "0.1"),
    ],
)
def test_where_nothing_is_offered(client: RawClient, folder: Path, text: str, at: str) -> None:
    assert actions(client, folder, text, at) == []


def test_in_place_of_a_value_that_nobody_tried(client: RawClient, folder: Path) -> None:
    (action,) = actions(client, folder, CONFIG, "64")
    assert action["title"] == "Use 32: best of 7 runs (val_acc 0.9), 2 dead ends"


def test_a_value_of_a_dead_end_is_never_offered(tmp_path: Path) -> None:
    client = started(tmp_path)
    journal = make_workspace(tmp_path, tried("EXP-1", 0.99, "dead_end", optimizer__lr=0.5), tried("EXP-2", None))
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    uri = (tmp_path / "first.yaml").as_uri()
    client.open(uri, CONFIG)
    said = "never run · nearest: EXP-2, differs in batch_size · 1 dead end nearby"
    until(lambda: lens(client, uri), lambda found: found == said)
    assert actions(client, tmp_path, CONFIG, "0.1") == []
    journal.write_text(journal.read_text() + journal_line(tried("EXP-3", 0.2, optimizer__lr=0.3)))
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    (action,) = until(lambda: actions(client, tmp_path, CONFIG, "0.1"))
    assert action["title"] == "Use 0.3: 1 run (val_acc 0.2)"
    finished(client)


def lens(client: RawClient, uri: str) -> Any:
    found = client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    return found[0]["command"]["title"] if found else None


def test_the_best_of_another_dataset_is_no_better_value(tmp_path: Path) -> None:
    client = started(tmp_path)
    journal = make_workspace(
        tmp_path, tried("EXP-1", 0.5, dataset="svhn"), tried("EXP-2", 0.9, dataset="mnist", optimizer__lr=0.01)
    )
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    for dataset, offered in (("mnist", ["Use 0.01: 1 run (val_acc 0.9)"]), ("svhn", [])):
        text = f"{CONFIG}dataset: {dataset}\n"
        found = until(functools.partial(lens_of, client, tmp_path, text), lambda said: bool(said) and "EXP" in said)
        assert found.startswith("never run")
        assert [action["title"] for action in actions(client, tmp_path, text, "0.1")] == offered
        assert actions(client, tmp_path, text, dataset) == []
    assert actions(client, tmp_path, CONFIG, "0.1") == []  # of which dataset it is nobody says
    finished(client)


def lens_of(client: RawClient, folder: Path, text: str) -> Any:
    uri = (folder / "lens.yaml").as_uri()
    client.close(uri)
    client.open(uri, text)
    return lens(client, uri)


def test_a_client_without_versions_gets_plain_changes(tmp_path: Path) -> None:
    client = started(tmp_path, NEOVIM_LIKE)
    uri = (tmp_path / "a.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pushed(uri, lambda found: True)
    (action,) = until(lambda: actions(client, tmp_path, CONFIG, "0.1"))
    place = {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 9}}
    assert action["edit"] == {"changes": {uri: [{"range": place, "newText": "0.01"}]}}
    finished(client)


def test_a_client_that_knows_commands_alone_gets_no_edit(tmp_path: Path) -> None:
    client = started(tmp_path, {})
    uri = (tmp_path / "a.yaml").as_uri()
    client.open(uri, CONFIG)
    until(lambda: lens(client, uri))
    assert actions(client, tmp_path, CONFIG, "0.1") == []
    finished(client)
