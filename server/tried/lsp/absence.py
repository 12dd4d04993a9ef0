"""`tried/absence`: why a record is not among the related experiments that are shown."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.experiments import FilterParams, config_known, limit_of, related_to
from tried.lsp.open_document import Analysed
from tried.lsp.session import Session

METHOD = "tried/absence"


@attrs.define
class AbsenceParams:
    """`record` as a person names it; `filter` and `limit` as the list was asked for."""

    text_document: t.TextDocumentIdentifier
    record: str
    filter: FilterParams | None = None
    limit: int | None = None


async def absence(session: Session, params: AbsenceParams) -> dict[str, Any] | None:
    """`tried.absence/v1`; null for a document that is no config."""
    known = await config_known(session, params.text_document.uri)
    if known is None:
        return None
    return await session.in_background(_report, known, params)


def _report(known: Analysed, params: AbsenceParams) -> dict[str, Any]:
    from tried.related.absence import absence_of
    from tried.render.related_reports import absence_report

    related, limit = related_to(known, params.filter), limit_of(known, params.limit)
    return absence_report(absence_of(params.record, related, limit, is_partial=known.is_partial))
