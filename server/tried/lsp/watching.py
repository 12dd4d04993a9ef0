"""Files that change outside the editor: pools that grow, settings that are edited.

What the open documents rest on is looked at twice a second, which also works on network file systems and outside of
the workspace; a large store is asked as seldom as asking it costs (see `pool/sources/paced.py`). The client's file
events are taken where it offers them and never relied on: they say of a store that is asked seldom that it is time.

The patterns name what a tracker writes when a run begins, ends or is annotated, not what it writes all the while, and
none asks a client to look at all the files of a store: an editor that watches by pattern would pay for each of them.
With nothing open nothing is looked at.
"""

from __future__ import annotations

import asyncio

from lsprotocol import types as t

from tried.lsp.session import Session
from tried.lsp.uris import path_of

POLL_SECONDS = 0.5
PATTERNS = (
    "**/.tried/pool.jsonl",
    "**/.soma/experiments.jsonl",
    "**/*.tsv",
    "**/tried.toml",
    "**/pyproject.toml",
    "**/*.{db,sqlite,sqlite3}",
    "**/*.{db,sqlite,sqlite3}-wal",
    "**/mlruns/*/*/meta.yaml",
    "**/mlruns/*/*/tags/{mlflow.note.content,dead-end}",
    "**/wandb/*run-*/files/{config.yaml,wandb-summary.json}",
    "**/.hydra/overrides.yaml",
)
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
        inside = [path for path in paths if path.is_relative_to(folder.path)]
        if not inside or folder.workspace is None:
            continue
        if not folder.workspace.wake(inside):
            session.spawn(session.refresh(folder))
        elif folder.is_idle:
            session.spawn(session.poll(folder))
