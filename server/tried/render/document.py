"""A small document of paragraphs, lists and tables, written as Markdown or as plain text.

Hovers are built of these blocks and never of strings with markup, so nothing that comes from data can be forgotten to
be escaped: escaping happens in the two writers, and only there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tried.render.escape import code_markdown, escape_markdown, plain, safe_url, width_of


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    text: str


@dataclass(frozen=True, slots=True)
class Code:
    """A name or a value."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """Falls back to its text where the address is none that may be followed."""

    text: str
    url: str | None


Inline: TypeAlias = Text | Strong | Code | Link
Line: TypeAlias = Sequence[Inline]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Its parts are written one after the other with a space between, but for one before a comma or full stop."""

    parts: Line


@dataclass(frozen=True, slots=True)
class Heading:
    """`level` from 1."""

    parts: Line
    level: int = 2


@dataclass(frozen=True, slots=True)
class Bullets:
    items: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Table:
    """`numbers` are the columns that are set to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[Line]]
    numbers: frozenset[int] = frozenset()


Block: TypeAlias = Heading | Paragraph | Bullets | Table


def to_markdown(blocks: Iterable[Block]) -> str:
    """CommonMark with tables. Tables are aligned in the source too, for editors that show it."""
    return "\n\n".join(written for block in blocks if (written := _block_markdown(block)))


def to_plain(blocks: Iterable[Block]) -> str:
    """The same for a terminal or a client without Markdown."""
    return "\n\n".join(written for block in blocks if (written := _block_plain(block)))


def _block_markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_closed(_line_markdown(block.parts))}"
    if isinstance(block, Paragraph):
        return _line_markdown(block.parts)
    if isinstance(block, Bullets):
        return "\n".join(f"- {_line_markdown(item)}" for item in block.items)
    if not block.rows:
        return ""
    rows = [[_line_markdown(cell, cell=True) for cell in row] for row in block.rows]
    header = [escape_markdown(name, cell=True) for name in block.header]
    widths = [max(3, width) for width in _widths([header, *rows])]
    rule = ["-" * (width - 1) + ":" if column in block.numbers else "-" * width for column, width in enumerate(widths)]
    lines = [header, rule, *rows]
    return "\n".join("| " + " | ".join(_padded(row, widths, block.numbers)) + " |" for row in lines)


def _block_plain(block: Block) -> str:
    if isinstance(block, Heading | Paragraph):
        return _line_plain(block.parts)
    if isinstance(block, Bullets):
        return "\n".join(f"- {_line_plain(item)}" for item in block.items)
    if not block.rows:
        return ""
    rows = [list(block.header), *([_line_plain(cell) for cell in row] for row in block.rows)]
    widths = _widths(rows)
    return "\n".join("  ".join(_padded(row, widths, block.numbers)).rstrip() for row in rows)


def _closed(heading: str) -> str:
    """`#` at its end would be taken for the end of the heading."""
    rest = heading.rstrip("#")
    hashes = len(heading) - len(rest)
    return rest + "\\#" * hashes


def _line_markdown(parts: Line, *, cell: bool = False) -> str:
    written = (_inline_markdown(part, cell, start=index == 0) for index, part in enumerate(_merged(parts)))
    return _joined(written)


def _inline_markdown(part: Inline, cell: bool, start: bool) -> str:
    if isinstance(part, Code):
        return code_markdown(part.text, cell=cell)
    if isinstance(part, Link) and (url := safe_url(part.url)):
        return f"[{escape_markdown(part.text, start=False, cell=cell, link=True)}]({url})"
    text = escape_markdown(part.text, start=start and not cell and not isinstance(part, Strong), cell=cell)
    return f"**{text}**" if isinstance(part, Strong) and text else text


def _line_plain(parts: Line) -> str:
    return _joined(_inline_plain(part) for part in _merged(parts))


def _joined(written: Iterable[str]) -> str:
    line = ""
    for one in written:
        line += f" {one}" if line and one and one[0] not in ",." else one
    return line


def _inline_plain(part: Inline) -> str:
    text = plain(part.text)
    if isinstance(part, Link) and (url := safe_url(part.url)) and url != text:
        return f"{text} ({url})"
    return text


def _merged(parts: Line) -> list[Inline]:
    """Neighbouring texts as one: only then is it known what stands beside each character."""
    found: list[Inline] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Text) and isinstance(last, Text):
            found[-1] = Text(f"{last.text} {part.text}")
        else:
            found.append(part)
    return found


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(width_of(row[column]) for row in rows) for column in range(len(rows[0]))]


def _padded(row: Sequence[str], widths: Sequence[int], numbers: frozenset[int]) -> list[str]:
    padded = []
    for column, (text, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - width_of(text))
        padded.append(space + text if column in numbers else text + space)
    return padded
