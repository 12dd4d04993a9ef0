"""Quick fixes for a finding: each is applied, and does what its title says."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, make_workspace
from raw_client import VSCODE_LIKE, Message, RawClient, RequestFailed, until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("actions").resolve()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = RawClient()
    client.initialize(VSCODE_LIKE, [folder], options={"editor": {"debounce_ms": 0, "typing_pause_ms": 0}})
    yield client
    assert client.finish() == 0
    assert client.leftovers() == []
    assert client.stderr == ""


@pytest.fixture(autouse=True)
def journal(client: RawClient, folder: Path) -> Path:
    """A fresh pool for each test."""
    (folder / "tried.toml").unlink(missing_ok=True)
    journal = make_workspace(folder)
    tell(client, journal, folder / "tried.toml")
    return journal


def tell(client: RawClient, *changed: Path) -> None:
    changes = [{"uri": path.as_uri(), "type": 2} for path in changed]
    client.notify("workspace/didChangeWatchedFiles", {"changes": changes})


def opened(client: RawClient, folder: Path, name: str, text: str, language: str = "yaml") -> tuple[str, Message]:
    """The one finding in a newly opened file, once the server has seen what the test wrote to the disk."""
    uri = (folder / name).as_uri()
    client.close(uri)
    client.open(uri, text, language)
    return uri, until(lambda: client.pull(uri)["items"], lambda items: len(items) == 1)[0]


def actions_for(client: RawClient, uri: str, found: Message, only: Sequence[str] | None = None) -> list[Message]:
    context: Message = {"diagnostics": [found]}
    if only is not None:
        context["only"] = only
    params = {"textDocument": {"uri": uri}, "range": found["range"], "context": context}
    return client.request("textDocument/codeAction", params) or []


def titled(actions: Sequence[Message], title: str) -> Message:
    (action,) = [action for action in actions if action["title"] == title]
    return action


def applied(text: str, action: Message) -> str:
    """The text after an edit of one insertion."""
    (change,) = action["edit"]["documentChanges"]
    (edit,) = change["edits"]
    assert edit["range"]["start"] == edit["range"]["end"]
    lines = text.splitlines(keepends=True)
    line, column = edit["range"]["start"]["line"], edit["range"]["start"]["character"]
    lines[line] = lines[line][:column] + edit["newText"] + lines[line][column:]
    return "".join(lines)


def run(client: RawClient, action: Message, **changed: Any) -> Any:
    command = action["command"]
    arguments = [{**command["arguments"][0], **changed}]
    return client.request("workspace/executeCommand", {"command": command["command"], "arguments": arguments})


def test_what_is_offered(client: RawClient, folder: Path) -> None:
    uri, found = opened(client, folder, "offered.yaml", CONFIG)
    actions = actions_for(client, uri, found)
    assert [action["title"] for action in actions] == [
        "Use 0.1: 1 run (val_loss 2.1)",
        "Silence dead-end here, with a reason",
        "Silence everything here, with a reason",
        "Retry exp-2 on purpose, because …",
        "Mark exp-2 as working",
        "Mark exp-2 as inconclusive",
        "Open exp-2",
        "Compare with exp-2",
    ]
    assert all(action["kind"] == "quickfix" for action in actions)
    assert all(action["diagnostics"] == [found] for action in actions)
    assert actions_for(client, uri, found, only=["quickfix"]) == actions
    assert actions_for(client, uri, found, only=["refactor", "source"]) == []


def test_elsewhere_nothing_is_offered(client: RawClient, folder: Path) -> None:
    uri, found = opened(client, folder, "elsewhere.yaml", CONFIG)
    place = {"start": {"line": 4, "character": 0}, "end": {"line": 4, "character": 3}}
    assert actions_for(client, uri, {**found, "range": place}) == []


JSONC = '{\n "optimizer": {\n  "lr": 0.5\n },\n "batch_size": 64,\n "warmup_steps": 100\n}\n'
PYTHON = "BATCH_SIZE = 64\nWARMUP_STEPS = 100\nDEPTH = 12\noptimizer = dict(lr=0.5)\n"
CASES = [
    ("trailing.yaml", "yaml", CONFIG, "  lr: 0.5  # tried: {}\n"),
    ("noted.yaml", "yaml", CONFIG.replace("0.5\n", "0.5  # as said\n"), "0.5  # as said  # tried: {}\n"),
    ("some.toml", "toml", "batch_size = 64\nwarmup_steps = 100\n[optimizer]\nlr = 0.5\n", "lr = 0.5  # tried: {}\n"),
    ("windows.yaml", "yaml", CONFIG.replace("\n", "\r\n"), "  lr: 0.5  # tried: {}\r\n"),
    ("flow.yaml", "yaml", CONFIG.replace("\n  lr: 0.5", " {lr: 0.5}"), "{lr: 0.5}  # tried: {}\n"),
    ("comments.jsonc", "jsonc", JSONC, '"lr": 0.5  // tried: {}\n'),
    ("train.py", "python", PYTHON, "dict(lr=0.5)  # tried: {}\n"),
]


@pytest.mark.parametrize(("name", "language", "text", "line"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize(
    ("title", "directive"),
    [
        ("Silence dead-end here, with a reason", "ignore[dead-end] because …"),
        ("Silence everything here, with a reason", "ignore because …"),
        ("Retry exp-2 on purpose, because …", "retry exp-2 because …"),
    ],
)
def test_a_comment_silences(
    client: RawClient, folder: Path, name: str, language: str, text: str, line: str, title: str, directive: str
) -> None:
    uri, found = opened(client, folder, name, text, language)
    after = applied(text, titled(actions_for(client, uri, found), title))
    assert line.replace("{}", directive) in after
    client.close(uri)
    client.open(uri, after, language)
    assert client.pull(uri)["items"] == []


def test_a_value_of_several_lines_is_silenced_above(client: RawClient, folder: Path) -> None:
    text = CONFIG.replace("lr: 0.5", "lr: >-\n    0.5")
    uri, found = opened(client, folder, "folded.yaml", text)
    after = applied(text, titled(actions_for(client, uri, found), "Silence dead-end here, with a reason"))
    assert "  # tried: ignore[dead-end] because …\n  lr: >-\n" in after
    client.close(uri)
    client.open(uri, after)
    assert client.pull(uri)["items"] == []


def test_json_is_silenced_in_tried_toml(client: RawClient, folder: Path) -> None:
    text = '{"optimizer": {"lr": 0.5}, "batch_size": 64, "warmup_steps": 100}'
    uri, found = opened(client, folder, "plain.json", text, "json")
    action = titled(actions_for(client, uri, found), "Silence dead-end here, in tried.toml")
    assert run(client, action, reason='the "old" one') == {"file": str(folder / "tried.toml")}
    assert tomllib.loads((folder / "tried.toml").read_text())["silence"] == [
        {"path": "plain.json", "key": "optimizer.lr", "code": "dead-end", "reason": 'the "old" one'}
    ]
    until(lambda: client.pull(uri)["items"], lambda items: items == [])


def test_a_tried_toml_that_cannot_be_extended_is_told(client: RawClient, folder: Path) -> None:
    (folder / "tried.toml").write_text("silence = []\n")
    tell(client, folder / "tried.toml")
    text = '{"optimizer": {"lr": 0.5}, "batch_size": 64, "warmup_steps": 100}'
    uri, found = opened(client, folder, "plain.json", text, "json")
    action = titled(actions_for(client, uri, found), "Silence dead-end here, in tried.toml")
    with pytest.raises(RequestFailed, match="was left as it is"):
        run(client, action)
    assert (folder / "tried.toml").read_text() == "silence = []\n"


def test_marking_a_record_appends_an_amendment(client: RawClient, folder: Path, journal: Path) -> None:
    before = journal.read_bytes()
    uri, found = opened(client, folder, "mark.yaml", CONFIG)
    action = titled(actions_for(client, uri, found), "Mark exp-2 as working")
    assert run(client, action, reason="a bug, since mended")["record"] == "exp-2"
    until(lambda: client.pull(uri)["items"], lambda items: items == [])
    after = journal.read_bytes()
    assert after.startswith(before)
    amendment = json.loads(after[len(before) :])
    assert (amendment["kind"], amendment["amends"], amendment["verdict"]) == ("amendment", "exp-2", "works")
    assert amendment["conclusion"]["headline"] == "a bug, since mended"


def test_marking_needs_no_reason(client: RawClient, folder: Path, journal: Path) -> None:
    uri, found = opened(client, folder, "mark2.yaml", CONFIG)
    run(client, titled(actions_for(client, uri, found), "Mark exp-2 as inconclusive"))
    amendment = json.loads(journal.read_text().splitlines()[-1])
    assert amendment["verdict"] == "inconclusive"
    assert "conclusion" not in amendment


def test_the_page_of_a_record_is_opened(client: RawClient, folder: Path) -> None:
    uri, found = opened(client, folder, "open.yaml", CONFIG)
    answer = run(client, titled(actions_for(client, uri, found), "Open exp-2"))
    assert answer == {"url": "https://example.org/runs/2", "shown": True}
    assert client.take_request("window/showDocument")["uri"] == "https://example.org/runs/2"


def test_a_record_with_a_page_is_opened_where_it_is_stored_if_that_is_asked_for(
    client: RawClient, folder: Path, journal: Path
) -> None:
    uri, _ = opened(client, folder, "stored.yaml", CONFIG)
    command = {"command": "tried.openRecord", "arguments": [{"uri": uri, "record": "exp-2", "stored": True}]}
    assert client.request("workspace/executeCommand", command) == {"file": str(journal), "line": 2, "shown": True}
    assert client.take_request("window/showDocument")["uri"] == journal.as_uri()


def test_a_record_is_found_beside_a_document_as_people_name_it(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    journal = make_workspace(folder, BASELINE, {**DIVERGED, "url": None, "aliases": ["wandb:ab12cd34"]})
    client = RawClient()
    try:
        client.initialize(VSCODE_LIKE, [folder])
        uri, _ = opened(client, folder, "named.yaml", CONFIG)
        for name in ("exp-2", "wandb:ab12cd34", "ab12cd34"):
            command = {"command": "tried.openRecord", "arguments": [{"uri": uri, "record": name}]}
            opened_at = client.request("workspace/executeCommand", command)
            assert (opened_at["file"], opened_at["line"]) == (str(journal), 2)
        assert client.finish() == 0
    finally:
        client.kill()


@pytest.mark.parametrize("url", [None, "command:evil", "javascript:alert(1)", "file:///etc/passwd"])
def test_a_record_without_a_page_is_opened_in_its_journal(client: RawClient, folder: Path, url: str | None) -> None:
    journal = make_workspace(folder, BASELINE, {**DIVERGED, "url": url})
    uri, _ = opened(client, folder, "open2.yaml", CONFIG)
    command = {"command": "tried.openRecord", "arguments": [{"uri": uri, "record": "exp-2"}]}
    tell(client, journal)
    answer = until(lambda: client.request("workspace/executeCommand", command), lambda answer: "file" in answer)
    assert answer == {"file": str(journal), "line": 2, "shown": True}
    shown = [request["params"] for request in client.requests if request["method"] == "window/showDocument"][-1]
    assert shown["uri"] == journal.as_uri()
    assert shown["selection"]["start"] == {"line": 1, "character": 0}
    client.requests.clear()


@pytest.mark.parametrize(
    ("command", "argument", "said"),
    [
        ("tried.markRecord", {"record": "exp-2", "verdict": "great"}, "dead_end, works, inconclusive"),
        ("tried.markRecord", {"record": "exp-2"}, "nothing to write down"),
        ("tried.markRecord", {"record": "nobody", "verdict": "works"}, "'nobody'"),
        ("tried.markRecord", {"record": 7, "verdict": "works"}, "record must be text"),
        ("tried.openRecord", {"record": "nobody"}, "'nobody'"),
        ("tried.openRecord", {"uri": "file:///not/open.yaml", "record": "exp-2"}, "open document"),
        ("tried.silence", [1], "one table"),
    ],
)
def test_mistakes_in_commands_are_told(
    client: RawClient, folder: Path, journal: Path, command: str, argument: Any, said: str
) -> None:
    before = journal.read_bytes()
    uri, _ = opened(client, folder, "mistakes.yaml", CONFIG)
    arguments = [{"uri": uri, **argument} if isinstance(argument, dict) else argument]
    with pytest.raises(RequestFailed) as failure:
        client.request("workspace/executeCommand", {"command": command, "arguments": arguments})
    assert failure.value.code == -32602
    assert said in str(failure.value)
    assert journal.read_bytes() == before


def test_a_record_is_marked_without_a_document(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    journal = make_workspace(folder)
    client = RawClient()
    try:
        client.initialize(VSCODE_LIKE, [folder])
        marked = {"record": "exp-2", "verdict": "works", "reason": "with warm-up"}
        done = client.request("workspace/executeCommand", {"command": "tried.markRecord", "arguments": [marked]})
        assert done["record"] == "exp-2"
        written = json.loads(journal.read_text().splitlines()[-1])
        assert (written["amends"], written["verdict"]) == ("exp-2", "works")
        unknown = {"command": "tried.markRecord", "arguments": [{"record": "nobody", "verdict": "works"}]}
        with pytest.raises(RequestFailed, match="no record nobody in the pool"):
            client.request("workspace/executeCommand", unknown)
        assert client.finish() == 0
    finally:
        client.kill()


def test_an_old_client_gets_commands_only(folder: Path) -> None:
    client = RawClient()
    try:
        client.initialize({}, [folder])
        uri = (folder / "old.yaml").as_uri()
        client.open(uri, CONFIG)
        (found,) = client.pushed(uri)
        actions = actions_for(client, uri, found)
        assert [action["command"] for action in actions] == [
            "tried.markRecord",
            "tried.markRecord",
            "tried.openRecord",
            "tried.compareRecord",
        ]
        answer = client.request("workspace/executeCommand", actions[-2])
        assert answer["shown"] is False
        assert client.take("window/showMessage")["message"] == "exp-2 is at https://example.org/runs/2"
        assert client.finish() == 0
    finally:
        client.kill()
