"""The JSON of the commands that look at the pool as a whole: contracts like those in `reports`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tried.pool.record import finite
from tried.render.reports import rfc3339
from tried.review.advice import Advice
from tried.review.audit import Audit, Cost, Repeat
from tried.review.regions import Region
from tried.review.triage import Group, unexplained_in

AUDIT_SCHEMA: Final = "tried.audit/v1"
DOCTOR_SCHEMA: Final = "tried.doctor/v1"
TRIAGE_SCHEMA: Final = "tried.triage/v1"


def triage_report(groups: Sequence[Group], written: int, path: Path | None) -> dict[str, Any]:
    """``tried.triage/v1``: the groups, the largest first; `written` conclusions went to the journal at `path`."""
    unexplained = unexplained_in(groups)
    report = {
        "schema": TRIAGE_SCHEMA,
        "unexplained": unexplained,
        "stopped": sum(len(group.runs) for group in groups) - unexplained,
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


def audit_report(found: Audit) -> dict[str, Any]:
    """``tried.audit/v1``: seconds are over the runs whose duration is known; of `unknown` it is not."""
    report = {
        "schema": AUDIT_SCHEMA,
        "runs": _cost(found.total),
        "repeats": _cost(found.repeated),
        "dead_ends_repeated": _cost(found.dead_ends_repeated),
        "retries": _cost(found.retried),
        "replicates": found.replicates,
        "other_code": found.other_code,
        "not_compared": found.not_compared,
        "causes": {cause: _cost(cost) for cause, cost in found.by_cause(found.runs).items()},
        "causes_of_repeats": {
            cause: _cost(cost) for cause, cost in found.by_cause(one.run for one in found.repeats).items()
        },
        "research_lines": _rows("research_line", found.by_line),
        "months": _rows("month", found.by_month),
        "list": [_repeat(one) for one in (*found.repeats, *found.retries)],
    }
    return _plain(report)


def _cost(cost: Cost) -> dict[str, Any]:
    return {"count": cost.count, "seconds": cost.seconds, "unknown": cost.unknown}


def _rows(title: str, rows: Mapping[str | None, tuple[int, Cost]]) -> list[dict[str, Any]]:
    return [{title: name, "runs": count, "repeats": _cost(cost)} for name, (count, cost) in rows.items()]


def _repeat(one: Repeat) -> dict[str, Any]:
    return {
        "record": one.run.id,
        "repeats": one.earlier.id,
        "kind": one.kind,
        "research_line": one.run.line,
        "time": rfc3339(one.run.time) if one.run.time else None,
        "seconds": one.run.seconds,
        "ending": one.run.ending,
        "cause": one.run.cause,
        "of_dead_end": one.of_dead_end,
    }


def doctor_report(records: int, found: Sequence[Advice], off: Sequence[str]) -> dict[str, Any]:
    """``tried.doctor/v1``: the most useful advice first; `off` is what is not read because somebody said so."""
    report = {
        "schema": DOCTOR_SCHEMA,
        "records": records,
        "advice": [
            {"code": one.code, "says": one.says, "how": list(one.how), "count": one.count, "of": one.of}
            for one in found
        ],
        "off": list(off),
    }
    return _plain(report)
