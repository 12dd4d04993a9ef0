"""Small edits of a config such as a person makes while writing it, each alone on the original text.

Invariant: the same text gives the same edits; none is random, and none raises, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeVar, get_args

from tried.draft.comments import prose_of
from tried.draft.directives import without_directives
from tried.draft.entries import Entry, ParsedConfig
from tried.draft.prose import is_prose_key
from tried.draft.syntax import parse
from tried.text import LineIndex, Span

EditKind = Literal["comment reworded", "value nudged", "key moved", "half a line typed"]
EDIT_KINDS: Final[tuple[EditKind, ...]] = get_args(EditKind)

MOST_OF_A_KIND: Final = 6
"""Edits of one kind that are made of one text, from all over it."""

OTHER_WORDS: Final = ("again", "attempt", "roughly", "maybe", "usual", "setup", "check", "instead", "first", "longer")
"""What takes the place of every third word of a comment: words that people write about any experiment."""

_Item = TypeVar("_Item")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NUMBER = re.compile(r"[-+]?(?:\d{1,30}\.?\d{0,30}|\.\d{1,30})(?:[eE][-+]?\d{1,3})?")


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` is the whole text afterwards, `line` where it differs first, from 1."""

    kind: EditKind
    line: int
    text: str


def edits_of(text: str, language: str, most: int = MOST_OF_A_KIND) -> list[Edit]:
    """At most `most` edits of each kind, kind after kind, in the order of the text; those that change nothing left out.

    A text has none of a kind that it has no place for: no comment and no note, no number, no two keys side by side.
    """
    parsed = parse(text, language)
    lines = LineIndex(text)
    return [
        Edit(kind, lines.line_of(span.start) + 1, edited)
        for kind, places in _PLACES.items()
        for span, written in spaced(list(places(parsed, lines)), most)
        if (edited := text[: span.start] + written + text[span.end :]) != text
    ]


def spaced(items: Sequence[_Item], most: int) -> list[_Item]:
    """At most `most` of the items, as evenly spaced as whole numbers allow, the first one among them."""
    if len(items) <= most:
        return list(items)
    return [items[number * len(items) // most] for number in range(most)]


def reworded(text: str) -> str:
    """Every third word from the second on gives way to one of `OTHER_WORDS`, in turn."""
    words = list(_WORD.finditer(text))[1::3]
    for turn, word in reversed(list(enumerate(words))):
        text = text[: word.start()] + OTHER_WORDS[turn % len(OTHER_WORDS)] + text[word.end() :]
    return text


def nudged(number: str) -> str | None:
    """A number a tenth further from zero, a whole one by at least 1, in the same notation; None if it is no number."""
    if not _NUMBER.fullmatch(number):
        return None
    mantissa, exponent, power = number.lower().partition("e")
    if "." not in mantissa and not exponent:
        whole = int(number)
        return f"{whole + (-1 if whole < 0 else 1) * max(1, abs(whole) // 10)}"
    changed = f"{float(mantissa) * 1.1:.6g}" if float(mantissa) else "0.1"
    return f"{changed}{number[len(mantissa)]}{power}" if exponent else changed


def _comments_reworded(parsed: ParsedConfig, lines: LineIndex) -> Iterator[tuple[Span, str]]:
    """The words of comments, directives left alone, and of values that are notes."""
    text = lines.text
    spans = [
        each.span for each in parsed.comments if without_directives(each.text) == each.text and prose_of(each.text)
    ]
    spans += [
        entry.span
        for entry in parsed.entries
        if isinstance(entry.value, str) and entry.path and is_prose_key(str(entry.path[-1]))
    ]
    yield from ((span, reworded(span.of(text))) for span in sorted(spans))


def _values_nudged(parsed: ParsedConfig, lines: LineIndex) -> Iterator[tuple[Span, str]]:
    """Numbers, those in quotes too."""
    for entry in parsed.entries:
        written = entry.span.of(lines.text)
        bare = written.strip("\"'")
        if bare and (changed := nudged(bare)) is not None:
            yield entry.span, written.replace(bare, changed)


def _keys_moved(parsed: ParsedConfig, lines: LineIndex) -> Iterator[tuple[Span, str]]:
    """Two keys side by side in one mapping change places, each on a line with its value."""
    text = lines.text
    found = [(span, entry) for entry in parsed.entries if (span := _on_one_line(entry, lines))]
    for (first, one), (second, other) in pairwise(sorted(found, key=lambda each: each[0])):
        if one.path[:-1] == other.path[:-1] and one.document == other.document and first.end <= second.start:
            between = text[first.end : second.start]
            yield Span(first.start, second.end), second.of(text) + between + first.of(text)


def _half_lines(parsed: ParsedConfig, lines: LineIndex) -> Iterator[tuple[Span, str]]:
    """A line with a key is not yet written beyond its middle; what follows stands there already."""
    numbers = {lines.line_of(entry.key.start) for entry in parsed.entries if entry.key is not None}
    for number in sorted(numbers):
        span = lines.line_span(number)
        written = span.of(lines.text)
        bare = len(written.strip())
        if bare > 1:
            kept = len(written) - len(written.lstrip()) + bare // 2
            yield Span(span.start + kept, span.end), ""


def _on_one_line(entry: Entry, lines: LineIndex) -> Span | None:
    """From the key to the end of the value."""
    if entry.key is None or entry.span.end <= entry.key.start:
        return None
    return (
        Span(entry.key.start, entry.span.end)
        if lines.line_of(entry.key.start) == lines.line_of(entry.span.end)
        else None
    )


_PLACES: Final[dict[EditKind, Callable[[ParsedConfig, LineIndex], Iterator[tuple[Span, str]]]]] = {
    "comment reworded": _comments_reworded,
    "value nudged": _values_nudged,
    "key moved": _keys_moved,
    "half a line typed": _half_lines,
}
