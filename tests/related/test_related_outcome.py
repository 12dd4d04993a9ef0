"""How experiments ended, one by one, for whole lines, and for replicates that do not agree."""

from __future__ import annotations

from typing import Any

import pytest
from related_pool import BASE, record, scored, snapshot_of

from tried.pool.history.run import run_of
from tried.pool.record import ExperimentRecord
from tried.related.outcome import OUTCOMES, Outcome, common_outcome, ids_with, outcome_of

ENDED: list[tuple[str, Outcome, dict[str, Any]]] = [
    ("judged-dead", "dead_end", {"verdict": "dead_end", "conclusion": {"outcome": "completed"}}),
    ("crashed", "dead_end", {"conclusion": {"outcome": "crashed"}}),
    ("judged-good", "works", {"verdict": "works", "conclusion": {"outcome": "failed"}}),
    ("completed", "works", {"conclusion": {"outcome": "completed"}, "metrics": {"val_acc": 0.5}}),
    ("unclear", "inconclusive", {"verdict": "inconclusive", "conclusion": {"outcome": "crashed"}}),
    ("unclear-running", "inconclusive", {"verdict": "inconclusive", "conclusion": {"outcome": "running"}}),
    ("running", "running", {"conclusion": {"outcome": "running"}}),
    (
        "running-down",
        "running",
        {"conclusion": {"outcome": "Running "}, "derivation": {"metric_delta": {"val_acc": -1}}},
    ),
    ("stopped", "unknown", {"conclusion": {"outcome": "stopped"}}),
    ("silent", "unknown", {}),
    ("diverged", "unknown", {"conclusion": {"outcome": "completed"}, "metrics": {"val_loss": "nan"}}),
    ("search", "unknown", {"role": "sweep", "verdict": "works"}),
    ("open-search", "running", {"role": "sweep", "conclusion": {"outcome": "running"}}),
]


def ended() -> list[ExperimentRecord]:
    """Half of them in a line of their own."""
    return [
        record(name, {**BASE, "depth": place}, research_line=f"line {place % 2}", **fields)
        for place, (name, _, fields) in enumerate(ENDED)
    ]


@pytest.mark.parametrize(("name", "outcome"), [(name, outcome) for name, outcome, _ in ENDED])
def test_each_ending(name: str, outcome: Outcome) -> None:
    snapshot = snapshot_of(*ended())
    assert outcome_of(snapshot.records[name], snapshot) == outcome


def test_the_pool_by_outcome() -> None:
    snapshot = snapshot_of(*ended())
    for outcome in OUTCOMES:
        assert ids_with(outcome, snapshot) == {name for name, own, _ in ENDED if own == outcome}


def common(*records: ExperimentRecord) -> Outcome:
    return common_outcome([run_of(each, order) for order, each in enumerate(records)])


def test_replicates_that_do_not_agree() -> None:
    good, bad = scored("good", 0.5), record("bad", conclusion={"outcome": "crashed"})
    judged = record("judged", verdict="inconclusive")
    assert common(good) == "works"
    assert common(bad, good, good) == "works"
    assert common(good, bad, bad) == "dead_end"
    assert common(bad, good) == "dead_end"
    assert common(good, bad) == "works"
    assert common(good, good, good, judged) == "inconclusive"
