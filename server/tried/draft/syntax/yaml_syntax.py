"""YAML, read with tree-sitter and mended where it is broken.

A tree with an error in it is not trusted: the grammar may drop the rest of the file, or take one key for another's
value. The lines are then read in smaller blocks, down to the one that cannot be read, which becomes a problem and an
entry of unknown value; everything around it keeps its place.

Invariants: only error-free trees become nodes. No block goes to the grammar whose nesting could crash it. The bytes
parsed in all are at most `_EFFORT` times those of the text.
"""

from __future__ import annotations

import re
from itertools import accumulate

import tree_sitter

from tried.draft.entries import Entry, ParsedConfig, Special
from tried.draft.syntax import yaml_flow
from tried.draft.syntax.grammar import Allowance, clean_tree, image
from tried.draft.syntax.mending import cut
from tried.draft.syntax.nodes import (
    AliasNode,
    Gathered,
    ListNode,
    MappingNode,
    Node,
    Pair,
    ScalarNode,
    entries_of,
    shown,
)
from tried.draft.syntax.yaml_scalars import quoted_value
from tried.draft.syntax.yaml_tree import YamlBuilder
from tried.text import Span

_MARKER = re.compile(rb"^(?:---|\.\.\.)(?=[ \t\r\n]|\Z)", re.MULTILINE)
_NO_CONTENT = re.compile(rb"[ \t\r]*(?:#.*)?\Z")
_DASH = re.compile(rb"( *)-(?=[ \t\r]|\Z)")
# Possessive quantifiers: a long hostile line must not be tried in every possible way.
_KEY = re.compile(
    rb"""[ ]*+("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'
    |(?:[^\s\-?:,\[\]{}#&*!|>'"%@`]|[-?:](?=\S))(?:[^\s:#]|:(?=\S)|(?<=\S)\#|[ \t]++(?![\s:#]|\Z))*+
    )[ \t]*+:(?=[ \t\r]|\Z)[ \t]*+""",
    re.VERBOSE,
)
_PROPERTIES = re.compile(rb"(?:[!&]\S*+[ \t]*+)*+(?:#.*|\r)?\Z")
_ANCHOR = re.compile(rb"(?:^|[ \t])&([^\s\[\]{},]+)")
_COMMENT = re.compile(rb"(?:^|[ \t])(#.*)")
_STANDALONE_INDICATOR = re.compile(rb"(?<![^ \t])[-?:](?=[ \t])")

_CONFLICT_MARK = re.compile(rb"(?:<{7}|>{7}|\|{7})(?: |\Z)|={7}\r?\Z")

_MOST_LINES = 30_000  # the grammar counts lines in 16 bits
_SAFE_LEVELS = 200  # it crashes the process at about 255
_RECOVERY_LEVELS = 100
_EFFORT = 24
_EFFORT_OF_A_LINE = 40  # in bytes: what a look at a line costs, however short


