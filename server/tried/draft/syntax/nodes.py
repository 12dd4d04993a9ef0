"""The common form of all languages: mappings, lists and scalars with their places, and how they become entries.

Readers build nodes; `entries_of` turns a document's root into entries. Aliases and merge keys are followed here.

Invariant: nothing recurses; nesting deeper than `MAX_DEPTH` is not read, and what aliases stand for is capped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from tried.draft.entries import Comment, Entry, EntryValue, Path, Problem, Scalar, Special
from tried.text import Span

MAX_DEPTH = 200
"""Levels of nesting that are read: no config of a person is deeper, and a path of 10,000 keys helps nobody."""

MAX_ALIASED = 10_000
"""Entries and list items of one file that may come from aliases and merge keys; more is an alias bomb."""

ScalarValue: TypeAlias = Scalar | Literal[Special.UNKNOWN]


@dataclass(slots=True)
class ScalarNode:
    value: ScalarValue
    span: Span
    tag: str | None = None


@dataclass(slots=True)
class ListNode:
    span: Span
    items: list[Node] = field(default_factory=list)
    tag: str | None = None


@dataclass(slots=True)
class Pair:
    """`key` is what stands in the path (an int for a positional argument), `place` its span as written."""

    key: str | int
    place: Span | None
    value: Node


@dataclass(slots=True)
class MappingNode:
    """`merges` are the values of YAML's ``<<`` keys; `pairs` holds them too, with `MERGE_KEY` as their key."""

    span: Span
    pairs: list[Pair] = field(default_factory=list)
    tag: str | None = None
    has_merge: bool = False


@dataclass(slots=True)
class AliasNode:
    """A YAML alias. Its target was complete before it, so targets never form a circle."""

    target: Node
    span: Span


Node: TypeAlias = ScalarNode | ListNode | MappingNode | AliasNode

MERGE_KEY = "<<"


@dataclass(slots=True)
class Gathered:
    """What a reader gathers beside its nodes; `aliased` counts what came from aliases in the whole file."""

    comments: list[Comment] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    aliased: int = 0

    def problem(self, message: str, span: Span) -> None:
        self.problems.append(Problem(message, span))


@dataclass(slots=True)
class _Use:
    """The place of the alias or merge key from which an entry comes."""

    key: Span | None
    span: Span


@dataclass(slots=True)
class _Frame:
    node: Node
    path: Path
    key: Span | None
    use: _Use | None


