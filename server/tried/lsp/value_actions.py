"""The value that gave the best related run, in place of the one under the cursor.

Invariant: an edit is offered only after the text with it was read again: the value is that one, all others are as they
were. Never a value of which every run ended badly.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as t

from tried.analysis import finding_settings
from tried.draft.parameters import Parameter, ParameterKind, comparable, is_known
from tried.draft.spelling import Replacement, replacement
from tried.findings.finding import Finding
from tried.lsp.edits import workspace_edit
from tried.lsp.hits import used_command
from tried.lsp.hover import place_at
from tried.lsp.open_document import Analysed, Document
from tried.lsp.session import Session
from tried.related.tried_values import TriedKey, TriedValue, tried_for_key
from tried.render.standing import use_title
from tried.text import Span


async def value_actions(
    session: Session,
    document: Document,
    known: Analysed,
    wanted: Span,
    found: Sequence[Finding],
    reported: Sequence[t.Diagnostic],
) -> list[t.CodeAction]:
    """At most one: a quick fix where a finding is on the value (`found`, which the client shows as `reported`), else a
    rewriting."""
    made = await session.in_background(_best, known, wanted)
    if made is None:
        return []
    parameter, tried, change = made
    is_fix = any(finding.span == parameter.entry.span for finding in found)
    title, best = use_title(tried), tried.best
    return [
        t.CodeAction(
            title=title,
            kind=t.CodeActionKind.QuickFix if is_fix else t.CodeActionKind.RefactorRewrite,
            diagnostics=list(reported) if is_fix and reported else None,
            edit=workspace_edit(session, document, known, change.span, change.text),
            command=used_command(document.uri, best.record, title) if best is not None else None,
        )
    ]


def _best(known: Analysed, wanted: Span) -> tuple[Parameter, TriedValue, Replacement] | None:
    analysis = known.analysis
    place = place_at(analysis.drafts, (), wanted.start) if analysis is not None else None
    if analysis is None or analysis.language is None or place is None or place.parameter is None:
        return None
    parameter = place.parameter
    if parameter.kind is not ParameterKind.KNOB or parameter.value is None or not is_known(parameter.value):
        return None  # more of a budget is always better, and another dataset is no better dataset
    if wanted.end > place.span.end:
        return None
    key = tried_for_key(place.draft, parameter, known.snapshot.history, finding_settings(known.settings))
    best = better_value(key, parameter) if key is not None else None
    change = replacement(known.text.content, analysis.language, parameter.entry, best.value) if best else None
    return (parameter, best, change) if best is not None and change is not None else None


def better_value(key: TriedKey, parameter: Parameter) -> TriedValue | None:
    """The value with the best result, if the parameter has another one, which gave none as good; None where the results
    are of several datasets, of which the draft does not say its own."""
    best = key.values[0]
    if not key.is_evidence or not key.is_one_context or best.best is None or best.is_dead_end or best.value is None:
        return None
    if comparable(best.value) == parameter.value:
        return None
    for tried in key.values:
        is_here = tried.value is not None and comparable(tried.value) == parameter.value
        if is_here and tried.best is not None and tried.best.value == best.best.value:
            return None
    return best
