"""`tried.countHit`: a person did something with a record. What is merely shown, hovered over or listed is no hit.

Commands of the server that are something of that kind count by themselves; this one is for what an editor does alone:
taking a value, opening a record in a view of its own.

Invariant: whatever becomes of the counting, what the person did is done; why it could not be counted is told once, in
the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lsprotocol import types as t
from pygls.exceptions import JsonRpcInvalidParams

from tried.lsp.command_arguments import table_of, text_in
from tried.lsp.open_document import Document
from tried.lsp.pools import NAME_LENGTH, all_pools, pool_of, record_in
from tried.lsp.session import Session
from tried.pool.record import ExperimentRecord
from tried.ranking.hits import Hits
from tried.record_names import find_record
from tried.storage.files import StorageError
from tried.storage.hits import WAYS, Way
from tried.workspace import Workspace

COUNT = "tried.countHit"


def subscribe(session: Session) -> None:
    session.listeners.append(lambda document: _tell_of_unread(session, document))


async def count_hit(session: Session, arguments: object) -> dict[str, Any]:
    """`{uri?, record, how}`: counts one hit on a record of the document's folder, else of the first folder whose pool
    has it.

    `how` is opened, compared, used or concluded. Answers with the record's id and all `hits` on it; where hits cannot
    be kept, `hits` is null and `problem` says why.
    """
    table = table_of(arguments)
    how = text_in(table, "how")
    if how not in WAYS:
        raise JsonRpcInvalidParams(f"how must be one of {', '.join(WAYS)}, not {how[:NAME_LENGTH]!r}")
    workspace, record = await _workspace_and_record(session, table)
    problem = await count(session, workspace, [record.id], how)
    if problem is not None:
        return {"record": record.id, "hits": None, "problem": problem}
    hit = (await session.in_background(_hits, workspace)).get(record.id)
    return {"record": record.id, "hits": hit.count if hit is not None else None}


async def count(session: Session, workspace: Workspace, record_ids: Iterable[str], how: Way) -> str | None:
    """Counts a hit on each of these records; why that could not be done, if it could not. Never raises."""
    try:
        await session.in_background(workspace.count_hits, tuple(record_ids), how, session.precise_now())
    except StorageError as error:
        _tell(session, f"this is not counted as a hit: {error}")
        return str(error)
    return None


def used_command(uri: str, record_id: str, title: str) -> t.Command:
    """What a code action or a completion item does after its edit, if its value is that of one record."""
    return t.Command(title=title, command=COUNT, arguments=[{"uri": uri, "record": record_id, "how": "used"}])


async def _workspace_and_record(session: Session, table: Mapping[str, Any]) -> tuple[Workspace, ExperimentRecord]:
    """A document that is closed by now does not matter: the record is looked for in all folders then."""
    name, document = text_in(table, "record"), session.documents.get(text_in(table, "uri"))
    own = pool_of(document.folder) if document is not None else None
    if own is not None and own.folder.workspace is not None:
        found = (await session.in_background(find_record, own.snapshot, name[:NAME_LENGTH])).record
        if found is not None:
            return own.folder.workspace, found
    pool, record = await session.in_background(record_in, await all_pools(session), name)
    assert pool.folder.workspace is not None
    return pool.folder.workspace, record


def _hits(workspace: Workspace) -> Hits:
    return workspace.hits


def _tell_of_unread(session: Session, document: Document) -> None:
    """What an analysis could not read of the file of hits."""
    workspace = document.folder.workspace if document.folder is not None else None
    problem = workspace.hits_problem if workspace is not None else None
    if problem is not None:
        _tell(session, problem)


def _tell(session: Session, problem: str) -> None:
    if problem not in session.told_of_hits:
        session.told_of_hits.add(problem)
        session.client.log(problem, t.MessageType.Warning)
