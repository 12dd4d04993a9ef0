"""Diagnostics pushed to a client that cannot be told to pull again, as Neovim 0.11."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from lsp_workspace import CONFIG, HARMLESS, TOO_DEEP, edit, journal_line, make_workspace
from raw_client import NEOVIM_LIKE, RawClient, RequestFailed, no_findings

from tried.draft.entries import Problem
from tried.findings.finding import Finding
from tried.lsp.diagnostics import loudest
from tried.lsp.open_document import Document
from tried.lsp.session import Session
from tried.lsp.uris import path_of
from tried.text import Span

PAUSE = 0.9
FAST = {"editor": {"debounce_ms": 50, "typing_pause_ms": int(1000 * PAUSE)}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("push").resolve()
    make_workspace(folder)
    return folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = RawClient()
    result = client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    assert "diagnosticProvider" not in result["capabilities"]
    yield client
    assert client.finish() == 0
    assert client.stderr == ""


@pytest.fixture
def uri(client: RawClient, folder: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A new file for each test; nothing that the server said may be left over."""
    uri = (folder / f"{request.node.name}.yaml").as_uri()
    yield uri
    client.close(uri)
    client.wait(lambda: client.diagnostics.get(uri) == [], 5, "the diagnostics to go with the file")
    assert client.leftovers() == []


