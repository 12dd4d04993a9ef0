from __future__ import annotations

from lsprotocol import types as t

from tried.lsp.session import Session


async def hover(session: Session, params: t.HoverParams) -> t.Hover | None:
    return None
