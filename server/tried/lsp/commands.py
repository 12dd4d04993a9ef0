from __future__ import annotations

from typing import Any

from tried.lsp.session import Session

MARK = "tried.markRecord"
SILENCE = "tried.silence"
OPEN_RECORD = "tried.openRecord"


async def mark(session: Session, arguments: Any) -> Any:
    return None


async def silence(session: Session, arguments: Any) -> Any:
    return None


async def open_record(session: Session, arguments: Any) -> Any:
    return None
