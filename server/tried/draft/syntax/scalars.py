"""Numbers and references as people write them, the same in every language."""

from __future__ import annotations

import re

from tried.draft.entries import Special
from tried.draft.syntax.nodes import ScalarValue

_INTEGER = re.compile(r"[-+]?[0-9](?:_?[0-9])*")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9](?:_?[0-9])*\.(?:[0-9](?:_?[0-9])*)?|\.[0-9](?:_?[0-9])*|[0-9](?:_?[0-9])*(?=[eE]))"
    r"(?:[eE][-+]?[0-9]+)?"
)
_BASED = re.compile(r"([-+]?)0(?:[xX]([0-9a-fA-F_]+)|[oO]([0-7_]+)|[bB]([01_]+))")
_INTERPOLATION = re.compile(r"(?<!\\)\$\{")

MAX_INTEGER_DIGITS = 4_300
"""Python refuses to print longer integers; such a number is no setting but an attack or a mistake."""

MAX_INTEGER_BITS = 14_000


def number(text: str) -> int | float | None:
    """The number that `text` is, or None. ``1e-3``, ``.5``, ``1_000`` and ``0x1F`` are numbers, ``1:30`` is none."""
    if not text or text[0] not in "0123456789+-.":
        return None
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= MAX_INTEGER_DIGITS else None
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    based = _BASED.fullmatch(text)
    if based is None:
        return None
    sign, *digits = based.groups()
    for base, written in zip((16, 8, 2), digits, strict=True):
        if written and written.strip("_"):
            return bounded(int(written.replace("_", ""), base) * (-1 if sign == "-" else 1))
    return None


def bounded(value: int) -> int | None:
    """The integer, or None where it is too long to print."""
    return value if value.bit_length() <= MAX_INTEGER_BITS else None


def text_value(text: str) -> ScalarValue:
    """A string, or UNKNOWN where it holds an interpolation (``${…}``) that only the program can resolve."""
    return Special.UNKNOWN if _INTERPOLATION.search(text) else text
