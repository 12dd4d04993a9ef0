"""A folder whose subfolders are runs: how sources of such stores find them and name their records.

Invariant: ids are told from the project's folder, so they are the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tried.pool.sources.common.folder_watch import Listing, listing_of
from tried.pool.sources.common.run_folders import Found

_DIGITS: Final = re.compile(r"(\d+)")


def subfolders(folder: Path, before: Any, now: float, is_run: Callable[[str], bool]) -> Found:
    """The subfolders of one folder that may be runs by their names, 2 before 10."""
    known = before if isinstance(before, tuple) and len(before) == 2 else (None, ())
    was: Listing | None = known[0]
    listing = listing_of(str(folder), was, now)
    if listing is None:
        return Found(failure="there is no such folder")
    if listing.failure is not None and was is None:
        return Found(failure=f"cannot be listed: {listing.failure}")
    skipped = {} if listing.failure is None else {".": f"cannot be listed: {listing.failure}; new runs are not seen"}
    if listing == was:
        return Found(known[1], known, skipped)
    keys = tuple(sorted((name for name in listing.folders if is_run(name)), key=in_order))
    return Found(keys, (listing, keys), skipped)


def relative_name(folder: Path, store: Path, project: Path | None) -> str:
    """A folder as ids have it: told from the project's, else from the one around the store."""
    home = project if project is not None else store.parent
    try:
        return folder.absolute().relative_to(home.absolute()).as_posix()
    except ValueError:
        return folder.absolute().relative_to(store.absolute().parent).as_posix()


def in_order(key: str) -> list[tuple[int, int | str]]:
    """2 before 10, part by part."""
    parts = _DIGITS.split(key)
    return [(0, int(part)) if index % 2 and len(part) < 20 else (1, part) for index, part in enumerate(parts)]
