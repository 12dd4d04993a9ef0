"""The experiment that an open config describes.

Invariant: making drafts never raises, whatever was parsed, and executes nothing; the same text gives the same drafts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from tried.architecture import ArchitectureFingerprint
from tried.draft.components import Component, architecture_of
from tried.draft.directives import Directive, directives_of
from tried.draft.entries import Comment, Entry, ParsedConfig, Problem
from tried.draft.parameters import Parameter, parameters_of
from tried.draft.prose import said_in
from tried.draft.query_text import knob_names, query_text, value_words
from tried.text import LineIndex, Span

__all__ = ["Component", "Directive", "ExperimentDraft", "drafts_of"]

_Placed = TypeVar("_Placed", Comment, Problem)
_DOCUMENT_START = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ExperimentDraft:
    """One document of a config file; a file has one draft for each of its documents."""

    span: Span
    name: str | None = None
    name_entry: Entry | None = None
    research_line: str | None = None
    tags: tuple[str, ...] = ()
    prose: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    components: tuple[Component, ...] = ()
    architecture: ArchitectureFingerprint | None = None
    directives: tuple[Directive, ...] = ()
    entries: Sequence[Entry] = ()
    problems: Sequence[Problem] = ()
    mistaken_directives: Sequence[Problem] = ()
    query_text: str = ""


def drafts_of(parsed: ParsedConfig, text: str) -> tuple[ExperimentDraft, ...]:
    """One draft for each document that says anything, in the order of the text; at least one.

    Together their spans cover the text. An ``ignore-file`` directive holds in every draft.
    """
    lines = LineIndex(text)
    documents: dict[int, list[Entry]] = {}
    for entry in parsed.entries:
        documents.setdefault(entry.document, []).append(entry)
    groups = [documents[number] for number in sorted(documents)] or [[]]
    comments = sorted(parsed.comments, key=lambda comment: comment.span)
    problems = sorted(parsed.problems, key=lambda problem: problem.span)
    drafts: list[ExperimentDraft] = []
    for span, entries in zip(_spans(groups, text), groups, strict=True):
        last = len(drafts) == len(groups) - 1
        mine = _within(span, comments, last=last), _within(span, problems, last=last)
        drafts.append(_draft(span, entries, *mine, lines))
    for_all = tuple(d for draft in drafts for d in draft.directives if d.action == "ignore-file")
    if for_all and len(drafts) > 1:
        drafts = [
            replace(draft, directives=(*(d for d in draft.directives if d.action != "ignore-file"), *for_all))
            for draft in drafts
        ]
    return tuple(drafts)


def _draft(
    span: Span, entries: list[Entry], comments: Sequence[Comment], problems: Sequence[Problem], lines: LineIndex
) -> ExperimentDraft:
    directives, mistakes = directives_of(comments, entries, lines)
    said = said_in(entries, comments, lines)
    components, architecture = architecture_of(entries, lines.text)
    parameters = parameters_of(entries)
    said_already = {component.entry.span for component in components}
    if said.name_entry is not None:
        said_already.add(said.name_entry.span)
    return ExperimentDraft(
        span=span,
        name=said.name,
        name_entry=said.name_entry,
        research_line=said.research_line,
        tags=said.tags,
        prose=said.prose,
        parameters=parameters,
        components=components,
        architecture=architecture,
        directives=directives,
        entries=entries,
        problems=tuple(problems),
        mistaken_directives=mistakes,
        query_text=query_text(
            prose=said.prose,
            name=said.name,
            tags=said.tags,
            components=[component.name for component in components],
            values=value_words(entries, said_already),
            knobs=knob_names(parameters),
        ),
    )


def _spans(groups: Sequence[Sequence[Entry]], text: str) -> list[Span]:
    """Where each document stands: from its ``---`` (the first from the start) to the next one's."""
    bounds = [0]
    for before, after in pairwise(groups):
        end = max(entry.span.end for entry in before)
        start = min(entry.key.start if entry.key else entry.span.start for entry in after)
        marks = list(_DOCUMENT_START.finditer(text, min(end, start), start))
        bounds.append(max(bounds[-1], marks[-1].start() if marks else start))
    return [Span(start, end) for start, end in zip(bounds, [*bounds[1:], len(text)], strict=True)]


def _within(span: Span, placed: Sequence[_Placed], *, last: bool) -> Sequence[_Placed]:
    """What starts in a span, of things in the order of the text; in the last one also what stands at its very end."""
    start = bisect_left(placed, span.start, key=lambda item: item.span.start)
    end = len(placed) if last else bisect_left(placed, span.end, key=lambda item: item.span.start)
    return placed[start:end]
