"""Pieces of a Python script that is broken somewhere, and ways to read a broken statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from tried.draft.syntax.grammar import Allowance, parse_tree
from tried.text import Span

TOKEN = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+"""|' + rb"'''(?:[^'\\]|\\.|'(?!''))*+'''"
    rb"""|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|\#[^\n]*+|[()\[\]{}]""",
    re.DOTALL,
)
_CLOSER_OF = {b"(": b")", b"[": b"]", b"{": b"}"}
OPENERS = frozenset(_CLOSER_OF)
CLOSERS = frozenset(_CLOSER_OF.values())
_PIECE_START = re.compile(rb"""[^\s#)\]},]""")
_CONTINUES = re.compile(rb"(?:else|elif|except|finally)\b")
_GROUP = 16_000  # bytes
_ROUNDS = 3

MEMBER_PREFIX = b"class x:\n"
"""Before the lines of a class that are read apart: they are indented."""


@dataclass(frozen=True, slots=True)
class Mended:
    """An error-free tree of a statement; `end` is where its own text ends, `blanked` the lines left out."""

    tree: tree_sitter.Tree
    end: int
    blanked: tuple[Span, ...]


def pieces(source: bytes, start: int, end: int, indent: int) -> Iterator[tuple[int, int]]:
    """Ranges of the statements that start at column `indent`, each with what stands deeper after it."""
    inside = [
        (match.start(), match.end())
        for match in TOKEN.finditer(source, start, end)
        if match[0].startswith((b'"""', b"'''"))
    ]
    position = 0
    piece = offset = start
    is_decorated = False
    while offset < end:
        line_end = source.find(b"\n", offset, end)
        line_end = end if line_end < 0 else line_end + 1
        while position < len(inside) and inside[position][1] <= offset:
            position += 1
        is_text = position < len(inside) and inside[position][0] < offset
        line = source[offset:line_end]
        content = line.lstrip(b" \t")
        if not is_text and len(line) - len(content) <= indent and _PIECE_START.match(content):
            if offset > piece and not is_decorated:
                yield piece, offset
                piece = offset
            is_decorated = content.startswith(b"@")
        offset = line_end
    if piece < end:
        yield piece, end


def groups(source: bytes) -> Iterator[tuple[int, int]]:
    """Ranges of whole statements, together up to 16 kB where no single one is longer."""
    tokens = TOKEN.finditer(source)
    token = next(tokens, None)
    depth = group = 0
    for start, end in pieces(source, 0, len(source), 0):
        while token is not None and token.start() < start:
            depth = max(0, depth + (token[0] in OPENERS) - (token[0] in CLOSERS))
            token = next(tokens, None)
        continues = depth or source[start - 2 : start] == b"\\\n" or _CONTINUES.match(source, start)
        if end - group > _GROUP and start > group and not continues:
            yield group, start
            group = start
    if group < len(source):
        yield group, len(source)


def mend(source: bytes, allowance: Allowance, prefix: bytes = b"") -> Mended | None:
    """Read a broken statement: close its brackets, leave out the line with the error or the one before it.

    Offsets are those in `source`, without the prefix.
    """
    blanked: tuple[Span, ...] = ()
    for _ in range(_ROUNDS):
        tree, _ = _closed(source, blanked, prefix, allowance)
        if tree is None:
            return None
        error = max(0, _first_error(tree.root_node) - len(prefix))
        line = _line(source, min(error, len(source.rstrip())))
        before = _line(source, max(0, line.start - 1))
        last = _line(source, len(source.rstrip()))
        for extra in ((), (line,), (before,), (before, line), (last,)):
            if any(span.start == 0 for span in extra):  # the line of the name
                continue
            attempt = (*blanked, *extra)
            tree, end = _closed(source, attempt, prefix, allowance)
            if tree is not None and not tree.root_node.has_error:
                return Mended(tree, end, attempt)
        if line.start == 0 or line in blanked:
            break
        blanked = (*blanked, line)
    return None


def _closed(
    source: bytes, blanked: tuple[Span, ...], prefix: bytes, allowance: Allowance
) -> tuple[tree_sitter.Tree | None, int]:
    """The tree of the text without some lines, its open brackets closed; and where its own text ends."""
    text = bytearray(source)
    for span in blanked:
        text[span.start : span.end] = b" " * (span.end - span.start)
    own = bytes(text).rstrip()
    closers = b"".join(_unclosed(own))
    tree = parse_tree("python", prefix + own + (b"\n" + closers if closers else b"") + b"\n", allowance)
    return tree, len(own)


def _unclosed(source: bytes) -> list[bytes]:
    """The closing brackets that are missing at the end, innermost first."""
    closers: list[bytes] = []
    for match in TOKEN.finditer(source):
        token = match[0]
        if token in OPENERS:
            closers.append(_CLOSER_OF[token])
        elif closers and token == closers[-1]:
            closers.pop()
    return closers[::-1]


def _first_error(root: tree_sitter.Node) -> int:
    node = root
    while not (node.is_error or node.is_missing):
        broken = next((child for child in node.children if child.has_error or child.is_missing), None)
        if broken is None:
            break
        node = broken
    return node.start_byte


def _line(source: bytes, offset: int) -> Span:
    """The line around an offset, without its line end."""
    start = source.rfind(b"\n", 0, offset) + 1
    end = source.find(b"\n", offset)
    return Span(start, len(source) if end < 0 else end)
