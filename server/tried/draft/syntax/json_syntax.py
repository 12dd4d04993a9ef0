"""JSON and JSONC, read token by token.

Not with a grammar: the tree of a half-typed file gives the next key as the value of the one before (``"depth":`` ⏎
``"width": 5`` reads as depth = "width"), and trailing commas, NaN and lost brackets are errors there. A stack of open
brackets needs no repair for any of these.

Invariant: one pass over the tokens (two where a bracket is never closed), no recursion.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass

from tried.draft.entries import Comment, ParsedConfig, Special
from tried.draft.syntax.nodes import (
    MAX_DEPTH,
    Gathered,
    ListNode,
    MappingNode,
    Node,
    Pair,
    ScalarNode,
    ScalarValue,
    entries_of,
    shown,
    too_deep_message,
)
from tried.draft.syntax.scalars import number, text_value
from tried.text import Span

_TOKEN = re.compile(
    r"""(?P<comment>//[^\r\n]*|/\*.*?(?:\*/|\Z)|\#[^\r\n]*)
    |(?P<string>"(?:[^"\\\r\n]|\\[^\r\n])*"|'(?:[^'\\\r\n]|\\[^\r\n])*')
    |(?P<open>["'][^\r\n]*)
    |(?P<mark>[{}\[\]:,])
    |(?P<word>(?:[^\s{}\[\]:,"'/\#]|/(?![/*]))+)""",
    re.VERBOSE | re.DOTALL,
)
_REST_IS_BLANK = re.compile(r"[ \t]*+(?:[\r\n]|\Z)")
_WORDS: dict[str, ScalarValue] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
    "NaN": float("nan"),
    "nan": float("nan"),
    "Infinity": float("inf"),
    "+Infinity": float("inf"),
    "-Infinity": float("-inf"),
}
_OPENERS = {"}": "{", "]": "["}


@dataclass(slots=True)
class _Token:
    """`kind` is string, open (a string without end), word, or the mark itself; `indent` that of its line."""

    kind: str
    start: int
    end: int
    indent: int
    is_first: bool


@dataclass(slots=True)
class _Level:
    """An open bracket. `key` waits for its value."""

    mark: str
    node: MappingNode | ListNode
    indent: int
    key: _Token | None = None
    has_colon: bool = False
    is_implied: bool = False


def read(text: str) -> ParsedConfig:
    comments: list[Comment] = []
    tokens = _tokens(text, comments)
    reader = _Reader(text, tokens, closes_by_indent=False)
    root = reader.run()
    if reader.is_unclosed:
        # The indentation tells best where the bracket should have been closed.
        reader = _Reader(text, tokens, closes_by_indent=True)
        root = reader.run()
    entries = entries_of(root, reader.gathered) if root is not None else []
    problems = sorted(reader.gathered.problems, key=lambda problem: problem.span)
    return ParsedConfig("json", tuple(entries), tuple(comments), tuple(problems))


def _tokens(text: str, comments: list[Comment]) -> list[_Token]:
    tokens = []
    indent = previous = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        line_start = max(text.rfind("\n", previous, start), text.rfind("\r", previous, start)) + 1
        is_first = line_start > 0 or previous == 0
        if is_first:
            indent = start - line_start
        previous = end
        if match.lastgroup == "comment":
            comments.append(_comment(text, start, end, is_first))
            continue
        kind = match[0] if match.lastgroup == "mark" else match.lastgroup or "word"
        tokens.append(_Token(kind, start, end, indent, is_first))
    return tokens


def _comment(text: str, start: int, end: int, is_first: bool) -> Comment:
    written = text[start:end]
    own_line = is_first and _REST_IS_BLANK.match(text, end) is not None
    if written.startswith("/*"):
        lines = written[2:].removesuffix("*/").splitlines()
        content = "\n".join(line.strip().lstrip("*").strip() for line in lines).strip()
    else:
        written = written.rstrip()
        content = written.lstrip("/#").strip()
    return Comment(content, Span(start, start + len(written)), own_line)


class _Reader:
    def __init__(self, text: str, tokens: list[_Token], *, closes_by_indent: bool) -> None:
        self.text = text
        self.tokens = tokens
        self.closes_by_indent = closes_by_indent
        self.gathered = Gathered()
        self.is_unclosed = False
        self.root: Node | None = None
        self.levels: list[_Level] = []
        self.open_marks: Counter[str] = Counter()
        self.end = 0  # of the token before

    def run(self) -> Node | None:
        skipped = 0  # brackets open below the deepest level that is read
        for index, token in enumerate(self.tokens):
            if skipped:
                skipped += (token.kind in {"{", "["}) - (token.kind in {"}", "]"})
                continue
            if self.closes_by_indent and token.is_first and token.kind != ",":
                self._close_what_indent_ends(token)
            match token.kind:
                case "{" | "[":
                    if len(self.levels) >= MAX_DEPTH:
                        self.gathered.problem(too_deep_message(), Span(token.start, token.end))
                        self._value(ScalarNode(Special.UNKNOWN, Span(token.start, token.end)), token)
                        skipped = 1
                    else:
                        self._open(token)
                case "}" | "]":
                    self._close(token)
                case ":":
                    if self.levels and self.levels[-1].key is not None:
                        self.levels[-1].has_colon = True
                case ",":
                    if self.levels:
                        self._end_pair(self.levels[-1])
                case _:
                    following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
                    if following is not None and following.kind == ":" and token.kind != "open":
                        self._key(token)
                    else:
                        self._value(self._scalar(token), token)
            self.end = token.end
        while self.levels:
            self._pop_unclosed()
        return self.root

    def _open(self, token: _Token) -> None:
        span = Span(token.start, token.end)
        node: MappingNode | ListNode = MappingNode(span) if token.kind == "{" else ListNode(span)
        self._value(node, token)
        self._push(node, token)

    def _push(self, node: MappingNode | ListNode, token: _Token, *, is_implied: bool = False) -> None:
        mark = "{" if isinstance(node, MappingNode) else "["
        self.levels.append(_Level(mark, node, token.indent, is_implied=is_implied))
        self.open_marks[mark] += 1

    def _pop(self, end: int) -> _Level:
        level = self.levels.pop()
        self._end_pair(level)
        self.open_marks[level.mark] -= 1
        level.node.span = Span(level.node.span.start, end)
        return level

    def _pop_unclosed(self) -> None:
        level = self._pop(self.end)
        if level.is_implied:
            return
        self.is_unclosed = True
        start = level.node.span.start
        self.gathered.problem(f"`{level.mark}` is never closed", Span(start, start + 1))
        if isinstance(level.node, ListNode):
            self._forget(level.node)

    def _forget(self, node: ListNode) -> None:
        """A list of scalars that goes on somewhere is not known yet."""
        if all(isinstance(item, ScalarNode) for item in node.items):
            node.items = [ScalarNode(Special.UNKNOWN, node.span)]

    def _close(self, token: _Token) -> None:
        opener = _OPENERS[token.kind]
        if not self.open_marks[opener]:
            self.gathered.problem(f"`{token.kind}` closes nothing", Span(token.start, token.end))
            return
        while self.levels[-1].mark != opener:
            self._pop_unclosed()
        self._pop(token.end)

    def _close_what_indent_ends(self, token: _Token) -> None:
        """A line that stands left of what a bracket holds ends it; the outermost bracket stays open."""
        while len(self.levels) > 1:
            indent = self.levels[-1].indent
            if token.indent > indent or (token.indent == indent and token.kind in {"}", "]"}):
                return
            self._pop_unclosed()

    def _key(self, token: _Token) -> None:
        if self.open_marks["{"]:
            while self.levels[-1].mark != "{":  # a list cannot hold a key: it was never closed
                self._pop_unclosed()
        elif self.levels:
            self.gathered.problem("a key in a list: `{` is missing", Span(token.start, token.end))
            return
        else:
            self.gathered.problem("a key outside of brackets: `{` is missing", Span(token.start, token.end))
            if not isinstance(self.root, MappingNode):
                self.root = MappingNode(Span(token.start, token.end))
            self._push(self.root, token, is_implied=True)
        level = self.levels[-1]
        self._end_pair(level)
        level.key = token
        level.has_colon = False

    def _end_pair(self, level: _Level) -> None:
        """A key that still waits for its value has none."""
        if level.key is None:
            return
        key = level.key
        level.key = None
        self.gathered.problem(f"`{shown(self.text[key.start : key.end])}` has no value yet", Span(key.start, key.end))
        self._add(level, key, ScalarNode(Special.UNKNOWN, Span(key.end, key.end)))

    def _add(self, level: _Level, key: _Token, value: Node) -> None:
        if isinstance(level.node, MappingNode):
            written = self.text[key.start : key.end]
            name = _unquoted(written) if key.kind == "string" else written
            level.node.pairs.append(Pair(name, Span(key.start, key.end), value))

    def _value(self, node: Node, token: _Token) -> None:
        if not self.levels:
            if self.root is None or (isinstance(self.root, ScalarNode) and not isinstance(node, ScalarNode)):
                self.root = node  # words before the bracket are a slip of copying
            else:
                self.gathered.problem("not read: it stands after the end", Span(token.start, token.end))
            return
        level = self.levels[-1]
        if isinstance(level.node, ListNode):
            level.node.items.append(node)
        elif level.key is not None and level.has_colon:
            key, level.key = level.key, None
            self._add(level, key, node)
        elif token.kind != "open":
            written = shown(self.text[token.start : token.end])
            self.gathered.problem(f"`{written}` has no value, or no key", Span(token.start, token.end))

    def _scalar(self, token: _Token) -> ScalarNode:
        span = Span(token.start, token.end)
        written = self.text[token.start : token.end]
        if token.kind == "string":
            return ScalarNode(text_value(_unquoted(written)), span)
        if token.kind == "open":
            self.gathered.problem(f"the text has no closing `{written[0]}`", span)
            return ScalarNode(Special.UNKNOWN, span)
        if written in _WORDS:
            return ScalarNode(_WORDS[written], span)
        value = number(written)
        if value is None:
            self.gathered.problem(f"`{shown(written)}` is no JSON value: put text in quotes", span)
            return ScalarNode(Special.UNKNOWN, span)
        return ScalarNode(value, span)


def _unquoted(written: str) -> str:
    inner = written[1:-1]
    if "\\" not in inner:
        return inner
    if written[0] == '"':
        try:
            return str(json.loads(written, strict=False))
        except ValueError:
            return inner  # no escape of JSON, as in "C:\data": as written
    return inner.replace("\\'", "'")
