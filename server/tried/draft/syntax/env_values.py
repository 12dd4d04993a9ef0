"""Values of the environment, for dotenv files and shell scripts alike."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tried.draft.entries import Comment, Special
from tried.draft.syntax.nodes import Gathered, Node, Pair, ScalarValue
from tried.draft.syntax.scalars import number
from tried.text import Span

_DEFAULT = re.compile(r"\$\{\w+:?[-=]([^${}`]*+)\}")
_EXPANSION = re.compile(r"(?<!\\)(?:\$[\w({]|`)")
_ESCAPE = re.compile(r"\\([\\\"'$`n])")
_BOOLEANS = {"true": True, "false": False}


@dataclass(slots=True)
class Settings:
    """What a reader of either form gathers."""

    text: str
    gathered: Gathered = field(default_factory=Gathered)
    pairs: list[Pair] = field(default_factory=list)

    def add(self, place: Span, node: Node) -> None:
        self.pairs.append(Pair(place.of(self.text), place, node))

    def comment(self, start: int, end: int) -> None:
        """Keep a comment, from its mark on; a shebang is none."""
        written = self.text[start:end].rstrip()
        if start == 0 and written.startswith("#!"):
            return
        line_start = self.text.rfind("\n", 0, start) + 1
        line_start = max(line_start, self.text.rfind("\r", line_start, start) + 1)
        own_line = not self.text[line_start:start].strip()
        self.gathered.comments.append(
            Comment(written.lstrip("#;!").strip(), Span(start, start + len(written)), own_line)
        )


def typed(text: str) -> ScalarValue:
    """A value that looks like a number or a boolean is one: the environment knows only strings."""
    found = number(text)
    return found if found is not None else _BOOLEANS.get(text.lower(), text)


def expanded(written: str) -> ScalarValue:
    """The value of a bare or double-quoted text, in which ``$`` and a backslash mean something."""
    default = _DEFAULT.fullmatch(written)
    if default:
        return typed(default[1])
    if _EXPANSION.search(written):
        return Special.UNKNOWN
    if "\\" in written:
        written = _ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], written)
    return typed(written)
