"""Text from records and configs, made harmless: for Markdown, and for every place that shows plain text.

Invariant: a Markdown parser given `escape_markdown(text)` shows `plain(text)`, and nothing else: no link, no HTML, no
emphasis, no entity.

Backslashes are written only where something would otherwise be read as markup, because some editors show them; HTML
entities are never written, because more editors show those.
"""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote, urlsplit

_JOINERS = "\u200c\u200d"
"""Zero-width characters that scripts and emoji need; the other format characters reorder or hide text."""

_ENTITY = re.compile(r"&(?:#[0-9xX]|[A-Za-z][A-Za-z0-9]*;)")
_TAG = re.compile(r"<[A-Za-z/!?]")
_EMAIL_HOST = re.compile(r"@[\w-]+\.[\w-]")
_BLOCK_START = re.compile(r"#{1,6}(?=\s|\Z)|>|[-+](?=\s|\Z)|-[-\s]*\Z")
_ORDERED = re.compile(r"(\d{1,9})([.)])(?=\s|\Z)")
_BACKTICKS = re.compile(r"`+")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def plain(text: str) -> str:
    """The text on one line: white space collapsed, control characters and invisible reordering left out."""
    line = " ".join(text.split())
    if line.isascii() and line.isprintable():
        return line
    kept = "".join(
        character
        for character in line
        if character in _JOINERS or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
    )
    return " ".join(kept.split())


def shortened(text: str, limit: int) -> str:
    """`plain` text of at most `limit` characters, cut with an ellipsis."""
    line = plain(text[: 8 * limit])
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def without_links(text: str) -> str:
    """For messages to the user: VS Code makes links in their text, and one of `[text](command:…)` runs a command."""
    return text.replace("](", "] (")


def escape_markdown(text: str, *, start: bool = True, cell: bool = False, link: bool = False) -> str:
    """`plain(text)` as inline Markdown, to stand beside white space or within ``**``.

    `start`: it may stand at the start of a line; `cell`: inside a table; `link`: as the text of a link.
    """
    line = plain(text)
    special = {"`": "\\`"}
    if cell:
        special["|"] = "\\|"
    if link:
        special |= {"[": "\\[", "]": "\\]"}
    out: list[str] = []
    size = len(line)
    at = 0
    while at < size:
        character = line[at]
        if character in special:
            out.append(special[character])
        elif character in "*_~":
            end = at
            while end < size and line[end] == character:
                end += 1
            out.append(_run(line, at, end))
            at = end
            continue
        elif _needs_backslash(line, at):
            out.append("\\" + character)
        else:
            out.append(character)
        at += 1
    escaped = "".join(out)
    return _without_block_start(line, escaped) if start else escaped


def _run(line: str, start: int, end: int) -> str:
    """A run of ``*``, ``_`` or ``~``, escaped unless it can be no delimiter."""
    character, run = line[start], line[start:end]
    before = line[start - 1] if start else ""
    after = line[end] if end < len(line) else ""
    if character == "_":
        harmless = before.isalnum() and after.isalnum()
    elif character == "*":
        harmless = before == " " and after == " "
    else:
        harmless = len(run) == 1 and before == " "
    return run if harmless else "".join("\\" + one for one in run)


def _needs_backslash(line: str, at: int) -> bool:
    character = line[at]
    after = line[at + 1] if at + 1 < len(line) else ""
    if character == "\\":
        return not after or after in _PUNCTUATION
    if character == "]":
        return after in ("(", "[", ":")
    if character == "!":
        return after == "["
    if character == "<":
        return _TAG.match(line, at) is not None
    if character == "&":
        return _ENTITY.match(line, at) is not None
    # The rest is what some editors take for a link without being told.
    if character == ":":
        return line.startswith("//", at + 1)
    if character == ".":
        return line[max(0, at - 3) : at].lower() == "www"
    return character == "@" and at > 0 and not line[at - 1].isspace() and _EMAIL_HOST.match(line, at) is not None


def _without_block_start(line: str, escaped: str) -> str:
    """Nothing at the start of a line makes a heading, list, quote or rule of it."""
    if _BLOCK_START.match(line):
        return "\\" + escaped
    if match := _ORDERED.match(line):
        return f"{match.group(1)}\\{escaped[match.end(1) :]}"
    return escaped


def code_markdown(text: str, *, cell: bool = False) -> str:
    """`plain(text)` as a code span: what looks best for names and values."""
    line = plain(text)
    if not line:
        return "(empty)"
    longest = max((len(run) for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    if cell:
        line = line.replace("|", "\\|")
    return f"{fence}{pad}{line}{pad}{fence}"


def safe_url(url: str | None) -> str | None:
    """An http(s) or file address as the target of a Markdown link; None for anything else (``command:``, …)."""
    if not url or any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in url):
        return None
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    if parts.scheme.lower() not in ("http", "https", "file") or not (parts.netloc or parts.path):
        return None
    return quote(url.strip(), safe="/:?#@!$&'*+,;=%~-._[]").replace("[", "%5B").replace("]", "%5D")


def width_of(text: str) -> int:
    """Columns that a terminal needs for a text."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or c in _JOINERS else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )
