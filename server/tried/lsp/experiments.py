"""`tried/experiments`: the related experiments as a list shows them, with what differs from the config."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.session import Session

METHOD = "tried/experiments"


@attrs.define
class ExperimentsParams:
    text_document: t.TextDocumentIdentifier


async def experiments(session: Session, params: ExperimentsParams) -> dict[str, Any] | None:
    return None
