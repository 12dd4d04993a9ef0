"""`tried/related`: the experiments that bear on an open config, best first; and word of each analysis that they, and
all else that is shown of a document, come from."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.open_document import Analysed, Document
from tried.lsp.session import Session
from tried.render.reports import ranking_report

METHOD = "tried/related"
DID_ANALYSE = "tried/didAnalyse"
MAX_LIMIT = 1000


@attrs.define
class RelatedParams:
    """`limit`: at most so many; as many as the settings say (`ranking.limit`) where it is absent."""

    text_document: t.TextDocumentIdentifier
    limit: int | None = None


def subscribe(session: Session) -> None:
    session.listeners.append(lambda document: _tell(session, document))


async def related(session: Session, params: RelatedParams) -> dict[str, Any] | None:
    """`tried.ranking/v1` with `uri` and `version`, of what is in the editor; null for a document that is no config."""
    document = session.documents.get(params.text_document.uri)
    known = await session.analysed(document, patience=None) if document else None
    if document is None or known is None or known.analysis is None or not known.analysis.is_config:
        return None
    report = await session.in_background(_report, known, params.limit)
    return {**report, "uri": document.uri, "version": known.text.version}


def _report(known: Analysed, limit: int | None) -> dict[str, Any]:
    from tried.analysis import rank_in

    assert known.analysis is not None
    query, ranking = known.analysis.query, known.analysis.ranking
    if query is not None and limit is not None and limit > len(ranking):
        ranking = tuple(rank_in(known.snapshot, query, known.now, known.settings, min(limit, MAX_LIMIT)))
    shown = ranking if limit is None else ranking[: max(0, limit)]
    return ranking_report(query, shown, known.now, known.snapshot.directions)


def _tell(session: Session, document: Document) -> None:
    """Once for each analysis, of an edited text as of another pool or other settings."""
    known = document.analysed
    if known is None or known is document.announced:
        return
    document.announced = known
    is_config = known.analysis is not None and known.analysis.is_config
    params = {"uri": document.uri, "version": known.text.version, "isConfig": is_config}
    session.client.notify(DID_ANALYSE, params)
