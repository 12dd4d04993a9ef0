"""TOML, read with tree-sitter; where the file is broken, statement by statement.

A table is one mapping, wherever its parts stand: ``[a.b]``, ``a.b.c = 1`` and ``a = {b = …}`` fill the same nodes.

Invariant: only error-free trees become nodes.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

import tree_sitter

from tried.draft.entries import Comment, ParsedConfig, Special
from tried.draft.syntax.grammar import Allowance, clean_tree, image
from tried.draft.syntax.mending import TOO_BROKEN
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

_KEY_LINE = re.compile(
    rb"""[ \t]*+((?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')(?:[ \t]*+\.[ \t]*+(?:[A-Za-z0-9_-]++"""
    rb"""|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'))*+)[ \t]*+=[ \t]*+"""
)
_BARE_KEY = re.compile(rb"[A-Za-z0-9_-]++")
_HALF_HEADER = re.compile(rb"[ \t]*+\[++[ \t]*+([^\[\]\n\r]*[^\[\]\s])")
_NO_CONTENT = re.compile(rb"[ \t\r]*+(?:#.*)?\Z")
_TOKEN = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+"""|' + rb"'''(?:[^']|'(?!''))*+'''|\"\"\"|'''"
    rb"""|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|\#[^\n]*+|[\[\]{}]""",
    re.DOTALL,
)
_TRAILING_COMMA = re.compile(rb",(?=[ \t]*+})")
_FLOATS = {"inf": float("inf"), "+inf": float("inf"), "-inf": float("-inf")}
_NAN = frozenset({"nan", "+nan", "-nan"})
_EFFORT = 24
_EFFORT_OF_A_LINE = 40  # in bytes: what a line costs, however short


def read(text: str) -> ParsedConfig:
    return _Reader(text).read()


