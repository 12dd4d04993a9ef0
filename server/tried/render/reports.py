"""The JSON that the command line and the language server give out: contracts, versioned by their `schema`.

Invariant: what comes out is plain JSON data: floats at full precision, non-finite ones as "nan", "inf", "-inf".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tried.findings.finding import Finding
from tried.pool.history.run import Run
from tried.pool.outcome import Directions, is_dead_end
from tried.pool.record import ExperimentRecord, finite
from tried.ranking.breakdown import ScoredRecord
from tried.ranking.query import RetrievalQuery
from tried.ranking.tokenizer import tokenize
from tried.render.explanations import breakdown_json, requested_policy_json
from tried.text import LineIndex

if TYPE_CHECKING:
    from tried.settings.requested_policy import RequestedPolicy

RANKING_SCHEMA: Final = "tried.ranking/v1"
CHECK_SCHEMA: Final = "tried.check/v1"
POOL_SCHEMA: Final = "tried.pool/v1"
RUNS_SCHEMA: Final = "tried.runs/v1"
CONCLUDE_SCHEMA: Final = "tried.conclude/v1"
CONCLUSIONS_SCHEMA: Final = "tried.conclusions/v1"
RECORD_SCHEMA: Final = "tried.record/v1"
IMPORT_SCHEMA: Final = "tried.import/v1"


def ranking_report(
    query: RetrievalQuery | None,
    ranking: Sequence[ScoredRecord],
    now: datetime,
    directions: Directions | None = None,
    *,
    requested: RequestedPolicy,
) -> dict[str, Any]:
    """``tried.ranking/v1``: the results are in the order of `ranking`, the best first. `policy` is given where somebody
    asked for one."""
    text = query.text if query else ""
    architecture = query.architecture if query else None
    report = {
        "schema": RANKING_SCHEMA,
        "now": rfc3339(now),
        "policy_id": requested.policy.policy_id,
        **({"policy": requested_policy_json(requested)} if requested.is_requested else {}),
        "query": {
            "text": text,
            "terms": tokenize(text),
            "architecture": architecture.digest if architecture else None,
        },
        "results": [
            {
                "rank": place,
                "id": scored.record.id,
                "name": scored.record.name,
                "score": scored.score,
                "dead_end": is_dead_end(scored.record, directions),
                "terms": breakdown_json(scored.terms),
            }
            for place, scored in enumerate(ranking, start=1)
        ],
    }
    return _plain(report)


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file that was checked; `text` is what its findings' spans count in."""

    path: str
    text: str
    is_config: bool
    findings: Sequence[Finding] = ()


def check_report(files: Iterable[CheckedFile]) -> dict[str, Any]:
    """``tried.check/v1``: lines and columns count from 1, columns in characters; an end lies behind its last one."""
    return _plain({"schema": CHECK_SCHEMA, "files": [_file(file) for file in files]})


def _file(file: CheckedFile) -> dict[str, Any]:
    lines = LineIndex(file.text)
    return {
        "path": file.path,
        "config": file.is_config,
        "findings": [_finding(finding, lines) for finding in file.findings],
    }


def _finding(finding: Finding, lines: LineIndex) -> dict[str, Any]:
    line, column = lines.position(finding.span.start)
    end_line, end_column = lines.position(finding.span.end)
    return {
        "code": finding.code,
        "evidence": finding.evidence,
        "severity": finding.severity,
        "line": line + 1,
        "column": column + 1,
        "end_line": end_line + 1,
        "end_column": end_column + 1,
        "message": finding.message,
        "record": finding.record,
        "records": list(finding.records),
        "blamed": list(finding.blamed),
    }


def runs_report(condition: str, runs: Iterable[Run]) -> dict[str, Any]:
    """``tried.runs/v1``: the runs of which a condition holds, in the order of the pool."""
    return _plain({"schema": RUNS_SCHEMA, "where": condition, "runs": [_run(run) for run in runs]})


def _run(run: Run) -> dict[str, Any]:
    record = run.record
    return {
        "id": run.id,
        "name": record.name,
        "ending": run.ending,
        "cause": run.cause,
        "headline": record.headline or None,
        "timestamp": record.timestamp,
    }


def conclude_report(amendment: ExperimentRecord, path: Path) -> dict[str, Any]:
    """``tried.conclude/v1``: the amendment that was written to the journal at `path`."""
    return _plain({"schema": CONCLUDE_SCHEMA, "path": str(path), **_amendment(amendment)})


def conclusions_report(amendments: Iterable[ExperimentRecord], path: Path) -> dict[str, Any]:
    """``tried.conclusions/v1``: the amendments that were written to the journal at `path`, in their order."""
    report = {
        "schema": CONCLUSIONS_SCHEMA,
        "path": str(path),
        "conclusions": [_amendment(amendment) for amendment in amendments],
    }
    return _plain(report)


def record_report(record: ExperimentRecord, path: Path) -> dict[str, Any]:
    """``tried.record/v1``: the record as it stands in the journal at `path`."""
    return _plain({"schema": RECORD_SCHEMA, "path": str(path), "record": json.loads(record.to_json())})


def import_report(path: Path, copied: int, present: int, running: int, attributes: Path | None) -> dict[str, Any]:
    """``tried.import/v1``: how many records were copied, were there already, or still run and were left."""
    report = {
        "schema": IMPORT_SCHEMA,
        "path": str(path),
        "copied": copied,
        "present": present,
        "running": running,
        "gitattributes": str(attributes) if attributes is not None else None,
    }
    return _plain(report)


def _amendment(amendment: ExperimentRecord) -> dict[str, Any]:
    return {
        "id": amendment.id,
        "amends": amendment.amends,
        "verdict": amendment.verdict,
        "headline": amendment.headline or None,
        "timestamp": amendment.timestamp,
    }


def rfc3339(moment: datetime) -> str:
    utc = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return utc.isoformat().replace("+00:00", "Z")


def _plain(report: Mapping[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = finite(dict(report))
    return data
