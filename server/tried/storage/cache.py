"""The user's cache folder, and files in it that vanish with the process.

Invariant: nothing here outlives its use: what is cached can be read again from where it came.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO


def cache_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Where this user's programs keep what can be made anew: `XDG_CACHE_HOME`, or what the platform has for it.

    Relative paths in the environment are ignored, as the XDG specification demands. Without a home it is a folder in
    that of temporary files. Makes nothing.
    """
    named = environment.get("XDG_CACHE_HOME", "")
    if named and Path(named).is_absolute():
        return Path(named) / "tried"
    if platform == "win32" and (local := environment.get("LOCALAPPDATA", "")):
        return Path(local) / "tried" / "Cache"
    home = environment.get("USERPROFILE" if platform == "win32" else "HOME", "")
    if not home or not Path(home).is_absolute():
        return Path(tempfile.gettempdir()) / "tried-cache"
    return Path(home) / ("Library/Caches" if platform == "darwin" else ".cache") / "tried"


def anonymous_file(folder: Path) -> IO[bytes]:
    """A new file for reading and writing that nobody else sees and that is gone when it is closed, or when the process
    ends, however it ends. Creates the folder. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return tempfile.TemporaryFile(dir=folder, prefix="pool-", buffering=0)
