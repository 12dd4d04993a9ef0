"""`tried/absence`: why a record is not among the related experiments that are shown."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.session import Session

METHOD = "tried/absence"


@attrs.define
class AbsenceParams:
    text_document: t.TextDocumentIdentifier


async def absence(session: Session, params: AbsenceParams) -> dict[str, Any] | None:
    return None
