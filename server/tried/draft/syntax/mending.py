"""After a broken text was mended to be read: what the mending touched is not known."""

from __future__ import annotations

from collections.abc import Sequence

from tried.draft.entries import Special
from tried.draft.syntax.nodes import AliasNode, ListNode, MappingNode, Node, ScalarNode
from tried.text import Span

TOO_BROKEN = "too much of this text is broken: the rest of it is not read"


def cut(root: Node, end: int, blanked: Sequence[Span] = ()) -> None:
    """Bring what brackets of ours close back to `end`, and forget values that went on there or lost a line.

    A list of scalars without its end, or without one of its lines, would be another value than what is meant.
    """
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, MappingNode):
            for pair in node.pairs:
                if pair.place is not None:
                    pair.place = clipped(pair.place, end)
                if _is_touched(pair.value, end, blanked):
                    tag = None if isinstance(pair.value, AliasNode) else pair.value.tag
                    pair.value = ScalarNode(Special.UNKNOWN, pair.value.span, tag)
                pending.append(pair.value)
        elif isinstance(node, ListNode):
            pending += node.items
        node.span = clipped(node.span, end)


def _is_touched(node: Node, end: int, blanked: Sequence[Span]) -> bool:
    if isinstance(node, MappingNode):
        return False
    if isinstance(node, ListNode) and any(isinstance(item, ListNode | MappingNode) for item in node.items):
        return False
    return node.span.end > end or any(node.span.start < line.end and line.start < node.span.end for line in blanked)


def clipped(span: Span, end: int) -> Span:
    """The part of a span before `end`."""
    return span if span.end <= end else Span(min(span.start, end), end)
