"""`tried/related`: the experiments that bear on an open config, best first; and word of each analysis that they, and
all else that is shown of a document, come from."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.open_document import Analysed, Document
from tried.lsp.own_params import EXAMPLE
from tried.lsp.requested_policies import KNOBS_EXAMPLE, policy_asked_for, remarks_of
from tried.lsp.session import Session
from tried.lsp.traces import trace_soon
from tried.render.reports import ranking_report
from tried.settings.requested_policy import RequestedPolicy

METHOD = "tried/related"
DID_ANALYSE = "tried/didAnalyse"
MAX_LIMIT = 1000


@attrs.define
class RelatedParams:
    """`limit`: at most so many; as many as the settings say (`ranking.limit`) where it is absent. `policy` and `set`
    (knob → value) hold for this request alone. `trace`: write a trace of it, be they enabled or not."""

    text_document: t.TextDocumentIdentifier
    limit: int | None = None
    policy: str | None = None
    set: dict[str, Any] | None = attrs.field(default=None, metadata={EXAMPLE: KNOBS_EXAMPLE})
    trace: bool = False


def subscribe(session: Session) -> None:
    session.listeners.append(lambda document: _tell(session, document))


async def related(session: Session, params: RelatedParams) -> dict[str, Any] | None:
    """`tried.ranking/v1` with `uri` and `version`, of what is in the editor; null for a document that is no config.
    Raises JsonRpcInvalidParams for a policy or a knob that is not known."""
    document = session.documents.get(params.text_document.uri)
    known = await session.analysed(document, patience=None) if document else None
    if document is None or known is None or known.analysis is None or not known.analysis.is_config:
        return None
    asked = policy_asked_for(known.settings, params.policy, params.set)
    report = await session.in_background(_report, known, params.limit, asked)
    if params.trace or (known.settings.trace.enabled and asked.is_requested):
        trace_soon(session, known, asked, _limit(known, params.limit))
    return {**report, **remarks_of(asked), "uri": document.uri, "version": known.text.version}


def _limit(known: Analysed, limit: int | None) -> int:
    return known.settings.ranking.limit if limit is None else min(max(0, limit), MAX_LIMIT)


def _report(known: Analysed, limit: int | None, asked: RequestedPolicy) -> dict[str, Any]:
    """What was analysed stays as it is, whatever policy is asked for."""
    from tried.analysis import rank_in

    assert known.analysis is not None
    query, ranking, hits = known.analysis.query, known.analysis.ranking, known.analysis.hits
    if query is not None and (asked.is_requested or (limit is not None and limit > len(ranking))):
        wanted = None if limit is None else min(max(0, limit), MAX_LIMIT)
        found = rank_in(known.snapshot, query, known.now, known.settings, wanted, policy=asked.policy, hits=hits)
        ranking = tuple(found)
    shown = ranking if limit is None else ranking[: max(0, limit)]
    return ranking_report(query, shown, known.now, known.snapshot.directions, requested=asked)


def _tell(session: Session, document: Document) -> None:
    """Once for each analysis, of an edited text as of another pool or other settings."""
    known = document.analysed
    if known is None or known is document.announced:
        return
    document.announced = known
    is_config = known.analysis is not None and known.analysis.is_config
    params = {"uri": document.uri, "version": known.text.version, "isConfig": is_config}
    session.client.notify(DID_ANALYSE, params)
