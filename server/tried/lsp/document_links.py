"""Ids of records in a config as links: to the run's page on the web, else to a page about the record."""

from __future__ import annotations

import logging

from lsprotocol import types as t

from tried.lsp.named_records import named_records
from tried.lsp.pools import FolderPool
from tried.lsp.positions import to_range
from tried.lsp.record_pages import page_of
from tried.lsp.session import Session
from tried.lsp.uris import uri_of
from tried.pool.record import ExperimentRecord
from tried.related.outcome import outcome_of
from tried.related.record_view import headline_of_view
from tried.render.escape import shortened
from tried.render.record_page import OUTCOME_MARKS
from tried.render.record_reports import line, web_address
from tried.storage.files import StorageError

log = logging.getLogger("tried.lsp")

PATIENCE = 2.0
MOST_LINKED = 100
"""Different records of one document that are made links: for each a page may be written."""

TOOLTIP_LENGTH = 200


async def document_links(session: Session, params: t.DocumentLinkParams) -> list[t.DocumentLink] | None:
    document = session.documents.get(params.text_document.uri)
    known = await session.analysed(document, PATIENCE, hurry=True) if document is not None else None
    if document is None or known is None or document.folder is None or not known.settings.links.enable:
        return None
    features = session.client.features
    pool = FolderPool(document.folder, known.snapshot, known.settings)
    targets: dict[str, tuple[str, str] | None] = {}
    links: list[t.DocumentLink] = []
    for one in await named_records(session, known):
        if one.record not in targets:
            if len(targets) >= MOST_LINKED:
                continue
            targets[one.record] = await _target(session, pool, one.record)
        if (target := targets[one.record]) is not None:
            place = to_range(known.text.lines, one.span, features.encoding)
            tooltip = target[1] if features.link_tooltips else None
            links.append(t.DocumentLink(range=place, target=target[0], tooltip=tooltip, data={"record": one.record}))
    return links


async def _target(session: Session, pool: FolderPool, record_id: str) -> tuple[str, str] | None:
    """(address, tooltip); None where there is nowhere to write a page to."""
    record = pool.snapshot.get(record_id)
    if record is None:
        return None
    target = web_address(record)
    if target is None:
        try:
            target = uri_of(await page_of(session, pool, record))
        except StorageError as error:
            log.warning("%s", error)
            return None
    return target, tooltip_of(record, pool)


def tooltip_of(record: ExperimentRecord, pool: FolderPool) -> str:
    """Such as "✗ exp-7: diverged after 200 steps"."""
    said = headline_of_view(record)[0] or record.name
    mark = OUTCOME_MARKS[outcome_of(record, pool.snapshot)]
    return shortened(f"{mark} {line(record.id)}" + (f": {said}" if said else ""), TOOLTIP_LENGTH)
