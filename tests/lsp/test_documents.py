"""The text that is kept is the text that the editor has, whatever the edits and the unit of columns."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from lsprotocol import types as t

from tried.lsp.documents import Text, changed, typed_lines
from tried.lsp.positions import to_offset, to_position, to_range, to_span
from tried.text import Encoding, LineIndex, Span

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}

TEXTS = st.text(st.sampled_from("ab:\n\r\u2028\u0085\f\x1cé漢😀"), max_size=30)


def partial(start: tuple[int, int], end: tuple[int, int], text: str) -> t.TextDocumentContentChangePartial:
    return t.TextDocumentContentChangePartial(range=t.Range(t.Position(*start), t.Position(*end)), text=text)


def place(text: str, offset: int, encoding: Encoding) -> t.Position:
    """Line and column as the protocol defines them, counted the slow way: by encoding what stands before."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line_start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    column = len(text[line_start:offset].encode(CODECS[encoding])) // UNITS[encoding]
    return t.Position(line=before.count("\n"), character=column)


def splits_a_line_end(text: str, offset: int) -> bool:
    """No editor can stand between the two characters of a CRLF."""
    return offset > 0 and text[offset - 1 : offset + 1] == "\r\n"


@pytest.mark.parametrize(
    ("encoding", "column"),
    [("utf-8", len("a: 😀漢".encode())), ("utf-16", 6), ("utf-32", 5)],
)
def test_columns_are_counted_in_the_unit_of_the_client(encoding: Encoding, column: int) -> None:
    text = Text("x\na: 😀漢BAD\n", 1)
    after = changed(text, [partial((1, column), (1, column + 3), "good")], 2, encoding)
    assert after.content == "x\na: 😀漢good\n"
    assert after.version == 2


def test_only_three_line_ends_are_line_ends() -> None:
    text = Text("a\u2028b\u0085c\fd\x1ce\r\nf\rg\nh", 1)
    assert changed(text, [partial((1, 0), (1, 1), "F")], 2, "utf-16").content == text.content.replace("f", "F")
    assert changed(text, [partial((2, 0), (2, 1), "G")], 2, "utf-16").content == text.content.replace("g", "G")
    assert changed(text, [partial((3, 0), (3, 1), "H")], 2, "utf-16").content == text.content.replace("h", "H")


def test_changes_apply_one_after_the_other() -> None:
    text = changed(Text("ab", 1), [partial((0, 0), (0, 1), "xyz"), partial((0, 2), (0, 4), "\n")], 5, "utf-16")
    assert text.content == "xy\n"
    assert text.version == 5


def test_a_whole_text_replaces_everything() -> None:
    changes: list[t.TextDocumentContentChangeEvent] = [
        partial((0, 0), (0, 1), "lost"),
        t.TextDocumentContentChangeWholeDocument(text="new"),
    ]
    assert changed(Text("old", 1), changes, 2, "utf-16") == Text("new", 2)


def test_an_empty_change_still_makes_a_version() -> None:
    assert changed(Text("a", 1), [], 2, "utf-8") == Text("a", 2)


@pytest.mark.parametrize(
    ("start", "end", "result"),
    [
        ((0, 99), (0, 99), "ab+\ncd"),  # past the end of a line: its end
        ((9, 0), (9, 9), "ab\ncd+"),  # past the last line: the end of the text
        ((1, 1), (0, 1), "a+d"),  # the ends mixed up
    ],
)
def test_places_outside_the_text_are_clamped(start: tuple[int, int], end: tuple[int, int], result: str) -> None:
    assert changed(Text("ab\ncd", 1), [partial(start, end, "+")], 2, "utf-16").content == result


@given(TEXTS, TEXTS, st.data(), st.sampled_from(ENCODINGS))
@example("a\u2028\n😀b", "漢", None, "utf-16")
def test_every_edit_gives_the_editors_text(
    content: str, new: str, data: st.DataObject | None, encoding: Encoding
) -> None:
    start = data.draw(st.integers(0, len(content))) if data else 3
    end = data.draw(st.integers(start, len(content))) if data else 4
    assume(not splits_a_line_end(content, start) and not splits_a_line_end(content, end))
    edit = t.TextDocumentContentChangePartial(
        range=t.Range(place(content, start, encoding), place(content, end, encoding)), text=new
    )
    assert changed(Text(content, 1), [edit], 2, encoding).content == content[:start] + new + content[end:]


@given(TEXTS, st.data(), st.sampled_from(ENCODINGS))
def test_positions_come_back_as_offsets(content: str, data: st.DataObject, encoding: Encoding) -> None:
    offset = data.draw(st.integers(0, len(content)))
    assume(not splits_a_line_end(content, offset))
    lines = LineIndex(content)
    position = to_position(lines, offset, encoding)
    assert position == place(content, offset, encoding)
    assert to_offset(lines, position, encoding) == offset


def test_ranges_and_spans_are_each_others_inverse() -> None:
    lines = LineIndex("a: 😀\r\nb: 漢字 x\r\n")
    span = Span(8, 13)
    assert span.of(lines.text) == " 漢字 x"
    assert to_range(lines, span, "utf-16") == t.Range(t.Position(1, 2), t.Position(1, 7))
    assert to_range(lines, span, "utf-8") == t.Range(t.Position(1, 2), t.Position(1, 11))
    assert to_span(lines, t.Range(t.Position(1, 11), t.Position(1, 2)), "utf-8") == span


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (partial((1, 1), (1, 1), "x"), range(1, 2)),
        (partial((1, 0), (1, 1), ""), range(1, 2)),
        (partial((0, 2), (0, 2), "\n  "), range(1, 2)),  # Enter, with its indent: the new line
        (partial((0, 2), (1, 0), ""), range(1)),  # two lines joined
        (partial((0, 0), (0, 0), "p\nq\nr\n"), range(0)),  # pasted
        (partial((0, 0), (2, 0), ""), range(0)),  # cut
        (t.TextDocumentContentChangeWholeDocument(text="all"), range(0)),
    ],
)
def test_the_line_being_typed(change: t.TextDocumentContentChangeEvent, expected: range) -> None:
    after = changed(Text("ab\ncd\nef\n", 1), [change], 2, "utf-16")
    assert typed_lines(after, change, "utf-16") == expected
