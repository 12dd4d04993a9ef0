"""`tried/record`: one record in full, beside the config that is being edited."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.session import Session

METHOD = "tried/record"


@attrs.define
class RecordParams:
    text_document: t.TextDocumentIdentifier


async def record(session: Session, params: RecordParams) -> dict[str, Any] | None:
    return None
