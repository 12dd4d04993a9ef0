"""From a syntax tree of YAML, free of errors, to nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import tree_sitter

from tried.draft.entries import Comment, Special
from tried.draft.syntax import yaml_scalars
from tried.draft.syntax.nodes import MERGE_KEY, AliasNode, Gathered, ListNode, MappingNode, Node, Pair, ScalarNode
from tried.text import Span

_FIRST_LINE = re.compile(r"[^\r\n]*")
_BLANK_LINES = re.compile(r"(?:[ \t]*+(?:\r\n|\n|\r))*+")
_PUNCTUATION = frozenset("[]{},-?")
_COLLECTIONS = frozenset({"block_mapping", "flow_mapping", "block_sequence", "flow_sequence"})
_HOLDERS = frozenset(
    {"stream", "document", "block_node", "flow_node", "block_mapping_pair", "flow_pair", "block_sequence_item"}
)


@dataclass(slots=True)
class _Open:
    """A syntax node whose children are being read. `content` is its node, or value, so far."""

    kind: str
    start: int
    end: int
    content: Node | None = None
    tag: Span | None = None
    anchor: str | None = None
    mapping: MappingNode | None = None
    items: ListNode | None = None
    key: Node | None = None
    colon: int = -1


@dataclass(slots=True)
class YamlBuilder:
    """Builds the nodes of one document; an anchor holds in all trees that are read after it.

    `text` is the whole text; a tree may come from a part of it.
    """

    text: str
    gathered: Gathered
    anchors: dict[str, Node] = field(default_factory=dict)

    def build(self, tree: tree_sitter.Tree, base: int) -> Node | None:
        """The root of an error-free tree of the text from offset `base` on; None if it holds nothing but comments."""
        cursor = tree.walk()
        root = _Open("root", base, base)
        stack = [root]
        while True:
            syntax = cursor.node
            assert syntax is not None
            if self._enter(syntax, syntax.type, base, stack):
                if cursor.goto_first_child():
                    continue
                self._leave(stack)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return root.content
                self._leave(stack)

    def _enter(self, syntax: tree_sitter.Node, kind: str, base: int, stack: list[_Open]) -> bool:
        """Read a leaf into what is open, or open something: True if its children are to be read."""
        top = stack[-1]
        if kind == "block_mapping_pair":
            if top.mapping is not None and self._simple_pair(syntax, base, top.mapping):
                return False
        elif kind == "flow_node":
            scalar = self._bare_scalar(syntax, base)
            if scalar is not None:
                self._give(top, scalar)
                return False
        elif kind == ":":
            top.key, top.content, top.colon = top.content, None, base + syntax.start_byte
            return False
        elif kind in _PUNCTUATION:
            return False
        start, end = base + syntax.start_byte, base + syntax.end_byte
        if kind in _HOLDERS:
            stack.append(_Open(kind, start, end))
            return True
        if kind in _COLLECTIONS:
            opened = _Open(kind, start, end)
            if kind.endswith("mapping"):
                opened.mapping = MappingNode(Span(start, end))
            else:
                opened.items = ListNode(Span(start, end))
            stack.append(opened)
            return True
        if kind == "comment":
            self.comment(start, end)
        elif kind == "block_scalar":
            top.content = self._block_scalar(start, end, stack)
        elif kind == "tag":
            top.tag = Span(start, end)
        elif kind == "anchor":
            top.anchor = self.text[start + 1 : end]
        elif kind == "alias":
            top.content = self._alias(Span(start, end))
        else:
            top.content = self._scalar(kind, start, end) or top.content
        return False

    def _simple_pair(self, syntax: tree_sitter.Node, base: int, mapping: MappingNode) -> bool:
        """The short way for what most lines are: ``key: scalar``."""
        if syntax.child_count != 3:
            return False
        key, _, value = syntax.children
        if key.type != "flow_node" or key.child_count != 1 or value.type != "flow_node":
            return False
        scalar = self._bare_scalar(value, base)
        if scalar is None:
            return False
        place = Span(base + key.start_byte, base + key.end_byte)
        written = self.text[place.start : place.end]
        if written[0] in "\"'*":
            return False
        mapping.has_merge = mapping.has_merge or written == MERGE_KEY
        mapping.pairs.append(Pair(written, place, scalar))
        return True

    def _bare_scalar(self, syntax: tree_sitter.Node, base: int) -> ScalarNode | None:
        """The scalar that a flow node holds, if it has neither tag nor anchor."""
        only = syntax.child(0)
        if only is None or syntax.child_count != 1:
            return None
        return self._scalar(only.type, base + only.start_byte, base + only.end_byte)

    def _scalar(self, kind: str, start: int, end: int) -> ScalarNode | None:
        if kind == "plain_scalar":
            return ScalarNode(yaml_scalars.plain_value(self.text[start:end]), Span(start, end))
        if kind in {"double_quote_scalar", "single_quote_scalar"}:
            return ScalarNode(yaml_scalars.quoted_value(self.text[start:end]), Span(start, end))
        return None

    def _give(self, parent: _Open, node: Node) -> None:
        """Put a finished node where it belongs."""
        if parent.kind == "flow_sequence" and parent.items is not None:
            parent.items.items.append(node)
        elif parent.kind == "flow_mapping" and parent.mapping is not None:
            self._add_pair(parent.mapping, node, _null(node.span.end))
        else:
            parent.content = node

    def _leave(self, stack: list[_Open]) -> None:
        done, parent = stack.pop(), stack[-1]
        kind = done.kind
        if kind in {"block_mapping_pair", "flow_pair"}:
            if parent.mapping is not None:
                self._close_pair(done, parent.mapping)
            elif parent.items is not None:  # [a: 1] is a list of a mapping with one key
                mapping = MappingNode(Span(done.start, done.end))
                self._close_pair(done, mapping)
                parent.items.items.append(mapping)
        elif kind in {"flow_node", "block_node"}:
            self._give(parent, self._finished(done))
        elif kind == "block_sequence_item":
            if parent.items is not None:
                parent.items.items.append(done.content or self._nothing_after(done.start + 1))
        elif done.mapping is not None:
            parent.content = _ended(done.mapping) if kind == "block_mapping" else _flow(done.mapping)
        elif done.items is not None:
            parent.content = _ended(done.items) if kind == "block_sequence" else done.items
        elif done.content is not None:
            parent.content = done.content

    def _finished(self, done: _Open) -> Node:
        """A node with its tag and anchor."""
        node = done.content
        if node is None:
            place = done.tag or _empty(done.end)
            node = ScalarNode(None, place)
        if done.tag is not None:
            node = self._with_tag(node, done.tag)
        if done.anchor is not None:
            self.anchors[done.anchor] = node
        return node

    def _with_tag(self, node: Node, tag_place: Span) -> Node:
        tag = tag_place.of(self.text)
        if isinstance(node, ScalarNode):
            return yaml_scalars.tagged(tag, node, node.span.of(self.text))
        if isinstance(node, AliasNode):
            return node
        node.tag = yaml_scalars.custom_tag(tag)
        if node.tag is not None and yaml_scalars.is_reference_tag(node.tag):
            return ScalarNode(Special.UNKNOWN, node.span, node.tag)
        return node

    def _close_pair(self, done: _Open, mapping: MappingNode) -> None:
        if done.colon < 0:  # `? key` alone
            self._add_pair(mapping, done.content or self._nothing_after(done.start + 1), _null(done.end))
            return
        key = done.key or ScalarNode(None, _empty(done.colon))
        self._add_pair(mapping, key, done.content or self._nothing_after(done.colon + 1))

    def _add_pair(self, mapping: MappingNode, key: Node, value: Node) -> None:
        written = key.span.of(self.text)
        name = written
        if written[:1] in {'"', "'"}:
            decoded = yaml_scalars.quoted_value(written)
            name = decoded if isinstance(decoded, str) else written[1:-1]
        elif isinstance(key, AliasNode) and isinstance(key.target, ScalarNode):
            name = key.target.span.of(self.text)
        mapping.has_merge = mapping.has_merge or written == MERGE_KEY
        mapping.pairs.append(Pair(name, key.span, value))

    def _nothing_after(self, offset: int) -> ScalarNode:
        """The null of an empty value, where it would stand: after one space, if there is one."""
        return _null(offset + (self.text[offset : offset + 1] == " "))

    def _alias(self, place: Span) -> Node:
        name = place.of(self.text)[1:]
        target = self.anchors.get(name)
        if target is None:
            self.gathered.problem(f"alias `*{name}`: no anchor `&{name}` stands before it", place)
            return ScalarNode(Special.UNKNOWN, place)
        return AliasNode(target, place)

    def _block_scalar(self, start: int, end: int, stack: list[_Open]) -> ScalarNode:
        holder = next((opened for opened in reversed(stack) if opened.kind in _COLLECTIONS), None)
        return self.block_scalar(start, end, _column(self.text, holder.start) if holder else 0)

    def block_scalar(self, start: int, end: int, parent_indent: int) -> ScalarNode:
        """A block scalar between two offsets, from its ``|`` or ``>`` on."""
        written = self.text[start:end]
        header = _FIRST_LINE.match(written)
        if header is not None and "#" in header[0]:
            self.comment(start + header[0].index("#"), start + header.end())
        kept = _BLANK_LINES.match(self.text, end)  # what `|+` keeps lies outside of the node
        value = yaml_scalars.block_value(written + (kept[0] if kept else ""), parent_indent)
        return ScalarNode(value, Span(start, start + len(written.rstrip())))

    def comment(self, start: int, end: int) -> None:
        """Keep a comment, from its ``#`` on."""
        own_line = not self.text[start - _column(self.text, start) : start].strip()
        written = self.text[start:end].rstrip()
        self.gathered.comments.append(Comment(written.lstrip("#").strip(), Span(start, start + len(written)), own_line))


def _flow(mapping: MappingNode) -> Node:
    """``{{ name }}`` is the mark of a template, not a mapping whose key is a mapping."""
    if len(mapping.pairs) == 1 and str(mapping.pairs[0].key)[:1] == "{":
        return ScalarNode(Special.UNKNOWN, mapping.span)
    return mapping


def _ended(node: MappingNode | ListNode) -> MappingNode | ListNode:
    """Block collections end with their last value; the grammar lets them run on over empty lines."""
    last: Node | None = None
    if isinstance(node, MappingNode):
        last = node.pairs[-1].value if node.pairs else None
    else:
        last = node.items[-1] if node.items else None
    if last is not None:
        node.span = Span(node.span.start, last.span.end)
    return node


def _column(text: str, offset: int) -> int:
    line_start = text.rfind("\n", 0, offset) + 1
    return offset - max(line_start, text.rfind("\r", line_start, offset) + 1)


def _empty(offset: int) -> Span:
    return Span(offset, offset)


def _null(offset: int) -> ScalarNode:
    return ScalarNode(None, _empty(offset))