class _Emitter:
    def __init__(self, gathered: Gathered, document: int, overrides_are_normal: bool) -> None:
        self.gathered = gathered
        self.document = document
        self.overrides_are_normal = overrides_are_normal
        self.entries: list[Entry] = []
        self.too_deep_said = False

    def run(self, root: Node) -> list[Entry]:
        root = _resolved(root)
        # The root itself is no entry: it has no key and no index.
        stack = [*reversed(list(self._members(_Frame(root, (), None, None), root)))]
        while stack:
            frame = stack.pop()
            node = frame.node
            if isinstance(node, AliasNode):
                if frame.use is None:
                    frame.use = _Use(frame.key or node.span, node.span)
                node = _resolved(node)
            if frame.use is not None and not self._may_add(1, frame.use):
                continue
            value = self._value(node, frame)
            use = frame.use
            if use is None:
                entry = Entry(frame.path, value, frame.key, node.span, node.tag, self.document)
            else:
                key = None if frame.key is None else use.key
                entry = Entry(frame.path, value, key, use.span, node.tag, self.document)
            self.entries.append(entry)
            if value is Special.MAPPING or value is Special.LIST:
                stack.extend(reversed(list(self._members(frame, node))))
        return self.entries

    def _may_add(self, count: int, use: _Use) -> bool:
        before = self.gathered.aliased
        self.gathered.aliased += count
        if self.gathered.aliased <= MAX_ALIASED:
            return True
        if before <= MAX_ALIASED:
            self.gathered.problem(
                f"aliases stand for more than {MAX_ALIASED:,} values; the rest of what they stand for is not read",
                use.span,
            )
        return False

    def _value(self, node: ScalarNode | ListNode | MappingNode, frame: _Frame) -> EntryValue:
        if isinstance(node, ScalarNode):
            return node.value
        too_deep = len(frame.path) >= MAX_DEPTH
        if isinstance(node, MappingNode):
            return self._unread(node) if too_deep else Special.MAPPING
        values: list[Scalar] = []
        unknown = False
        if frame.use is not None and not self._may_add(len(node.items), frame.use):
            return Special.UNKNOWN
        for item in node.items:
            resolved = _resolved(item)
            if not isinstance(resolved, ScalarNode) or resolved.tag is not None:
                return self._unread(node) if too_deep else Special.LIST
            if isinstance(resolved.value, Special):
                unknown = True
            else:
                values.append(resolved.value)
        return Special.UNKNOWN if unknown else tuple(values)

    def _unread(self, node: ListNode | MappingNode) -> EntryValue:
        if not self.too_deep_said:
            self.too_deep_said = True
            self.gathered.problem(too_deep_message(), node.span)
        return Special.UNKNOWN

    def _members(self, frame: _Frame, node: ScalarNode | ListNode | MappingNode) -> Iterator[_Frame]:
        if isinstance(node, ListNode):
            for index, item in enumerate(node.items):
                yield _Frame(item, (*frame.path, index), None, frame.use)
        elif isinstance(node, MappingNode):
            yield from self._pairs(frame, node)

    def _pairs(self, frame: _Frame, node: MappingNode) -> Iterator[_Frame]:
        if not node.has_merge and len({pair.key for pair in node.pairs}) == len(node.pairs):
            for pair in node.pairs:
                yield _Frame(pair.value, (*frame.path, pair.key), pair.place, frame.use)
            return
        last = {pair.key: index for index, pair in enumerate(node.pairs)}
        merged: set[str | int] = set()
        for index, pair in enumerate(node.pairs):
            if node.has_merge and pair.key == MERGE_KEY:
                use = frame.use or _Use(pair.place, pair.value.span)
                for base in _merge_bases(pair.value):
                    if self.gathered.aliased > MAX_ALIASED:
                        break
                    at = use if frame.use else _Use(pair.place, base.span)
                    for inherited in self._inherited(base, at):
                        if inherited.key not in last and inherited.key not in merged:
                            merged.add(inherited.key)
                            yield _Frame(inherited.value, (*frame.path, inherited.key), inherited.place, at)
            elif last[pair.key] == index:
                yield _Frame(pair.value, (*frame.path, pair.key), pair.place, frame.use)
            elif not self.overrides_are_normal and frame.use is None and pair.place is not None:
                self.gathered.problem(f"`{shown(pair.key)}` is set again below; the last one counts", pair.place)

    def _inherited(self, base: Node, use: _Use) -> Iterator[Pair]:
        """The pairs of a merged mapping, its own first, then those that it merges itself."""
        pending: list[Node] = [base]
        while pending:
            node = _resolved(pending.pop())
            if not isinstance(node, MappingNode):
                continue
            # Each pair looked at counts: a chain of merges would otherwise cost its length squared.
            if not self._may_add(1 + len(node.pairs), use):
                return
            last = {pair.key: pair for pair in node.pairs}
            bases: list[Node] = []
            for pair in node.pairs:
                if node.has_merge and pair.key == MERGE_KEY:
                    bases.extend(_merge_bases(pair.value))
                elif last[pair.key] is pair:
                    yield pair
            pending.extend(reversed(bases))


def _resolved(node: Node) -> ScalarNode | ListNode | MappingNode:
    while isinstance(node, AliasNode):
        node = node.target
    return node


def _merge_bases(value: Node) -> list[Node]:
    """What a ``<<`` names: a mapping, an alias, or a list of them, the earlier winning."""
    target = _resolved(value)
    return list(target.items) if isinstance(target, ListNode) else [value]


def entries_of(root: Node, gathered: Gathered, *, document: int = 0, overrides_are_normal: bool = False) -> list[Entry]:
    """Entries of a document in the order of the text; of a key that is set twice only the last.

    `overrides_are_normal`: in a program assigning twice is no mistake, so no problem is reported.
    """
    return _Emitter(gathered, document, overrides_are_normal).run(root)


def too_deep_message() -> str:
    return f"nested more than {MAX_DEPTH} levels deep; what lies deeper is not read"


def shown(what: object) -> str:
    """A key or value for a message: one line, cut where it is long."""
    line = next(iter(str(what).splitlines()), "")
    return line if len(line) <= 60 else line[:59] + "…"
