"""The pools that a request is about: that of a document, or those of all folders, read if need be."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pygls.exceptions import JsonRpcInvalidParams

from tried.lsp.folders import Folder
from tried.lsp.session import Session
from tried.pool.pool import PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.record_names import find_record
from tried.render.escape import shortened
from tried.settings import Settings

PATIENCE = 2.0
"""Seconds that a search may wait for pools of which no document is open."""

NAME_LENGTH = 300


@dataclass(frozen=True)
class FolderPool:
    """What a folder's pool holds, and the settings there, at one moment."""

    folder: Folder
    snapshot: PoolSnapshot
    settings: Settings


def pool_of(folder: Folder | None) -> FolderPool | None:
    """None while nothing of it is read."""
    if folder is None or folder.workspace is None:
        return None
    return FolderPool(folder, folder.workspace.snapshot, folder.workspace.settings)


async def all_pools(session: Session, patience: float = PATIENCE) -> list[FolderPool]:
    """Of all folders, as much of each as is there after so many seconds."""
    folders = session.known_folders
    await asyncio.gather(*(session.read(folder, patience) for folder in folders))
    return [pool for folder in folders if (pool := pool_of(folder)) is not None]


def record_in(pools: Sequence[FolderPool], name: str) -> tuple[FolderPool, ExperimentRecord]:
    """The record that somebody names by an id, an alias or the end of an id, in the first pool that has it. Raises
    JsonRpcInvalidParams where none has, or several of one are meant."""
    if not name.strip() or len(name) > NAME_LENGTH:
        raise JsonRpcInvalidParams("record must be the id of a record, an alias, or the end of an id")
    reasons = []
    for pool in pools:
        found = find_record(pool.snapshot, name)
        if found.record is not None:
            return pool, found.record
        reasons.append(found)
    told = next((found for found in reasons if found.several or found.near), None)
    if told is not None:
        raise JsonRpcInvalidParams(shortened(told.why_not(name), NAME_LENGTH * 2))
    if not pools:
        raise JsonRpcInvalidParams("there is no pool to look in: no folder is open")
    where = "the pool" if len(pools) == 1 else f"the pools of {len(pools)} folders"
    raise JsonRpcInvalidParams(f"no record {shortened(name, NAME_LENGTH)} in {where}")
