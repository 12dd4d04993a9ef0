"""`tried/experiments`: the related experiments as a list shows them, with what differs from the config."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext

import attrs
from lsprotocol import types as t

from tried.analysis import finding_settings, ranking_policy
from tried.lsp.open_document import Analysed
from tried.lsp.session import Session
from tried.lsp.written import Written, written
from tried.pool.collector import collector_paused
from tried.related.experiments import NO_FILTER, Filter, RelatedExperiments
from tried.related.facets import facets_of, named
from tried.related.ordering import Sort
from tried.related.outcome import Outcome
from tried.render.record_reports import line

METHOD = "tried/experiments"

_LONG = 500
"""Rows from which on a list is made of so many objects that looking for garbage among them would cost most of it."""


@attrs.define
class FilterParams:
    """All of it holds together; names as in `facets`. Every word of `text` must occur, of the last one a beginning."""

    outcome: Outcome | None = None
    research_line: str | None = None
    tag: str | None = None
    source: str | None = None
    text: str | None = None


@attrs.define
class ExperimentsParams:
    """`limit`: at most so many; as many as the settings say (`ranking.limit`) where it is absent."""

    text_document: t.TextDocumentIdentifier
    limit: int | None = None
    filter: FilterParams | None = None
    sort: Sort | None = None


async def experiments(session: Session, params: ExperimentsParams) -> Written | None:
    """`tried.experiments/v1`, of what is in the editor; null for a document that is no config."""
    known = await config_known(session, params.text_document.uri)
    if known is None:
        return None
    if limit_of(known, params.limit) <= _LONG:
        return await session.in_background(_report, known, params)
    # One after another, for while several are made nothing that is quick would find a thread.
    return await asyncio.get_running_loop().run_in_executor(session.large_analysts, _report, known, params)


async def config_known(session: Session, uri: str) -> Analysed | None:
    """What is known of a config that is open, as soon as the text in the editor was looked at, be it with a part of the
    pool; None for any other document."""
    document = session.documents.get(uri)
    if document is None:
        return None
    known = document.current or document.so_far or await session.analysed(document, patience=None)
    return known if known is not None and known.analysis is not None and known.analysis.is_config else None


def related_to(known: Analysed, params: FilterParams | None) -> RelatedExperiments:
    """Of a config that was analysed."""
    assert known.analysis is not None
    findings, policy = finding_settings(known.settings), ranking_policy(known.settings)
    return RelatedExperiments(known.analysis, known.snapshot, findings, policy, known.now, _filter(known, params))


def limit_of(known: Analysed, limit: int | None) -> int:
    """As many rows as the settings say where nobody says it."""
    return known.settings.ranking.limit if limit is None else limit


def _filter(known: Analysed, params: FilterParams | None) -> Filter:
    if params is None:
        return NO_FILTER

    def chosen(kind: str, shown: str | None) -> str | None:
        return named(kind, shown, known.snapshot, line) if shown else None

    return Filter(
        outcome=params.outcome,
        research_line=chosen("research_line", params.research_line),
        tag=chosen("tag", params.tag),
        source=chosen("source", params.source),
        text=params.text or "",
    )


def _report(known: Analysed, params: ExperimentsParams) -> Written:
    from tried.render.related_reports import experiments_report

    related = related_to(known, params.filter)
    limit = limit_of(known, params.limit)
    with collector_paused() if limit > _LONG else nullcontext():
        report = experiments_report(
            related.listed(limit, params.sort or "score"),
            facets_of(known.snapshot),
            known.now,
            records=len(known.snapshot),
            is_partial=known.is_partial,
            text=related.query.text if related.query is not None else "",
            research_line=related.own_line,
        )
        return written(report, uri=params.text_document.uri, version=known.text.version)
