"""Comments that silence: ``# tried: ignore``, ``# tried: retry EXP-ID because …``; how they are read and written.

The grammar, in any case and with spaces anywhere between its parts::

    tried: ignore  [code, code …]  reason            about one line or entry
    tried: retry   ID              because reason    about one line or entry, and one record
    tried: ignore-file  [code …]   reason            about the whole file

An id with spaces or quotes stands in double quotes, escaped as in JSON. A comment may hold a note and, after another
comment marker, a directive: ``lr: 0.1  # as in the paper  # tried: ignore``.

Invariant: what `directive_text` writes is one line, and `directives_of` reads the same directive back from it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tried.draft.entries import Comment, Entry, Problem
from tried.text import LineIndex, Span

Action = Literal["ignore", "retry", "ignore-file"]
CODES = ("repeat", "dead-end")
"""The finding codes that a directive may name."""

ACCEPTED = (
    "write `tried: ignore`, `tried: ignore[dead-end]`, `tried: ignore[repeat]`, "
    "`tried: retry EXP-ID because …` or `tried: ignore-file`"
)

_MARKER = re.compile(r"(?:\A[\s#/*!-]*|(?<=\s)(?:#+|//+)\s*)tried\s*:", re.IGNORECASE)
_ACTION = re.compile(r"\s*(ignore[-_]file|ignore|retry)(?![\w-])", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s:;,–—-]*(?:because\b\s*)?", re.IGNORECASE)
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_BARE_ID = re.compile(r"[^\s\"'\[\]]+")


@dataclass(frozen=True, slots=True)
class Directive:
    """A comment that silences: ``# tried: ignore``, ``ignore[dead-end]``, ``retry ID because …``, ``ignore-file``.

    `target` is the span that it is about: the line of a trailing comment; for one on its own line the next entry
    from its key to its value's end (a mapping with all that it holds); the whole text for ``ignore-file``. A comment
    that names two codes makes two directives.
    """

    action: Action
    span: Span
    target: Span
    code: str | None = None
    record: str | None = None
    reason: str | None = None


def without_directives(comment: str) -> str:
    """What a comment says besides its directives; all of it where it holds none (or one with an unknown action)."""
    for match in _MARKER.finditer(comment) if "tried" in comment.lower() else ():
        if _ACTION.match(comment, match.end()):
            return comment[: match.start()].rstrip()
    return comment


def directives_of(
    comments: Iterable[Comment], entries: Sequence[Entry], lines: LineIndex
) -> tuple[tuple[Directive, ...], tuple[Problem, ...]]:
    """The directives among a document's comments, and what is wrong with those that cannot be read."""
    found: list[Directive] = []
    problems: list[Problem] = []
    extents: list[tuple[int, int]] | None = None
    for comment in comments:
        for body in _bodies(comment.text):
            action, codes, record, reason, mistakes = _read(body)
            problems.extend(Problem(mistake, comment.span) for mistake in mistakes)
            if action is None:
                continue
            target: Span | None
            if action == "ignore-file":
                target = Span(0, len(lines.text))
            elif not comment.own_line:
                target = lines.line_span(lines.line_of(comment.span.start))
            else:
                extents = _extents(entries) if extents is None else extents
                target = _next_extent(extents, comment.span.end)
            if target is None:
                problems.append(
                    Problem(
                        f"`tried: {action}` has no entry after it: put it above an entry or at the end of its line",
                        comment.span,
                    )
                )
                continue
            found.extend(Directive(action, comment.span, target, code, record, reason) for code in codes)
    return tuple(found), tuple(problems)


def directive_text(action: Action, code: str | None = None, record: str | None = None, reason: str = "") -> str:
    """A directive without the comment marker, for a new comment: ``tried: ignore[dead-end] warmup is longer``.

    Whatever id and reason hold, the result is one line. Raises ValueError for an action or code that does not exist,
    and for a retry without a record.
    """
    if action not in get_args(Action):
        raise ValueError(f"no such directive: {action}")
    if code is not None and code not in CODES:
        raise ValueError(f"no such finding code: {code}")
    why = plain_reason(reason)
    if action == "retry":
        if not record:
            raise ValueError("a retry names its record")
        written = f"tried: retry {_written_id(record)}"
        return f"{written} because {why}" if why else written
    written = f"tried: {action}" + (f"[{code}]" if code else "")
    if not why:
        return written
    plain_start = why[0].isalnum() and not why.casefold().startswith("because")
    return f"{written} {why}" if plain_start else f"{written} because {why}"


