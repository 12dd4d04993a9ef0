"""`tried/related`: the experiments that bear on an open config, best first; and word of it when they change."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.session import Document, Session

METHOD = "tried/related"
DID_CHANGE = "tried/relatedDidChange"


@attrs.define
class RelatedParams:
    """`limit`: at most so many; as many as the settings say where it is absent."""

    text_document: t.TextDocumentIdentifier
    limit: int | None = None


def subscribe(session: Session) -> None:
    session.listeners.append(lambda document: _tell(session, document))


async def related(session: Session, params: RelatedParams) -> dict[str, Any] | None:
    return None


def _tell(session: Session, document: Document) -> None:
    return None
