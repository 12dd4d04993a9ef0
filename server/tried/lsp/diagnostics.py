"""Findings as squiggles: pulled by clients that can pull and be told to pull again, pushed to all others.

Invariant: a client is either pushed to or pulled from, never both.
Invariant: what is shown belongs to the version of the text that is in the editor; a closed document shows nothing.
Invariant: no more than MOST_SHOWN are shown in a document, the loudest; how many are not is in the client's log.
Invariant: while a pool is being read, what was found so far is shown; that nothing is found is said at the end.
Invariant: a new finding does not jump at somebody who is typing that line; one that no longer holds goes at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from lsprotocol import types as t

from tried.draft.entries import Problem
from tried.findings.finding import Finding
from tried.lsp import settings_problems
from tried.lsp.documentation import DIRECTIVE, page_of
from tried.lsp.open_document import Document
from tried.lsp.positions import to_range
from tried.lsp.result_ids import digest
from tried.lsp.session import Session
from tried.text import Encoding, LineIndex, Span

SOURCE = "tried"
MAX_RECORDS_IN_DATA = 50
MOST_SHOWN = 200
_SEVERITIES = {"warning": t.DiagnosticSeverity.Warning, "information": t.DiagnosticSeverity.Information}


def subscribe(session: Session) -> None:
    session.listeners.append(lambda document: _update(session, document))
    session.closers.append(lambda document: _clear(session, document))


async def pull(session: Session, params: t.DocumentDiagnosticParams) -> t.DocumentDiagnosticReport:
    """Waits until what is in the editor has been analysed."""
    document = session.documents.get(params.text_document.uri)
    if document is None:
        return t.RelatedFullDocumentDiagnosticReport(items=[])
    await session.analysed(document, patience=None)
    if not document.is_open:
        return t.RelatedFullDocumentDiagnosticReport(items=[])
    items = diagnostics_of(session, document)
    document.pulled = _result_id(document, items)
    if document.pulled == params.previous_result_id:
        return t.RelatedUnchangedDocumentDiagnosticReport(result_id=document.pulled)
    return t.RelatedFullDocumentDiagnosticReport(items=items, result_id=document.pulled)


def diagnostics_of(session: Session, document: Document) -> list[t.Diagnostic]:
    """What is shown in a document: its findings, and the mistakes in it if it is a file of settings."""
    encoding = session.client.features.encoding
    found = settings_problems.diagnostics_of(session, document.path)
    if (known := document.current) is not None:
        found += [to_diagnostic(finding, known.text.lines, encoding) for finding in document.shown]
        found += [_of_mistake(mistake, known.text.lines, encoding) for mistake in document.mistakes]
    return found


def to_diagnostic(finding: Finding, lines: LineIndex, encoding: Encoding) -> t.Diagnostic:
    return t.Diagnostic(
        range=to_range(lines, finding.span, encoding),
        message=finding.message,
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=page_of(finding.code),
        source=SOURCE,
        data=_data(finding),
    )


def _of_mistake(mistake: Problem, lines: LineIndex, encoding: Encoding) -> t.Diagnostic:
    """A comment that was to silence something and does not."""
    return t.Diagnostic(
        range=to_range(lines, mistake.span, encoding),
        message=mistake.message,
        severity=t.DiagnosticSeverity.Information,
        code=DIRECTIVE,
        code_description=page_of(DIRECTIVE),
        source=SOURCE,
    )


def _data(finding: Finding) -> dict[str, Any]:
    """What a client may want to know beyond the message; it comes back with a request for code actions."""
    return {
        "evidence": finding.evidence,
        "cause": finding.cause,
        "record": finding.record,
        "records": list(finding.records[:MAX_RECORDS_IN_DATA]),
        "blamed": list(finding.blamed),
    }


def _update(session: Session, document: Document) -> None:
    """Decides what is shown now, and tells the client if it is to be told."""
    document.shown, document.mistakes = _shown(session, document)
    if not session.client.features.pulls_diagnostics:
        _publish(session, document)
    elif document.pulled is not None and _is_outdated(session, document):
        session.refresh_diagnostics_soon()


def _is_outdated(session: Session, document: Document) -> bool:
    """True if the client has pulled this very version and would get something else now. A version that it has not
    pulled yet it will pull without being told."""
    fresh = _result_id(document, diagnostics_of(session, document))
    assert document.pulled is not None
    return document.pulled != fresh and document.pulled.split(":")[0] == fresh.split(":")[0]


def _publish(session: Session, document: Document) -> None:
    version = document.text.version if document.text else None
    found = diagnostics_of(session, document)
    if found or document.current is None or not document.current.is_partial:
        session.client.publish(document.uri, version, found)


def _clear(session: Session, document: Document) -> None:
    if document.pause is not None:
        document.pause.cancel()
    if not session.client.features.pulls_diagnostics:
        session.client.publish(document.uri, None, settings_problems.diagnostics_of(session, document.path))


def _shown(session: Session, document: Document) -> tuple[tuple[Finding, ...], tuple[Problem, ...]]:
    known = document.current
    if known is None or known.analysis is None:
        return (), ()
    if not known.settings.findings.enable:
        return (), ()
    found, mistakes = loudest(session, document, tuple(_distinct(known.analysis.findings)), known.analysis.mistakes)
    loop = asyncio.get_running_loop()
    pause_over = document.typed_at + session.settings_of(document).editor.typing_pause_ms / 1000
    if loop.time() >= pause_over or not document.typed:
        return found, mistakes
    before = {_identity(finding) for finding in document.shown}
    lines = known.text.lines
    shown = tuple(f for f in found if _identity(f) in before or not _touches(f.span, lines, document.typed))
    noted = tuple(mistake for mistake in mistakes if not _touches(mistake.span, lines, document.typed))
    if len(shown) < len(found) or len(noted) < len(mistakes):
        if document.pause is not None:
            document.pause.cancel()
        document.pause = loop.call_at(pause_over, _after_pause, session, document)
    return shown, noted


def _after_pause(session: Session, document: Document) -> None:
    if document.is_open and document.current is not None:
        _update(session, document)


def _distinct(findings: Iterable[Finding]) -> Iterable[Finding]:
    """Those that make a squiggle, each once."""
    seen = set()
    for finding in findings:
        key = (finding.span, finding.code, finding.message)
        if finding.severity in _SEVERITIES and key not in seen:
            seen.add(key)
            yield finding


def loudest(
    session: Session, document: Document, found: tuple[Finding, ...], mistakes: tuple[Problem, ...]
) -> tuple[tuple[Finding, ...], tuple[Problem, ...]]:
    """Warnings before information, findings before mistakes, in the order of the text; the rest is told of once."""
    if len(found) + len(mistakes) <= MOST_SHOWN:
        return found, mistakes
    if not document.told_of_many:
        document.told_of_many = True
        session.client.log(
            f"{document.path or document.uri}: only the {MOST_SHOWN} loudest of {len(found) + len(mistakes):,}"
            " diagnostics are shown; `tried check` lists all findings."
        )
    loudest = set(sorted(found, key=lambda finding: finding.severity != "warning")[:MOST_SHOWN])
    return tuple(f for f in found if f in loudest), mistakes[: MOST_SHOWN - len(loudest)]


def _identity(finding: Finding) -> tuple[object, ...]:
    """The same finding after an edit elsewhere, though it has moved."""
    return (finding.code, finding.evidence, finding.record, finding.blamed)


def _touches(span: Span, lines: LineIndex, typed: range) -> bool:
    return any(lines.line_of(span.start) <= line <= lines.line_of(span.end) for line in typed)


def _result_id(document: Document, items: Sequence[t.Diagnostic]) -> str:
    """Equal for equal answers about one version of a text. An older version's squiggles may have been moved by the
    editor, so they are never called unchanged."""
    version = document.text.version if document.text else 0
    return f"{version}:{digest(items)}"
