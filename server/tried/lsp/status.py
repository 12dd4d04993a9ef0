"""`tried/status`: what each open folder's pool rests on, how far it is read, and what is in the way; and word of it
when that changes.

Invariant: of one folder `tried/statusDidChange` is sent at most twice a second, but for a change of its state, and the
last word always comes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.folders import Folder
from tried.lsp.session import Session
from tried.pool.journal import OUR_JOURNAL
from tried.render.status import status_report

METHOD = "tried/status"
DID_CHANGE = "tried/statusDidChange"
SCHEMA = "tried.status/v1"

TELL_SECONDS = 0.5


@attrs.define
class StatusParams:
    """`text_document`: only the folder that this document belongs to; all folders where it is absent."""

    text_document: t.TextDocumentIdentifier | None = None


def subscribe(session: Session) -> None:
    teller = _Teller(session)
    session.folder_listeners.append(teller.tell)
    session.progress_listeners.append(teller.tell)


async def status(session: Session, params: StatusParams) -> dict[str, Any]:
    """`tried.status/v1`; folders without an open document are unread, unless `tried.rescan` has read them."""
    folders = session.known_folders
    if params.text_document is not None:
        document = session.documents.get(params.text_document.uri)
        folders = [document.folder] if document is not None and document.folder is not None else []
    return {"schema": SCHEMA, "folders": [await session.in_background(_of, folder) for folder in folders]}


def _of(folder: Folder) -> dict[str, Any]:
    state = folder.state
    done, total, what = folder.progress or (0, 0, "")
    return {
        "path": str(folder.path),
        "state": state,
        "progress": {"done": done, "total": total, "what": what} if state == "reading" else None,
        "journal": str(folder.path / OUR_JOURNAL),
        **status_report(folder.workspace),
    }


@dataclass
class _Told:
    """What a client knows of a folder, and since when; `next` is word that waits for its time."""

    state: str
    at: float
    next: asyncio.TimerHandle | None = None


class _Teller:
    def __init__(self, session: Session) -> None:
        self._session = session
        self._told: dict[Folder, _Told] = {}

    def tell(self, folder: Folder) -> None:
        loop = asyncio.get_running_loop()
        told = self._told.get(folder)
        if told is None or told.state != folder.state or loop.time() - told.at >= TELL_SECONDS:
            self._send(folder)
        elif told.next is None:
            told.next = loop.call_at(told.at + TELL_SECONDS, self._send, folder)

    def _send(self, folder: Folder) -> None:
        told = self._told.pop(folder, None)
        if told is not None and told.next is not None:
            told.next.cancel()
        if folder in self._session.known_folders:
            self._told[folder] = _Told(folder.state, asyncio.get_running_loop().time())
        self._session.client.notify(DID_CHANGE, {"path": str(folder.path)})
