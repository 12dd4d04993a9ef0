"""`tried/findings`: the findings in an open config, by line."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.session import Session

METHOD = "tried/findings"


@attrs.define
class FindingsParams:
    text_document: t.TextDocumentIdentifier


async def findings_list(session: Session, params: FindingsParams) -> dict[str, Any] | None:
    return None
