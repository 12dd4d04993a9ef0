"""Values of parameters in a form in which equal values are equal, however they were written.

Invariant: reading a value executes nothing.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

from tried.draft.entries import Special
from tried.draft.keys import normalise_key

UNKNOWN = Special.UNKNOWN
"""The comparable form of what cannot be read: an interpolation, an expression. It may be any value."""


class Cut(Enum):
    """What a tracker has cut off: unknown beyond the cut, and so neither equal nor different."""

    TRUNCATED = "truncated"


TRUNCATED = Cut.TRUNCATED


def is_known(value: object) -> bool:
    return value is not UNKNOWN and value is not TRUNCATED


_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}
_NULLS = frozenset({"", "null", "none", "~", "nil"})
_NUMERAL = re.compile(r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?\Z")
_POWER = re.compile(r"(\d{1,3})\s*(?:\*\*|\^)\s*(\d{1,2})\Z")
_TRUNCATED_LENGTHS = frozenset({250, 500, 5000, 6000})  # where MLflow's versions cut a value
_DEEPEST = 16
LONGEST_VALUE = 2000  # longer text is prose or a file's content, not a value that one compares


def comparable(value: Any, depth: int = 0) -> object:
    """A hashable form in which equal values are equal however they were written.

    `1e-3`, `0.001` and `"1.0E-3"` are one number; `True`, `"true"` and `"yes"` one boolean (and no number); a list is
    a tuple, whether written as a list, as JSON in text, or comma-separated; text is compared without its case and
    outer space. None for null and empty; `TRUNCATED` for what was cut off, `UNKNOWN` for what cannot be read.
    """
    if value is None or value is UNKNOWN or value is TRUNCATED:
        return value
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return _text_value(value)
    if depth > _DEEPEST:
        return UNKNOWN
    if isinstance(value, Sequence):
        return _list_value([comparable(item, depth + 1) for item in value])
    if isinstance(value, Mapping):
        members = [(normalise_key(str(key)), comparable(item, depth + 1)) for key, item in value.items()]
        return ("mapping", *sorted(members, key=lambda member: member[0]))
    return UNKNOWN


def _number(value: float) -> object:
    if math.isnan(value):
        return ("nan",)
    return int(value) if math.isfinite(value) and value.is_integer() else value


def _list_value(items: list[object]) -> object:
    for unknown in (UNKNOWN, TRUNCATED):
        if any(item is unknown for item in items):
            return unknown
    return items[0] if len(items) == 1 else ("list", *items)


@lru_cache(maxsize=65536)
def _text_value(text: str) -> object:
    if len(text) in _TRUNCATED_LENGTHS:
        return TRUNCATED
    if len(text) > LONGEST_VALUE or "${" in text or text == "???":
        return UNKNOWN  # too long to be compared, an interpolation, OmegaConf's word for what is missing
    plain = text.strip()
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'":
        plain = plain[1:-1].strip()
    lower = plain.casefold()
    if lower in _NULLS:
        return None
    if lower in _BOOLEANS:
        return ("bool", _BOOLEANS[lower])
    if _NUMERAL.match(plain):
        return _numeral(plain)
    if power := _POWER.match(plain):
        return int(power[1]) ** int(power[2])
    if lower in ("nan", "inf", "-inf", "+inf", ".nan", ".inf", "-.inf", "infinity", "-infinity"):
        return _number(float(lower.replace(".", "")))
    if plain.endswith(("…", "...")):
        return TRUNCATED
    if plain[0] in "[({" and plain[-1] in "])}":
        found = literal_of(plain)
        if found is not None:
            return comparable(found)
    if "," in plain:
        return _list_value([_text_value(part.strip()) for part in plain.split(",")])
    return " ".join(lower.split())


def _numeral(text: str) -> object:
    digits = text.replace("_", "")
    try:
        return int(digits)
    except ValueError:
        return _number(float(digits))


def literal_of(text: str) -> object:
    """A list or mapping written as JSON or as a Python literal; None if it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def shown_value(value: object, limit: int = 60, depth: int = 0) -> str:
    """A value as people write it in a config, on one line of at most `limit` characters."""
    if value is None:
        text = "null"
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, float):
        text = repr(value)
    elif isinstance(value, list | tuple) and depth < _DEEPEST:
        text = "[" + ", ".join(shown_value(item, limit, depth + 1) for item in value[:limit]) + "]"
    elif isinstance(value, Mapping):
        members = (f"{key}: {shown_value(item, limit, depth + 1)}" for key, item in list(value.items())[:limit])
        text = "{" + ", ".join(members) + "}" if depth < _DEEPEST else "{…}"
    elif isinstance(value, list | tuple):
        text = "[…]"
    else:
        text = str(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
