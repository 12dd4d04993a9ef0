"""What every syntax reader returns: the entries of a config, each with its place in the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from tried.text import Span


class Special(Enum):
    """Values of an entry that are no plain data."""

    MAPPING = "mapping"  # its members are entries of their own, with longer paths
    LIST = "list"  # a list that holds a mapping or a list; its items are entries of their own
    UNKNOWN = "unknown"  # an expression, an interpolation, a reference that cannot be read without executing


Scalar: TypeAlias = str | int | float | bool | None
EntryValue: TypeAlias = Scalar | tuple[Scalar, ...] | Special
"""A scalar; a tuple for a list of scalars only (its items have no entries of their own); or a `Special`."""

Path: TypeAlias = tuple[str | int, ...]
"""Keys and list indexes from the root of a document."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One key or list item.

    `key` is the span of the key as written (None for a list item), `span` that of the value: for a string literal
    with its quotes, for a mapping or list the whole of it, for an empty value the empty span where it would stand.
    `tag` is a custom YAML tag (``!new:torch.nn.Linear``) or the name called in Python (``Linear``,
    ``torch.nn.Linear``). `document` counts the documents of a multi-document YAML file from 0.
    """

    path: Path
    value: EntryValue
    key: Span | None
    span: Span
    tag: str | None = None
    document: int = 0


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment without its marker and outer white space. `own_line`: nothing else stands on its line."""

    text: str
    span: Span
    own_line: bool


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be read, and where. Never an exception."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedConfig:
    """Entries in the order of the text. Of duplicate keys only the last is kept, and a problem says so."""

    language: str
    entries: Sequence[Entry] = field(default_factory=tuple)
    comments: Sequence[Comment] = field(default_factory=tuple)
    problems: Sequence[Problem] = field(default_factory=tuple)
