"""Looks at paths that others wrote: too long, without permission, behind links.

Invariant: nothing here raises, whatever the path (methods of `Path` do, each Python version for other reasons).
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


def exists(path: Path) -> bool:
    return _mode_of(path) is not None


def is_folder(path: Path) -> bool:
    mode = _mode_of(path)
    return mode is not None and stat.S_ISDIR(mode)


def is_file(path: Path) -> bool:
    mode = _mode_of(path)
    return mode is not None and stat.S_ISREG(mode)


def is_link(path: Path) -> bool:
    mode = _mode_of(path, follow=False)
    return mode is not None and stat.S_ISLNK(mode)


def may_exist(path: Path) -> bool:
    """True also for what cannot be looked at: whoever reads it then says why it cannot."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def leads_out(path: Path, *homes: Path) -> bool:
    """True if a path, all links followed, lies in none of the folders. These may lie behind links themselves.

    A path that cannot be followed counts as one that leads out.
    """
    try:
        real = Path(os.path.realpath(path))
        return not any(real.is_relative_to(os.path.realpath(home)) for home in homes)
    except (OSError, RuntimeError, ValueError):
        return True


def _mode_of(path: Path, *, follow: bool = True) -> int | None:
    try:
        return path.stat(follow_symlinks=follow).st_mode
    except (OSError, ValueError):
        return None
