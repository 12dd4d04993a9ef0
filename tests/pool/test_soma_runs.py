"""soma's run folders: made by hand, and those of a store that lies beside soma's own journal."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.kit import problems_of, scan_all
from tried.pool.sources.soma_runs import SomaRunsSource, store_at

STORE = Path(__file__).parents[2].parent / "shared" / "data" / "stores" / "soma" / "notebooks" / ".soma"
OLD = 1_700_000_000.0

MANIFEST = {
    "run_id": "run_20260301T100000_ab12",
    "kind": "train",
    "name": "wide",
    "created_at": "2026-03-01T10:00:00.123456789Z",
    "git": {"sha": "abc", "branch": "main", "dirty": False},
    "seeds": {"torch": 7},
    "tags": ["demo", "dead-end"],
    "notes": "twice as wide",
    "parent_run_id": "run_20260228T100000_ab11",
}
GRAPH = {
    "nodes": [
        {"id": "a", "kind": {"type": "Filter", "filter_name": "Encoder"}},
        {"id": "b", "kind": {"type": "Step", "name": "Fit"}},
    ],
    "edges": [{"source": "a", "target": "b"}, {"from": {"node": "b"}, "to": {"node": "a"}, "kind": "Control"}],
}
STUDY: dict[str, Any] = {
    "id": "study_18c6",
    "frozen": {"depth": 3},
    "objectives": [{"metric": "score", "direction": "Minimize"}],
    "trials": [
        {
            "id": "trial_0",
            "params": {"lr": 0.1},
            "state": {"trial_state": "Completed"},
            "metrics": [{"name": "score", "value": 2, "step": 0}, {"name": "score", "value": 1, "step": 1}],
        },
        {"id": "trial_1", "params": {"lr": 9}, "state": {"trial_state": "Failed", "error": "ValueError: no"}},
        {"id": "trial_2", "params": {"lr": 5}, "state": {"trial_state": "Pruned"}},
        "odd",
    ],
}


def make_run(folder: Path, status: dict[str, Any] | None = None, **files: Any) -> Path:
    folder.mkdir(parents=True)
    every = {"manifest": MANIFEST, "status": status or {"state": "completed"}} | files
    for name, content in every.items():
        path = folder / f"{name}.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        os.utime(path, (OLD, OLD))
    return folder


def test_a_run_becomes_a_record(tmp_path: Path) -> None:
    status = {
        "state": "completed",
        "heartbeat_at": "2026-03-01T10:01:00Z",
        "finished_at": "2026-03-01T10:01:00.123456789Z",
    }
    run = make_run(tmp_path / "runs" / "run_20260301T100000_ab12", status, graph=GRAPH)
    (record,) = scan_all(SomaRunsSource(tmp_path / "runs")).records.values()
    told = json.loads(record.to_json())
    architecture = told.pop("architecture")
    assert told == {
        "id": "soma:run_20260301T100000_ab12",
        "name": "wide",
        "params": {"seeds": {"torch": 7}},
        "timestamp": "2026-03-01T10:00:00.123456Z",
        "duration": {"secs": 60, "nanos": 0},
        "parent": "soma:run_20260228T100000_ab11",
        "tags": ["demo", "dead-end"],
        "notes": "twice as wide",
        "run_id": "run_20260301T100000_ab12",
        "run_dir": str(run),
        "places": [str(run)],
        "git": {"sha": "abc", "dirty": False},
        "verdict": "dead_end",
        "source": "soma",
        "aliases": ["run_20260301T100000_ab12"],
        "last_written": "2026-03-01T10:01:00Z",
        "conclusion": {"outcome": "completed", "derived": True},
        "generated_headline": "finished",
        "schema_version": 2,
        "kind": "experiment",
    }
    assert architecture["nodes"] == {"a": "filter:Encoder", "b": "step:Fit"}
    assert record.architecture is not None
    assert record.architecture.edge_tokens == {"filter:Encoder>step:Fit": 1, "step:Fit~>filter:Encoder": 1}


@pytest.mark.parametrize(
    ("status", "outcome", "headline"),
    [
        ({"state": "running", "heartbeat_at": "2026-03-01T10:01:00Z"}, "running", "running"),
        ({"state": "failed", "error": "ValueError: no"}, "failed", "failed: ValueError: no"),
        ({"state": "Interrupted"}, "stopped", "stopped"),
        ({"state": "unheard of"}, None, None),
        ({"state": ["odd"]}, None, None),
    ],
)
def test_how_it_ended(tmp_path: Path, status: dict[str, Any], outcome: str | None, headline: str | None) -> None:
    make_run(tmp_path / "runs" / "run_1", status)
    (record,) = scan_all(SomaRunsSource(tmp_path / "runs")).records.values()
    assert (record.outcome, record.generated_headline) == (outcome, headline)


def test_a_graph_that_does_not_say_what_its_nodes_are_is_no_architecture(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "run_1", graph={"nodes": [{"id": "a", "kind": {"type": "Filter"}}], "edges": []})
    (record,) = scan_all(SomaRunsSource(tmp_path / "runs")).records.values()
    assert record.architecture is None


def test_a_study_is_the_sweep_of_its_trials(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "study_1", manifest=MANIFEST | {"kind": "study", "name": "grid"}, study=STUDY)
    records = scan_all(SomaRunsSource(tmp_path / "runs")).records
    assert [(each.id, each.role, each.sweep, each.outcome) for each in records.values()] == [
        ("soma:study_1", "sweep", None, "completed"),
        ("soma:study_1/trial_0", "experiment", "soma:study_1", "completed"),
        ("soma:study_1/trial_1", "experiment", "soma:study_1", "failed"),
        ("soma:study_1/trial_2", "experiment", "soma:study_1", "pruned"),
    ]
    assert "study_18c6" in records["soma:study_1"].aliases
    best = records["soma:study_1/trial_0"]
    assert (best.params, best.metrics, best.directions) == ({"depth": 3, "lr": 0.1}, {"score": 1.0}, {"score": "min"})
    assert records["soma:study_1/trial_1"].generated_headline == "failed: ValueError: no"


def test_trials_come_and_go_with_their_study(tmp_path: Path) -> None:
    source = SomaRunsSource(tmp_path / "runs")
    study = make_run(tmp_path / "runs" / "study_1", study=STUDY | {"trials": STUDY["trials"][:1]})
    said = scan_all(source)
    (study / "study.json").write_text(json.dumps(STUDY))
    said = scan_all(source, said.cursor, said)
    assert len(said.records) == 4
    (study / "study.json").write_text(json.dumps(STUDY | {"trials": []}))
    said = scan_all(source, said.cursor, said)
    assert list(said.records) == ["soma:study_1"]
    (study / "study.json").write_text(json.dumps(STUDY))
    said = scan_all(source, said.cursor, said)
    for path in study.iterdir():
        path.unlink()
    study.rmdir()
    assert scan_all(source, said.cursor, said).records == {}


def test_where_a_store_is_seen(tmp_path: Path) -> None:
    assert store_at(tmp_path, [".soma"], []) == ()
    make_run(tmp_path / ".soma" / "runs" / "run_1")
    assert store_at(tmp_path, [".soma"], []) == (tmp_path / ".soma" / "runs",)


def test_the_kit_finds_nothing_wrong(tmp_path: Path) -> None:
    store = tmp_path / ".soma" / "runs"
    make_run(store / "run_20260301T100000_ab12", graph=GRAPH)
    make_run(store / "study_20260201T100000_ab12", study=STUDY)
    grown = "run_20260302T100000_ab13"
    assert problems_of(SomaRunsSource, store, lambda path: make_run(path / grown), quiet_seconds=1) == []


@pytest.mark.skipif(not STORE.exists(), reason="the real stores are not here (../shared/data/stores)")
def test_a_real_store_is_read_and_names_what_its_journal_has() -> None:
    said = scan_all(SomaRunsSource(STORE / "runs"))
    assert said.skipped == ()
    roles = [record.role for record in said.records.values()]
    assert (roles.count("sweep"), roles.count("experiment")) == (4, 4 + 4 * 3)
    first = said.records["soma:run_20260728T083737_86d9"]
    assert (first.name, first.outcome, first.tags) == ("baseline", "completed", ["demo"])
    assert first.timestamp == "2026-07-28T08:37:37.093703Z"
    assert first.architecture is not None
    assert first.architecture.nodes == {"encoder": "filter:Encoder"}
    assert first.git == {"sha": "b4ceccf67d0a0703a97e366aaea0aff6c0004c3b", "dirty": True}
    trial = said.records["soma:study_20260728T102436_0e39/trial_0002"]
    assert trial.metrics["score"] == -0.8300000000000014
    assert trial.params == {"encoder.lr": 0.10000000000000006}
    aliases = {alias for record in said.records.values() for alias in record.aliases}
    journal = scan_all(JournalSource(STORE / "experiments.jsonl")).records
    assert len(journal) == 8
    assert aliases.issuperset(journal)
