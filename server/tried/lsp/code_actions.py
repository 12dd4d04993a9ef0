"""Quick fixes for a finding: silence it with a reason, retry on purpose, write down how the record ended, open it; for
a value, the best that was tried in its place; and for a comment that is a conclusion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lsprotocol import types as t

from tried.draft.directives import directive_text
from tried.findings.finding import Finding
from tried.lsp import commands
from tried.lsp.comment_conclusions import comment_actions
from tried.lsp.directive_edits import Insertion, place_for_directive
from tried.lsp.edits import workspace_edit
from tried.lsp.open_document import Analysed, Document
from tried.lsp.positions import to_range, to_span
from tried.lsp.session import Session
from tried.lsp.value_actions import value_actions
from tried.pool.record import ExperimentRecord, Verdict
from tried.record_names import short_id
from tried.text import Span

PATIENCE = 2.0
"""Seconds that the client's menu may wait for an analysis."""

KINDS = (t.CodeActionKind.QuickFix, t.CodeActionKind.RefactorRewrite)

REASON = "…"
"""Stands where the person writes why."""

VERDICTS: dict[Verdict, str] = {
    "dead_end": "as a dead end",
    "works": "as working",
    "inconclusive": "as inconclusive",
}


async def code_actions(session: Session, params: t.CodeActionParams) -> Sequence[t.CodeAction | t.Command] | None:
    document = session.documents.get(params.text_document.uri)
    only = params.context.only
    if document is None or not any(_wants(only, kind) for kind in KINDS):
        return None
    if not session.settings_of(document).code_actions.enable:
        return None
    known = await session.analysed(document, PATIENCE, hurry=True)
    if known is None or known.analysis is None:
        return None
    wanted = to_span(known.text.lines, params.range, session.client.features.encoding)
    found = [f for f in document.shown if f.span.start <= wanted.end and wanted.start <= f.span.end]
    reported = [diagnostic for f in found for diagnostic in _reported(session, known, f, params.context.diagnostics)]
    actions = await value_actions(session, document, known, wanted, found, reported)
    for finding in found if _wants(only, t.CodeActionKind.QuickFix) else ():
        place = await session.in_background(_place, known, document, finding)
        actions += _actions(session, document, known, finding, place, params.context.diagnostics)
    if _wants(only, t.CodeActionKind.QuickFix):
        actions += await comment_actions(session, document, known, wanted)
    actions = [action for action in actions if action.kind is None or _wants(only, action.kind)]
    if not actions:
        return None
    if session.client.features.code_action_literals:
        return actions
    return [action.command for action in actions if action.command is not None and action.edit is None]


def _wants(only: Sequence[t.CodeActionKind | str] | None, kind: t.CodeActionKind | str) -> bool:
    """True for a kind that the client asked for, by itself or by what it is a kind of."""
    name = _name(kind)
    return not only or any(not (each := _name(one)) or f"{name}.".startswith(f"{each}.") for one in only)


def _name(kind: t.CodeActionKind | str) -> str:
    return str(kind.value if isinstance(kind, t.CodeActionKind) else kind)


def _place(known: Analysed, document: Document, finding: Finding) -> Insertion | None:
    language = known.analysis.language if known.analysis else None
    if language is None:
        return None
    return place_for_directive(known.text.lines, language, document.language_id, document.path, finding)


def _actions(
    session: Session,
    document: Document,
    known: Analysed,
    finding: Finding,
    place: Insertion | None,
    diagnostics: Sequence[t.Diagnostic],
) -> Iterator[t.CodeAction]:
    """In the order in which they are likely to be wanted."""
    reported = _reported(session, known, finding, diagnostics)

    def action(title: str, edit: t.WorkspaceEdit | None = None, command: t.Command | None = None) -> t.CodeAction:
        return t.CodeAction(
            title=title, kind=t.CodeActionKind.QuickFix, diagnostics=reported, edit=edit, command=command
        )

    record = _record(document, finding)
    if place is not None:
        for title, directive in _directives(finding):
            yield action(title, edit=_edit(session, document, known, place, directive))
    else:
        yield action(f"Silence {finding.code} here, in tried.toml", command=_silence_command(document, finding))
    if record is not None:
        for verdict, words in VERDICTS.items():
            if record.verdict != verdict:
                title = f"Mark {_short(finding.record)} {words}"
                arguments = {"uri": document.uri, "record": finding.record, "verdict": verdict, "reason": ""}
                yield action(title, command=_command(title, commands.MARK, arguments))
        title = f"Open {_short(finding.record)}"
        arguments = {"uri": document.uri, "record": finding.record}
        yield action(title, command=_command(title, commands.OPEN_RECORD, arguments))
        title = f"Compare with {_short(finding.record)}"
        yield action(title, command=_command(title, commands.COMPARE_RECORD, arguments))


def _directives(finding: Finding) -> Iterator[tuple[str, str]]:
    code = finding.code
    yield f"Silence {code} here, with a reason", directive_text("ignore", code, reason=REASON)
    yield "Silence everything here, with a reason", directive_text("ignore", reason=REASON)
    retry = directive_text("retry", record=finding.record, reason=REASON)
    yield f"Retry {_short(finding.record)} on purpose, because …", retry


def _edit(session: Session, document: Document, known: Analysed, place: Insertion, directive: str) -> t.WorkspaceEdit:
    return workspace_edit(session, document, known, Span(place.offset, place.offset), place.text(directive))


def _silence_command(document: Document, finding: Finding) -> t.Command:
    arguments = {
        "uri": document.uri,
        "code": finding.code,
        "key": finding.blamed[0] if finding.blamed else None,
        "reason": "",
    }
    return _command("Silence in tried.toml", commands.SILENCE, arguments)


def _command(title: str, name: str, arguments: dict[str, Any]) -> t.Command:
    return t.Command(title=title, command=name, arguments=[arguments])


def _reported(
    session: Session, known: Analysed, finding: Finding, diagnostics: Sequence[t.Diagnostic]
) -> list[t.Diagnostic]:
    """The client's own diagnostics that are this finding."""
    place = to_range(known.text.lines, finding.span, session.client.features.encoding)
    return [d for d in diagnostics if d.source == "tried" and d.code == finding.code and d.range == place]


def _record(document: Document, finding: Finding) -> ExperimentRecord | None:
    workspace = document.folder.workspace if document.folder else None
    return workspace.snapshot.get(finding.record) if workspace else None


def _short(record: str) -> str:
    """An id in a menu."""
    return short_id(" ".join(record.split()))
