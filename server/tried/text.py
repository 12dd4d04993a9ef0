"""Places in a text: offsets are the truth, lines and columns are a view of them.

Offsets count Unicode code points (indexes of a Python `str`). Lines end at ``\\n``, ``\\r\\n`` or ``\\r`` and nowhere
else, as the Language Server Protocol says; U+2028, form feeds and the like are ordinary characters here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

Encoding = Literal["utf-8", "utf-16", "utf-32"]
"""The unit in which a column is counted: bytes, 16-bit units or code points."""

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points, 0 ≤ start ≤ end ≤ length of the text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]

    def covers(self, offset: int) -> bool:
        """True where a cursor at `offset` touches the span, its end included."""
        return self.start <= offset <= self.end

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)


class LineIndex:
    """Converts between offsets and (line, column), both from 0."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = _line_starts(text)

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def line_span(self, line: int) -> Span:
        """The line without its line end."""
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return Span(start, end)

    def position(self, offset: int, encoding: Encoding = "utf-32") -> tuple[int, int]:
        """(line, column) of an offset; an offset outside the text is clamped to it."""
        offset = max(0, min(offset, len(self.text)))
        line = self.line_of(offset)
        return line, _width(self.text[self.starts[line] : offset], encoding)

    def offset(self, line: int, column: int, encoding: Encoding = "utf-32") -> int:
        """The offset of (line, column); what lies outside the text is clamped, as the protocol says."""
        if line < 0:
            return 0
        if line >= len(self.starts):
            return len(self.text)
        span = self.line_span(line)
        content = span.of(self.text)
        if encoding == "utf-32" or content.isascii():
            return span.start + max(0, min(column, len(content)))
        units = 0
        for index, character in enumerate(content):
            units += _width(character, encoding)
            if units > column:
                return span.start + index
        return span.end


def _line_starts(text: str) -> list[int]:
    if text.count("\r") != text.count("\r\n"):
        return [0, *(match.end() for match in _LINE_END.finditer(text))]
    starts = list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))  # five times as fast
    starts.pop()
    return starts


def _width(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
