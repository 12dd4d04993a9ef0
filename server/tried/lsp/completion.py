"""Values that were tried for the key under the cursor, the best first; values and nothing else.

No character brings the list up by itself: behind a colon that begins a section, or while a number is typed, the next
press of Enter would put a value there that nobody wanted.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsprotocol import types as t

from tried.analysis import finding_settings
from tried.draft.draft import ExperimentDraft, drafts_of
from tried.draft.parameters import COMPARED_KINDS, UNKNOWN, Parameter
from tried.draft.spelling import spaced, spelled, value_place
from tried.draft.syntax import parse
from tried.lsp.client import ClientFeatures
from tried.lsp.hits import used_command
from tried.lsp.open_document import Analysed
from tried.lsp.positions import to_offset, to_range
from tried.lsp.session import Session
from tried.related.tried_values import TriedKey, TriedValue, tried_for_key
from tried.render.document import to_markdown, to_plain
from tried.render.escape import plain
from tried.render.standing import tried_blocks, tried_line
from tried.text import Span

PATIENCE = 1.0
"""Seconds that the editor's list may wait for an analysis."""

TYPING_SECONDS = 1.0
"""So long after an edit of the line somebody types there. Then the editor is to narrow the list by what is typed; to
who rests on a value and asks, all others are shown."""

_TYPED = re.compile(r"""[:=][ \t]*(["']?[\w./+-]*)\Z""")
_SIMPLE = re.compile(r"""[ \t]*|["']?[\w./+-]*["']?""")
_REST = re.compile(r"""[\w./+-]*["']?""")
_AFTER = re.compile(r"[ \t]*(?:[,;}\])#\r\n]|\Z)")
"""What may follow a value; where something else does, more than what is typed would have to go."""


async def completion(session: Session, params: t.CompletionParams) -> t.CompletionList | None:
    document = session.documents.get(params.text_document.uri)
    known = await session.analysed(document, PATIENCE, hurry=True) if document is not None else None
    if document is None or known is None or known.analysis is None or not known.settings.completion.enable:
        return None
    if not known.analysis.is_config or not len(known.snapshot):
        return None
    now = asyncio.get_running_loop().time()
    is_typing = params.position.line in document.typed and now - document.typed_at < TYPING_SECONDS
    offset = to_offset(known.text.lines, params.position, session.client.features.encoding)
    asked = _Asked(document.uri, offset, is_typing, session.client.features)
    items = await session.in_background(_items, known, asked)
    return t.CompletionList(is_incomplete=False, items=items) if items else None


@dataclass(frozen=True, slots=True)
class _Asked:
    uri: str
    offset: int
    is_typing: bool
    features: ClientFeatures


@dataclass(frozen=True, slots=True)
class ValueAt:
    """The value at the cursor: its place in the text, empty at the cursor where nothing is typed yet."""

    draft: ExperimentDraft
    parameter: Parameter
    place: Span


def value_at(text: str, language: str, drafts: tuple[ExperimentDraft, ...], offset: int, line: Span) -> ValueAt | None:
    """The value whose end, start or inside the offset touches. A text that is too broken there to be read is read as if
    a number stood at the cursor."""
    found = _read(text, language, drafts, offset, line)
    if found is not None:
        return found
    typed = _TYPED.search(text[line.start : offset])
    problems = [problem.span for draft in drafts for problem in draft.problems]
    if typed is None or not any(span.start <= line.end and line.start <= span.end for span in problems):
        return None
    rest = _REST.match(text, offset)
    place = Span(line.start + typed.start(1), rest.end() if rest else offset)
    if not _AFTER.match(text, place.end):
        return None
    probe = text[: place.start] + "0" + text[place.end :]
    for draft in drafts_of(parse(probe, language), probe):
        for parameter in draft.parameters:
            if parameter.entry.span == Span(place.start, place.start + 1):
                return ValueAt(draft, parameter, place)
    return None


def _read(text: str, language: str, drafts: tuple[ExperimentDraft, ...], offset: int, line: Span) -> ValueAt | None:
    touched: list[ValueAt] = []
    for draft in drafts:
        for parameter in draft.parameters if draft.span.covers(offset) else ():
            if not line.covers(parameter.entry.span.start):
                continue
            place = value_place(text, language, parameter.entry)
            is_broken = place is not None and parameter.value is UNKNOWN and not _SIMPLE.fullmatch(place.of(text))
            if place is not None and place.covers(offset) and not is_broken:
                is_blank = not place.of(text).strip()
                touched.append(ValueAt(draft, parameter, Span(offset, offset) if is_blank else place))
    return min(touched, key=lambda each: each.place.end - each.place.start, default=None)


def _items(known: Analysed, asked: _Asked) -> list[t.CompletionItem]:
    assert known.analysis is not None
    text, language = known.text.content, known.analysis.language
    if language is None:
        return []
    line = known.text.lines.line_span(known.text.lines.line_of(asked.offset))
    value = value_at(text, language, known.analysis.drafts, asked.offset, line)
    if value is None or value.parameter.kind not in COMPARED_KINDS:
        return []
    key = tried_for_key(value.draft, value.parameter, known.snapshot.history, finding_settings(known.settings))
    if key is None:
        return []
    written = value.place.of(text)
    typed = text[value.place.start : asked.offset]
    place = to_range(known.text.lines, value.place, asked.features.encoding)
    items: list[t.CompletionItem] = []
    for tried, new in _spelled(key, language, written):
        bare = _bare(new)
        filter_text = typed if typed and not asked.is_typing else new if typed[:1] in ('"', "'") else bare
        if not written:
            new = spaced(text, asked.offset, new) + ("  " if text[asked.offset : asked.offset + 1] == "#" else "")
        item = _item(tried, key, bare, asked.features)
        item.text_edit = t.TextEdit(range=place, new_text=new)
        item.filter_text, item.sort_text = filter_text, f"{len(items):04}"
        if tried.runs == 1 and tried.records:
            item.command = used_command(asked.uri, tried.records[0], f"Use {plain(bare)}")
        items.append(item)
    return items


def _spelled(key: TriedKey, language: str, written: str) -> Iterator[tuple[TriedValue, str]]:
    told: set[str] = set()
    for tried in key.values:
        new = spelled(tried.value, language, written) if tried.value is not None else None
        if new is not None and new not in told:
            told.add(new)
            yield tried, new


def _bare(written: str) -> str:
    return written[1:-1] if len(written) > 1 and written[0] == written[-1] and written[0] in "\"'" else written


def _item(tried: TriedValue, key: TriedKey, label: str, features: ClientFeatures) -> t.CompletionItem:
    detail = tried_line(tried, with_metric=True)
    blocks = tried_blocks(key.key, tried, key)
    if features.completion_markdown:
        documentation = t.MarkupContent(t.MarkupKind.Markdown, to_markdown(blocks))
    else:
        documentation = t.MarkupContent(t.MarkupKind.PlainText, to_plain(blocks))
    item = t.CompletionItem(
        label=plain(label), kind=t.CompletionItemKind.Value, detail=detail, documentation=documentation
    )
    if features.completion_label_details:
        item.label_details = t.CompletionItemLabelDetails(description=detail)
    if tried.is_dead_end and features.completion_tags:
        item.tags = [t.CompletionItemTag.Deprecated]
    elif tried.is_dead_end and features.completion_deprecated:
        item.deprecated = True
    return item
