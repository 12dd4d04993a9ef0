"""Settings of the editor and of the workspace, live; mistakes in them are told where they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import CONFIG, make_workspace
from raw_client import NEOVIM_LIKE, VSCODE_LIKE, Message, RawClient

SILENT = {"findings": {"enable": False}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_workspace(tmp_path)
    return tmp_path.resolve()


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., RawClient]]:
    """Starts a server on the folder; `configuration` is what the client answers for section `tried`."""
    clients: list[RawClient] = []

    def started(capabilities: Message, options: Any = None, configuration: Any = None) -> RawClient:
        client = RawClient()
        clients.append(client)
        client.answers["workspace/configuration"] = lambda params: [configuration for _ in params["items"]]
        client.initialize(capabilities, [folder], options=options)
        return client

    yield started
    for client in clients:
        assert client.finish() == 0
        assert client.leftovers() == []
        assert client.stderr == ""


@pytest.mark.parametrize("wrap", [lambda options: options, lambda options: {"tried": options}])
def test_initialization_options(start: Callable[..., RawClient], folder: Path, wrap: Callable[[Any], Any]) -> None:
    client = start(NEOVIM_LIKE, options=wrap(SILENT))
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    assert client.pushed(uri, until=lambda found: True) == []


@pytest.mark.parametrize("answer", ["error", None, [], [{"findings": {"minimum_compared": 1}}]])
def test_the_options_count_where_the_client_has_no_configuration(
    tmp_path: Path, answer: list[dict[str, Any]] | str | None
) -> None:
    """An error, null, or an answer for fewer folders than were asked for."""
    folders = [tmp_path.resolve() / name for name in ("first", "second")]
    client = RawClient()
    try:
        if answer == "error":
            del client.answers["workspace/configuration"]
        else:
            client.answers["workspace/configuration"] = lambda params: answer
        for folder in folders:
            make_workspace(folder)
        client.initialize(NEOVIM_LIKE, folders, options=SILENT)
        for folder in folders:
            uri = (folder / "next.yaml").as_uri()
            client.open(uri, CONFIG)
            assert client.pushed(uri, until=lambda found: True) == []
        assert client.finish() == 0
    finally:
        client.kill()


def test_the_options_count_in_a_folder_that_is_added(tmp_path: Path, start: Callable[..., RawClient]) -> None:
    added = tmp_path.resolve() / "added"
    make_workspace(added)
    client = start(NEOVIM_LIKE, options=SILENT)
    del client.answers["workspace/configuration"]
    event = {"added": [{"uri": added.as_uri(), "name": "added"}], "removed": []}
    client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    client.open((added / "next.yaml").as_uri(), CONFIG)
    assert client.pushed((added / "next.yaml").as_uri(), until=lambda found: True) == []
    client.wait(lambda: "refused workspace/configuration" in client.stderr, 10, "a line in the log")
    client.stderr = ""


def test_the_configuration_wins_over_the_options(start: Callable[..., RawClient], folder: Path) -> None:
    louder = {"findings": {"enable": True, "severity": {"move": "information"}}}
    client = start(NEOVIM_LIKE, options=SILENT, configuration=louder)
    asked = client.take_request("workspace/configuration")
    assert asked["items"] == [{"section": "tried", "scopeUri": folder.as_uri()}]
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    assert [found["severity"] for found in client.pushed(uri)] == [3]


def test_a_changed_configuration_is_fetched(start: Callable[..., RawClient], folder: Path) -> None:
    client = start(VSCODE_LIKE)
    registered = client.take_request("client/registerCapability")["registrations"]
    assert registered[0]["method"] == "workspace/didChangeConfiguration"
    assert registered[0]["registerOptions"] == {"section": "tried"}
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    assert len(client.pull(uri)["items"]) == 1
    client.answers["workspace/configuration"] = lambda params: [SILENT]
    client.notify("workspace/didChangeConfiguration", {"settings": None})
    client.take_request("workspace/diagnostic/refresh")
    assert client.pull(uri)["items"] == []


def test_a_pushed_configuration_is_taken(start: Callable[..., RawClient], folder: Path) -> None:
    """From a client that cannot be asked."""
    workspace = {**NEOVIM_LIKE["workspace"], "configuration": False}
    client = start({**NEOVIM_LIKE, "workspace": workspace})
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pushed(uri)
    client.notify("workspace/didChangeConfiguration", {"settings": {"tried": SILENT}})
    client.pushed(uri, until=lambda found: not found)
    client.notify("workspace/didChangeConfiguration", {"settings": {"tried": {}}})
    client.pushed(uri)


def test_tried_toml_is_read_live(start: Callable[..., RawClient], folder: Path) -> None:
    client = start(NEOVIM_LIKE)
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pushed(uri)
    settings = folder / "tried.toml"
    settings.write_text("[findings]\nenable = false\n")
    client.pushed(uri, until=lambda found: not found, seconds=3)
    settings.unlink()
    client.pushed(uri, seconds=3)


def test_a_mistake_in_tried_toml_is_pushed_on_that_file(start: Callable[..., RawClient], folder: Path) -> None:
    (folder / "tried.toml").write_text("[ranking]\nlimit = 'many'\n")
    client = start(NEOVIM_LIKE)
    uri, settings = (folder / "next.yaml").as_uri(), (folder / "tried.toml").as_uri()
    client.open(uri, CONFIG)
    (problem,) = client.pushed(settings)
    assert problem["range"]["start"] == {"line": 1, "character": 0}
    assert problem["code"] == "settings"
    assert "limit" in problem["message"]
    client.pushed(uri)  # with the defaults
    (folder / "tried.toml").write_text("[ranking]\nlimit = 5\n")
    client.pushed(settings, until=lambda found: not found, seconds=3)


def test_a_mistake_in_tried_toml_is_pulled(start: Callable[..., RawClient], folder: Path) -> None:
    (folder / "tried.toml").write_text("[ranking\n")
    client = start(VSCODE_LIKE)
    uri, settings = (folder / "next.yaml").as_uri(), (folder / "tried.toml").as_uri()
    waiting = client.start_request("workspace/diagnostic", {"previousResultIds": []})
    client.open(uri, CONFIG)
    (report,) = client.result(waiting)["items"]
    assert (report["uri"], report["kind"], len(report["items"])) == (settings, "full", 1)
    assert len(client.pull(uri)["items"]) == 1
    known = {"previousResultIds": [{"uri": settings, "value": report["resultId"]}]}
    waiting = client.start_request("workspace/diagnostic", known)
    client.open(settings, "[ranking\n", language="toml")
    assert client.pull(settings)["items"] == report["items"]
    assert waiting not in client.responses
    (folder / "tried.toml").write_text("")
    (report,) = client.result(waiting, seconds=3)["items"]
    assert report["items"] == []
    client.take_request("workspace/diagnostic/refresh")
    assert client.pull(settings)["items"] == []
    assert client.pushes == []


def test_a_source_that_is_missing_is_told_on_tried_toml_until_it_is_there(
    start: Callable[..., RawClient], folder: Path
) -> None:
    (folder / "tried.toml").write_text('[pool]\nsources = ["more.jsonl"]\n')
    client = start(NEOVIM_LIKE)
    uri, settings = (folder / "next.yaml").as_uri(), (folder / "tried.toml").as_uri()
    client.open(uri, CONFIG)
    (problem,) = client.pushed(settings)
    assert (problem["code"], problem["range"]["start"]["line"]) == ("settings", 1)
    assert problem["message"].startswith('pool.sources[0]: "more.jsonl": there is no such file')
    assert "more.jsonl: not read" in client.take("window/logMessage")["message"]
    (folder / "more.jsonl").write_text('{"id": "more"}\n')
    client.pushed(settings, until=lambda found: not found, seconds=3)


def test_a_mistake_in_the_editors_settings_is_logged_once(start: Callable[..., RawClient], folder: Path) -> None:
    client = start(NEOVIM_LIKE, options={"rankin": {}})
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pushed(uri)
    assert "ranking" in client.take("window/logMessage")["message"]


def test_hover_and_actions_can_be_turned_off(start: Callable[..., RawClient], folder: Path) -> None:
    client = start(NEOVIM_LIKE, options={"hover": {"enable": False}, "codeActions": {"enable": False}})
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    (found,) = client.pushed(uri)
    assert client.hover(uri, 2, 7) is None
    params = {"textDocument": {"uri": uri}, "range": found["range"], "context": {"diagnostics": [found]}}
    assert client.request("textDocument/codeAction", params) is None
