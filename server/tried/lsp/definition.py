"""From the id of a record in a config to a page about the record."""

from __future__ import annotations

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException

from tried.lsp.named_records import named_records
from tried.lsp.pools import FolderPool
from tried.lsp.positions import to_offset, to_range
from tried.lsp.record_pages import page_of
from tried.lsp.session import Session
from tried.lsp.uris import uri_of
from tried.related.record_ids import record_at
from tried.storage.files import StorageError

PATIENCE = 2.0
REQUEST_FAILED = -32803

TOP = t.Range(t.Position(0, 0), t.Position(0, 0))


async def definition(session: Session, params: t.DefinitionParams) -> t.Location | list[t.LocationLink] | None:
    document = session.documents.get(params.text_document.uri)
    known = await session.analysed(document, PATIENCE, hurry=True) if document is not None else None
    if document is None or known is None or document.folder is None:
        return None
    encoding = session.client.features.encoding
    offset = to_offset(known.text.lines, params.position, encoding)
    one = record_at(await named_records(session, known), offset)
    record = known.snapshot.get(one.record) if one is not None else None
    if one is None or record is None:
        return None
    try:
        path = await page_of(session, FolderPool(document.folder, known.snapshot, known.settings), record)
    except StorageError as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from error
    if not session.client.features.definition_links:
        return t.Location(uri=uri_of(path), range=TOP)
    origin = to_range(known.text.lines, one.span, encoding)
    link = t.LocationLink(
        target_uri=uri_of(path), target_range=TOP, target_selection_range=TOP, origin_selection_range=origin
    )
    return [link]