def plain_reason(reason: str) -> str:
    """A reason as it can stand in a comment: one line, no directive of its own, no end of a block comment."""
    plain = _BLANKS.sub(" ", reason).strip().replace("*/", "* /")
    plain = plain.encode("utf-8", "replace").decode("utf-8")
    return _MARKER.sub("(tried)", plain)


def _bodies(comment: str) -> list[str]:
    """The texts after each ``tried:`` of a comment, up to the next one."""
    if "tried" not in comment.lower():
        return []
    marks = list(_MARKER.finditer(comment))
    ends = [*(mark.start() for mark in marks[1:]), len(comment)]
    return [comment[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=False)]


def _read(body: str) -> tuple[Action | None, list[str | None], str | None, str | None, list[str]]:
    """Action (None if unreadable), codes (one None for all codes), record, reason and mistakes of a directive."""
    match = _ACTION.match(body)
    if match is None:
        word = body.split(maxsplit=1)[0] if body else ""
        named = f"`tried: {_shortened(word)}` is no directive" if word else "`tried:` says not what to do"
        return None, [], None, None, [f"{named}: {ACCEPTED}"]
    written = re.sub(r"[\s_-]", "", match[1]).lower()
    rest = body[match.end() :].lstrip()
    if written == "retry":
        return _read_retry(rest)
    action: Action = "ignore-file" if written == "ignorefile" else "ignore"
    if not rest.startswith("["):
        return action, [None], None, _read_reason(rest), []
    inside, closed, rest = rest[1:].partition("]")
    if not closed:
        return None, [], None, None, [f"`tried: {action}[` lacks its `]`: {ACCEPTED}"]
    codes: list[str | None] = []
    mistakes: list[str] = []
    for word in inside.split(","):
        code = re.sub(r"[\s_-]+", "-", word.strip().strip("\"'`").lower())
        if code in CODES:
            if code not in codes:
                codes.append(code)
        else:
            mistakes.append(f"`{_shortened(word.strip())}` is no finding code: {ACCEPTED}")
    return action if codes else None, codes, None, _read_reason(rest), mistakes


def _read_retry(rest: str) -> tuple[Action | None, list[str | None], str | None, str | None, list[str]]:
    record: str | None = None
    if rest.startswith('"'):
        try:
            record, end = json.JSONDecoder().raw_decode(rest)
            rest = rest[end:]
        except json.JSONDecodeError:
            record = None
    elif match := _BARE_ID.match(rest):
        record, rest = match[0].rstrip(",;:"), rest[match.end() :]
    if not record or (record.casefold() == "because"):
        return None, [], None, None, [f"`tried: retry` names no record: {ACCEPTED}"]
    return "retry", [None], record, _read_reason(rest), []


def _read_reason(rest: str) -> str | None:
    separator = _SEPARATOR.match(rest)
    return plain_reason(rest[separator.end() :] if separator else rest) or None


def _written_id(record: str) -> str:
    readable = _BARE_ID.fullmatch(record) and record.isprintable() and record[-1] not in ",;:"
    if readable and record.casefold() != "because" and "*/" not in record and not _MARKER.search(f" {record}"):
        return record
    quoted = json.dumps(record, ensure_ascii=not record.isprintable())
    return quoted.replace("#", "\\u0023").replace("/", "\\u002f")


def _shortened(word: str) -> str:
    plain = _BLANKS.sub(" ", word)
    return plain if len(plain) <= 40 else plain[:39] + "…"


def _extents(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """(start, −end) of each entry from its key to its value's end, in the order of the text, outermost first."""
    return sorted(
        (min(entry.key.start, entry.span.start) if entry.key else entry.span.start, -entry.span.end)
        for entry in entries
    )


def _next_extent(extents: Sequence[tuple[int, int]], offset: int) -> Span | None:
    index = bisect_left(extents, (offset, -(2**62)))
    return Span(extents[index][0], -extents[index][1]) if index < len(extents) else None
