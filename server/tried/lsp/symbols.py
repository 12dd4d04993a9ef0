"""The pool, searched from the editor's search for workspace symbols; a symbol leads to a page about its record."""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path
from typing import Final

from lsprotocol import types as t

from tried.analysis import ranking_policy
from tried.lsp.pools import FolderPool, all_pools, pool_of
from tried.lsp.record_pages import page_of, path_of_page, workspaces_of, write_page_of
from tried.lsp.session import Session
from tried.lsp.uris import uri_of
from tried.ranking.hits import NO_HITS
from tried.record_names import short_id
from tried.related.outcome import outcome_of
from tried.related.pool_search import MOST_FOUND, Hit, search
from tried.related.record_view import headline_of_view
from tried.render.escape import shortened
from tried.render.record_page import OUTCOME_MARKS
from tried.render.record_reports import line
from tried.storage.files import StorageError

log = logging.getLogger("tried.lsp")

NAME_LENGTH: Final = 120
CONTAINER_LENGTH: Final = 160
TOP: Final = t.Range(t.Position(0, 0), t.Position(0, 0))


async def symbols(session: Session, params: t.WorkspaceSymbolParams) -> list[t.WorkspaceSymbol] | None:
    """At most MOST_FOUND, of all folders; a pool that nobody has read yet is read, as far as that goes in a moment."""
    pools = [pool for pool in await all_pools(session) if pool.settings.symbols.enable]
    if not pools:
        return None
    now = session.now()
    found: list[tuple[Hit, FolderPool]] = []
    for pool in pools:
        found += [(hit, pool) for hit in await session.in_background(_found, params.query, pool, now)]
    found.sort(key=lambda each: each[0].place)
    lazily = session.client.features.resolves_symbols
    return await session.in_background(_symbols, found[:MOST_FOUND], now, workspaces_of(session), lazily)


async def resolve(session: Session, symbol: t.WorkspaceSymbol) -> t.WorkspaceSymbol:
    """Writes the page that the symbol leads to."""
    data = symbol.data if isinstance(symbol.data, dict) else {}
    folder = next((one for one in session.known_folders if str(one.path) == data.get("folder")), None)
    pool = pool_of(folder)
    record = pool.snapshot.get(str(data.get("record"))) if pool is not None else None
    if pool is None or record is None:
        return symbol
    try:
        path = await page_of(session, pool, record)
    except StorageError as error:
        log.warning("%s", error)
        return symbol
    symbol.location = t.Location(uri=uri_of(path), range=TOP)
    return symbol


def _found(text: str, pool: FolderPool, now: datetime) -> list[Hit]:
    used = pool.folder.workspace.hits if pool.folder.workspace is not None else NO_HITS
    return search(text, pool.snapshot, now, ranking_policy(pool.settings), hits=used)


def _symbols(
    found: list[tuple[Hit, FolderPool]], now: datetime, workspaces: list[Path], lazily: bool
) -> list[t.WorkspaceSymbol]:
    """Runs in a worker thread. `lazily`: pages are written when a symbol is chosen."""
    shown: list[t.WorkspaceSymbol] = []
    for hit, pool in found:
        try:
            if lazily:
                path = path_of_page(pool, hit.record.id, workspaces)
            else:
                path = write_page_of(pool, hit.record, now, workspaces)
        except StorageError as error:
            log.warning("%s", error)
            return shown
        shown.append(_symbol(hit, pool, path, lazily))
    return shown


def _symbol(hit: Hit, pool: FolderPool, path: Path, lazily: bool) -> t.WorkspaceSymbol:
    record = hit.record
    mark = OUTCOME_MARKS[outcome_of(record, pool.snapshot)]
    name = f" {line(record.name)}" if record.name and record.name != record.id else ""
    about = [line(part) for part in (record.research_line, headline_of_view(record)[0]) if part]
    return t.WorkspaceSymbol(
        name=shortened(f"{mark} {short_id(line(record.id))}{name}", NAME_LENGTH),
        kind=t.SymbolKind.Event,
        location=t.LocationUriOnly(uri=uri_of(path)) if lazily else t.Location(uri=uri_of(path), range=TOP),
        container_name=shortened(" · ".join(about), CONTAINER_LENGTH) or None,
        data={"record": record.id, "folder": str(pool.folder.path)},
    )
