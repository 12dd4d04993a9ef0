"""Dotenv files: every line sets a variable, and a bare value runs to the end of its line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tried.draft.entries import Special
from tried.draft.syntax.env_values import Settings, expanded, typed
from tried.draft.syntax.nodes import ScalarNode, ScalarValue, shown
from tried.text import Span

_ASSIGNMENT = re.compile(r"[ \t]*+(?:export[ \t]++)?([A-Za-z_][\w.-]*+)[ \t]*+([=:])[ \t]*+")
_LAUNCHER = (
    r"(?:python|torchrun|accelerate|deepspeed|uv|uvx|bash|sh|srun|sbatch|nohup|env|exec|time|make|poetry|pixi|docker"
    r"|mpirun|horovodrun)"
)
# A bare word, then another assignment, a program, a line's continuation; or the end of a command.
_COMMAND_AFTER = re.compile(
    r"""(?:[^\s"'#;&|\\]|\\.)++(?:[ \t]++"""
    rf"""(?:[A-Za-z_]\w*+=|{_LAUNCHER}[\d.]*(?!\S)|[^\s=]*/|[^\s=]++\.(?:py|sh)\b|\\$)|[ \t]*+(?:;|&&))"""
)
_HALF_TYPED = re.compile(r"[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"|\'([^\']*+)\'|`([^`]*+)`', re.DOTALL)
_COMMENT = re.compile(r"(?:(?<=[ \t])|^)#.*")
_LINE = re.compile(r"[^\r\n]*")
_LINE_END = re.compile(r"\r\n|\n|\r|\Z")


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line, without its line end."""
    start = 0
    while start < len(text):
        line = _LINE.match(text, start)
        assert line is not None
        yield start, line.end()
        ended = _LINE_END.match(text, line.end())
        start = ended.end() if ended else len(text)


def is_dotenv(text: str) -> bool:
    """True where every line sets a variable, or starts to, and none starts a command."""
    if text.startswith("#!"):
        return False
    for start, end in _lines(text):
        line = text[start:end]
        content = line.lstrip()
        if not content or content[0] in "#;!":
            continue
        assignment = _ASSIGNMENT.match(line)
        if assignment is None:
            if not _HALF_TYPED.fullmatch(line):
                return False
        elif _COMMAND_AFTER.match(line, assignment.end()):
            return False
    return True


def read_lines(settings: Settings) -> None:
    for start, end in _lines(settings.text):
        content = settings.text[start:end].strip()
        if not content:
            continue
        if content[0] in "#;!":
            settings.comment(settings.text.index(content[0], start), end)
        elif not read_assignment(settings, start, end):
            settings.gathered.problem(f"`{shown(content)}`: expected `KEY=value`", Span(start, end))


def read_assignment(settings: Settings, start: int, end: int) -> bool:
    """Read a line ``KEY=value``; False if it is none."""
    line = settings.text[start:end]
    assignment = _ASSIGNMENT.match(line)
    if assignment is None:
        return False
    place = Span(start + assignment.start(1), start + assignment.end(1))
    quoted = _QUOTED.match(line, assignment.end())
    if quoted:
        after = quoted.end()
        value_end = after
        double, single, back = quoted.groups()
        value: ScalarValue = (
            Special.UNKNOWN if back is not None else typed(single) if single is not None else expanded(double)
        )
    else:
        comment = _COMMENT.search(line, assignment.end())
        after = comment.start() if comment else len(line)
        written = line[assignment.end() : after].rstrip()
        value_end = assignment.end() + len(written)
        value = expanded(written)
        if written[:1] in {'"', "'"}:
            settings.gathered.problem(f"the text has no closing `{written[0]}`", Span(place.start, start + value_end))
            value = Special.UNKNOWN
    comment = _COMMENT.search(line, after)
    if comment:
        settings.comment(start + comment.start(), end)
    settings.add(place, ScalarNode(value, Span(start + assignment.end(), start + value_end)))
    return True
