from __future__ import annotations

from lsprotocol import types as t

from tried.lsp.session import Session


async def code_actions(session: Session, params: t.CodeActionParams) -> list[t.CodeAction] | None:
    return None
