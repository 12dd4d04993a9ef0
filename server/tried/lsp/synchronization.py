"""Opening, editing and closing documents. Nothing is done on save, so nothing can hold it up."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from lsprotocol import types as t

from tried.lsp.documents import Text, changed, typed_lines
from tried.lsp.session import Session

log = logging.getLogger("tried.lsp")


def did_open(session: Session, params: t.DidOpenTextDocumentParams) -> None:
    item = params.text_document
    session.open(item.uri, item.language_id, item.version, item.text)


def did_change(session: Session, params: t.DidChangeTextDocumentParams) -> None:
    document = session.documents.get(params.text_document.uri)
    changes = params.content_changes
    if document is None:
        log.debug("a change of a document that is not open: %s", params.text_document.uri)
        return
    before = document.text
    if before is None and _is_whole(changes):  # it was too large, and may not be any more
        before = Text("", 0)
    if before is None or not changes:
        return
    encoding = session.client.features.encoding
    text = changed(before, changes, params.text_document.version, encoding)
    session.edit(document, text, typed_lines(text, changes[-1], encoding))


def did_close(session: Session, params: t.DidCloseTextDocumentParams) -> None:
    session.close_document(params.text_document.uri)


def _is_whole(changes: Sequence[t.TextDocumentContentChangeEvent]) -> bool:
    return any(isinstance(change, t.TextDocumentContentChangeWholeDocument) for change in changes)
