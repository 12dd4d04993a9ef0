"""What tests of the syntax readers share: entries as plain data, and what must hold of every parse."""

from __future__ import annotations

from tried.draft.entries import Entry, EntryValue, ParsedConfig, Path, Special
from tried.draft.syntax import parse

UNKNOWN = Special.UNKNOWN
MAPPING = Special.MAPPING
LIST = Special.LIST


def values(text: str, language: str, document: int = 0) -> dict[Path, EntryValue]:
    """Path to value of each entry, mappings and lists of mappings left out: they show in the paths."""
    return {
        entry.path: entry.value
        for entry in parse(text, language).entries
        if entry.document == document and entry.value not in (MAPPING, LIST)
    }


def places(text: str, language: str) -> dict[Path, tuple[str | None, str]]:
    """Path to the key and the value as written."""
    return {
        entry.path: (entry.key.of(text) if entry.key else None, entry.span.of(text))
        for entry in parse(text, language).entries
    }


def entry_at(text: str, language: str, *path: str | int) -> Entry:
    return next(entry for entry in parse(text, language).entries if entry.path == path)


def messages(text: str, language: str) -> list[str]:
    return [problem.message for problem in parse(text, language).problems]


def complaints(text: str, language: str) -> list[str]:
    """What the problems are about, as written."""
    return [problem.span.of(text) for problem in parse(text, language).problems]


def comments(text: str, language: str) -> list[tuple[str, str, bool]]:
    return [(comment.text, comment.span.of(text), comment.own_line) for comment in parse(text, language).comments]


def check_invariants(parsed: ParsedConfig, text: str) -> None:
    """Every span lies in the text, no path stands twice in a document, no member is without its parent."""
    spans = [entry.span for entry in parsed.entries]
    spans += [entry.key for entry in parsed.entries if entry.key is not None]
    spans += [comment.span for comment in parsed.comments]
    spans += [problem.span for problem in parsed.problems]
    for span in spans:
        assert 0 <= span.start <= span.end <= len(text)
    paths = [(entry.document, entry.path) for entry in parsed.entries]
    assert len(set(paths)) == len(paths)
    assert () not in {path for _, path in paths}
    containers = {
        (entry.document, entry.path) for entry in parsed.entries if entry.value is MAPPING or entry.value is LIST
    }
    for document, path in paths:
        if len(path) > 1:
            assert (document, path[:-1]) in containers or len(path) == 1, path
    assert all(problem.message for problem in parsed.problems)


def same(left: object, right: object) -> bool:
    """Equal in value and kind: 1 is not True, NaN is NaN."""
    if isinstance(left, float) and isinstance(right, float) and left != left:
        return right != right
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(same(*pair) for pair in zip(left, right, strict=True))
    return type(left) is type(right) and left == right
