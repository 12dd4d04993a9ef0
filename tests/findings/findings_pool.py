"""Small pools and configs for the tests of findings: records by their ending, findings from YAML text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.findings import Finding, FindingSettings, find
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord

Changes = Mapping[str, tuple[Any, Any]]

BASE: Mapping[str, Any] = {"lr": 0.01, "depth": 4, "width": 128, "dropout": 0.1}
"""Parameters that most tests vary by one."""


def record(
    record_id: str,
    params: Mapping[str, Any],
    *,
    changes: Changes | None = None,
    line: str | None = "vision",
    **fields: Any,
) -> ExperimentRecord:
    data: dict[str, Any] = {"id": record_id, "params": dict(params), "research_line": line, **fields}
    if changes is not None:
        made = [{"change": "ParamChanged", "key": k, "from": old, "to": new} for k, (old, new) in changes.items()]
        data["derivation"] = {**data.get("derivation", {}), "changes": made}
    return ExperimentRecord.model_validate(data)


def dead(record_id: str, params: Mapping[str, Any], headline: str = "worse by far", **more: Any) -> ExperimentRecord:
    """A completed run that a person judged a dead end."""
    fields = {"verdict": "dead_end", "conclusion": {"headline": headline, "outcome": "completed"}, **more}
    return record(record_id, params, **fields)


def crashed(record_id: str, params: Mapping[str, Any], headline: str = "", **more: Any) -> ExperimentRecord:
    """A run whose tracker says that it crashed; nobody judged it."""
    return record(record_id, params, conclusion={"headline": headline, "outcome": "crashed"}, **more)


def worked(record_id: str, params: Mapping[str, Any], **more: Any) -> ExperimentRecord:
    return record(record_id, params, **{"conclusion": {"outcome": "completed"}, "verdict": "works", **more})


def at_time(run: ExperimentRecord, timestamp: str | None) -> ExperimentRecord:
    data = run.model_dump(by_alias=True, exclude_unset=True)
    return ExperimentRecord.model_validate({**data, "timestamp": timestamp})


def unrelated(count: int) -> list[ExperimentRecord]:
    """Runs of the same line that worked, each at a depth of its own, and that lack whatever a test adds to `BASE`."""
    return [worked(f"other-{i}", {**BASE, "depth": 50 + i}) for i in range(count)]


def yaml_of(params: Mapping[str, Any]) -> str:
    def spelled(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return "".join(f"{key}: {spelled(value)}\n" for key, value in params.items())


def findings_in(
    config: str | Mapping[str, Any],
    records: Iterable[ExperimentRecord],
    *,
    language: str = "yaml",
    saved_at: datetime | None = None,
    **settings: Any,
) -> list[Finding]:
    text = config if isinstance(config, str) else yaml_of(config)
    history = ParameterHistory.empty().updated((), records)
    rules = FindingSettings(**{"research_line": "vision", **settings})
    return [
        finding for draft in drafts_of(parse(text, language), text) for finding in find(draft, history, rules, saved_at)
    ]


def told(findings: Iterable[Finding]) -> list[tuple[str, str, str]]:
    """(evidence, severity, record) of each."""
    return [(finding.evidence, finding.severity, finding.record) for finding in findings]


def squiggles(findings: Iterable[Finding]) -> list[tuple[str, str, str]]:
    return [each for each in told(findings) if each[1] in ("warning", "information")]
