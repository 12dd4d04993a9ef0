"""`initialize`, `initialized` and the folders that come and go."""

from __future__ import annotations

import logging

from lsprotocol import types as t

from tried.lsp import configuration, watching
from tried.lsp.client import ClientFeatures
from tried.lsp.session import Session

log = logging.getLogger("tried.lsp")


def initialize(session: Session, params: t.InitializeParams) -> None:
    """Takes down what the client can do and which folders are open. Nothing is read yet."""
    session.client.features = ClientFeatures.of(params.capabilities)
    configuration.from_initialize(session, params.initialization_options)
    folders = [folder.uri for folder in params.workspace_folders or ()]
    if not folders and params.root_uri:
        folders = [params.root_uri]
    for uri in folders:
        session.add_folder(uri)


def initialized(session: Session, params: t.InitializedParams) -> None:
    session.spawn(_start(session))


async def _start(session: Session) -> None:
    try:
        await configuration.fetch(session)
    finally:
        session.configured.set()
    session.spawn(watching.watch(session))
    await configuration.register(session)
    await watching.register(session)


def did_change_workspace_folders(session: Session, params: t.DidChangeWorkspaceFoldersParams) -> None:
    for removed in params.event.removed:
        session.remove_folder(removed.uri)
    for added in params.event.added:
        session.add_folder(added.uri)
    session.place_documents()
    session.spawn(configuration.fetch(session))
