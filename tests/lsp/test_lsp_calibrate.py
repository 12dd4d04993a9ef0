"""`[findings] calibrate`: what this pool bears out too little loses its squiggle once the pool has been replayed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import journal_line, make_workspace, put_whole
from raw_client import NEOVIM_LIKE, VSCODE_LIKE, RawClient, no_findings, until

BASE = {"optimizer.lr": 0.01, "model.depth": 4, "model.width": 128, "warmup_steps": 100}
CONFIG = "optimizer:\n  lr: 0.01\nmodel:\n  depth: 77\n  width: 128\nwarmup_steps: 100\n"
"""Repeats the last run of the pool, a dead end; the squiggle is on line 1."""

CALIBRATED = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}, "findings": {"calibrate": True}}


def run(number: int, verdict: str, depth: int, **more: Any) -> dict[str, Any]:
    return {
        "id": f"run-{number:03}",
        "params": {**BASE, "model.depth": depth, **more},
        "timestamp": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z",
        "research_line": "tiny",
        "verdict": verdict,
    }


def repeats(right: int, wrong: int, first: int = 0) -> Iterator[dict[str, Any]]:
    """So many dead ends, each of which another run repeats: some end badly again, the others work."""
    for number in range(first, first + right + wrong):
        yield run(2 * number, "dead_end", 100 + number)
        yield run(2 * number + 1, "dead_end" if number < first + right else "works", 100 + number, seed=2)


LAST = run(90, "dead_end", 77)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    client = RawClient(environment={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    yield client
    if client.process.poll() is None:
        assert client.leftovers() == []
        assert client.finish() == 0
    assert client.stderr == ""


def test_a_kind_that_was_mostly_wrong_speaks_only_in_the_hover(client: RawClient, tmp_path: Path) -> None:
    make_workspace(tmp_path, *repeats(3, 9), LAST)
    uri = (tmp_path / "next.yaml").as_uri()
    client.initialize(NEOVIM_LIKE, [tmp_path], options=CALIBRATED)
    client.open(uri, CONFIG)

    answer = until(
        lambda: client.request("tried/findings", {"textDocument": {"uri": uri}}),
        lambda found: [one["severity"] for one in found["findings"] if one["evidence"] == "repeat"] == ["hover"],
    )
    assert client.pushed(uri, until=no_findings) == []
    place = answer["findings"][0]["range"]["start"]
    shown = client.hover(uri, place["line"], place["character"])["contents"]["value"]
    assert "such evidence (repeat) was right 3 of 12 times" in shown
    assert "run-090" in shown


def test_the_next_server_underlines_nothing_of_that_kind_from_the_start(tmp_path: Path) -> None:
    make_workspace(tmp_path / "work", *repeats(3, 9), LAST)
    uri = (tmp_path / "work" / "next.yaml").as_uri()
    told = []
    for kept in (False, True):
        client = RawClient(environment={name: str(tmp_path / name) for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME")})
        client.initialize(NEOVIM_LIKE, [tmp_path / "work"], options=CALIBRATED)
        client.open(uri, CONFIG)
        client.pushed(uri, until=no_findings)
        if kept:
            time.sleep(0.5)
        told.append([len(push["diagnostics"]) for push in client.pushes])
        assert client.finish() == 0
        assert client.stderr == ""
    assert told[0][-1] == 0
    assert set(told[1]) == {0}


def test_a_kind_that_was_right_keeps_its_squiggle(client: RawClient, tmp_path: Path) -> None:
    make_workspace(tmp_path, *repeats(10, 2), LAST)
    uri = (tmp_path / "next.yaml").as_uri()
    client.initialize(NEOVIM_LIKE, [tmp_path], options=CALIBRATED)
    client.open(uri, CONFIG)

    (diagnostic,) = client.pushed(uri)
    time.sleep(1.0)  # the replay takes a few hundredths of that

    assert client.diagnostics[uri] == [diagnostic]
    place = diagnostic["range"]["start"]
    assert "was right" not in client.hover(uri, place["line"], place["character"])["contents"]["value"]


def test_it_follows_the_setting_and_the_pool(client: RawClient, tmp_path: Path) -> None:
    """Off: a squiggle. On: none. The pool grows by what bears the evidence out: a squiggle again."""
    journal = make_workspace(tmp_path, *repeats(3, 9), LAST)
    uri = (tmp_path / "next.yaml").as_uri()
    client.initialize(NEOVIM_LIKE, [tmp_path], options={"editor": CALIBRATED["editor"]})
    client.open(uri, CONFIG)
    client.pushed(uri)

    put_whole(tmp_path / "tried.toml", b"[findings]\ncalibrate = true\n")
    client.notify(
        "workspace/didChangeWatchedFiles", {"changes": [{"uri": (tmp_path / "tried.toml").as_uri(), "type": 1}]}
    )
    client.pushed(uri, until=no_findings)

    # 40 of 49 are right then: 0.82.
    grown = [*repeats(3, 9), *repeats(37, 0, first=50), LAST]
    put_whole(journal, "".join(map(journal_line, grown)).encode())
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    (diagnostic,) = client.pushed(uri)
    assert diagnostic["code"] == "repeat"


def test_a_client_that_pulls_is_told_to_pull_again(client: RawClient, tmp_path: Path) -> None:
    make_workspace(tmp_path, *repeats(3, 9), LAST)
    uri = (tmp_path / "next.yaml").as_uri()
    client.initialize(VSCODE_LIKE, [tmp_path], options=CALIBRATED)
    client.open(uri, CONFIG)
    report = client.pull(uri)

    while report["kind"] != "full" or report["items"]:
        client.take_request("workspace/diagnostic/refresh")
        report = client.pull(uri, report["resultId"])

    assert report["items"] == []


def test_the_server_ends_at_once_while_it_replays(client: RawClient, tmp_path: Path) -> None:
    """A thousand drafts take seconds, at half the pace still longer."""
    make_workspace(tmp_path, *(run(number % 300, "dead_end", number) | {"id": f"r{number}"} for number in range(3_000)))
    uri = (tmp_path / "next.yaml").as_uri()
    client.initialize(NEOVIM_LIKE, [tmp_path], options=CALIBRATED)
    client.open(uri, CONFIG)
    until(lambda: client.request("tried/status", {})["folders"][0]["state"], lambda state: state == "ready")
    time.sleep(0.2)

    started = time.monotonic()
    assert client.finish() == 0
    assert time.monotonic() - started < 2.0
