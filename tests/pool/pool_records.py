"""Records for the tests of the pool, in as few words as the test needs."""

from __future__ import annotations

from typing import Any

from tried.pool.record import ExperimentRecord


def record(record_id: str = "run-1", **fields: Any) -> ExperimentRecord:
    return ExperimentRecord.model_validate({"id": record_id, **fields})


def moved(
    metric: str = "val_loss", before: float | None = 1.0, after: float | None = 2.0, **fields: Any
) -> ExperimentRecord:
    """A completed record whose metric moved from `before` to `after`."""
    delta = {"before": before, "after": after}
    return record(**{"conclusion": {"outcome": "completed"}, "derivation": {"metric_delta": {metric: delta}}, **fields})
