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
from tried.lsp.command_arguments import known_record, record_and_its_folder, table_of, text_in, workspace_of
from tried.lsp.hits import count
from tried.lsp.progress import Progress
from tried.lsp.record import record_beside
from tried.lsp.record_pages import page_of
from tried.lsp.session import Session
from tried.lsp.silence_table import add_silence
from tried.lsp.uris import uri_of
from tried.pool.journal import conclude, conclusion_of, write_down
from tried.pool.record import Verdict
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
    table = table_of(arguments)
    at, workspace, record = await record_and_its_folder(session, table)
    verdict, reason = _judgement(table)
    folder = _own_folder(workspace)
    try:
        amendment = await session.in_background(conclude, folder, record.id, reason, verdict, session.precise_now())
    except (StorageError, ValueError) as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from error
    session.spawn(session.refresh(at))
    await count(session, workspace, [record.id], "concluded")
    return {"record": record.id, "amendment": amendment.id}


async def conclude_all(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri, records, verdict?, reason?}`: the same for several records, all of them or none."""
    table = table_of(arguments)
    document, workspace = workspace_of(session, table)
    named = table.get("records")
    if not isinstance(named, list) or not named or not all(isinstance(one, str) for one in named):
        raise JsonRpcInvalidParams("records must be a list of ids")
    records = [await known_record(session, workspace, one) for one in dict.fromkeys(named)]
    verdict, reason = _judgement(table)
    folder, now = _own_folder(workspace), session.precise_now()
    try:
        amendments = [conclusion_of(record.id, reason, verdict, now) for record in records]
        await session.in_background(write_down, folder, amendments)
    except (StorageError, ValueError) as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from error
    if document.folder is not None:
        session.spawn(session.refresh(document.folder))
    await count(session, workspace, [record.id for record in records], "concluded")
    return {"records": [record.id for record in records], "amendments": [one.id for one in amendments]}


async def silence(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri, code?, key?, id?, reason?}`: adds a `[[silence]]` table for this file to the folder's tried.toml."""
    table = table_of(arguments)
    document, workspace = workspace_of(session, table)
    folder = _own_folder(workspace)
    if document.path is None:
        raise JsonRpcInvalidParams("the file was never saved, so tried.toml cannot name it; save it first")
    path = document.path.relative_to(folder) if document.path.is_relative_to(folder) else document.path
    entry = {"path": path.as_posix(), **{name: text_in(table, name) for name in ("key", "code", "id", "reason")}}
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
    table = table_of(arguments)
    _, workspace, record = await record_and_its_folder(session, table)
    if record.url and record.url.lower().startswith(("https://", "http://")) and table.get("stored") is not True:
        shown = await session.client.show_document(record.url, external=True)
        if not shown:
            session.client.show(f"{record.id} is at {record.url}", t.MessageType.Info)
        await count(session, workspace, [record.id], "opened")
        return {"url": record.url, "shown": shown}
    place = await session.in_background(workspace.place_of, record.id)
    if place is None:
        raise JsonRpcException(f"{record.id} has no page, and no file of the pool is known to hold it", REQUEST_FAILED)
    path, line = place
    shown = await session.client.show_document(uri_of(path), line - 1)
    if not shown:
        session.client.show(f"{record.id} is in {path}, line {line}.", t.MessageType.Info)
    await count(session, workspace, [record.id], "opened")
    return {"file": str(path), "line": line, "shown": shown}


async def compare_record(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri, record}`: opens a page about the record that begins with what differs from the document; a client that
    cannot is told where it is. Answers with that place."""
    table = table_of(arguments)
    document = session.documents.get(text_in(table, "uri"))
    if document is None:
        raise JsonRpcInvalidParams("uri must name an open document")
    pool, record, known = await record_beside(session, text_in(table, "record"), document)
    try:
        path = await page_of(session, pool, record, document, known)
    except StorageError as error:
        raise JsonRpcException(str(error), REQUEST_FAILED) from error
    shown = await session.client.show_document(uri_of(path))
    if not shown:
        session.client.show(f"{shortened(record.id, ID_LENGTH)} is compared in {path}", t.MessageType.Info)
    if pool.folder.workspace is not None:
        await count(session, pool.folder.workspace, [record.id], "compared")
    return {"file": str(path), "shown": shown}


async def rescan(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri?}`: looks for sources anew and asks each of them what is new, in the folder of a document or in all. A
    folder that was not read is read. Answers with `tried.status/v1` as of then."""
    uri = text_in(table_of(arguments), "uri")
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


def _judgement(table: Mapping[str, Any]) -> tuple[Verdict | None, str]:
    verdict = table.get("verdict")
    if verdict is not None and verdict not in get_args(Verdict):
        raise JsonRpcInvalidParams(f"verdict must be one of {', '.join(get_args(Verdict))}, not {verdict!r}")
    reason = text_in(table, "reason")
    if not reason and verdict is None:
        raise JsonRpcInvalidParams("nothing to write down: give a verdict, a reason, or both")
    return verdict, reason


def _own_folder(workspace: Workspace) -> Path:
    if workspace.folder is None:
        raise JsonRpcInvalidParams("the file lies in no folder; save it, or open its folder")
    return workspace.folder
