"""The table of arguments that a command takes, and what it names: a document, a record, the pool that has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pygls.exceptions import JsonRpcInvalidParams

from tried.lsp.folders import Folder
from tried.lsp.open_document import Document
from tried.lsp.pools import NAME_LENGTH, all_pools, record_in
from tried.lsp.session import Session
from tried.pool.record import ExperimentRecord
from tried.record_names import find_record
from tried.render.escape import shortened
from tried.workspace import Workspace


def table_of(arguments: object) -> Mapping[str, Any]:
    if not isinstance(arguments, Mapping):
        raise JsonRpcInvalidParams("the command takes one table of arguments")
    return arguments


def workspace_of(session: Session, table: Mapping[str, Any]) -> tuple[Document, Workspace]:
    document = session.documents.get(text_in(table, "uri"))
    workspace = document.folder.workspace if document and document.folder else None
    if document is None or workspace is None:
        raise JsonRpcInvalidParams("uri must name an open document")
    return document, workspace


async def record_and_its_folder(
    session: Session, table: Mapping[str, Any]
) -> tuple[Folder, Workspace, ExperimentRecord]:
    """In the pool of the document that is named, else in the first that has it."""
    name = text_in(table, "record")
    if table.get("uri") is not None:
        document, workspace = workspace_of(session, table)
        assert document.folder is not None
        return document.folder, workspace, await known_record(session, workspace, name)
    pool, record = await session.in_background(record_in, await all_pools(session), name)
    assert pool.folder.workspace is not None
    return pool.folder, pool.folder.workspace, record


async def known_record(session: Session, workspace: Workspace, identifier: str) -> ExperimentRecord:
    """By its id, an alias, or the end of its id, if no other record has that."""
    snapshot = workspace.snapshot
    record: ExperimentRecord | None = snapshot.get(identifier)
    if record is not None:
        return record
    if len(identifier) > NAME_LENGTH:
        raise JsonRpcInvalidParams(f"record must be an id of at most {NAME_LENGTH} characters")
    found = await session.in_background(find_record, snapshot, identifier)
    if found.record is None:
        raise JsonRpcInvalidParams(shortened(found.why_not(repr(identifier)), 2 * NAME_LENGTH))
    return found.record


def text_in(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise JsonRpcInvalidParams(f"{name} must be text, not {type(value).__name__}")
    return value
