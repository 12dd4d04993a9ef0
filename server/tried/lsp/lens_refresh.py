"""Tells the client to ask anew for lenses and hints: when the pool or the settings have changed, not after edits, for
after those it asks by itself."""

from __future__ import annotations

import asyncio

from lsprotocol import types as t

from tried.lsp.folders import Folder
from tried.lsp.session import Session

SOON_SECONDS = 0.1
"""Changes that come together are told once."""


def subscribe(session: Session) -> None:
    session.folder_listeners.append(_Refresher(session).changed)


class _Refresher:
    """Asks for nothing that is switched off, but once after it was."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.timer: asyncio.TimerHandle | None = None
        self.had_lenses = self.had_hints = False

    def changed(self, folder: Folder) -> None:
        shown = any(document.folder is folder for document in self.session.documents.values())
        if self.timer is None and shown:
            self.timer = asyncio.get_running_loop().call_later(SOON_SECONDS, self.refresh)

    def refresh(self) -> None:
        self.timer = None
        session, features = self.session, self.session.client.features
        every = [folder.workspace.settings for folder in session.active_folders if folder.workspace is not None]
        has_lenses = any(settings.code_lens.enable for settings in every)
        has_hints = any(settings.inlay_hints.enable for settings in every)
        if features.refreshes_lenses and (has_lenses or self.had_lenses):
            session.spawn(session.client.request(t.WORKSPACE_CODE_LENS_REFRESH, None))
        if features.refreshes_hints and (has_hints or self.had_hints):
            session.spawn(session.client.request(t.WORKSPACE_INLAY_HINT_REFRESH, None))
        self.had_lenses, self.had_hints = has_lenses, has_hints
