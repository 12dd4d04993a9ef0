"""Text of a config file to entries: one module a language, loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tried.draft.entries import ParsedConfig, Problem
from tried.draft.syntax.languages import LANGUAGES, language_of
from tried.text import Span

__all__ = ["LANGUAGES", "language_of", "parse"]

_BYTE_ORDER_MARK = "\ufeff"


def parse(text: str, language: str) -> ParsedConfig:
    """Entries, comments and problems of a config text in one of `LANGUAGES`; spans are offsets in `text`.

    Never raises on text: what cannot be read is a problem, and everything around it is read.
    """
    if text.startswith(_BYTE_ORDER_MARK):
        return _shifted(parse(text[1:], language), 1)
    try:
        return _reader(language)(text)
    except Exception as error:
        # A bug of ours must not take the editor's server down with it.
        message = f"this file could not be read as {language} ({type(error).__name__}: {error}); please report it"
        return ParsedConfig(language, problems=(Problem(message, Span(0, len(text))),))


def _reader(language: str) -> Callable[[str], ParsedConfig]:
    match language:
        case "yaml":
            from tried.draft.syntax import yaml_syntax

            return yaml_syntax.read
        case "json":
            from tried.draft.syntax import json_syntax

            return json_syntax.read
        case "toml":
            from tried.draft.syntax import toml_syntax

            return toml_syntax.read
        case "python":
            from tried.draft.syntax import python_syntax

            return python_syntax.read
        case "env":
            from tried.draft.syntax import env_syntax

            return env_syntax.read
        case _:
            return lambda text: ParsedConfig(
                language, problems=(Problem(f"no reader for the language `{language}`", Span(0, len(text))),)
            )


def _shifted(parsed: ParsedConfig, by: int) -> ParsedConfig:
    return ParsedConfig(
        parsed.language,
        tuple(
            replace(entry, key=entry.key and entry.key.shifted(by), span=entry.span.shifted(by))
            for entry in parsed.entries
        ),
        tuple(replace(comment, span=comment.span.shifted(by)) for comment in parsed.comments),
        tuple(replace(problem, span=problem.span.shifted(by)) for problem in parsed.problems),
    )