@dataclass(slots=True)
class _Part:
    """One name of a dotted key."""

    name: str
    place: Span


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.source = image(text)
        self.gathered = Gathered()
        self.root = MappingNode(Span(0, len(text)))
        self.table = self.root
        self.chain: list[MappingNode | ListNode] = []  # what the current table lies in, itself last
        self.index: dict[int, dict[str, Pair]] = {}
        self.explicit: set[int] = set()
        self.end = 0  # of the last statement read
        self.budget = _EFFORT * len(text) + 10_000
        self.allowance = Allowance(len(text))

    def read(self) -> ParsedConfig:
        tree = clean_tree("toml", self.source, self.allowance)
        if tree is not None:
            self._read_tree(tree, 0)
        else:
            self._read_statements()
        entries = entries_of(self.root, self.gathered)
        entries.sort(key=lambda entry: entry.key or entry.span)
        problems = sorted(self.gathered.problems, key=lambda problem: problem.span)
        comments = sorted(self.gathered.comments, key=lambda comment: comment.span)
        return ParsedConfig("toml", tuple(entries), tuple(comments), tuple(problems))

    def _read_tree(self, tree: tree_sitter.Tree, base: int) -> None:
        for statement in tree.root_node.children:
            if statement.type not in {"table", "table_array_element"}:
                self._read_line(statement, base)
                continue
            key: tree_sitter.Node | None = None
            for child in statement.children:
                if child.type in {"bare_key", "quoted_key", "dotted_key"}:
                    key = child
                elif child.type in {"]", "]]"} and key is not None:
                    span = Span(base + statement.start_byte, base + child.end_byte)
                    self._enter_table(self._parts(key, base), span, is_array=child.type == "]]")
                else:
                    self._read_line(child, base)

    def _read_line(self, node: tree_sitter.Node, base: int) -> None:
        if node.type == "comment":
            self._comment(base + node.start_byte, base + node.end_byte)
        elif node.type == "pair":
            self._add_pair(self.table, node, base, 0)
            self._extend(base + node.children[-1].end_byte if node.children[-1].type != "comment" else self.end)

    def _extend(self, end: int) -> None:
        """The current table, and all around it that end where the last statement ended, end here now."""
        for node in self.chain:
            if node is self.table or node.span.end == self.end:
                node.span = Span(node.span.start, max(node.span.end, end))
        self.end = end

    def _enter_table(self, parts: list[_Part], span: Span, *, is_array: bool) -> None:
        if len(parts) > MAX_DEPTH:
            self.gathered.problem(too_deep_message(), span)
            self.table, self.chain = MappingNode(span), []
            return
        chain: list[MappingNode | ListNode] = []
        mapping = self.root
        for part in parts[:-1]:
            mapping = self._inner(mapping, part, span, chain)
        last = parts[-1]
        if is_array:
            pair = self._members(mapping).get(last.name)
            if pair is None or not isinstance(pair.value, ListNode):
                pair = self._put(mapping, last, ListNode(span))
            assert isinstance(pair.value, ListNode)
            table = MappingNode(span)
            pair.value.items.append(table)
            chain += [pair.value, table]
        else:
            table = self._inner(mapping, last, span, chain)
            if id(table) in self.explicit:
                self.gathered.problem(f"the table `{shown(last.name)}` is given twice; both are read", last.place)
            else:
                pair = self._members(mapping)[last.name]
                if pair.value is table:
                    pair.place, table.span = last.place, span
            self.explicit.add(id(table))
        self.table, self.chain = table, chain
        self._extend(span.end)

    def _inner(self, mapping: MappingNode, part: _Part, span: Span, chain: list[MappingNode | ListNode]) -> MappingNode:
        """The mapping under a key, made if there is none; of an array of tables the last."""
        pair = self._members(mapping).get(part.name)
        value = pair.value if pair is not None else None
        if isinstance(value, ListNode) and value.items and isinstance(value.items[-1], MappingNode):
            chain += [value, value.items[-1]]
            return value.items[-1]
        if not isinstance(value, MappingNode):
            value = MappingNode(span)
            self._put(mapping, part, value)
        chain.append(value)
        return value

    def _members(self, mapping: MappingNode) -> dict[str, Pair]:
        return self.index.setdefault(id(mapping), {})

    def _put(self, mapping: MappingNode, part: _Part, value: Node) -> Pair:
        pair = Pair(part.name, part.place, value)
        mapping.pairs.append(pair)
        self._members(mapping)[part.name] = pair
        return pair

    def _add_pair(self, mapping: MappingNode, pair: tree_sitter.Node, base: int, depth: int) -> None:
        key, value = None, None
        for child in pair.children:
            if child.type == "comment":
                self._comment(base + child.start_byte, base + child.end_byte)
            elif key is None:
                key = child
            elif child.type != "=":
                value = child
        if key is None or value is None:
            return
        parts = self._parts(key, base)
        span = Span(base + key.start_byte, base + value.end_byte)
        if depth + len(parts) > MAX_DEPTH:
            self.gathered.problem(too_deep_message(), span)
            return
        for part in parts[:-1]:
            mapping = self._inner(mapping, part, span, [])
        self._put(mapping, parts[-1], self._value(value, base, depth + len(parts)))

    def _value(self, node: tree_sitter.Node, base: int, depth: int) -> Node:
        span = Span(base + node.start_byte, base + node.end_byte)
        if node.type not in {"array", "inline_table"}:
            return ScalarNode(self._scalar(node.type, span.of(self.text)), span)
        if depth >= MAX_DEPTH:
            self.gathered.problem(too_deep_message(), span)
            return ScalarNode(Special.UNKNOWN, span)
        if node.type == "inline_table":
            mapping = MappingNode(span)
            for child in node.children:
                if child.type == "pair":
                    self._add_pair(mapping, child, base, depth + 1)
            return mapping
        items = ListNode(span)
        for child in node.children:
            if child.type == "comment":
                self._comment(base + child.start_byte, base + child.end_byte)
            elif child.is_named:
                items.items.append(self._value(child, base, depth + 1))
        return items

    def _scalar(self, kind: str, written: str) -> ScalarValue:
        if kind == "string":
            return text_value(_unquoted(written))
        if kind == "boolean":
            return written == "true"
        if kind in {"integer", "float"}:
            if written in _NAN:
                return float("nan")
            value = _FLOATS[written] if written in _FLOATS else number(written)
            return Special.UNKNOWN if value is None else value
        return written  # a date or time

    def _parts(self, key: tree_sitter.Node, base: int) -> list[_Part]:
        parts = []
        pending = [key]
        while pending:
            node = pending.pop()
            if node.type == "dotted_key":
                pending += reversed(node.children)
            elif node.is_named:
                place = Span(base + node.start_byte, base + node.end_byte)
                written = place.of(self.text)
                parts.append(_Part(_unquoted(written) if node.type == "quoted_key" else written, place))
        return parts

    def _comment(self, start: int, end: int) -> None:
        own_line = not self.source[self.source.rfind(b"\n", 0, start) + 1 : start].strip()
        written = self.text[start:end].rstrip()
        self.gathered.comments.append(Comment(written.lstrip("#").strip(), Span(start, start + len(written)), own_line))

    def _read_statements(self) -> None:
        """Each statement apart: what is broken costs no other."""
        lines = self.source.split(b"\n")
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        first = 0
        while first < len(lines):
            if self.budget < 0 or self.allowance.is_spent:
                self.gathered.problem(TOO_BROKEN, Span(starts[first], len(self.text)))
                return
            last = self._statement_end(lines, first)
            source = b"\n".join(lines[first:last])
            tree = self._tree(source)
            if tree is not None:
                self._read_tree(tree, starts[first])
            else:
                self._read_broken(source, starts[first])
            first = last

    def _tree(self, source: bytes) -> tree_sitter.Tree | None:
        for attempt in _mended(source):
            self.budget -= len(attempt)
            if self.budget < 0:
                return None
            tree = clean_tree("toml", attempt + b"\n", self.allowance)
            if tree is not None:
                return tree
        return None

    def _statement_end(self, lines: list[bytes], first: int) -> int:
        """The line after a statement: brackets and quotes that it opens are closed there, or else never."""
        key = _KEY_LINE.match(lines[first])
        value = lines[first][key.end() :] if key else b""
        if not value.startswith((b"[", b"{", b'"""', b"'''")):
            return first + 1
        depth = 0
        quotes = b""
        for index in range(first, len(lines)):
            line = value if index == first else lines[index]
            self.budget -= len(line) + _EFFORT_OF_A_LINE
            depth, quotes = _balance(line, depth, quotes)
            if depth <= 0 and not quotes:
                return index + 1
            if self.budget < 0:
                break
        return first + 1

    def _read_broken(self, source: bytes, start: int) -> None:
        """A statement that cannot be read: a key keeps its place, a header opens its table."""
        if _NO_CONTENT.match(source):
            return
        end = start + len(source.rstrip())
        whole = Span(start + len(source) - len(source.lstrip(b" \t")), end)
        key = _KEY_LINE.match(source)
        header = _HALF_HEADER.match(source)
        if key is not None:
            parts = self._written_parts(start + key.start(1), start + key.end(1))
            self.gathered.problem(
                f"`{shown(parts[-1].name)}` has no value that TOML can read: put text in quotes, close brackets",
                whole,
            )
            mapping = self.table
            for part in parts[:-1]:
                mapping = self._inner(mapping, part, whole, [])
            value = ScalarNode(Special.UNKNOWN, Span(min(start + key.end(), end), end))
            self._put(mapping, parts[-1], value)
            self._extend(end)
        elif header is not None:
            self.gathered.problem("the header is not complete; what follows is read as that table", whole)
            parts = self._written_parts(start + header.start(1), start + header.end(1))
            self._enter_table(parts, whole, is_array=source.lstrip().startswith(b"[["))
        else:
            self.gathered.problem("expected `key = value`", whole)

    def _written_parts(self, start: int, end: int) -> list[_Part]:
        """The parts of a key that stands in a broken statement; the whole as one where it is broken itself."""
        if _BARE_KEY.fullmatch(self.source, start, end):
            return [_Part(self.text[start:end], Span(start, end))]
        tree = clean_tree("toml", self.source[start:end] + b" = 1\n", self.allowance)
        pairs = tree.root_node.children if tree is not None else []
        parts = self._parts(pairs[0].children[0], start) if pairs and pairs[0].type == "pair" else []
        if not parts or len(parts) > MAX_DEPTH:
            return [_Part(self.text[start:end], Span(start, end))]
        return parts


