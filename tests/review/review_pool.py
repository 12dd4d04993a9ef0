"""Runs for the tests of what people do with a pool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.history.run import Run
from tried.pool.record import ExperimentRecord
from tried.review.runs import runs_in


def record(record_id: str, params: dict[str, Any], outcome: str = "completed", **fields: Any) -> ExperimentRecord:
    """A record as a tracker's source makes it: nobody wrote anything."""
    data = {"id": record_id, "params": params, "research_line": "vision", **fields}
    data.setdefault("conclusion", {"outcome": outcome, "derived": True})
    return ExperimentRecord.model_validate(data)


def runs_from(records: Iterable[ExperimentRecord]) -> list[Run]:
    return list(runs_in(ParameterHistory.empty().updated((), records)))


def failed(record_id: str, params: dict[str, Any], cause: str = "diverged", **fields: Any) -> ExperimentRecord:
    return record(record_id, params, "failed", cause=cause, **fields)
