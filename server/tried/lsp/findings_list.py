"""`tried/findings`: the findings in an open config, by line, those that only a hover shows included."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.session import Session
from tried.render.finding_reports import findings_report

METHOD = "tried/findings"


@attrs.define
class FindingsParams:
    text_document: t.TextDocumentIdentifier


async def findings_list(session: Session, params: FindingsParams) -> dict[str, Any] | None:
    """`tried.findings/v1` of what is in the editor, as soon as it was looked at; null for a document that is no config.
    A finding is there at once, also on the line that is being typed: a list does not jump at anybody."""
    document = session.documents.get(params.text_document.uri)
    known = await session.analysed(document, patience=None) if document else None
    if document is None or known is None or known.analysis is None or not known.analysis.is_config:
        return None
    encoding = session.client.features.encoding
    report = await session.in_background(findings_report, known.analysis.findings, known.text.lines, encoding)
    return {**report, "uri": document.uri, "version": known.text.version}