def _mended(source: bytes) -> Iterator[bytes]:
    """The statement, then as TOML 1.1 writes it: an inline table over several lines, a comma at its end."""
    yield source
    if b"{" in source and b'"""' not in source and b"'''" not in source:
        joined = source.replace(b"\r", b" ").replace(b"\n", b" ")
        yield _TRAILING_COMMA.sub(b" ", joined)


def _balance(line: bytes, depth: int, quotes: bytes) -> tuple[int, bytes]:
    """Brackets and the multi-line string open at the end of a line, from those open at its start."""
    if quotes:
        closing = line.find(quotes)
        if closing < 0:
            return depth, quotes
        line = line[closing + 3 :]
    for match in _TOKEN.finditer(line):
        token = match[0]
        if token in {b'"""', b"'''"}:
            return depth, token
        depth += (token in {b"[", b"{"}) - (token in {b"]", b"}"})
    return depth, b""


def _unquoted(written: str) -> str:
    """The text of a TOML string or quoted key; as written where its escapes are none."""
    inner = written[3:-3] if written.startswith(("'''", '"""')) else written[1:-1]
    if written[0] == '"' and "\\" in inner:
        try:
            return str(tomllib.loads(f"x={written}")["x"])
        except ValueError:
            return inner
    if len(written) - len(inner) == 6:
        return inner.replace("\r\n", "\n").removeprefix("\n")
    return inner