def read(text: str) -> ParsedConfig:
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.source = image(text)
        # Changed in place, never in length: a dash that is read as white space, a conflict mark.
        self.lines = self.source.split(b"\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.gathered = Gathered()
        self.builder = YamlBuilder(text, self.gathered)
        self.budget = _EFFORT * len(text) + 10_000
        self.allowance = Allowance(len(text))

    def read(self) -> ParsedConfig:
        self._blank_conflict_marks()
        entries: list[Entry] = []
        for number, (first, last) in enumerate(self._documents()):
            self.builder = YamlBuilder(self.text, self.gathered)
            root = self._document(first, last)
            if root is not None:
                entries += entries_of(root, self.gathered, document=number)
        return ParsedConfig(
            "yaml",
            tuple(entries),
            tuple(sorted(self.gathered.comments, key=lambda comment: comment.span)),
            tuple(sorted(self.gathered.problems, key=lambda problem: problem.span)),
        )

    def _blank_conflict_marks(self) -> None:
        """Both sides of an unfinished merge are read; the marks between them are not YAML."""
        if b"<<<<<<<" not in self.source:
            return
        for index, line in enumerate(self.lines):
            if _CONFLICT_MARK.match(line):
                self._problem(index, index + 1, "a merge conflict is not resolved here; both sides are read")
                self.lines[index] = b" " * len(line)

    def _documents(self) -> list[tuple[int, int]]:
        """Line ranges. Comments and directives before ``---`` belong to the document that it starts."""
        if b"\n---" not in self.source and b"\n..." not in self.source:
            return [(0, len(self.lines))]
        documents = []
        first = 0
        has_content = False  # or a marker of its own
        for index, line in enumerate(self.lines):
            if line.startswith((b"---", b"...")) and _MARKER.match(line):
                starts = line.startswith(b"---")
                if has_content:
                    documents.append((first, index))
                    first = index if starts else index + 1
                elif not starts:
                    self._read_comments(first, index)
                    first = index + 1
                has_content = starts
            elif not has_content and not line.startswith(b"%") and not _NO_CONTENT.match(line):
                has_content = True
        documents.append((first, len(self.lines)))
        return documents

    def _document(self, first: int, last: int) -> Node | None:
        tree = self._tree(first, last)
        if tree is not None:
            return self.builder.build(tree, self.starts[first])
        for index in range(first, last):
            line = self.lines[index]
            if line.startswith(b"---") and _MARKER.match(line):
                self._read_comments(first, index)
                self.lines[index] = b"   " + line[3:]
                return self._split(index, last, 0)
            if not line.startswith(b"%") and not _NO_CONTENT.match(line):
                break
        return self._split(first, last, 0)

    def _tree(self, first: int, last: int) -> tree_sitter.Tree | None:
        """The syntax tree of some lines, or None if it would have errors or must not be built."""
        lines = self.lines[first:last]
        if len(lines) > _MOST_LINES or _may_crash(lines):
            return None
        # A line ends in its line feed, except the last of the text: offsets must not leave the text.
        return self._tree_of(b"\n".join(lines) + (b"\n" if last < len(self.lines) else b""))

    def _tree_of(self, source: bytes) -> tree_sitter.Tree | None:
        if not self._spend(len(source)):
            return None
        return clean_tree("yaml", source, self.allowance)

    def _spend(self, effort: int) -> bool:
        self.budget -= effort
        return self.budget >= 0

    def _block(self, first: int, last: int, depth: int) -> Node | None:
        tree = self._tree(first, last)
        if tree is not None:
            return self.builder.build(tree, self.starts[first])
        return self._split(first, last, depth)

    def _split(self, first: int, last: int, depth: int) -> Node | None:
        """Lines that cannot be read together: read the parts."""
        start, end = first, last
        while first < last and _NO_CONTENT.match(self.lines[first]):
            first += 1
        while first < last and _NO_CONTENT.match(self.lines[last - 1]):
            last -= 1
        self._read_comments(start, first)
        self._read_comments(last, end)
        if first == last:
            return None
        if depth > _RECOVERY_LEVELS or self.budget < 0:
            self._unread(first, last, "too broken or too deep to be read")
            return None
        items = self._items(first, last)
        if len(items) == 1:
            return self._item(first, last, depth)
        return self._combined([self._block(start, end, depth + 1) for start, end in items])

    def _items(self, first: int, last: int) -> list[tuple[int, int]]:
        """Line ranges of the pairs or list items that stand at the indentation of the first line, or left of it."""
        indent = _indent(self.lines[first])
        starts = [first]
        listed = False  # a list may stand at the indentation of its key
        index = first
        while index < last:
            line = self.lines[index]
            at = _indent(line)
            if at <= indent and not _NO_CONTENT.match(line):
                dash = _DASH.match(line) is not None
                continues = line[at : at + 1] in (b"]", b"}", b",") or (dash and not listed and at == indent)
                if index > first and not continues:
                    starts.append(index)
                    if at < indent:
                        self._problem(index, index + 1, "indented less than what stands before it")
                    indent = at
                if index == starts[-1]:
                    listed = dash
                    index = self._end_of_flow(index, last)
            index += 1
        return list(zip(starts, [*starts[1:], last], strict=True))

    def _end_of_flow(self, index: int, last: int) -> int:
        """The line on which brackets opened on line `index` are closed; `index` if none are, or never."""
        line = _COMMENT.sub(b"", self.lines[index])
        if not line.rstrip().endswith((b"[", b"{", b",")):
            return index
        closers = len(yaml_flow.unclosed(line))
        for end in range(index + 1, last):
            if closers <= 0 or not self._spend(len(self.lines[end]) + _EFFORT_OF_A_LINE):
                break
            opened = self.lines[end].count(b"[") + self.lines[end].count(b"{")
            closers += opened - self.lines[end].count(b"]") - self.lines[end].count(b"}")
            if closers <= 0:
                return end
        return index

    def _item(self, first: int, last: int, depth: int) -> Node | None:
        """One pair or list item that cannot be read whole."""
        line = self.lines[first]
        dash = _DASH.match(line)
        if dash:
            return self._list_item(first, last, dash.end() - 1, depth)
        key = _KEY.match(line)
        value = line[key.end() :] if key else line.strip()
        if value.startswith((b"[", b"{")):
            node = self._flow(first, last)
            if node is not None:
                return node
        if key is None:
            self._unread(first, last, _why(line))
            return None
        if last - first > 1:
            if _PROPERTIES.match(value):
                return self._header_and_body(first, last, key, depth)
            if value.startswith((b"|", b">")):
                end = min(self.starts[last], len(self.text))
                scalar = self.builder.block_scalar(self.starts[first] + key.end(), end, _indent(line))
                return self._mapping(first, key, scalar)
            head = self._tree(first, first + 1)
            if head is not None:
                self._unread(first + 1, last, "not read: the line above has a value of its own")
                return self.builder.build(head, self.starts[first])
        self._unread(first, last, _why(line))
        return self._broken_pair(first, key)

    def _list_item(self, first: int, last: int, dash: int, depth: int) -> Node:
        line = self.lines[first]
        self.lines[first] = line[:dash] + b" " + line[dash + 1 :]
        item = self._block(first, last, depth + 1)
        start = self.starts[first] + dash
        if item is None:
            end = self.starts[first] + len(line.rstrip())
            item = ScalarNode(Special.UNKNOWN, Span(min(start + 2, end), end))
        return ListNode(Span(start, max(start + 1, item.span.end)), [item])

    def _header_and_body(self, first: int, last: int, key: re.Match[bytes], depth: int) -> Node:
        head = self._tree(first, first + 1)
        node = self.builder.build(head, self.starts[first]) if head is not None else None
        if not isinstance(node, MappingNode) or len(node.pairs) != 1:
            node = self._broken_pair(first, key)
        body = self._block(first + 1, last, depth + 1)
        pair = node.pairs[0]
        if body is None:
            pair.value = ScalarNode(Special.UNKNOWN, pair.value.span)
            return node
        if isinstance(pair.value, ScalarNode) and not isinstance(body, AliasNode):
            body.tag = pair.value.tag or body.tag
        pair.value = body
        node.span = Span(node.span.start, body.span.end)
        anchor = _ANCHOR.search(self.lines[first], key.end() - 1)
        if anchor:
            start = self.starts[first]
            self.builder.anchors[self.text[start + anchor.start(1) : start + anchor.end(1)]] = body
        return node

    def _flow(self, first: int, last: int) -> Node | None:
        """A pair or document whose value is in brackets, mended: line ends blanked, lost brackets closed."""
        base = self.starts[first]
        source, comments = yaml_flow.joined(self.lines[first:last])
        source = source.rstrip()
        closers = yaml_flow.unclosed(source)
        if len(closers) > _SAFE_LEVELS or _may_crash([source]):
            return None
        tree = self._tree_of(source + b"".join(closers))
        if tree is None and closers and b"," in source:  # without what is being typed
            tree = self._tree_of(source[: source.rindex(b",")] + b"".join(closers))
        if tree is None:
            return None
        for start, end in comments:
            self.builder.comment(base + start, base + end)
        node = self.builder.build(tree, base)
        if closers and node is not None:
            end = base + len(source)
            self.gathered.problem(f"`{closers[-1].decode()}` is missing", Span(base + _indent(source), end))
            cut(node, end)
        return node

    def _combined(self, nodes: list[Node | None]) -> Node | None:
        """The mapping or list whose parts were read apart. What is neither has no value yet, or no key."""
        whole: MappingNode | ListNode | None = None
        for node in nodes:
            if isinstance(node, ScalarNode | AliasNode):
                written = node.span.of(self.text)
                hint = "put a space after the colon" if ":" in written else f"write `{shown(written)}: value`"
                self.gathered.problem(f"`{shown(written)}` is no `key: value`: {hint}", node.span)
            elif whole is None:
                whole = node
            elif isinstance(whole, MappingNode) and isinstance(node, MappingNode):
                whole.pairs += node.pairs
                whole.has_merge = whole.has_merge or node.has_merge
                whole.span = Span(whole.span.start, node.span.end)
            elif isinstance(whole, ListNode) and isinstance(node, ListNode):
                whole.items += node.items
                whole.span = Span(whole.span.start, node.span.end)
            elif node is not None:
                self.gathered.problem("a list and `key: value` pairs stand side by side; not read", node.span)
        return whole

    def _broken_pair(self, line: int, key: re.Match[bytes]) -> MappingNode:
        end = self.starts[line] + max(key.end(), len(self.lines[line].rstrip()))
        return self._mapping(line, key, ScalarNode(Special.UNKNOWN, Span(self.starts[line] + key.end(), end)))

    def _mapping(self, line: int, key: re.Match[bytes], value: Node) -> MappingNode:
        place = Span(self.starts[line] + key.start(1), self.starts[line] + key.end(1))
        name = place.of(self.text)
        if name[:1] in {'"', "'"}:
            decoded = quoted_value(name)
            name = decoded if isinstance(decoded, str) else name[1:-1]
        return MappingNode(Span(place.start, value.span.end), [Pair(name, place, value)])

    def _unread(self, first: int, last: int, message: str) -> None:
        """Some lines are given up; their comments are kept."""
        self._problem(first, last, message)
        self._read_comments(first, last)

    def _problem(self, first: int, last: int, message: str) -> None:
        while first < last - 1 and _NO_CONTENT.match(self.lines[first]):
            first += 1
        start = self.starts[first] + _indent(self.lines[first])
        end = self.starts[last - 1] + len(self.lines[last - 1].rstrip())
        self.gathered.problem(message, Span(min(start, end), end))

    def _read_comments(self, first: int, last: int) -> None:
        for index in range(first, last):
            match = _COMMENT.search(self.lines[index])
            if match:
                start = self.starts[index] + match.start(1)
                self.builder.comment(start, self.starts[index] + len(self.lines[index].rstrip()))


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" "))


