"""Command-line options that a script declares with their defaults: argparse, click and absl flags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import tree_sitter

from tried.draft.syntax.grammar import language
from tried.draft.syntax.nodes import Node, Pair, ScalarNode
from tried.draft.syntax.python_recovery import CLOSERS, OPENERS, TOKEN
from tried.draft.syntax.python_values import PythonValues, string_text

_CALLS = """
(call function: [(identifier) @name (attribute attribute: (identifier) @name)] arguments: (argument_list)) @call
"""
_DECLARATION = re.compile(r"add_argument|option|DEFINE_\w+")
_DECLARING = re.compile(rb"\b(?:add_argument|option|DEFINE_\w+)\(")
_LONGEST = 2_000  # bytes of one declaration
_MOST_UNCLOSED = 500
_FLAGS = {"store_true": False, "store_false": True}


def declares_options(source: bytes) -> bool:
    """A cheap test that spares most files the search."""
    return b"add_argument(" in source or b".option(" in source or b"DEFINE_" in source


def declarations(source: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges of the calls that look like declarations, from their name to their closing bracket."""
    unclosed = 0
    for match in _DECLARING.finditer(source, start, end):
        depth = 0
        for token in TOKEN.finditer(source, match.end() - 1, min(end, match.end() + _LONGEST)):
            depth += (token[0] in OPENERS) - (token[0] in CLOSERS)
            if depth == 0:
                yield match.start(), token.end()
                break
        else:
            unclosed += 1
            if unclosed > _MOST_UNCLOSED:
                return


@cache
def _query() -> tree_sitter.Query:
    return tree_sitter.Query(language("python"), _CALLS)


def options(tree: tree_sitter.Tree, values: PythonValues) -> Iterator[Pair]:
    """Options with a default, anywhere in the tree: ``--learning-rate`` is the key ``learning_rate``."""
    for _, captures in tree_sitter.QueryCursor(_query()).matches(tree.root_node):
        name, call = captures["name"][0], captures["call"][0]
        if _DECLARATION.fullmatch(values.written(name)) and not call.has_error:
            pair = _option(values.written(name), call, values)
            if pair is not None:
                yield pair


def _option(declaration: str, call: tree_sitter.Node, values: PythonValues) -> Pair | None:
    positional, keywords = values.arguments(call)
    names = [argument for argument in positional if argument.type == "string"]
    if not names:
        return None
    default = values.keyword(keywords, "default")
    if declaration.startswith("DEFINE_"):
        key = names[0]
        default = default or (positional[1] if len(positional) > 1 else None)
    else:
        key = next((name for name in names if "--" in values.written(name)), names[0])
    chosen = values.keyword(keywords, "dest") or key
    text = string_text(values.written(chosen)) if chosen.type == "string" else None
    value = _default(default, keywords, values)
    if not text or value is None:
        return None
    text = text.partition("/")[0].lstrip("-").replace("-", "_")  # click: --shout/--no-shout
    return Pair(text, values.span(key), value) if text else None


def _default(
    default: tree_sitter.Node | None, keywords: dict[str, tree_sitter.Node], values: PythonValues
) -> Node | None:
    if default is not None:
        return values.node(default)
    action = values.keyword(keywords, "action")
    if action is None or action.type != "string":
        return None
    flag = _FLAGS.get(string_text(values.written(action)) or "")
    return None if flag is None else ScalarNode(flag, values.span(action))
