"""Asks before anything outside of a workspace is read because a file of the workspace says so: once, and remembers a
yes in the user's own state folder.

Invariant: without a clear yes nothing is read; an editor that cannot ask, or an answer that never comes, is no yes.
"""

from __future__ import annotations

import os
from pathlib import Path

from lsprotocol import types as t

from tried.lsp.folders import Folder
from tried.lsp.session import Session
from tried.render.escape import without_links
from tried.storage.consents import place_of
from tried.storage.files import StorageError
from tried.workspace.sources import ConsentNeeded

ALLOW = "Allow"
NOT_NOW = "Not now"
MOST_NAMED = 3
"""Places that one question is about: a yes is for what was named."""

MOST_ASKED = 6
"""Places in a folder that are asked about; `tried allow` lists all."""

PATIENCE = 3600.0
"""Seconds: the question may stand in a corner of the editor for long."""

_LONGEST = 200


def subscribe(session: Session) -> None:
    session.folder_listeners.append(lambda folder: _ask_soon(session, folder))


def _ask_soon(session: Session, folder: Folder) -> None:
    workspace = folder.workspace
    if workspace is None or folder not in session.known_folders:
        return
    needed = [one for one in workspace.consents_needed if one.path not in folder.asked_consents][:MOST_NAMED]
    if needed and len(folder.asked_consents) < MOST_ASKED:
        folder.asked_consents.update(one.path for one in needed)
        session.spawn(_ask(session, folder, needed))


async def _ask(session: Session, folder: Folder, needed: list[ConsentNeeded]) -> None:
    # Taken down before the answer: a link that is bent elsewhere meanwhile is not what was asked about.
    places = [place_of(one.path) for one in needed]
    actions = [t.MessageActionItem(title=ALLOW), t.MessageActionItem(title=NOT_NOW)]
    params = t.ShowMessageRequestParams(type=t.MessageType.Info, message=question(folder.path, needed), actions=actions)
    answer = await session.client.request(t.WINDOW_SHOW_MESSAGE_REQUEST, params, PATIENCE)
    if getattr(answer, "title", None) != ALLOW or folder.workspace is None:
        return
    try:
        for place in places:
            await session.in_background(folder.workspace.allow, place)
    except StorageError as error:
        session.client.show(f"Your answer could not be kept: {error}", t.MessageType.Warning)
        return
    await session.refresh(folder, reconfigure=True)


def question(workspace: Path, needed: list[ConsentNeeded]) -> str:
    """`tried.toml names /data/mlruns: outside of the workspace vision. Read it?`"""
    told = [_told(one, workspace) for one in needed]
    them = "it" if len(needed) == 1 else "them"
    return without_links(f"{'; '.join(told)}: outside of the workspace {shown(workspace.name)}. Read {them}?")


def _told(needed: ConsentNeeded, workspace: Path) -> str:
    named_by = Path(needed.named_by)
    if needed.named_by == needed.path:
        link = named_by.relative_to(workspace) if named_by.is_relative_to(workspace) else named_by
        return f"the link {shown(link)} leads to {shown(os.path.realpath(named_by))}"
    return f"{shown(named_by.name)} names {shown(needed.path)}"


def shown(text: object) -> str:
    """A path that cannot pretend to be more than one."""
    plain = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in str(text))
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST]}…"
