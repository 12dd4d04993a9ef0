"""The JSON of lineages and differences: contracts like those in `reports`."""

from __future__ import annotations

from typing import Any, Final

from tried.draft.parameters import RecordedValue
from tried.pool.difference import Difference, ParameterDifference
from tried.pool.lineage import Lineage, Step
from tried.pool.record import finite

LINEAGE_SCHEMA: Final = "tried.lineage/v1"
DIFF_SCHEMA: Final = "tried.diff/v1"


def lineage_report(lineage: Lineage) -> dict[str, Any]:
    """``tried.lineage/v1``: ancestors the nearest first, descendants each followed by its own."""
    report = {
        "schema": LINEAGE_SCHEMA,
        "record": _step(lineage.record),
        "ancestors": [_step(step) for step in lineage.ancestors],
        "descendants": [_step(step) for step in lineage.descendants],
        "missing": lineage.missing,
        "circular": lineage.circular,
        "cut": lineage.cut,
    }
    return _plain(report)


def _step(step: Step) -> dict[str, Any]:
    record, derivation = step.record, step.derivation
    told = derivation.model_dump(mode="json", by_alias=True, exclude_none=True) if derivation else {}
    return {
        "id": record.id,
        "name": record.name,
        "depth": step.depth,
        "parent": record.parent,
        "headline": record.headline or None,
        "summary": derivation.summary if derivation else None,
        "changes": told.get("changes", []),
        "metric_delta": told.get("metric_delta", {}),
    }


def diff_report(left: str, right: str, difference: Difference) -> dict[str, Any]:
    """``tried.diff/v1``: from the left one to the right one; what is absent is null."""
    report = {
        "schema": DIFF_SCHEMA,
        "left": left,
        "right": right,
        "equal": difference.equal,
        "parameters": [_parameter(each) for each in difference.parameters],
        "unknown": list(difference.unknown),
        "architecture": [
            change.model_dump(mode="json", by_alias=True, exclude_none=True) for change in difference.architecture
        ],
        "code": list(difference.code) if difference.code else None,
        "metrics": [
            {
                "name": each.name,
                "before": each.before,
                "after": each.after,
                "delta": each.delta,
                "direction": each.direction,
                "better": each.better,
            }
            for each in difference.metrics
        ],
    }
    return _plain(report)


def _parameter(each: ParameterDifference) -> dict[str, Any]:
    return {
        "key": each.shown,
        "before": _value(each.before),
        "after": _value(each.after),
        "kind": each.kind.value,
        "compared": each.is_compared,
    }


def _value(recorded: RecordedValue | None) -> Any:
    if recorded is None:
        return None
    value = recorded.recorded
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, str | int | float | bool | list | dict) else str(value)


def _plain(report: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = finite(report)
    return data
