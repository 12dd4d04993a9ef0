"""`tried/status`: what each open folder's pool rests on, how far it is read, and what is in the way."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.folders import Folder
from tried.lsp.session import Session
from tried.render.status import status_report

METHOD = "tried/status"
SCHEMA = "tried.status/v1"


@attrs.define
class StatusParams:
    """`text_document`: only the folder that this document belongs to; all folders where it is absent."""

    text_document: t.TextDocumentIdentifier | None = None


async def status(session: Session, params: StatusParams) -> dict[str, Any]:
    """`tried.status/v1`; folders without an open document have not been read."""
    folders = session.known_folders
    if params.text_document is not None:
        document = session.documents.get(params.text_document.uri)
        folders = [document.folder] if document is not None and document.folder is not None else []
    return {"schema": SCHEMA, "folders": [await session.in_background(_of, folder) for folder in folders]}


def _of(folder: Folder) -> dict[str, Any]:
    state = "ready" if folder.loaded.is_set() else "reading" if folder.loading else "unread"
    done, total, what = folder.progress or (0, 0, "")
    return {
        "path": str(folder.path),
        "state": state,
        "progress": {"done": done, "total": total, "what": what} if state == "reading" else None,
        **status_report(folder.workspace),
    }
