"""What code actions and editors can have done: mark records, silence in tried.toml, open a record, look for runs anew.

Every command takes one table of arguments and answers with one; a mistake is an error with a message for the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from lsprotocol import types as t
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from tried.lsp import status
from tried.lsp.folders import Folder
from tried.lsp.open_document import Document
from tried.lsp.pools import NAME_LENGTH, all_pools, record_in
from tried.lsp.progress import Progress
from tried.lsp.record import record_beside
from tried.lsp.record_pages import page_of
from tried.lsp.session import Session
from tried.lsp.silence_table import add_silence
from tried.lsp.uris import uri_of
from tried.pool.journal import conclude, conclusion_of, write_down
from tried.pool.record import ExperimentRecord, Verdict
from tried.record_names import find_record
from tried.render.escape import shortened
from tried.storage.files import StorageError
from tried.workspace import Workspace

MARK = "tried.markRecord"
CONCLUDE = "tried.concludeRecords"
SILENCE = "tried.silence"
OPEN_RECORD = "tried.openRecord"
COMPARE_RECORD = "tried.compareRecord"
RESCAN = "tried.rescan"

REQUEST_FAILED = -32803
ID_LENGTH = 200


async def mark(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri?, record, verdict?, reason?}`: writes an amendment to `.tried/pool.jsonl` of the document's folder; without
    a document to that of the first folder whose pool has the record.

    `verdict` is dead_end, works or inconclusive; at least one of verdict and reason is needed.
    """
    table = _table(arguments)
    at, workspace, record = await _record_and_its_folder(session, table)
    verdict, reason = _judgement(table)
    folder = _own_folder(workspace)
    try:
        amendment = await session.in_background(conclude, folder, record.id, reason, verdict, session.precise_now())
    except (StorageError, ValueError) as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from error
    session.spawn(session.refresh(at))
    return {"record": record.id, "amendment": amendment.id}


async def conclude_all(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri, records, verdict?, reason?}`: the same for several records, all of them or none."""
    table = _table(arguments)
    document, workspace = _workspace(session, table)
    named = table.get("records")
    if not isinstance(named, list) or not named or not all(isinstance(one, str) for one in named):
        raise JsonRpcInvalidParams("records must be a list of ids")
    records = [await _known_record(session, workspace, one) for one in dict.fromkeys(named)]
    verdict, reason = _judgement(table)
    folder, now = _own_folder(workspace), session.precise_now()
    try:
        amendments = [conclusion_of(record.id, reason, verdict, now) for record in records]
        await session.in_background(write_down, folder, amendments)
    except (StorageError, ValueError) as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from error
    if document.folder is not None:
        session.spawn(session.refresh(document.folder))
    return {"records": [record.id for record in records], "amendments": [one.id for one in amendments]}


async def silence(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri, code?, key?, id?, reason?}`: adds a `[[silence]]` table for this file to the folder's tried.toml."""
    table = _table(arguments)
    document, workspace = _workspace(session, table)
    folder = _own_folder(workspace)
    if document.path is None:
        raise JsonRpcInvalidParams("the file was never saved, so tried.toml cannot name it; save it first")
    path = document.path.relative_to(folder) if document.path.is_relative_to(folder) else document.path
    entry = {"path": path.as_posix(), **{name: _text(table, name) for name in ("key", "code", "id", "reason")}}
    target = folder / "tried.toml"
    try:
        await session.in_background(add_silence, target, entry)
    except (StorageError, ValueError) as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from error
    if document.folder is not None:
        session.spawn(session.refresh(document.folder, reconfigure=True))
    return {"file": str(target)}


