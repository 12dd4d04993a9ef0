"""What Python expressions say without being run: literals, constant arithmetic, and the arguments of calls.

Invariant: nothing is executed; the size of every number computed here is bounded.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

import tree_sitter

from tried.draft.entries import Comment, Special
from tried.draft.syntax.nodes import Gathered, ListNode, MappingNode, Node, Pair, ScalarNode, ScalarValue, shown
from tried.draft.syntax.scalars import MAX_INTEGER_BITS, number
from tried.text import Span

_MAX_NESTING = 60  # expressions are read by recursion; no person nests deeper

_ENVIRONMENT = frozenset({"os.environ.get", "os.getenv", "environ.get", "getenv"})
_CONVERSIONS: dict[str, Callable[[str | int | float], ScalarValue]] = {
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
}
_SEQUENCES = frozenset({"tuple", "list", "set", "frozenset"})
_PATHS = frozenset({"Path", "PurePath", "pathlib.Path", "pathlib.PurePath"})
_FIELDS = frozenset({"field", "Field", "ib", "attrib"})  # of dataclasses, pydantic and attrs
_LAZY = frozenset({"L", "LazyCall"})  # detectron2: L(ResNet)(depth=50)
_PARTIAL = frozenset({"partial", "functools.partial"})
_FACTORIES: dict[str, Callable[[Span], Node]] = {
    "list": ListNode,
    "tuple": ListNode,
    "set": ListNode,
    "dict": MappingNode,
}
_ARITHMETIC: dict[str, Callable[[int | float, int | float], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
_DOTTED_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_STRING = re.compile(r"""([a-zA-Z]*)(\"\"\"|'''|"|')(.*)\2""", re.DOTALL)


class PythonValues:
    """Reads expressions of a syntax tree whose offsets start at `base` in the text."""

    def __init__(self, text: str, gathered: Gathered, base: int) -> None:
        self.text = text
        self.gathered = gathered
        self.base = base

    def span(self, syntax: tree_sitter.Node) -> Span:
        return Span(self.base + syntax.start_byte, self.base + syntax.end_byte)

    def written(self, syntax: tree_sitter.Node) -> str:
        return self.text[self.base + syntax.start_byte : self.base + syntax.end_byte]

    def comment(self, syntax: tree_sitter.Node) -> None:
        start, end = self.base + syntax.start_byte, self.base + syntax.end_byte
        written = self.text[start:end].rstrip()
        line_start = self.text.rfind("\n", 0, start) + 1
        line_start = max(line_start, self.text.rfind("\r", line_start, start) + 1)
        own_line = not self.text[line_start:start].strip()
        if start == 0 and written.startswith("#!"):
            return
        self.gathered.comments.append(Comment(written.lstrip("#").strip(), Span(start, start + len(written)), own_line))

    def node(self, syntax: tree_sitter.Node, depth: int = 0) -> Node:
        """The value of an expression; what only running it could tell is UNKNOWN."""
        if depth > _MAX_NESTING and syntax.type == "binary_operator":  # a long sum leans to the left
            return self._unknown(syntax)
        if depth > _MAX_NESTING:
            self.gathered.problem(f"nested more than {_MAX_NESTING} levels deep; not read", self.span(syntax))
            return self._unknown(syntax)
        match syntax.type:
            case "integer" | "float":
                value = number(self.written(syntax))
                return self._unknown(syntax) if value is None else ScalarNode(value, self.span(syntax))
            case "true" | "false" | "none":
                return ScalarNode({"true": True, "false": False}.get(syntax.type), self.span(syntax))
            case "string" | "concatenated_string":
                return self._string(syntax)
            case "list" | "tuple" | "set" | "expression_list":
                return self._list(syntax, depth)
            case "dictionary":
                return self._dictionary(syntax, depth)
            case "parenthesized_expression":
                inner = self._only(syntax)
                return self.node(inner, depth + 1) if inner is not None else self._unknown(syntax)
            case "unary_operator":
                return self._unary(syntax, depth)
            case "binary_operator":
                return self._binary(syntax, depth)
            case "boolean_operator":
                return self._boolean(syntax, depth)
            case "comparison_operator":
                return self._comparison(syntax, depth)
            case "call":
                return self._call(syntax, depth)
        return self._unknown(syntax)

    def _unknown(self, syntax: tree_sitter.Node) -> ScalarNode:
        return ScalarNode(Special.UNKNOWN, self.span(syntax))

    def _members(self, syntax: tree_sitter.Node) -> list[tree_sitter.Node]:
        """The named children, comments put aside."""
        members = []
        for child in syntax.named_children:
            if child.type == "comment":
                self.comment(child)
            else:
                members.append(child)
        return members

    def _only(self, syntax: tree_sitter.Node) -> tree_sitter.Node | None:
        members = self._members(syntax)
        return members[0] if len(members) == 1 else None

    def _string(self, syntax: tree_sitter.Node) -> ScalarNode:
        parts = []
        for part in self._members(syntax) if syntax.type == "concatenated_string" else [syntax]:
            text = string_text(self.written(part))
            if text is None:
                return self._unknown(syntax)
            parts.append(text)
        return ScalarNode("".join(parts), self.span(syntax))

    def _list(self, syntax: tree_sitter.Node, depth: int) -> Node:
        items = []
        for child in self._members(syntax):
            if child.type == "list_splat":
                return self._unknown(syntax)
            items.append(self.node(child, depth + 1))
        return ListNode(self.span(syntax), items)

    def _dictionary(self, syntax: tree_sitter.Node, depth: int) -> MappingNode:
        mapping = MappingNode(self.span(syntax))
        for child in self._members(syntax):
            key = child.child_by_field_name("key") if child.type == "pair" else None
            value = child.child_by_field_name("value") if child.type == "pair" else None
            if key is None or value is None:
                continue
            text = string_text(self.written(key)) if key.type == "string" else None
            name = self.written(key) if text is None else text
            mapping.pairs.append(Pair(name, self.span(key), self.node(value, depth + 1)))
        return mapping

    def _unary(self, syntax: tree_sitter.Node, depth: int) -> Node:
        argument = syntax.child_by_field_name("argument")
        value = _number(self.node(argument, depth + 1)) if argument is not None else None
        sign = self.written(syntax)[:1]
        if value is None or sign not in {"-", "+"}:
            return self._unknown(syntax)
        return ScalarNode(-value if sign == "-" else value, self.span(syntax))

    def _binary(self, syntax: tree_sitter.Node, depth: int) -> Node:
        left, sign, right = (syntax.child_by_field_name(name) for name in ("left", "operator", "right"))
        if left is None or sign is None or right is None:
            return self._unknown(syntax)
        result = calculate(
            self.written(sign), _number(self.node(left, depth + 1)), _number(self.node(right, depth + 1))
        )
        return self._unknown(syntax) if result is None else ScalarNode(result, self.span(syntax))

    def _boolean(self, syntax: tree_sitter.Node, depth: int) -> Node:
        """``os.environ.get("X") or 0.1`` is a default too."""
        left, right = syntax.child_by_field_name("left"), syntax.child_by_field_name("right")
        if left is None or right is None or " or " not in f" {self.written(syntax)} ".replace("\n", " "):
            return self._unknown(syntax)
        function = left.child_by_field_name("function") if left.type == "call" else None
        if function is None or self.written(function) not in _ENVIRONMENT or len(self.arguments(left)[0]) != 1:
            return self._unknown(syntax)
        return self.node(right, depth + 1)

    def _comparison(self, syntax: tree_sitter.Node, depth: int) -> Node:
        """``os.environ.get("X", "0") == "1"`` is how a boolean is read from the environment."""
        if syntax.child_count != 3 or syntax.children[1].type not in {"==", "!="}:
            return self._unknown(syntax)
        left, sign, right = syntax.children
        values = [self.node(side, depth + 1) for side in (left, right)]
        first, second = values
        if not isinstance(first, ScalarNode) or not isinstance(second, ScalarNode):
            return self._unknown(syntax)
        if first.value is Special.UNKNOWN or second.value is Special.UNKNOWN:
            return self._unknown(syntax)
        return ScalarNode((first.value == second.value) == (sign.type == "=="), first.span)

    def arguments(self, call: tree_sitter.Node) -> tuple[list[tree_sitter.Node], dict[str, tree_sitter.Node]]:
        """Positional arguments, and keyword arguments by name."""
        arguments = call.child_by_field_name("arguments")
        positional: list[tree_sitter.Node] = []
        keywords: dict[str, tree_sitter.Node] = {}
        for child in self._members(arguments) if arguments is not None else []:
            name = child.child_by_field_name("name") if child.type == "keyword_argument" else None
            if name is not None:
                keywords[self.written(name)] = child
            elif child.type not in {"dictionary_splat", "list_splat"}:
                positional.append(child)
        return positional, keywords

    def _call(self, syntax: tree_sitter.Node, depth: int) -> Node:
        function = syntax.child_by_field_name("function")
        if function is None:
            return self._unknown(syntax)
        positional, keywords = self.arguments(syntax)
        name = self.written(function)
        if name in _ENVIRONMENT:
            default = positional[1] if len(positional) > 1 else self.keyword(keywords, "default")
            return self.node(default, depth + 1) if default is not None else self._unknown(syntax)
        if len(positional) == 1 and not keywords:
            if name in _CONVERSIONS:
                return self._converted(name, positional[0], syntax, depth)
            inner = self.node(positional[0], depth + 1) if name in _SEQUENCES | _PATHS else None
            if isinstance(inner, ListNode) or (name in _PATHS and isinstance(inner, ScalarNode)):
                return inner
        if name.rpartition(".")[2] in _FIELDS:
            return self._field(syntax, positional, keywords, depth)
        tag: str | None = name
        if function.type == "call":  # L(ResNet)(depth=50)
            outer = function.child_by_field_name("function")
            wrapped = self.arguments(function)[0]
            if outer is None or self.written(outer) not in _LAZY or len(wrapped) != 1:
                return self._unknown(syntax)
            tag = self.written(wrapped[0])
        elif name in _PARTIAL and positional:
            tag = self.written(positional.pop(0))
        elif name == "dict":
            tag = None
        elif not _DOTTED_NAME.fullmatch(name):
            return self._unknown(syntax)
        if not keywords and not _is_class_name(name) and tag == name:
            return self._unknown(syntax)
        return self._construction(syntax, tag, positional, keywords, depth)

    def _construction(
        self,
        syntax: tree_sitter.Node,
        tag: str | None,
        positional: list[tree_sitter.Node],
        keywords: dict[str, tree_sitter.Node],
        depth: int,
    ) -> Node:
        """A call as a mapping of its arguments; a dictionary alone in it stands for them."""
        mapping = MappingNode(self.span(syntax), tag=tag)
        values = [self.node(argument, depth + 1) for argument in positional]
        if len(values) == 1 and isinstance(values[0], MappingNode) and values[0].tag is None:
            mapping.pairs = values[0].pairs
        elif tag is None and values and not keywords:
            return self._unknown(syntax)
        else:
            for index, value in enumerate(values):
                if not isinstance(value, ScalarNode) or value.value is not Special.UNKNOWN:
                    mapping.pairs.append(Pair(index, None, value))
        for keyword, argument in keywords.items():
            name = argument.child_by_field_name("name")
            value_syntax = argument.child_by_field_name("value")
            if name is not None and value_syntax is not None:
                mapping.pairs.append(Pair(keyword, self.span(name), self.node(value_syntax, depth + 1)))
        return mapping

    def keyword(self, keywords: dict[str, tree_sitter.Node], name: str) -> tree_sitter.Node | None:
        argument = keywords.get(name)
        return argument.child_by_field_name("value") if argument is not None else None

    def _field(
        self,
        syntax: tree_sitter.Node,
        positional: list[tree_sitter.Node],
        keywords: dict[str, tree_sitter.Node],
        depth: int,
    ) -> Node:
        """The default of ``field(default=…)``, ``Field(…)``, ``field(default_factory=lambda: …)``."""
        default = self.keyword(keywords, "default") or (positional[0] if positional else None)
        if default is not None:
            return self.node(default, depth + 1)
        factory = self.keyword(keywords, "default_factory") or self.keyword(keywords, "factory")
        if factory is not None and factory.type == "lambda":
            body = factory.child_by_field_name("body")
            return self.node(body, depth + 1) if body is not None else self._unknown(syntax)
        if factory is not None and self.written(factory) in _FACTORIES:
            return _FACTORIES[self.written(factory)](self.span(factory))
        return self._unknown(syntax)

    def _converted(self, name: str, argument: tree_sitter.Node, syntax: tree_sitter.Node, depth: int) -> Node:
        inner = self.node(argument, depth + 1)
        if not isinstance(inner, ScalarNode) or isinstance(inner.value, Special) or inner.value is None:
            return self._unknown(syntax)
        try:
            return ScalarNode(_CONVERSIONS[name](inner.value), inner.span)
        except (ValueError, OverflowError):
            self.gathered.problem(f"`{shown(self.written(syntax))}` would fail", self.span(syntax))
            return self._unknown(syntax)


def _is_class_name(name: str) -> bool:
    return name.rpartition(".")[2][:1].isupper()


def _number(node: Node) -> int | float | None:
    if isinstance(node, ScalarNode) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None


def calculate(sign: str, left: int | float | None, right: int | float | None) -> int | float | None:
    """Arithmetic on constants; None where it is none, fails, or its result would be too large to be a setting."""
    if left is None or right is None or sign not in _ARITHMETIC:
        return None
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length()
        if sign == "**":
            if abs(right) > MAX_INTEGER_BITS:
                return None
            bits *= abs(right)
        elif sign == "*":
            bits += right.bit_length()
        if bits > MAX_INTEGER_BITS:
            return None
    try:
        result = _ARITHMETIC[sign](left, right)
    except (ArithmeticError, ValueError):
        return None
    return result if isinstance(result, int | float) else None


def string_text(written: str) -> str | None:
    """The text of a string literal; None for bytes and for f-strings with a part to be computed."""
    match = _STRING.fullmatch(written)
    if match is None:
        return None
    prefix, _, text = match.groups()
    prefix = prefix.lower()
    if "b" in prefix or (("f" in prefix or "t" in prefix) and "{" in text):
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _ESCAPE.sub(_unescape, text) if "r" not in prefix and "\\" in text else text


def _unescape(match: re.Match[str]) -> str:
    byte, short, long, octal, other = match.groups()
    if octal:
        return chr(int(octal, 8))
    digits = byte or short or long
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    if other in {"\\", "'", '"'}:
        return str(other)
    return _ESCAPED.get(other, match[0])
