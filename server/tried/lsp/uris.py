"""URIs as editors write them, and the files they name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

_DRIVE = re.compile(r"/[a-zA-Z]:")


def path_of(uri: str) -> Path | None:
    """The file of a `file:` URI, as an absolute path; None for every other scheme and for what names no file here."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    if parts.scheme != "file" or not path or "\0" in path:
        return None
    if parts.netloc not in ("", "localhost"):
        if os.name != "nt":
            return None
        path = f"//{parts.netloc}{path}"
    elif _DRIVE.match(path) and os.name == "nt":
        path = path[1:]
    place = Path(os.path.normpath(path))
    return place if place.is_absolute() else None


def uri_of(path: Path) -> str:
    """The `file:` URI of an absolute path."""
    return path.as_uri()


def is_untitled(uri: str) -> bool:
    """True for a text that was never saved."""
    return uri.startswith("untitled:")
