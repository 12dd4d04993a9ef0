"""Names for sets of diagnostics, so that a client need not be sent the same ones twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from lsprotocol import types as t


def digest(items: Sequence[t.Diagnostic]) -> str:
    """Equal for equal diagnostics, also in another run of the server."""
    return hashlib.sha256(repr(items).encode("utf-8", "surrogatepass")).hexdigest()[:16]
