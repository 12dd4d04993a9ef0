"""Experiment logs in JSON that others write in a shape of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.foreign_lines import as_record
from tried.pool.outcome import is_dead_end, worked
from tried.pool.reading import read_line
from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import JournalSource

STORE = Path(__file__).parents[2].parent / "shared" / "data" / "stores" / "rogii-jsonl" / "experiments.jsonl"


def read(**line: Any) -> ExperimentRecord:
    (record,) = read_line(json.dumps(line).encode()).records
    return record


def test_other_names_for_the_same_facts() -> None:
    record = read(
        run_id="r7",
        title="Deeper",
        created_at="2026-03-01T10:00:00Z",
        config={"depth": 4},
        val_loss=0.5,
        results={"f1": 0.75},
        runtime_sec=1.5,
        git_sha="abc1234",
        notes=["one", "two"],
        seed_note="kept",
    )
    assert (record.id, record.name, record.timestamp) == ("r7", "Deeper", "2026-03-01T10:00:00Z")
    assert record.params == {"depth": 4}
    assert record.metrics == {"val_loss": 0.5, "f1": 0.75}
    assert record.duration is not None
    assert (record.duration.secs, record.duration.nanos) == (1, 500_000_000)
    assert record.git == {"commit": "abc1234"}
    assert record.notes == "one\ntwo"
    assert record.model_extra is not None
    assert record.model_extra["seed_note"] == "kept"


def test_versions_that_name_their_parents() -> None:
    record = read(
        version="v2",
        parent="v1",
        hypothesis="x",
        metric_name="rmse",
        greater_is_better=False,
        holdout_score=3.0,
        parent_holdout_score=2.5,
        predicted_delta=0.1,
        feature_changes=["+ depth"],
        config_changes={"lr": 0.5},
    )
    assert (record.id, record.parent, record.objective) == ("v2", "v1", "holdout_score")
    assert record.metrics == {"holdout_score": 3.0}
    assert record.directions == {"holdout_score": "min"}
    assert record.derivation is not None
    assert record.derivation.from_ == "v1"
    assert [change.change for change in record.derivation.changes] == ["Unspecified", "ParamChanged"]
    assert record.derivation.metric_delta["holdout_score"].change == 0.5
    assert is_dead_end(record)


@pytest.mark.parametrize(
    "line",
    [
        {"name": "a", "metrics": {"f1": 1}},
        {"version": "1.0", "metrics": {"f1": 1}},
        {"run_id": "r"},
        {"run_id": "", "f1": 1},
        {"run_id": True, "f1": 1},
        {"run_id": "r", "amends": "x", "f1": 1},
        {"run_id": "r", "epoch": 3},
    ],
)
def test_what_is_no_experiment(line: dict[str, Any]) -> None:
    assert as_record(line) is None
    reading = read_line(json.dumps(line).encode())
    assert reading.records == ()
    assert reading.complaints


def test_a_record_of_ours_is_left_as_it_is() -> None:
    line = {"id": "a", "run_id": "b", "created_at": "2026-01-01", "val_loss": 3}
    assert as_record(line) is None
    assert read(**line).metrics == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        *(
            "run_id",
            "version",
            "parent",
            "created_at",
            "config",
            "results",
            "notes",
            "git_sha",
            "runtime_sec",
            "labels",
        ),
        *("greater_is_better", "metric_name", "val_loss", "parent_val_loss", "config_changes", "changes", "directions"),
        *("derivation", "name", "conclusion", "tags", "labels"),
    ]
)


@given(st.dictionaries(KEYS, JSON, max_size=8))
def test_whatever_a_line_holds(line: dict[str, Any]) -> None:
    reading = read_line(json.dumps(line).encode())
    assert len(reading.records) + bool(reading.complaints) >= 1
    for record in reading.records:
        assert record.id


@pytest.mark.skipif(not STORE.exists(), reason=f"no real data at {STORE}")
def test_a_real_log() -> None:
    delta = JournalSource(STORE).scan(None)
    written = [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()]
    assert delta.skipped == ()
    assert delta.remarks == ()
    assert [record.id for record in delta.upserts] == [item["version"] for item in written]
    assert len(written) == 18
    found = {record.id: record for record in delta.upserts}
    assert found["v0_floor"].parent is None
    assert found["v5_ensemble"].parent == "v4_kernel9251"
    assert found["v5_ensemble"].metrics["holdout_score"] == 9.154653904746
    assert found["v4_kernel9251"].derivation is not None
    assert [change.reason for change in found["v4_kernel9251"].derivation.changes] == [
        "+ full 9.251 build_well features",
        "port baseline (lgb)",
    ]
    assert found["v10_tabpfn"].timestamp == written[11]["created_at"]
    assert found["v18_optuna"].hypothesis == written[-2]["hypothesis"]
    # Lower is better here, and the parent's score is told: who is higher is worse.
    worse = {
        item["version"]
        for item in written
        if item["parent_holdout_score"] is not None and item["holdout_score"] > item["parent_holdout_score"]
    }
    assert {record.id for record in delta.upserts if is_dead_end(record)} == worse
    assert {record.id for record in delta.upserts if worked(record)} >= {"v4_kernel9251", "v5_ensemble"}
