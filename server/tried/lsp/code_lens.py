"""Above the first entry of each draft: where the config stands among what was tried.

Nothing is said while the pool is still being read: "never run" would be a guess.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as t

from tried.analysis import finding_settings
from tried.draft.draft import ExperimentDraft
from tried.lsp import commands
from tried.lsp.open_document import Analysed
from tried.lsp.positions import to_range
from tried.lsp.session import Session
from tried.related.standing import Standing, standing_of
from tried.render.standing import standing_line
from tried.text import Encoding

MOST_DRAFTS = 20


async def code_lens(session: Session, params: t.CodeLensParams) -> Sequence[t.CodeLens] | None:
    document = session.documents.get(params.text_document.uri)
    known = await session.analysed(document, None) if document is not None else None
    if document is None or known is None or known.analysis is None or not known.settings.code_lens.enable:
        return None
    if not known.analysis.is_config or known.is_partial:
        return None
    return await session.in_background(_lenses, document.uri, known, session.client.features.encoding) or None


def _lenses(uri: str, known: Analysed, encoding: Encoding) -> list[t.CodeLens]:
    assert known.analysis is not None
    settings = finding_settings(known.settings)
    lenses: list[t.CodeLens] = []
    for draft in known.analysis.drafts[:MOST_DRAFTS]:
        standing = standing_of(draft, known.snapshot, settings) if draft.entries else None
        if standing is not None:
            lenses.append(_lens(uri, known, draft, standing, encoding))
    return lenses


def _lens(uri: str, known: Analysed, draft: ExperimentDraft, standing: Standing, encoding: Encoding) -> t.CodeLens:
    spans = [entry.key or entry.span for entry in draft.entries]
    place = to_range(known.text.lines, min(spans), encoding)
    return t.CodeLens(range=place, command=_command(uri, standing))


def _command(uri: str, standing: Standing) -> t.Command:
    title = standing_line(standing)
    if standing.ran is not None:
        run = standing.ran.runs[-1]
    elif standing.nearest is not None:
        run = standing.nearest.run
    else:
        return t.Command(title=title, command="")
    return t.Command(title=title, command=commands.OPEN_RECORD, arguments=[{"uri": uri, "record": run.id}])