async def open_record(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri?, record, stored?}`: opens the run's page, else the record's line in its file, that anyway if `stored`; a
    client that cannot is told the place in a message. Answers with what it is."""
    table = _table(arguments)
    _, workspace, record = await _record_and_its_folder(session, table)
    if record.url and record.url.lower().startswith(("https://", "http://")) and table.get("stored") is not True:
        shown = await session.client.show_document(record.url, external=True)
        if not shown:
            session.client.show(f"{record.id} is at {record.url}", t.MessageType.Info)
        return {"url": record.url, "shown": shown}
    place = await session.in_background(workspace.place_of, record.id)
    if place is None:
        raise JsonRpcException(f"{record.id} has no page, and no file of the pool is known to hold it", REQUEST_FAILED)
    path, line = place
    shown = await session.client.show_document(uri_of(path), line - 1)
    if not shown:
        session.client.show(f"{record.id} is in {path}, line {line}.", t.MessageType.Info)
    return {"file": str(path), "line": line, "shown": shown}


async def compare_record(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri, record}`: opens a page about the record that begins with what differs from the document; a client that
    cannot is told where it is. Answers with that place."""
    table = _table(arguments)
    document = session.documents.get(_text(table, "uri"))
    if document is None:
        raise JsonRpcInvalidParams("uri must name an open document")
    pool, record, known = await record_beside(session, _text(table, "record"), document)
    try:
        path = await page_of(session, pool, record, document, known)
    except StorageError as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from error
    shown = await session.client.show_document(uri_of(path))
    if not shown:
        session.client.show(f"{shortened(record.id, ID_LENGTH)} is compared in {path}", t.MessageType.Info)
    return {"file": str(path), "shown": shown}


async def rescan(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri?}`: looks for sources anew and asks each of them what is new, in the folder of a document or in all. A
    folder that was not read is read. Answers with `tried.status/v1` as of then."""
    uri = _text(_table(arguments), "uri")
    folders, params = session.known_folders, status.StatusParams()
    if uri:
        document = session.documents.get(uri)
        if document is None:
            raise JsonRpcInvalidParams("uri must name an open document")
        if not document.is_placed:
            await session.analysed(document, patience=None)
        folders = [document.folder] if document.folder is not None else []
        params = status.StatusParams(t.TextDocumentIdentifier(uri))
    async with Progress(session.client, "Looking for past experiments"):
        for folder in folders:
            await session.rescan(folder)
    return await status.status(session, params)


def _table(arguments: object) -> Mapping[str, Any]:
    if not isinstance(arguments, Mapping):
        raise JsonRpcInvalidParams("the command takes one table of arguments")
    return arguments


def _workspace(session: Session, table: Mapping[str, Any]) -> tuple[Document, Workspace]:
    document = session.documents.get(_text(table, "uri"))
    workspace = document.folder.workspace if document and document.folder else None
    if document is None or workspace is None:
        raise JsonRpcInvalidParams("uri must name an open document")
    return document, workspace


async def _record_and_its_folder(
    session: Session, table: Mapping[str, Any]
) -> tuple[Folder, Workspace, ExperimentRecord]:
    """In the pool of the document that is named, else in the first that has it."""
    name = _text(table, "record")
    if table.get("uri") is not None:
        document, workspace = _workspace(session, table)
        assert document.folder is not None
        return document.folder, workspace, await _known_record(session, workspace, name)
    pool, record = await session.in_background(record_in, await all_pools(session), name)
    assert pool.folder.workspace is not None
    return pool.folder, pool.folder.workspace, record


def _judgement(table: Mapping[str, Any]) -> tuple[Verdict | None, str]:
    verdict = table.get("verdict")
    if verdict is not None and verdict not in get_args(Verdict):
        raise JsonRpcInvalidParams(f"verdict must be one of {', '.join(get_args(Verdict))}, not {verdict!r}")
    reason = _text(table, "reason")
    if not reason and verdict is None:
        raise JsonRpcInvalidParams("nothing to write down: give a verdict, a reason, or both")
    return verdict, reason


async def _known_record(session: Session, workspace: Workspace, identifier: str) -> ExperimentRecord:
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


def _own_folder(workspace: Workspace) -> Path:
    if workspace.folder is None:
        raise JsonRpcInvalidParams("the file lies in no folder; save it, or open its folder")
    return workspace.folder


def _text(table: Mapping[str, Any], name: str) -> str:
    value = table.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise JsonRpcInvalidParams(f"{name} must be text, not {type(value).__name__}")
    return value
