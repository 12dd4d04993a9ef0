"""`tried/policies`: the policies that the records of a document's folder can be ranked by."""

from __future__ import annotations

from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.session import Session
from tried.render.explanations import policies_report
from tried.settings.policies import policy_names, policy_of
from tried.settings.requested_policy import active_name

METHOD = "tried/policies"
PATIENCE = 2.0
"""Seconds that the answer may wait for the settings of a folder that was just opened."""


@attrs.define
class PoliciesParams:
    text_document: t.TextDocumentIdentifier


async def policies(session: Session, params: PoliciesParams) -> dict[str, Any] | None:
    """`tried.policies/v1`; null for a document that is not open."""
    document = session.documents.get(params.text_document.uri)
    if document is None:
        return None
    await session.analysed(document, PATIENCE, hurry=True)
    settings = session.settings_of(document)
    known = [(name, policy_of(settings, name)) for name in policy_names(settings)]
    return policies_report(active_name(settings), known)
