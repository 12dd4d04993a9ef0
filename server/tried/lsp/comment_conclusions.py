"""Quick fixes that make a comment such as ``# dead end: diverges`` the conclusion of the runs that it is about."""

from __future__ import annotations

from lsprotocol import types as t

from tried.analysis import finding_settings
from tried.draft.syntax import parse
from tried.lsp import commands
from tried.lsp.open_document import Analysed, Document
from tried.lsp.session import Session
from tried.record_names import short_id
from tried.render.escape import shortened
from tried.render.words import counted
from tried.review.comment_conclusions import Offer, conclusions_in, may_conclude, offers
from tried.text import Span

VERDICTS = {"dead_end": "a dead end", "works": "works", "inconclusive": "inconclusive"}
TITLE_LENGTH = 40
MOST_RECORDS = 1_000
"""Runs that one action concludes: the most similar ones."""


async def comment_actions(session: Session, document: Document, known: Analysed, wanted: Span) -> list[t.CodeAction]:
    """For each comment on the lines of a range: all runs that it fits, and the most similar one alone."""
    found = await session.in_background(_offers, document, known, wanted)
    return [action for offer in found for action in _actions(document, offer)]


def _offers(document: Document, known: Analysed, wanted: Span) -> list[Offer]:
    workspace = document.folder.workspace if document.folder else None
    analysis, lines = known.analysis, known.text.lines
    if workspace is None or analysis is None or analysis.language is None:
        return []
    start = lines.line_span(lines.line_of(wanted.start)).start
    end = lines.line_span(lines.line_of(wanted.end)).end
    if not may_conclude(lines.text[start:end]):
        return []
    comments = parse(lines.text, analysis.language).comments
    near = [comment for comment in comments if start <= comment.span.start <= end]
    settings, history = finding_settings(workspace.settings), workspace.snapshot.history
    return [
        offer
        for draft in analysis.drafts
        for offer in offers(draft, conclusions_in(draft, near, lines), history, settings)
    ]


def _actions(document: Document, offer: Offer) -> list[t.CodeAction]:
    said, records = offer.said, [run.id for run in offer.runs[:MOST_RECORDS]]
    reason = shortened(said.reason, TITLE_LENGTH)
    choices = [(counted(len(records), "run"), records)]
    if len(records) > 1:
        choices.append((f"{short_id(' '.join(records[0].split()))} alone", records[:1]))
    actions: list[t.CodeAction] = []
    for whom, some in choices:
        title = f"Conclude “{reason}” ({VERDICTS[said.verdict]}) of {whom}"
        arguments = {"uri": document.uri, "records": some, "verdict": said.verdict, "reason": said.reason}
        command = t.Command(title=title, command=commands.CONCLUDE, arguments=[arguments])
        actions.append(t.CodeAction(title=title, kind=t.CodeActionKind.QuickFix, command=command))
    return actions
