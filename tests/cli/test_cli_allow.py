"""`tried allow`, and what the other commands say before it."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runner import Runner

RECORD = '{"id": "theirs", "params": {"lr": 0.5}}\n'


@pytest.fixture
def elsewhere(tried: Runner, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A journal outside of the workspace that its tried.toml names, and a link that leads there."""
    place = tmp_path_factory.mktemp("elsewhere").resolve()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    (place / "theirs.jsonl").write_text(RECORD)
    (place / "results.tsv").write_text("commit\tval_bpb\tstatus\na1b2c3d\t0.9\tkeep\n")
    (tried.folder / "tried.toml").write_text(f'pool.sources = ["{place}/theirs.jsonl"]\n')
    (tried.folder / "results.tsv").symlink_to(place / "results.tsv")
    return place


def test_nothing_outside_is_read_until_it_is_allowed(tried: Runner, elsewhere: Path) -> None:
    before = tried("pool")
    assert "lies outside the workspace and is not read without your consent; `tried allow" in before.err
    assert f"{tried.folder}/results.tsv: is a link out of the workspace" in before.err

    listed = tried("allow")
    assert listed.lines == [
        f"not read: {elsewhere}/theirs.jsonl  (named by {tried.folder}/tried.toml)",
        f"not read: {tried.folder}/results.tsv  (a link to {elsewhere}/results.tsv)",
    ]
    assert {one["path"] for one in tried("pool", "--json").json["consents"]} == {
        f"{elsewhere}/theirs.jsonl",
        f"{tried.folder}/results.tsv",
    }

    allowed = tried("allow", elsewhere / "theirs.jsonl", tried.folder / "results.tsv", "--json")
    assert allowed.json == {
        "schema": "tried.allow/v1",
        "workspace": str(tried.folder),
        "allowed": [f"{elsewhere}/results.tsv", f"{elsewhere}/theirs.jsonl"],
        "needed": [],
    }
    after = tried("pool", "--json").json
    assert {source["path"] for source in after["sources"] if source["records"]} == {
        f"{elsewhere}/theirs.jsonl",
        f"{tried.folder}/results.tsv",
    }

    assert tried("allow", "--withdraw", elsewhere / "theirs.jsonl").status == 0
    assert "theirs" not in str(tried("pool", "--json").json["sources"])


def test_a_folder_allows_what_is_in_it(tried: Runner, elsewhere: Path) -> None:
    assert tried("allow", elsewhere).lines == [f"allowed: {elsewhere}"]
    assert tried("pool").err == ""


@pytest.mark.parametrize("arguments", [("missing.jsonl",), ("--withdraw", "/nowhere")])
def test_mistakes_are_told(tried: Runner, elsewhere: Path, arguments: tuple[str, ...]) -> None:
    result = tried("allow", *arguments)
    assert result.status == 2
    assert result.err.startswith("tried: ")
    assert "was not allowed here" in result.err or "there is no such file or folder" in result.err


def test_where_nothing_asks_for_it_that_is_said(tried: Runner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert tried("allow").out == f"nothing outside of {tried.folder} is read, and nothing in it asks for that\n"
