"""Beside values that were tried: how often, and what came of them. Off unless the settings say so.

Less is more: nothing is said of a value that was never tried, nor of one that all related runs share.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as t

from tried.analysis import finding_settings
from tried.lsp.client import ClientFeatures
from tried.lsp.open_document import Analysed
from tried.lsp.positions import to_position, to_span
from tried.lsp.session import Session
from tried.related.tried_values import tried_of_draft
from tried.render.document import to_markdown, to_plain
from tried.render.standing import tried_blocks, tried_line
from tried.text import Span


async def inlay_hints(session: Session, params: t.InlayHintParams) -> Sequence[t.InlayHint] | None:
    document = session.documents.get(params.text_document.uri)
    known = await session.analysed(document, None) if document is not None else None
    if document is None or known is None or known.analysis is None or not known.settings.inlay_hints.enable:
        return None
    if not known.analysis.is_config:
        return None
    wanted = to_span(known.text.lines, params.range, session.client.features.encoding)
    return await session.in_background(_hints, known, wanted, session.client.features) or None


def _hints(known: Analysed, wanted: Span, features: ClientFeatures) -> list[t.InlayHint]:
    assert known.analysis is not None
    settings, history = finding_settings(known.settings), known.snapshot.history
    hints: list[t.InlayHint] = []
    for draft in known.analysis.drafts:
        if draft.span.end < wanted.start or wanted.end < draft.span.start:
            continue
        for parameter, tried in tried_of_draft(draft, history, settings):
            end = parameter.entry.span.end
            if not wanted.covers(end):
                continue
            blocks = tried_blocks(parameter.shown, tried)
            tooltip = t.MarkupContent(t.MarkupKind.Markdown, to_markdown(blocks)) if features.markdown else None
            hints.append(
                t.InlayHint(
                    position=to_position(known.text.lines, end, features.encoding),
                    label=tried_line(tried, with_metric=False),
                    tooltip=tooltip or to_plain(blocks),
                    padding_left=True,
                )
            )
    return hints
