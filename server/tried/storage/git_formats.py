"""What git's objects hold: commits with their trailers, and trees.

Invariant: nothing here raises, whatever the bytes, and all takes time in proportion to them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

MESSAGE_LIMIT: Final = 64 * 1024
"""Bytes of a commit's message that are looked at."""

_ENCODING = re.compile(
    r"(?:utf-?8|ascii|latin-?1|iso-?8859-\d+|(?:windows-|cp)\d+|shift_?jis|euc-\w+|gb\w+|big5|koi8-\w+|iso-2022-\w+)\Z",
    re.IGNORECASE,
)
"""Encodings of messages; Python has codecs that are none, or that take forever."""
_PERSON_TIME = re.compile(rb"> (\d{1,12}) [-+]\d{4}\Z")
_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*:[ \t]+(\S.*)\Z")


@dataclass(frozen=True, slots=True)
class GitObject:
    id: str
    kind: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Commit:
    """`time` is the committer's; `trailers` are the `Key: value` lines that end the message, and those with the key
    `Tried` wherever they stand."""

    id: str
    tree: str
    parents: tuple[str, ...]
    time: datetime | None
    subject: str
    message: str
    trailers: tuple[tuple[str, str], ...] = ()


def parse_commit(item: GitObject) -> Commit | None:
    if item.kind != "commit":
        return None
    head, _, body = item.data.partition(b"\n\n")
    tree, parents, moment, encoding = "", [], None, "utf-8"
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        if key == b"tree":
            tree = value.decode("ascii", "replace")
        elif key == b"parent":
            parents.append(value.decode("ascii", "replace"))
        elif key == b"committer" and (match := _PERSON_TIME.search(value)):
            moment = _moment(int(match[1]))
        elif key == b"encoding":
            encoding = value.decode("ascii", "replace")
    body = body[:MESSAGE_LIMIT]
    try:
        message = body.decode(encoding if _ENCODING.match(encoding) else "utf-8", "replace")
    except (LookupError, ValueError):
        message = body.decode("utf-8", "replace")
    message = message.replace("\r\n", "\n").strip()
    return Commit(
        item.id, tree, tuple(parents), moment, message.partition("\n")[0].strip(), message, trailers_of(message)
    )


def trailers_of(message: str) -> tuple[tuple[str, str], ...]:
    """Continuation lines, which begin with a space, belong to the line before."""
    lines: list[tuple[int, list[str]]] = []
    paragraph = 0
    for line in message.split("\n"):
        if not line.strip():
            paragraph += 1
        elif line[:1] in " \t" and lines and lines[-1][0] == paragraph:
            lines[-1][1].append(line.strip())
        else:
            lines.append((paragraph, [line.rstrip()]))
    found: list[tuple[str, str]] = []
    for number, parts in lines:
        match = _TRAILER.match(" ".join(parts))
        if match and ((number == paragraph and number > 0) or match[1].lower() == "tried"):
            found.append((match[1], match[2].strip()))
    return tuple(found)


def parse_tree(item: GitObject | None) -> dict[str, tuple[str, str]]:
    """name → (mode, hash); empty for what is no tree."""
    found: dict[str, tuple[str, str]] = {}
    if item is None or item.kind != "tree":
        return found
    width, at, data = len(item.id) // 2, 0, item.data
    while at < len(data):
        space, end = data.find(b" ", at), data.find(b"\0", at)
        if space < 0 or end < space:
            break
        found[data[space + 1 : end].decode("utf-8", "surrogateescape")] = (
            data[at:space].decode("ascii", "replace"),
            data[end + 1 : end + 1 + width].hex(),
        )
        at = end + 1 + width
    return found


def _moment(seconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError, ValueError):
        return None
