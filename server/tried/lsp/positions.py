"""Spans of our texts as ranges of the protocol, and back, in the encoding that the client chose."""

from __future__ import annotations

from lsprotocol import types as t

from tried.text import Encoding, LineIndex, Span


def to_position(lines: LineIndex, offset: int, encoding: Encoding) -> t.Position:
    line, character = lines.position(offset, encoding)
    return t.Position(line=line, character=character)


def to_range(lines: LineIndex, span: Span, encoding: Encoding) -> t.Range:
    return t.Range(start=to_position(lines, span.start, encoding), end=to_position(lines, span.end, encoding))


def to_offset(lines: LineIndex, position: t.Position, encoding: Encoding) -> int:
    return lines.offset(position.line, position.character, encoding)


def to_span(lines: LineIndex, place: t.Range, encoding: Encoding) -> Span:
    """The span of a range; its ends are put in order if the client has mixed them up."""
    ends = sorted((to_offset(lines, place.start, encoding), to_offset(lines, place.end, encoding)))
    return Span(ends[0], ends[1])
