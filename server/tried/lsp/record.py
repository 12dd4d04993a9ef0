"""`tried/record`: one record in full, beside the config that is being edited."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import attrs
from lsprotocol import types as t

from tried.analysis import finding_settings, rank_of_in
from tried.lsp.open_document import Analysed, Document
from tried.lsp.pools import NAME_LENGTH, FolderPool, all_pools, pool_of, record_in
from tried.lsp.session import Session
from tried.pool.record import ExperimentRecord
from tried.record_names import find_record
from tried.related.record_view import RecordView, record_view
from tried.render.record_reports import record_view_report
from tried.storage.paths import exists, leads_out

METHOD = "tried/record"
PATIENCE = 2.0
"""Seconds that a record may wait for the analysis of the config that it is to stand beside."""


@attrs.define
class RecordParams:
    """`record` is an id, an alias or the end of an id. Without a document it is looked for in all folders."""

    record: str
    text_document: t.TextDocumentIdentifier | None = None


async def record(session: Session, params: RecordParams) -> dict[str, Any]:
    """`tried.record-view/v1`. Raises JsonRpcInvalidParams for a record that no pool has."""
    document = session.documents.get(params.text_document.uri) if params.text_document is not None else None
    pool, found, known = await record_beside(session, params.record, document)
    now = known.now if known is not None else session.now()
    return await session.in_background(_report, pool, found, document, known, now)


async def record_beside(
    session: Session, name: str, document: Document | None
) -> tuple[FolderPool, ExperimentRecord, Analysed | None]:
    """A record, the pool it is in, and the analysis of the document, if that is a config and rests on this pool.

    It is looked for in the document's folder before all others. Raises JsonRpcInvalidParams.
    """
    known = await session.analysed(document, PATIENCE, hurry=True) if document is not None else None
    if document is not None and document.folder is not None and not document.folder.loaded.is_set():
        await session.read(document.folder, PATIENCE)  # what is asked for may be what is not read yet
        known = await session.analysed(document, PATIENCE, hurry=True)
    own = pool_of(document.folder) if document is not None else None
    here = (await session.in_background(find_record, own.snapshot, name[:NAME_LENGTH])).record if own else None
    if own is not None and here is not None:
        pool, found = own, here
    else:
        pool, found = await session.in_background(record_in, await all_pools(session), name)
    if known is None or document is None or known.analysis is None or not known.analysis.is_config:
        return pool, found, None
    if pool.folder is not document.folder:
        return pool, found, None
    beside = known.snapshot.get(found.id)
    if beside is None:  # it has come since the analysis
        return pool, found, None
    return FolderPool(pool.folder, known.snapshot, known.settings), beside, known


def view_of(
    pool: FolderPool, found: ExperimentRecord, known: Analysed | None, now: datetime, *, with_plots: bool = True
) -> RecordView:
    analysis = known.analysis if known is not None else None
    drafts = analysis.drafts if analysis is not None else ()
    ranked = None
    if analysis is not None and analysis.query is not None:
        ranked = rank_of_in(pool.snapshot, analysis.query, now, pool.settings, found.id, hits=analysis.hits)
    return record_view(found, pool.snapshot, finding_settings(pool.settings), drafts, ranked, with_plots=with_plots)


def _report(
    pool: FolderPool, found: ExperimentRecord, document: Document | None, known: Analysed | None, now: datetime
) -> dict[str, Any]:
    return record_view_report(
        view_of(pool, found, known, now),
        now,
        run_dir=run_dir_in(pool.folder.path, found),
        document=document.uri if document is not None and known is not None else None,
        version=known.text.version if known is not None else None,
    )


def run_dir_in(folder: Path, found: ExperimentRecord) -> Path | None:
    """The run's folder, if there is one and it lies in the workspace, its links followed."""
    named = found.run_dir
    if not named or len(named) > 4096 or any(ord(character) < 32 for character in named):
        return None
    place = folder / named
    if ".." in place.parts or not place.is_relative_to(folder):
        return None
    return place if exists(place) and not leads_out(place, folder) else None
