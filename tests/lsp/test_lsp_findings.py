"""`tried/findings`: what a list of the findings in an open config shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, HARMLESS, edit, make_workspace
from raw_client import NEOVIM_LIKE, VSCODE_LIKE, Message, RawClient

from tried.findings.finding import Finding
from tried.render.finding_reports import findings_report
from tried.text import LineIndex, Span

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 60_000}}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    client = RawClient(environment={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    yield client
    if client.process.poll() is None:
        assert client.leftovers() == []
        assert client.finish() == 0
    assert client.stderr == ""


def listed(client: RawClient, uri: str) -> Message:
    answer: Message = client.request("tried/findings", {"textDocument": {"uri": uri}})
    return answer


def opened(client: RawClient, folder: Path, text: str, name: str = "next.yaml", **kept: Any) -> str:
    client.initialize(kept.get("capabilities", NEOVIM_LIKE), [folder], options=kept.get("options", FAST))
    uri = (folder / name).as_uri()
    client.open(uri, text)
    return uri


def test_a_finding_has_its_place_its_reasons_and_its_records(client: RawClient, tmp_path: Path) -> None:
    make_workspace(tmp_path)
    uri = opened(client, tmp_path, CONFIG)

    answer = listed(client, uri)

    assert {key: answer[key] for key in ("schema", "uri", "version", "total")} == {
        "schema": "tried.findings/v1",
        "uri": uri,
        "version": 1,
        "total": 1,
    }
    (finding,) = answer["findings"]
    assert finding["range"] == {"start": {"line": 2, "character": 6}, "end": {"line": 2, "character": 9}}
    assert (finding["code"], finding["evidence"]) == ("dead-end", "move")
    assert (finding["record"], finding["records"], finding["count"]) == ("exp-2", ["exp-2"], 1)
    assert finding["blamed"] == ["optimizer.lr"]
    assert finding["cause"] == "diverged"
    assert "diverged after 200 steps" in finding["message"]
    assert 1 <= len(finding["why"]) <= 3
    (diagnostic,) = client.pushed(uri)
    assert (finding["message"], finding["range"]) == (diagnostic["message"], diagnostic["range"])
    assert finding["severity"] == {2: "warning", 3: "information"}[diagnostic["severity"]]


def test_what_only_a_hover_shows_is_listed(client: RawClient, tmp_path: Path) -> None:
    make_workspace(tmp_path)
    (tmp_path / "tried.toml").write_text('[findings.severity]\nmove = "hover"\n', encoding="utf-8")
    uri = opened(client, tmp_path, CONFIG)

    (finding,) = listed(client, uri)["findings"]

    assert finding["severity"] == "hover"
    assert client.pushed(uri, until=lambda found: True) == []


def test_it_follows_the_typing_at_once(client: RawClient, tmp_path: Path) -> None:
    """A squiggle waits for a pause in the typing, here for a minute; the list does not."""
    make_workspace(tmp_path)
    uri = opened(client, tmp_path, HARMLESS)
    assert listed(client, uri)["findings"] == []
    client.change(uri, 2, edit(2, 6, 9, "0.5"))

    answer = listed(client, uri)

    assert (answer["version"], [finding["record"] for finding in answer["findings"]]) == (2, ["exp-2"])
    assert client.pushed(uri, until=lambda found: True) == []


def test_columns_are_counted_as_the_client_counts(client: RawClient, tmp_path: Path) -> None:
    """The emoji before the value is one character, two units of utf-16."""
    make_workspace(tmp_path)
    text = CONFIG.replace("optimizer:\n  lr: 0.5\n", 'optimizer: {note: "😋", lr: 0.5}\n')
    uri = opened(client, tmp_path, text, capabilities=VSCODE_LIKE)

    (finding,) = listed(client, uri)["findings"]

    assert finding["range"] == {"start": {"line": 1, "character": 28}, "end": {"line": 1, "character": 31}}


def test_there_is_no_list_where_there_is_no_config(client: RawClient, tmp_path: Path) -> None:
    make_workspace(tmp_path)
    uri = opened(client, tmp_path, "services:\n  web: {image: nginx}\n", name="docker-compose.yaml")

    assert listed(client, uri) is None
    assert listed(client, (tmp_path / "never-opened.yaml").as_uri()) is None


def test_findings_that_are_switched_off_are_none(client: RawClient, tmp_path: Path) -> None:
    make_workspace(tmp_path)
    uri = opened(client, tmp_path, CONFIG, options={**FAST, "findings": {"enable": False}})

    assert listed(client, uri)["findings"] == []


def test_a_hostile_record_gives_short_lines(client: RawClient, tmp_path: Path) -> None:
    """A headline of 100 KB with a link to a command, a mark that turns the line around and a colour of a terminal."""
    headline = "[x](command:evil) \u202e\x1b[31m<script>" + "long " * 20_000
    hostile = {**DIVERGED, "conclusion": {"headline": headline, "outcome": "failed"}}
    make_workspace(tmp_path, BASELINE, hostile)
    uri = opened(client, tmp_path, CONFIG)

    (finding,) = listed(client, uri)["findings"]

    texts = [finding["message"], *finding["why"]]
    assert all(len(text) <= 500 for text in texts)
    assert not any(mark in text for text in texts for mark in ("\u202e", "\x1b", "\n"))


def finding_at(start: int, message: str, records: int = 1) -> Finding:
    names = tuple(f"run-{number}" for number in range(records))
    return Finding("dead-end", "near", "hover", Span(start, start + 1), message, names[0], names, ("lr",))


class TestReport:
    def test_it_is_in_the_order_of_the_text_and_says_nothing_twice(self) -> None:
        lines = LineIndex("a: 1\nb: 2\n")
        found = [finding_at(8, "second"), finding_at(3, "first"), finding_at(8, "second")]

        report = findings_report(found, lines, "utf-16")

        assert [(one["message"], one["range"]["start"]) for one in report["findings"]] == [
            ("first", {"line": 0, "character": 3}),
            ("second", {"line": 1, "character": 3}),
        ]
        assert report["total"] == 2

    def test_it_is_of_bounded_size(self) -> None:
        lines = LineIndex("x" * 3000)
        found = [finding_at(number, "m", records=80) for number in range(2_500)]

        report = findings_report(found, lines, "utf-8")

        assert (report["total"], len(report["findings"])) == (2_500, 1_000)
        assert (len(report["findings"][0]["records"]), report["findings"][0]["count"]) == (50, 80)
