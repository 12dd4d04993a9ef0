"""Flow collections of YAML (``[…]``, ``{…}``) that run over several lines: where they end, and how to mend them."""

from __future__ import annotations

import re

from tried.draft.entries import Special
from tried.draft.syntax.nodes import ListNode, MappingNode, Node, ScalarNode
from tried.text import Span

# A quote opens a string only where a value may start: the apostrophe of `don't` does not.
_TOKEN = re.compile(
    rb"""(?<![^\s\[\]{},:])(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?<![^\s])\#[^\n]*|[\[\]{}]""", re.DOTALL
)
_CLOSERS = {b"[": b"]", b"{": b"}"}


def unclosed(source: bytes) -> list[bytes]:
    """The closing brackets that `source` lacks at its end, innermost first."""
    closers: list[bytes] = []
    for match in _TOKEN.finditer(source):
        token = match[0]
        if token in _CLOSERS:
            closers.append(_CLOSERS[token])
        elif closers and token == closers[-1]:
            closers.pop()
    return closers[::-1]


def joined(lines: list[bytes]) -> tuple[bytes, list[tuple[int, int]]]:
    """The lines as one, each byte in its place, and the ranges of the comments in it, which are blanked.

    Inside brackets line ends and indentation mean nothing to people and to most readers, yet the grammar
    refuses what does not stand deeper than the key.
    """
    source = bytearray(b"\n".join(lines))
    comments = []
    for match in _TOKEN.finditer(bytes(source)):
        if match[0].startswith(b"#"):
            start, end = match.start(), match.start() + len(match[0].rstrip())
            comments.append((start, end))
            source[start:end] = b" " * (end - start)
    return bytes(source).replace(b"\r", b" ").replace(b"\n", b" "), comments


def cut(root: Node, end: int) -> None:
    """Bring what brackets of ours close back to `end`; a list that goes on there is not known yet."""
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        node.span = _clipped(node.span, end)
        if isinstance(node, ListNode):
            pending += node.items
        elif isinstance(node, MappingNode):
            for pair in node.pairs:
                if isinstance(pair.value, ListNode) and pair.value.span.end > end and _is_flat(pair.value):
                    pair.value = ScalarNode(Special.UNKNOWN, pair.value.span, pair.value.tag)
                if pair.place is not None:
                    pair.place = _clipped(pair.place, end)
                pending.append(pair.value)


def _clipped(span: Span, end: int) -> Span:
    return span if span.end <= end else Span(min(span.start, end), end)


def _is_flat(node: ListNode) -> bool:
    return not any(isinstance(item, ListNode | MappingNode) for item in node.items)
