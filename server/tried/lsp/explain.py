"""`tried/explain`: why a record ranks where it does for an open config, or why it is not listed."""

from __future__ import annotations

import dataclasses
from typing import Any

import attrs
from lsprotocol import types as t

from tried.lsp.experiments import FilterParams, config_known, limit_of, related_to
from tried.lsp.open_document import Analysed
from tried.lsp.own_params import EXAMPLE
from tried.lsp.requested_policies import KNOBS_EXAMPLE, policy_asked_for, remarks_of
from tried.lsp.session import Session
from tried.settings.requested_policy import RequestedPolicy

METHOD = "tried/explain"


@attrs.define
class ExplainParams:
    """`record` as a person names it; `limit` of `tried/related`, as many as the settings say where it is absent;
    `filter` as in `tried/experiments`. `policy` and `set` (knob → value) hold for this request alone."""

    text_document: t.TextDocumentIdentifier
    record: str
    policy: str | None = None
    set: dict[str, Any] | None = attrs.field(default=None, metadata={EXAMPLE: KNOBS_EXAMPLE})
    filter: FilterParams | None = None
    limit: int | None = None


async def explain(session: Session, params: ExplainParams) -> dict[str, Any] | None:
    """`tried.explain/v2` with `uri` and `version`; null for a document that is no config. Raises
    JsonRpcInvalidParams."""
    known = await config_known(session, params.text_document.uri)
    if known is None:
        return None
    asked = policy_asked_for(known.settings, params.policy, params.set)
    report = await session.in_background(_report, known, params, asked)
    return {**report, **remarks_of(asked), "uri": params.text_document.uri, "version": known.text.version}


def _report(known: Analysed, params: ExplainParams, asked: RequestedPolicy) -> dict[str, Any]:
    from tried.related.dropping import Question
    from tried.related.explain import explanation_of
    from tried.render.explanations import explanation_report

    question = Question.of(related_to(known, params.filter))
    if question is not None:
        question = dataclasses.replace(question, policy=asked.policy)
    limit = max(0, limit_of(known, params.limit))
    explanation = explanation_of(params.record, known.snapshot, question, limit, is_partial=known.is_partial)
    return explanation_report(explanation, asked)
