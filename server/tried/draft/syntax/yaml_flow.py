"""Flow collections of YAML (``[…]``, ``{…}``) that run over several lines: where they end, and how to mend them."""

from __future__ import annotations

import re

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
