"""The experiment that an open config describes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tried.architecture import ArchitectureFingerprint
from tried.draft.entries import Entry, Problem
from tried.draft.parameters import Parameter
from tried.text import Span


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the architecture: `name` is the last name part (`ResNet`), `token` what ranking compares."""

    id: str
    name: str
    token: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Directive:
    """A comment that silences: ``# tried: ignore``, ``ignore[dead-end]``, ``retry ID because …``, ``ignore-file``.

    `target` is the span that it is about: the line of a trailing comment; for one on its own line the next entry
    from its key to its value's end (a mapping with all that it holds); the whole text for ``ignore-file``.
    """

    action: Literal["ignore", "retry", "ignore-file"]
    span: Span
    target: Span
    code: str | None = None
    record: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ExperimentDraft:
    """One document of a config file; a file has one draft for each of its documents."""

    span: Span
    name: str | None = None
    name_entry: Entry | None = None
    research_line: str | None = None
    tags: tuple[str, ...] = ()
    prose: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    components: tuple[Component, ...] = ()
    architecture: ArchitectureFingerprint | None = None
    directives: tuple[Directive, ...] = ()
    entries: Sequence[Entry] = ()
    problems: Sequence[Problem] = ()
    query_text: str = ""
