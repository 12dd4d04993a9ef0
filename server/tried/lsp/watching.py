"""Files that change outside the editor: pools that grow, settings that are edited.

The client's file events are taken where it offers them. They are never relied on: what the open documents rest on is
looked at twice a second besides, which also works on network file systems. With nothing open nothing is looked at.
"""

from __future__ import annotations

import asyncio

from lsprotocol import types as t

from tried.lsp.session import Session
from tried.lsp.uris import path_of

POLL_SECONDS = 0.5
PATTERNS = ("**/.tried/pool.jsonl", "**/.soma/experiments.jsonl", "**/*.tsv", "**/tried.toml", "**/pyproject.toml")
SETTINGS_FILES = ("tried.toml", "pyproject.toml")
REGISTRATION = "tried/watched-files"


async def register(session: Session) -> None:
    """Asks the client for file events, where it lets us."""
    if session.client.features.registers_watchers:
        watchers = [t.FileSystemWatcher(glob_pattern=pattern) for pattern in PATTERNS]
        options = t.DidChangeWatchedFilesRegistrationOptions(watchers=watchers)
        await session.client.register(REGISTRATION, t.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)


async def watch(session: Session) -> None:
    """Looks at the files of the folders in use, for ever."""
    while True:
        await asyncio.sleep(POLL_SECONDS)
        for folder in session.active_folders:
            if folder.is_idle:
                session.spawn(session.poll(folder))


def did_change_watched_files(session: Session, params: t.DidChangeWatchedFilesParams) -> None:
    paths = [path for change in params.changes if (path := path_of(change.uri)) is not None]
    if any(path.name in SETTINGS_FILES for path in paths):
        session.place_documents()
    for folder in session.active_folders:
        if any(path.is_relative_to(folder.path) for path in paths):
            session.spawn(session.refresh(folder))
