"""From the id of a record to the record."""

from __future__ import annotations

from typing import Any

from tried.lsp.session import Session


async def definition(session: Session, params: Any) -> Any:
    return None
