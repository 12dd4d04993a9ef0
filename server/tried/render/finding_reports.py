"""The findings of one text as a list shows them: JSON data for `tried/findings`.

Invariant: every text is one line of at most LONGEST characters, whatever the records hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tried.findings.finding import Finding
from tried.render.escape import shortened
from tried.text import Encoding, LineIndex, Span

FINDINGS_SCHEMA: Final = "tried.findings/v1"

LONGEST: Final = 500
MOST_FINDINGS: Final = 1_000
MOST_REASONS: Final = 3
MOST_RECORDS: Final = 50
MOST_BLAMED: Final = 50


def findings_report(findings: Iterable[Finding], lines: LineIndex, encoding: Encoding) -> dict[str, Any]:
    """``tried.findings/v1`` without its document: in the order of the text, what is said twice once; ranges as in the
    protocol. `total` counts those that were left out, too."""
    distinct: dict[object, Finding] = {}
    for finding in findings:
        distinct.setdefault((finding.span, finding.code, finding.message), finding)
    found = sorted(distinct.values(), key=lambda finding: finding.span)
    return {
        "schema": FINDINGS_SCHEMA,
        "total": len(found),
        "findings": [_finding(finding, lines, encoding) for finding in found[:MOST_FINDINGS]],
    }


def _finding(finding: Finding, lines: LineIndex, encoding: Encoding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "evidence": finding.evidence,
        "severity": finding.severity,
        "range": _range(finding.span, lines, encoding),
        "message": shortened(finding.message, LONGEST),
        "why": [shortened(why, LONGEST) for why in finding.why[:MOST_REASONS]],
        "record": finding.record,
        "records": list(finding.records[:MOST_RECORDS]),
        "count": len(finding.records),
        "blamed": [shortened(key, LONGEST) for key in finding.blamed[:MOST_BLAMED]],
        "cause": finding.cause,
    }


def _range(span: Span, lines: LineIndex, encoding: Encoding) -> dict[str, Any]:
    ends = (lines.position(span.start, encoding), lines.position(span.end, encoding))
    start, end = ({"line": line, "character": character} for line, character in ends)
    return {"start": start, "end": end}
