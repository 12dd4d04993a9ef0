"""What YAML's scalars mean: plain ones by the 1.2 core schema, quoted ones unescaped, block scalars folded."""

from __future__ import annotations

import re

from tried.draft.entries import Special
from tried.draft.syntax.nodes import ScalarNode, ScalarValue
from tried.draft.syntax.scalars import number, text_value

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_SPECIAL_FLOAT = re.compile(r"([-+]?)\.(?:(inf|Inf|INF)|nan|NaN|NAN)")
_MISSING = "???"  # OmegaConf: a value that must be given at the start of the run

_LINE_END = re.compile(r"\r\n|\n|\r")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_ESCAPED = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_HEADER = re.compile(r"[|>]([-+0-9]*)[^\r\n]*(?:\r\n|\n|\r)?")
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")

# Tags by which a program replaces the value when it loads the file: what is written is not what is meant.
_REFERENCE_TAG = re.compile(
    r"!(?:ref|copy|include|import|env|envvar|env_var|secret|eval|expr|lambda|var|join|format|Ref|Sub|GetAtt|Join)\b",
    re.IGNORECASE,
)
_CORE_TAG = re.compile(
    r"!!(str|int|float|bool|null|seq|map|set|omap|timestamp|binary|merge|value"
    r"|python/(?:tuple|str|int|float|bool|none|list|dict))"
)


def plain_value(text: str) -> ScalarValue:
    """The value of a plain scalar. ``yes`` and ``on`` are strings; ``1e-3`` and ``1_000`` are numbers to people."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    found = number(text)
    if found is not None:
        return found
    special = _SPECIAL_FLOAT.fullmatch(text)
    if special:
        return float(f"{special[1]}inf") if special[2] else float("nan")
    if text == _MISSING:
        return Special.UNKNOWN
    if "\n" in text or "\r" in text:
        text = _folded(text)
    return text_value(text)


def quoted_value(written: str) -> ScalarValue:
    """The value of a scalar in single or double quotes, quotes included in `written`."""
    inner = written[1:-1]
    if written[0] == "'":
        text = _folded(inner).replace("''", "'")
    else:
        text = _folded(inner, escapes=True)
        if "\\" in text:
            text = _ESCAPE.sub(_unescape, text)
            if _SURROGATES.search(text):  # JSON spells what lies beyond U+FFFF as two \\u escapes
                text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return Special.UNKNOWN if text == _MISSING else text_value(text)


def _unescape(match: re.Match[str]) -> str:
    byte, short, long, other = match.groups()
    digits = byte or short or long
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    return _ESCAPED.get(other, other)


def _folded(text: str, escapes: bool = False) -> str:
    """One line break becomes a space, n + 1 of them n line feeds; with `escapes` one after a backslash is nothing."""
    if "\n" not in text and "\r" not in text:
        return text
    lines = _LINE_END.split(text)
    parts: list[str] = []
    breaks = 0
    joined = False  # by a backslash at the end of the line before
    for index, line in enumerate(lines):
        content = line.lstrip(" \t") if index else line
        ends_escaped = escapes and index < len(lines) - 1 and _ends_in_backslash(content)
        if ends_escaped:
            content = content[:-1]
        elif index < len(lines) - 1:
            stripped = content.rstrip(" \t")
            if escapes and len(stripped) < len(content) and _ends_in_backslash(stripped):
                stripped = content[: len(stripped) + 1]
            content = stripped
        if index:
            breaks += 1
        if content or ends_escaped or index in {0, len(lines) - 1}:
            if index:
                parts.append("\n" * (breaks - 1) or ("" if joined else " "))
            parts.append(content)
            breaks = 0
            joined = ends_escaped
    return "".join(parts)


def _ends_in_backslash(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def block_value(written: str, parent_indent: int) -> ScalarValue:
    """The value of a literal or folded block scalar, from its ``|`` or ``>`` on.

    `parent_indent` is the indentation of the node that holds it: an indentation indicator counts from there.
    """
    header = _HEADER.match(written)
    if header is None:
        return Special.UNKNOWN
    indicators = header[1]
    lines = _LINE_END.split(written[header.end() :])
    digits = indicators.strip("+-")
    if digits.isdigit() and len(digits) == 1 and digits != "0":
        indent = max(parent_indent, 0) + int(digits)
    else:
        indent = next((_indent(line) for line in lines if line.strip(" ")), 0)
    # A line that holds white space alone is empty unless it is longer than the indentation.
    lines = [line[indent:] if _indent(line) >= indent else "" for line in lines]
    count = len(lines)
    while count and not lines[count - 1]:
        count -= 1
    trailing = lines[count:]
    lines = lines[:count]
    text = "\n".join(lines) if written[0] == "|" else _folded_block(lines)
    if "+" in indicators:
        text += "\n" * max(len(trailing), 1) if lines else "\n" * (len(trailing) - 1)
    elif "-" not in indicators and lines:
        text += "\n"
    return text_value(text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _folded_block(lines: list[str]) -> str:
    """Lines that start with white space keep their breaks, and so do the lines around them."""
    parts: list[str] = []
    pending = 0
    previous_folds = False
    for line in lines:
        if not line:
            pending += 1
            continue
        folds = line[0] not in " \t"
        if parts:
            if folds and previous_folds:
                parts.append("\n" * pending or " ")
            else:
                parts.append("\n" * (pending + 1))
        else:
            parts.append("\n" * pending)
        parts.append(line)
        pending = 0
        previous_folds = folds
    return "".join(parts)


def tagged(tag: str, node: ScalarNode, written: str) -> ScalarNode:
    """A scalar with its tag applied: core tags convert it, tags of references make it unknown, others stay with it."""
    short = short_tag(tag)
    core = _CORE_TAG.fullmatch(short)
    if core is None:
        unknown = is_reference_tag(short)
        return ScalarNode(Special.UNKNOWN if unknown else node.value, node.span, short)
    kind = core[1].rpartition("/")[2]
    value = node.value
    if value is Special.UNKNOWN:
        return node
    if kind in {"str", "binary", "timestamp"}:
        text = value if isinstance(value, str) else written
        return ScalarNode(text, node.span)
    if isinstance(value, str):
        value = plain_value(value)
    if kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        value = _as_float(value)
    return ScalarNode(value, node.span)


def _as_float(value: int) -> ScalarValue:
    try:
        return float(value)
    except OverflowError:
        return Special.UNKNOWN


def is_reference_tag(tag: str) -> bool:
    return _REFERENCE_TAG.fullmatch(tag.partition(":")[0]) is not None


def short_tag(tag: str) -> str:
    """A tag as people write it: ``!<tag:yaml.org,2002:str>`` is ``!!str``, ``!<!new:x>`` is ``!new:x``."""
    if tag.startswith("!<") and tag.endswith(">"):
        inner = tag[2:-1]
        return "!!" + inner[18:] if inner.startswith("tag:yaml.org,2002:") else inner
    return tag


def custom_tag(tag: str) -> str | None:
    """The tag of a mapping or list as entries carry it; None for the core ones, which say nothing new."""
    short = short_tag(tag)
    return None if _CORE_TAG.fullmatch(short) else short