def _may_crash(lines: list[bytes]) -> bool:
    """True where the grammar's stack of indentations could grow too high: its levels stand at growing columns."""
    if max(map(len, lines), default=0) < _SAFE_LEVELS:
        return False
    columns: list[int] = []
    for line in lines:
        column = len(line) - len(line.lstrip(b" \t"))
        if column == len(line):
            continue
        while columns and columns[-1] >= column:
            columns.pop()
        columns.append(column)
        levels = len(columns)
        if len(line) > _SAFE_LEVELS:
            levels += 2 * len(_STANDALONE_INDICATOR.findall(line))
        if levels > _SAFE_LEVELS:
            return True
    return False


def _why(line: bytes) -> str:
    """Why a line cannot be read, and what to do."""
    content = line.strip(b" ")
    key = _KEY.match(line)
    value = line[key.end() :].strip() if key else content.strip()
    if content.startswith(b"\t"):
        return "indented with a tab: use spaces"
    if value[:1] in {b"@", b"`", b"%"}:
        return f"a value cannot start with `{value[:1].decode()}`: put it in quotes"
    if value[:1] in {b"[", b"{"} and yaml_flow.unclosed(value):
        return f"`{yaml_flow.unclosed(value)[-1].decode()}` is missing"
    if value[:1] in {b'"', b"'"}:
        quote = value[:1].decode()
        return f"the text does not end at its closing `{quote}`, or has none"
    if key and re.search(rb":(?=[ \t]|\Z)", value):
        return "a second `: ` on the line: put the value in quotes"
    return "cannot be read as YAML; what stands around it is"
