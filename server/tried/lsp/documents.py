"""The texts that are open in the editor.

pygls' own document is not used: it also splits lines at U+2028, form feeds and the like, which puts edits in the wrong
place, and splits the whole text anew at every access.

Invariant: after the same changes, a document's text is the editor's text, in any position encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsprotocol import types as t

from tried.text import Encoding, LineIndex


@dataclass(frozen=True)
class Text:
    """One version of a document; immutable, so that a worker thread can hold it while the editor goes on."""

    content: str
    version: int

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.content)


def changed(text: Text, changes: Sequence[t.TextDocumentContentChangeEvent], version: int, encoding: Encoding) -> Text:
    """The next version: changes apply one after the other, each to what the one before left."""
    for change in changes:
        text = Text(_after(text, change, encoding), version)
    return Text(text.content, version) if text.version != version else text


def typed_lines(text: Text, change: t.TextDocumentContentChangeEvent, encoding: Encoding) -> range:
    """The lines of `text`, the version after the change, on which somebody types.

    A change of one line, a line break among it at most: the line that it ends on. Anything larger was pasted, reverted
    or formatted, and then nobody is in the middle of a line.
    """
    if not isinstance(change, t.TextDocumentContentChangePartial):
        return range(0)
    inserted = LineIndex(change.text)
    if len(inserted.starts) > 2 or change.range.end.line - change.range.start.line > 1:
        return range(0)
    line = min(change.range.start.line + len(inserted.starts) - 1, len(text.lines.starts) - 1)
    return range(line, line + 1)


def _after(text: Text, change: t.TextDocumentContentChangeEvent, encoding: Encoding) -> str:
    if not isinstance(change, t.TextDocumentContentChangePartial):
        return change.text
    start = text.lines.offset(change.range.start.line, change.range.start.character, encoding)
    end = text.lines.offset(change.range.end.line, change.range.end.character, encoding)
    start, end = min(start, end), max(start, end)
    return text.content[:start] + change.text + text.content[end:]
