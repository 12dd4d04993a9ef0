"""The JSON of the commands that look at the pool as a whole: contracts like those in `reports`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tried.pool.record import finite
from tried.review.regions import Region
from tried.review.triage import Group

TRIAGE_SCHEMA: Final = "tried.triage/v1"


def triage_report(groups: Sequence[Group], written: int, path: Path | None) -> dict[str, Any]:
    """``tried.triage/v1``: the groups, the largest first; `written` conclusions went to the journal at `path`."""
    report = {
        "schema": TRIAGE_SCHEMA,
        "unexplained": sum(len(group.runs) for group in groups),
        "groups": [_group(group) for group in groups],
        "written": written,
        "path": str(path) if path is not None else None,
    }
    return _plain(report)


def _group(group: Group) -> dict[str, Any]:
    return {
        "cause": group.cause,
        "research_lines": list(group.lines),
        "error": group.error or None,
        "records": [run.id for run in group.runs],
        "region": _region(group.region),
        "change": group.change,
        "worked": group.worked,
        "proposal": group.proposal,
        "verdict": group.verdict,
    }


def _region(region: Region | None) -> dict[str, Any] | None:
    if region is None:
        return None
    return {
        "text": str(region),
        "conditions": [
            {"key": condition.shown, "sign": condition.sign, "value": condition.text} for condition in region.conditions
        ],
        "covered": region.covered,
        "worked_inside": region.inside,
        "worked_outside": region.outside,
    }


def _plain(report: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = finite(report)
    return data
