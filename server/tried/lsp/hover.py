"""What is shown where the pointer rests: findings with their reasons, what was tried for a key, a component.

Answered from the analysis of what is in the editor; while there is none, it is waited for, but not for long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lsprotocol import types as t

from tried.analysis import finding_settings, rank_in
from tried.draft.draft import Component, ExperimentDraft
from tried.draft.entries import Entry, Special
from tried.draft.parameters import COMPARED_KINDS, Parameter
from tried.findings.finding import Finding
from tried.findings.key_history import is_untried, key_history
from tried.lsp.folders import Folder
from tried.lsp.open_document import Analysed
from tried.lsp.positions import to_offset, to_range
from tried.lsp.session import Session
from tried.ranking.breakdown import ScoredRecord
from tried.render.document import Block, Paragraph, Text, to_markdown, to_plain
from tried.render.hover import component_blocks, finding_blocks, key_blocks, untried_key_blocks
from tried.text import Span

PATIENCE = 1.0
"""Seconds that the pointer may wait for an analysis; over 0.2 is felt, over 1 nobody looks any more."""

MOST_FINDINGS = 3


async def hover(session: Session, params: t.HoverParams) -> t.Hover | None:
    document = session.documents.get(params.text_document.uri)
    if document is None or not session.settings_of(document).hover.enable:
        return None
    known = await session.analysed(document, PATIENCE, hurry=True)
    if known is None or known.analysis is None or not known.analysis.is_config or document.folder is None:
        return None
    features = session.client.features
    offset = to_offset(known.text.lines, params.position, features.encoding)
    place = place_at(known.analysis.drafts, known.analysis.findings, offset)
    if place is None:
        return None
    sections = await session.in_background(_sections, known, place, document.folder)
    if not sections:
        return None
    if features.markdown:
        contents = t.MarkupContent(t.MarkupKind.Markdown, "\n\n---\n\n".join(map(to_markdown, sections)))
    else:
        contents = t.MarkupContent(t.MarkupKind.PlainText, "\n\n".join(map(to_plain, sections)))
    return t.Hover(contents=contents, range=to_range(known.text.lines, place.span, features.encoding))


@dataclass(frozen=True, slots=True)
class Place:
    """What stands at an offset of a config."""

    span: Span
    draft: ExperimentDraft
    findings: tuple[Finding, ...] = ()
    parameter: Parameter | None = None
    component: Component | None = None


def place_at(drafts: Sequence[ExperimentDraft], findings: Iterable[Finding], offset: int) -> Place | None:
    """The innermost parameter or component whose key or value the offset touches, with the findings on it; else the
    findings alone. None where there is nothing to tell of."""
    draft = next((draft for draft in drafts if draft.span.covers(offset)), None)
    if draft is None:
        return None
    parameter = _innermost(draft.parameters, offset)
    component = next((one for one in draft.components if _touches(one.entry, offset)), None)
    spans = {parameter.entry.span} if parameter else set()
    here = tuple(finding for finding in findings if finding.span.covers(offset) or finding.span in spans)
    if parameter is not None:
        return Place(_whole(parameter.entry), draft, here, parameter, component)
    if component is not None:
        return Place(component.entry.key or component.entry.span, draft, here, None, component)
    return Place(here[0].span, draft, here) if here else None


def _innermost(parameters: Iterable[Parameter], offset: int) -> Parameter | None:
    touched = [parameter for parameter in parameters if _touches(parameter.entry, offset)]
    return min(touched, key=lambda parameter: parameter.entry.span.end - parameter.entry.span.start, default=None)


def _touches(entry: Entry, offset: int) -> bool:
    """On its key, what stands between, or its value; of a mapping or list only the key counts, for it holds others."""
    start = entry.key.start if entry.key else entry.span.start
    end = entry.span.start if entry.value in (Special.MAPPING, Special.LIST) else entry.span.end
    return start <= offset <= end


def _whole(entry: Entry) -> Span:
    return Span(min(entry.key.start, entry.span.start), entry.span.end) if entry.key else entry.span


def _sections(known: Analysed, place: Place, folder: Folder) -> list[list[Block]]:
    """One for each finding, then the key, then the component."""
    sections: list[list[Block]] = []
    shown = place.findings[:MOST_FINDINGS]
    scored = _scored(known, shown)
    for finding in shown:
        ranked = scored.get(finding.record)
        sections.append(finding_blocks(finding, known.snapshot, ranked, now=known.now, folder=folder.path))
    if len(place.findings) > len(shown):
        sections.append([Paragraph((Text(f"… and {len(place.findings) - len(shown)} more findings here"),))])
    if place.parameter is not None:
        sections.append(_key(known, place.draft, place.parameter))
    if place.component is not None and known.analysis is not None:
        ranking = known.analysis.ranking
        sections.append(component_blocks(place.component, known.snapshot, ranking, now=known.now))
    return [section for section in sections if section]


def _key(known: Analysed, draft: ExperimentDraft, parameter: Parameter) -> list[Block]:
    """Nothing about a key that is not compared, and nothing where the pool says nothing of the setting."""
    if parameter.kind not in COMPARED_KINDS or not len(known.snapshot):
        return []
    pool, settings = known.snapshot.history, finding_settings(known.settings)
    history = key_history(draft, parameter, pool, settings)
    if history is not None:
        return key_blocks(history)
    return untried_key_blocks(parameter.shown) if is_untried(draft, parameter, pool, settings) else []


def _scored(known: Analysed, findings: Sequence[Finding]) -> Mapping[str, ScoredRecord]:
    """The findings' records with their scores, wherever they rank."""
    if known.analysis is None or known.analysis.query is None or not findings:
        return {}
    records, hits = [finding.record for finding in findings], known.analysis.hits
    ranking = rank_in(known.snapshot, known.analysis.query, known.now, known.settings, limit=1, also=records, hits=hits)
    return {scored.record.id: scored for scored in ranking}
