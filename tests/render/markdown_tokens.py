"""What a Markdown parser makes of a text."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens_of(markdown: str) -> list[Token]:
    found: list[Token] = []
    for token in PARSER.parse(markdown):
        found.append(token)
        found.extend(token.children or ())
    return found


def shown(markdown: str) -> str:
    return "".join(t.content for t in tokens_of(markdown) if t.type in ("text", "text_special", "code_inline"))


def kinds(markdown: str) -> set[str]:
    return {token.type for token in tokens_of(markdown)}
