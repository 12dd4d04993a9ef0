"""One edit of an open document, as the client can apply it."""

from __future__ import annotations

from lsprotocol import types as t

from tried.lsp.open_document import Analysed, Document
from tried.lsp.positions import to_range
from tried.lsp.session import Session
from tried.text import Span


def workspace_edit(session: Session, document: Document, known: Analysed, span: Span, text: str) -> t.WorkspaceEdit:
    """`text` in place of a span of the version that is known; with that version where the client looks at it."""
    edit = t.TextEdit(range=to_range(known.text.lines, span, session.client.features.encoding), new_text=text)
    if not session.client.features.versioned_edits:
        return t.WorkspaceEdit(changes={document.uri: [edit]})
    versioned = t.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=known.text.version)
    return t.WorkspaceEdit(document_changes=[t.TextDocumentEdit(text_document=versioned, edits=[edit])])