def test_a_repeated_dead_end_is_underlined(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    (found,) = client.pushed(uri)
    assert found["range"] == {"start": {"line": 2, "character": 6}, "end": {"line": 2, "character": 9}}
    assert found["severity"] == 2
    assert found["code"] == "dead-end"
    assert found["source"] == "tried"
    page = path_of(found["codeDescription"]["href"])
    assert page is not None
    assert "dead-end" in page.read_text(encoding="utf-8")
    assert "exp-2" in found["message"]
    assert "\n" not in found["message"]
    assert found["data"] == {
        "evidence": "move",
        "cause": "diverged",
        "record": "exp-2",
        "records": ["exp-2"],
        "blamed": ["optimizer.lr"],
    }


def test_a_client_that_is_pushed_to_cannot_pull(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    client.pushed(uri)
    with pytest.raises(RequestFailed) as failure:
        client.pull(uri)
    assert failure.value.code == -32601


def test_an_edit_takes_it_away_at_once(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    client.pushed(uri)
    started = time.monotonic()
    client.change(uri, 2, edit(2, 6, 9, "0.1"))
    client.pushed(uri, until=lambda found: not found)
    assert time.monotonic() - started < PAUSE


def test_a_new_finding_on_the_line_being_typed_waits_for_a_pause(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS)
    client.pushed(uri, until=lambda found: found == [])
    started = time.monotonic()
    client.change(uri, 2, edit(2, 8, 9, "5"))
    client.pushed(uri)
    assert PAUSE - 0.05 < time.monotonic() - started < PAUSE + 1.0


def test_typing_on_keeps_a_new_finding_away(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS)
    client.pushed(uri, until=lambda found: found == [])
    seen = len(client.pushes)
    client.change(uri, 2, edit(2, 8, 9, "5"))
    for version in range(3, 8):
        time.sleep(PAUSE / 3)
        client.change(uri, version, edit(2, 9, 9, " "))
    assert all(push["diagnostics"] == [] for push in client.pushes[seen:])
    last = time.monotonic()
    client.pushed(uri)
    assert time.monotonic() - last > PAUSE / 2


def test_a_new_finding_elsewhere_shows_at_once(client: RawClient, uri: str) -> None:
    """A pasted block is not being typed, and neither is what stands on another line."""
    client.open(uri, "name: next\n")
    client.pushed(uri, until=lambda found: found == [])
    started = time.monotonic()
    client.change(uri, 2, edit(0, 0, 0, CONFIG.split("\n", 1)[1]))
    client.pushed(uri)
    assert time.monotonic() - started < PAUSE


def test_what_is_shown_stays_while_its_line_is_typed(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    client.pushed(uri)
    seen = len(client.pushes)
    client.change(uri, 2, edit(2, 9, 9, "  # is this"))
    client.wait(lambda: len(client.pushes) > seen, 5, "the next version")
    assert len(client.pushes[-1]["diagnostics"]) == 1
    assert client.pushes[-1]["version"] == 2


def test_the_latest_edit_wins(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    client.pushed(uri)
    seen = len(client.pushes)
    for version in range(2, 52):
        client.change(uri, version, edit(6, 14, 14, "0"))
    client.wait(lambda: client.pushes[-1]["version"] == 51, 10, "the last version")
    versions = [push["version"] for push in client.pushes[seen:]]
    assert versions == sorted(versions)
    assert len(versions) < 10


def test_every_push_names_its_version(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS, version=7)
    client.pushed(uri, until=lambda found: found == [])
    assert client.pushes[-1]["version"] == 7


def test_opening_again_starts_anew(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG)
    client.pushed(uri)
    client.open(uri, HARMLESS)
    client.pushed(uri, until=lambda found: found == [])
    client.open(uri, CONFIG, version=3)
    client.pushed(uri)


def test_other_files_are_silent(client: RawClient, folder: Path, uri: str) -> None:
    client.open(uri, "services:\n  web:\n    image: nginx\n")
    client.pushed(uri, until=lambda found: found == [])
    compose = (folder / "docker-compose.yml").as_uri()
    client.open(compose, CONFIG)
    client.pushed(compose, until=lambda found: found == [])
    client.close(compose)


def test_the_old_side_of_a_comparison_is_left_alone(client: RawClient, uri: str) -> None:
    client.open("git:/some/where/config.yaml?ref=HEAD", CONFIG)
    client.open(uri, CONFIG)
    client.pushed(uri)
    assert client.hover("git:/some/where/config.yaml?ref=HEAD", 2, 7) is None
    client.close("git:/some/where/config.yaml?ref=HEAD")
    assert not client.diagnostics.get("git:/some/where/config.yaml?ref=HEAD")


def test_a_journal_that_grows_updates_open_files(client: RawClient, folder: Path, uri: str) -> None:
    deeper = HARMLESS.replace("depth: 12", "depth: 48")
    client.open(uri, deeper)
    client.pushed(uri, until=lambda found: found == [])
    journal = folder / ".tried" / "pool.jsonl"
    before = journal.read_text()
    started = time.monotonic()
    with journal.open("a") as file:
        file.write(journal_line(TOO_DEEP))
    (found,) = client.pushed(uri)
    assert time.monotonic() - started < 2.0
    assert found["range"]["start"] == {"line": 5, "character": 9}
    journal.write_text(before)  # replaced by a shorter one
    client.pushed(uri, until=lambda found: not found, seconds=3)


def test_an_unsaved_text_belongs_to_the_first_folder(client: RawClient) -> None:
    client.open("untitled:Untitled-1", CONFIG)
    client.pushed("untitled:Untitled-1")
    client.close("untitled:Untitled-1")


def test_a_half_typed_file_keeps_what_stands_elsewhere(client: RawClient, uri: str) -> None:
    client.open(uri, CONFIG + "notes: 'not closed\n")
    client.pushed(uri)


def test_a_mistaken_directive_is_told_after_the_pause(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS)
    client.pushed(uri, until=lambda found: found == [])
    started = time.monotonic()
    client.change(uri, 2, edit(3, 14, 14, "  # tried: mute"))
    (found,) = client.pushed(uri)
    assert time.monotonic() - started > PAUSE - 0.05
    assert (found["code"], found["severity"], found["range"]["start"]["line"]) == ("directive", 3, 3)
    assert found["message"].startswith("`tried: mute` is no directive")


def test_a_retry_of_no_record_is_told(client: RawClient, uri: str) -> None:
    client.open(uri, HARMLESS + "# tried: retry exp-22\nseed: 1\n")
    (found,) = client.pushed(uri)
    assert (found["code"], found["severity"], found["range"]["start"]["line"]) == ("directive", 3, 7)
    assert found["message"] == "silences nothing: no record exp-22 in the pool; did you mean exp-2 or exp-1?"


def test_the_loudest_of_many_are_shown_and_the_rest_is_told_of_once(client: RawClient, uri: str) -> None:
    mistakes = "# tried: ignored\n" * 300
    client.open(uri, mistakes + CONFIG)
    found = client.pushed(uri)
    assert len(found) == 200
    assert [one["range"]["start"]["line"] for one in found if one["code"] == "dead-end"] == [302]
    told = client.take("window/logMessage")["message"]
    assert ".yaml: only the 200 loudest of 301 diagnostics are shown" in told
    before = len(client.pushes)
    client.change(uri, 2, edit(300, 6, 10, "other"))
    client.wait(lambda: len(client.pushes) > before, 10, "the diagnostics of the new version")
    assert len(client.diagnostics[uri]) == 200


def test_a_warning_below_many_others_is_kept() -> None:
    """Two hundred pieces of information stand above a warning."""
    document = Document(uri="untitled:1", language_id="yaml", path=None, text=None)
    told: list[str] = []
    client = SimpleNamespace(log=told.append)
    found = tuple(
        Finding("dead-end", "near", "information", Span(at, at + 1), f"number {at}", "a", ("a",), ("k",))
        for at in range(250)
    )
    warning = replace(found[0], severity="warning", span=Span(900, 901))
    session = cast(Session, SimpleNamespace(client=client))
    shown, mistakes = loudest(session, document, (*found, warning), (Problem("?", Span(0, 1)),))
    assert shown == (*found[:199], warning)
    assert mistakes == ()
    assert len(told) == 1


def test_what_is_turned_off_tells_of_no_mistaken_directive(client: RawClient, folder: Path, uri: str) -> None:
    client.open(uri, "# tried: ignored\n" + CONFIG)
    assert {found["code"] for found in client.pushed(uri)} == {"directive", "dead-end"}
    settings = folder / "tried.toml"
    settings.write_text("[findings]\nenable = false\n")
    try:
        client.pushed(uri, until=no_findings, seconds=5)
    finally:
        settings.unlink()
    client.pushed(uri, seconds=5)
