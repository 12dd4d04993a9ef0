"""Which places outside of a workspace the user lets it read: kept in the user's own state folder, never in a workspace.

A consent belongs to a workspace folder and to a real path, all links followed: a link that is bent to elsewhere later
has none. It holds for what lies inside the path as well.

Invariant: a file that cannot be read, or is none of ours, gives no consent.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

from tried.storage.files import StorageError, locked, replace_file
from tried.storage.paths import real_path
from tried.storage.user_folders import state_folder

SCHEMA: Final = "tried.consents/v1"
MAX_BYTES: Final = 4 * 1024**2

_GLOB = re.compile(r"[*?\[]")


def consents_file() -> Path | None:
    folder = state_folder()
    return folder / "consents.json" if folder is not None else None


def place_of(path: str | Path) -> str:
    """What a consent is given to: the real path, or for a glob the real path of what stands before its wildcards."""
    parts = Path(os.path.normpath(Path(path).absolute())).parts
    fixed = next((index for index, part in enumerate(parts) if _GLOB.search(part)), len(parts))
    return str(Path(real_path(Path(*parts[:fixed])), *parts[fixed:]))


def is_allowed(path: str | Path, allowed: Collection[str]) -> bool:
    """Whether a path is, or lies inside of, one of the places that were allowed."""
    if not allowed:
        return False
    place = Path(place_of(path))
    return any(str(above) in allowed for above in (place, *place.parents))


def consents_of(workspace: Path) -> frozenset[str]:
    """The places that this workspace may read. Never raises."""
    path = consents_file()
    if path is None:
        return frozenset()
    return frozenset(_read(path).get(_key(workspace), ()))


def allow(workspace: Path, path: str | Path) -> str:
    """Remembers that a workspace may read a place; the place. Raises StorageError."""
    place = place_of(path)
    _change(workspace, lambda places: sorted({*places, place}))
    return place


def withdraw(workspace: Path, path: str | Path) -> bool:
    """Takes a consent back; False if there was none. Raises StorageError."""
    place = place_of(path)
    if place not in consents_of(workspace):
        return False
    _change(workspace, lambda places: sorted({*places} - {place}))
    return True


def _change(workspace: Path, change: Callable[[list[str]], list[str]]) -> None:
    path = consents_file()
    if path is None:
        raise StorageError("there is no home folder to keep your answer in: set HOME or XDG_STATE_HOME")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StorageError(f"{path.parent}: the folder cannot be made: {error.strerror or error}") from error
    with locked(path):
        known = _read(path)
        changed = change(known.get(_key(workspace), []))
        known = {key: places for key, places in {**known, _key(workspace): changed}.items() if places}
        data = json.dumps({"schema": SCHEMA, "workspaces": known}, indent=1, sort_keys=True)
        replace_file(path, data.encode() + b"\n")


def _key(workspace: Path) -> str:
    return place_of(workspace)


def _read(path: Path) -> dict[str, list[str]]:
    try:
        if path.stat().st_size > MAX_BYTES:
            return {}
        data = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    workspaces = data.get("workspaces") if isinstance(data, dict) and data.get("schema") == SCHEMA else None
    if not isinstance(workspaces, dict):
        return {}
    return {
        key: [place for place in places if isinstance(place, str)]
        for key, places in workspaces.items()
        if isinstance(places, list)
    }
