"""What settings make of the sources of a workspace: filtered, switched off, given a research line, watched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from workspace_files import record, write_journal

from tried.workspace import Workspace


def refreshed(folder: Path, settings: str = "", **arguments: Any) -> Workspace:
    (folder / "tried.toml").write_text(settings)
    workspace = Workspace(folder, **arguments)
    workspace.refresh()
    assert workspace.settings_problems == ()
    return workspace


def reconfigured(workspace: Workspace, settings: str) -> Workspace:
    assert workspace.folder is not None
    (workspace.folder / "tried.toml").write_text(settings)
    workspace.configure()
    workspace.refresh()
    assert workspace.settings_problems == ()
    return workspace


def lines(workspace: Workspace) -> dict[str, str | None]:
    return {record_id: record.research_line for record_id, record in workspace.snapshot.records.items()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two journals: one that is found, and one in `runs`."""
    write_journal(tmp_path, record("a", tags=["keep"]), record("b", params={"base": "a"}), name=".tried/pool.jsonl")
    write_journal(tmp_path, record("c", tags=["keep"]), record("d"), name="runs/old.jsonl")
    return tmp_path


def test_a_table_filters_a_source_that_is_found_by_itself(folder: Path) -> None:
    table = '[[pool.sources]]\npath = ".tried/pool.jsonl"\n'
    workspace = refreshed(folder, table + 'tags = ["keep"]\nresearch_line = "mine"\n')
    assert lines(workspace) == {"a": "mine"}
    assert len(workspace.snapshot.sources) == 1


def test_what_settings_say_later_holds_for_what_was_read_before(folder: Path) -> None:
    table = '[[pool.sources]]\npath = ".tried/pool.jsonl"\n'
    workspace = refreshed(folder)
    everything = lines(workspace)
    assert list(everything) == ["a", "b"]
    assert list(lines(reconfigured(workspace, table + 'tags = ["!keep"]\n'))) == ["b"]
    assert list(lines(reconfigured(workspace, table + "enable = false\n"))) == []
    assert list(lines(reconfigured(workspace, 'pool.disable = ["journal"]\n'))) == []
    assert lines(reconfigured(workspace, "")) == everything


@pytest.mark.parametrize("place", ["runs", "runs/*.jsonl", "r*/old.jsonl", "runs/old.jsonl"])
def test_rules_hold_for_all_that_a_place_stands_for(folder: Path, place: str) -> None:
    (folder / "runs" / ".tried").mkdir()
    (folder / "runs" / "old.jsonl").rename(folder / "runs" / ("old.jsonl" if place != "runs" else ".tried/pool.jsonl"))
    workspace = refreshed(
        folder, f'[pool]\ndiscover = false\n[[pool.sources]]\npath = "{place}"\ntags = ["keep"]\nresearch_line = "r"\n'
    )
    assert lines(workspace) == {"c": "r"}


def test_a_key_names_parents(folder: Path) -> None:
    workspace = refreshed(folder, 'pool.parent_key = "base"\n')
    assert {name: found.parent for name, found in workspace.snapshot.records.items()} == {"a": None, "b": "a"}


def test_a_change_is_known_for_one_of_a_source_or_not(folder: Path) -> None:
    workspace = refreshed(folder, paced=True)
    assert workspace.wake([folder / ".tried" / "pool.jsonl"])
    assert not workspace.wake([folder / ".tried" / "pool.jsonl", folder / "new" / "results.tsv"])
    assert workspace.wake([])


def test_a_new_source_is_seen_where_one_looks(folder: Path) -> None:
    workspace = refreshed(folder)
    inner = folder / "deep" / "inner"
    inner.mkdir(parents=True)
    assert not workspace.has_new_source([folder, inner])
    (inner / "results.tsv").write_text("commit\tval_bpb\tstatus\na1b2c3d\t0.9\tkeep\n")
    assert workspace.has_new_source([folder, inner])
    workspace.configure()
    workspace.refresh()
    assert not workspace.has_new_source([folder, inner])


def test_a_poll_reads_what_is_new_and_nothing_else(folder: Path) -> None:
    workspace = refreshed(folder)
    before = workspace.snapshot
    assert workspace.poll() is before
    with (folder / ".tried" / "pool.jsonl").open("a") as file:
        file.write(json.dumps({"id": "e"}) + "\n")
    (folder / "results.tsv").write_text("commit\tval_bpb\tstatus\na1b2c3d\t0.9\tkeep\n")
    assert list(workspace.poll().records) == ["a", "b", "e"]
    assert len(workspace.refresh().records) == 4
