"""Where in a text a comment that silences a finding goes: at the end of its line, else above it.

Whether a comment is one at that place (and not part of a block scalar, or of a line that goes on) is not guessed: the
text is read with the comment in it, and the place is taken only if everything else still reads the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from tried.draft.directives import directive_text
from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.findings.finding import Finding
from tried.text import LineIndex, Span

_MARKERS = {"yaml": "#", "toml": "#", "python": "#", "env": "#", "json": "//"}
_JSON_WITH_COMMENTS = frozenset({"jsonc", "json5"})


@dataclass(frozen=True, slots=True)
class Insertion:
    """A comment goes in at `offset`, between `before` (with the marker) and `after`."""

    offset: int
    before: str
    after: str

    def text(self, directive: str) -> str:
        return f"{self.before}{directive}{self.after}"


def place_for_directive(
    lines: LineIndex, language: str, language_id: str, path: PurePath | None, finding: Finding
) -> Insertion | None:
    """The place for a directive about a finding; None where the file can hold none that reaches it."""
    marker = _MARKERS.get(language)
    text = lines.text
    parsed = parse(text, language)
    if marker is None or (language == "json" and not _holds_comments(language_id, path, bool(parsed.comments))):
        return None
    paths = [(entry.document, entry.path, entry.value) for entry in parsed.entries]
    for insertion in _candidates(lines, language, marker, finding):
        added = insertion.text(directive_text("ignore"))
        changed = text[: insertion.offset] + added + text[insertion.offset :]
        span = finding.span.shifted(len(added)) if insertion.offset <= finding.span.start else finding.span
        again = parse(changed, language)
        same = [(entry.document, entry.path, entry.value) for entry in again.entries] == paths
        if same and _silences(changed, language, insertion.offset, span):
            return insertion
    return None


def _candidates(lines: LineIndex, language: str, marker: str, finding: Finding) -> Iterator[Insertion]:
    first = lines.line_of(finding.span.start)
    line = lines.line_span(first)
    content = line.of(lines.text)
    if language != "env" and lines.line_of(finding.span.end) == first:  # not every reader of .env files knows these
        yield Insertion(line.end, f"{'' if content.endswith(' ') else '  '}{marker} ", "")
    indent = content[: len(content) - len(content.lstrip(" \t"))]
    yield Insertion(line.start, f"{indent}{marker} ", _line_end(lines))


def _silences(text: str, language: str, offset: int, span: Span) -> bool:
    for draft in drafts_of(parse(text, language), text):
        for directive in draft.directives:
            reaches = directive.target.start <= span.start <= directive.target.end
            if directive.span.end >= offset and directive.action == "ignore" and reaches:
                return True
    return False


def _holds_comments(language_id: str, path: PurePath | None, has_some: bool) -> bool:
    suffix = path.suffix.lstrip(".").lower() if path else ""
    return has_some or language_id in _JSON_WITH_COMMENTS or suffix in _JSON_WITH_COMMENTS


def _line_end(lines: LineIndex) -> str:
    """How the text ends its first line; a newline where it has one line only."""
    if len(lines.starts) < 2:
        return "\n"
    return lines.text[lines.line_span(0).end : lines.starts[1]]
