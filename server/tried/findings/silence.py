"""Silence: what a person has said about repeating on purpose, as comments in the file."""

from __future__ import annotations

from collections.abc import Iterable

from tried.draft.draft import Directive, ExperimentDraft
from tried.findings.finding import Finding


def unsilenced(draft: ExperimentDraft, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that no directive of the draft speaks of, in their order."""
    return tuple(f for f in findings if not any(silences(directive, f) for directive in draft.directives))


def silences(directive: Directive, finding: Finding) -> bool:
    """`ignore-file` silences all; `ignore` what stands on its target, of its code if it names one; `retry` a record."""
    if directive.code is not None and directive.code != finding.code:
        return False
    if directive.action == "ignore-file":
        return True
    if directive.action == "retry" and directive.record is not None:
        return directive.record in finding.records
    touches = finding.span.start <= directive.target.end and directive.target.start <= finding.span.end
    return directive.action == "ignore" and touches
