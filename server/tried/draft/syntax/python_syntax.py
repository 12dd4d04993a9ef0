"""Python scripts that carry their settings: constants and class fields at module level, and options with defaults.

Read from tree-sitter's tree, never run. Functions, loops and branches say what may happen, not what is set: only the
body of ``if __name__ == "__main__"`` counts as module level. Comments inside them are not collected either.

Invariant: only error-free trees become nodes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable

import tree_sitter

from tried.draft.entries import Comment, ParsedConfig, Problem, Special
from tried.draft.syntax import python_recovery
from tried.draft.syntax.grammar import Allowance, clean_tree, image
from tried.draft.syntax.mending import TOO_BROKEN, clipped, cut
from tried.draft.syntax.nodes import Gathered, ListNode, MappingNode, Node, Pair, ScalarNode, entries_of, shown
from tried.draft.syntax.python_options import declarations, declares_options, options
from tried.draft.syntax.python_values import PythonValues, string_text
from tried.text import Span

_MAX_LEVELS = 20  # of classes within classes
_EFFORT = 24
_NAME = rb"[^\W\d]\w*"
_ASSIGNMENT = re.compile(rb"[ \t]*+(" + _NAME + rb")[ \t]*+(?::[^=\n]*+)?=(?!=)[ \t]*+")
_CLASS = re.compile(rb"[ \t]*+class[ \t]++(" + _NAME + rb")[^\n]*:[ \t]*+(?:#[^\n]*+)?\r?\n")
_FIRST_MEMBER = re.compile(rb"^[ \t]*+(?=[^\s#])", re.MULTILINE)
_DUNDER = re.compile(r"__\w+__")


def read(text: str) -> ParsedConfig:
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.source = image(text)
        self.gathered = Gathered()
        self.root = MappingNode(Span(0, len(text)))
        self.members: dict[tuple[int, str], Pair] = {}
        self.at_start = True  # of the module, where its docstring may stand
        self.has_options = declares_options(self.source)
        self.is_mending = False
        self.budget = _EFFORT * len(text) + 10_000
        self.allowance = Allowance()

    def read(self) -> ParsedConfig:
        whole = [(0, len(self.source))]
        small = self.allowance.affords("python", len(self.source))
        for group in whole if small else python_recovery.groups(self.source):
            if not self._read_group(*group):
                break
        entries = entries_of(self.root, self.gathered, overrides_are_normal=True)
        entries.sort(key=lambda entry: entry.key or entry.span)
        comments = {comment.span: comment for comment in self.gathered.comments}
        problems = sorted(set(self.gathered.problems), key=lambda problem: (problem.span, problem.message))
        return ParsedConfig(
            "python", tuple(entries), tuple(comments[span] for span in sorted(comments)), tuple(problems)
        )

    def _read_group(self, start: int, end: int) -> bool:
        """Statements of the module, together if they can be. False if the rest of the text is given up."""
        tree = clean_tree("python", self.source[start:end], self.allowance)
        if tree is not None:
            self._read_tree(tree, start, self.root, b"", 0)
            return True
        for piece in python_recovery.pieces(self.source, start, end, 0):
            if self.allowance.is_spent:
                self.gathered.problem(TOO_BROKEN, Span(piece[0], len(self.text)))
                return False
            self._read_piece(*piece, self.root, b"", 0)
        return True

    def _values(self, base: int) -> PythonValues:
        return PythonValues(self.text, self.gathered, base)

    def _read_options(self, tree: tree_sitter.Tree, base: int) -> None:
        self.root.pairs += options(tree, self._values(base))

    def _read_scattered_options(self, start: int, end: int) -> None:
        """Options declared in a function that is broken elsewhere."""
        for call_start, call_end in declarations(self.source, start, end):
            tree = clean_tree("python", self.source[call_start:call_end], self.allowance)
            if tree is not None:
                self._read_options(tree, call_start)

    def _read_statements(
        self, statements: Iterable[tree_sitter.Node], into: MappingNode, values: PythonValues, level: int
    ) -> None:
        for statement in statements:
            kind = statement.type
            if kind == "comment":
                values.comment(statement)
                continue
            if kind == "expression_statement":
                for inner in statement.named_children:
                    self._read_expression(inner, into, values)
            elif kind == "decorated_definition":
                definition = statement.child_by_field_name("definition")
                if definition is not None and definition.type == "class_definition":
                    self._read_class(definition, into, values, level)
            elif kind == "class_definition":
                self._read_class(statement, into, values, level)
            elif kind == "if_statement" and level < _MAX_LEVELS:
                condition = statement.child_by_field_name("condition")
                body = statement.child_by_field_name("consequence")
                if condition is not None and body is not None and "__name__" in values.written(condition):
                    self._read_statements(body.children, into, values, level + 1)
            self.at_start = False

    def _read_expression(self, syntax: tree_sitter.Node, into: MappingNode, values: PythonValues) -> None:
        if syntax.type == "assignment":
            self._assign(syntax, into, values)
        elif syntax.type == "augmented_assignment":
            left, right = syntax.child_by_field_name("left"), syntax.child_by_field_name("right")
            if left is not None and right is not None:
                self._bind(left, ScalarNode(Special.UNKNOWN, values.span(right)), "", into, values)
        elif syntax.type == "string" and self.at_start and into is self.root:
            text = string_text(values.written(syntax))
            if text is not None:
                self.gathered.comments.append(Comment(inspect.cleandoc(text), values.span(syntax), own_line=True))

    def _read_class(self, syntax: tree_sitter.Node, into: MappingNode, values: PythonValues, level: int) -> None:
        name, body = syntax.child_by_field_name("name"), syntax.child_by_field_name("body")
        if name is None or body is None or level >= _MAX_LEVELS:
            return
        self.at_start = False
        fields = MappingNode(values.span(body))
        for child in syntax.children:
            if child.type == "comment":
                values.comment(child)
        self._read_statements(body.children, fields, values, level + 1)
        if fields.pairs:
            self._put(into, values.written(name), values.span(name), fields)

    def _assign(self, syntax: tree_sitter.Node, into: MappingNode, values: PythonValues) -> None:
        targets = []
        right: tree_sitter.Node | None = syntax
        while right is not None and right.type == "assignment":
            left, sign = right.child_by_field_name("left"), _child(right, "=")
            right = right.child_by_field_name("right")
            if left is None or sign is None or right is None:  # an annotation alone
                return
            targets.append(left)
            gap = self.source[values.base + sign.end_byte : values.base + right.start_byte]
            if b"\n" in gap and b"\\" not in gap:
                # The grammar reads over line ends; Python does not: `x =` is half typed, what follows is its own.
                self._without_value(targets, sign, into, values)
                targets = []
                if right.type != "assignment":
                    return
        if right is None:
            return
        node = values.node(right)
        for target in targets:
            self._bind(target, node, values.written(right), into, values)

    def _without_value(
        self, targets: list[tree_sitter.Node], sign: tree_sitter.Node, into: MappingNode, values: PythonValues
    ) -> None:
        end = values.base + sign.end_byte
        for target in targets:
            self.gathered.problem(f"`{shown(values.written(target))}` has no value yet", values.span(target))
            self._bind(target, ScalarNode(Special.UNKNOWN, Span(end, end)), "", into, values)

    def _bind(
        self, target: tree_sitter.Node, node: Node, written: str, into: MappingNode, values: PythonValues
    ) -> None:
        """Give a target of an assignment its value; `written` is the whole right side."""
        if target.type in {"pattern_list", "tuple_pattern", "list_pattern"}:
            names = [child for child in target.named_children if child.type != "comment"]
            items: list[Node] = node.items if isinstance(node, ListNode) else []
            if len(items) != len(names) or any(name.type == "list_splat_pattern" for name in names):
                items = [ScalarNode(Special.UNKNOWN, node.span)] * len(names)
            for name, item in zip(names, items, strict=True):
                if name.type in {"identifier", "attribute", "subscript"}:
                    self._bind(name, item, written, into, values)
            return
        parts = _parts(target, values)
        if not parts or (len(parts) > 1 and (into is not self.root or self.is_mending)):
            return
        for part in parts[:-1]:
            inner = self.members.get((id(into), part[0]))
            if inner is None or not isinstance(inner.value, MappingNode):
                inner = self._put(into, *part, MappingNode(Span(part[1].start, node.span.end)))
            assert isinstance(inner.value, MappingNode)
            into = inner.value
        key, place = parts[-1]
        before = self.members.get((id(into), key))
        # `model = torch.compile(model)` wraps what was constructed: that stays what is known of it.
        wraps = (
            before is not None
            and isinstance(before.value, MappingNode)
            and _is_unknown(node)
            and re.search(rf"(?<![\w.]){re.escape(key)}(?!\w)", written) is not None
        )
        if not wraps and not _DUNDER.fullmatch(key):
            self._put(into, key, place, node)

    def _put(self, into: MappingNode, name: str, place: Span, node: Node) -> Pair:
        pair = Pair(name, place, node)
        into.pairs.append(pair)
        self.members[id(into), name] = pair
        if isinstance(node, MappingNode):
            for member in node.pairs:
                if isinstance(member.key, str):
                    self.members[id(node), member.key] = member
        return pair

    def _read_piece(self, start: int, end: int, into: MappingNode, prefix: bytes, level: int) -> None:
        """A statement of a broken file, read apart; with a prefix that makes its indentation right."""
        piece = self.source[start:end]
        self.budget -= len(piece)
        tree = clean_tree("python", prefix + piece, self.allowance)
        if tree is not None:
            self._read_tree(tree, start - len(prefix), into, prefix, level)
            return
        if self.has_options:
            self._read_scattered_options(start, end)
        header = _CLASS.search(piece)
        if header is not None and piece[: header.start()].strip()[:1] in {b"", b"@"}:
            self._read_broken_class(start, end, header, into, level)
            return
        assignment = _ASSIGNMENT.match(piece)
        if assignment is None:
            return
        self.budget -= 16 * len(piece)
        mended = python_recovery.mend(piece, self.allowance, prefix) if self.budget > 0 else None
        if mended is None:
            self._read_unreadable(start, piece, assignment, into)
            return
        known, said = len(into.pairs), len(self.gathered.problems)
        self.is_mending = True
        self._read_tree(mended.tree, start - len(prefix), into, prefix, level)
        self.is_mending = False
        blanked = [span.shifted(start) for span in mended.blanked]
        cut(MappingNode(Span(start, end), into.pairs[known:]), start + mended.end, blanked)
        self.gathered.problems[said:] = [
            Problem(problem.message, clipped(problem.span, start + mended.end))
            for problem in self.gathered.problems[said:]
        ]
        for span in blanked or [Span(start, start + mended.end)]:
            self.gathered.problem("not complete, or cannot be read as Python; what stands around it is", span)

    def _read_tree(self, tree: tree_sitter.Tree, base: int, into: MappingNode, prefix: bytes, level: int) -> None:
        values = self._values(base)
        statements = tree.root_node.children
        if self.has_options and not self.is_mending:
            self._read_options(tree, base)
        if prefix:
            body = statements[0].child_by_field_name("body") if statements else None
            self._read_statements([child for child in statements if child.type == "comment"], into, values, level)
            statements = body.children if body is not None else []
        self._read_statements(statements, into, values, level)

    def _read_broken_class(self, start: int, end: int, header: re.Match[bytes], into: MappingNode, level: int) -> None:
        body = start + header.end()
        first = _FIRST_MEMBER.search(self.source, body, end)
        if first is None or level >= _MAX_LEVELS or self.budget <= 0:
            return
        fields = MappingNode(Span(first.end(), max(first.end(), start + len(self.source[start:end].rstrip()))))
        for member_start, member_end in python_recovery.pieces(self.source, body, end, len(first[0])):
            self._read_piece(member_start, member_end, fields, python_recovery.MEMBER_PREFIX, level + 1)
        if fields.pairs:
            place = Span(start + header.start(1), start + header.end(1))
            self._put(into, place.of(self.text), place, fields)

    def _read_unreadable(self, start: int, piece: bytes, assignment: re.Match[bytes], into: MappingNode) -> None:
        """A constant whose value is half typed: its name keeps its place."""
        end = start + len(piece.rstrip())
        value_start = min(start + assignment.end(), end)
        place = Span(start + assignment.start(1), start + assignment.end(1))
        self.gathered.problem(f"the value of `{place.of(self.text)}` cannot be read as Python", Span(place.start, end))
        self._put(into, place.of(self.text), place, ScalarNode(Special.UNKNOWN, Span(value_start, end)))


def _child(syntax: tree_sitter.Node, kind: str) -> tree_sitter.Node | None:
    return next((child for child in syntax.children if child.type == kind), None)


def _is_unknown(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is Special.UNKNOWN


def _parts(target: tree_sitter.Node, values: PythonValues) -> list[tuple[str, Span]]:
    """Names from the outermost to the innermost of ``optimizer.lr`` or ``cfg["optimizer"]["lr"]``; none if computed."""
    parts: list[tuple[str, Span]] = []
    node: tree_sitter.Node | None = target
    while node is not None and node.type != "identifier":
        name = node.child_by_field_name("attribute" if node.type == "attribute" else "subscript")
        if node.type not in {"attribute", "subscript"} or name is None or len(parts) >= _MAX_LEVELS:
            return []
        text = values.written(name)
        if node.type == "subscript":
            literal = string_text(text) if name.type == "string" else None
            if literal is None:
                return []
            text = literal
        parts.append((text, values.span(name)))
        node = node.child_by_field_name("object" if node.type == "attribute" else "value")
    if node is None:
        return []
    return [(values.written(node), values.span(node)), *reversed(parts)]
