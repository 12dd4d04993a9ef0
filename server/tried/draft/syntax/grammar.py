"""Tree-sitter grammars, loaded when first needed, and the form of a text that they are given.

Invariant: an offset in what a grammar sees is an offset in the text, in code points.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from tree_sitter import Language, Parser, Tree

_LONE_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
# In hundreds of parser steps: valid text of any kind stays below 0.1 a byte.
_EFFORT_OF_VALID_TEXT = 0.1
_EFFORT_PER_BYTE = 0.15
_LEAST_EFFORT = 500
_LEAST_CHARGE = 2  # of a failed parse, however short
_EFFORT_OF_A_TEXT = 30_000  # 1 s at most: a hundred steps of recovery take 35 µs
# Steps themselves get slower with the text behind them: from so many bytes squared, one more hundred for each such.
_SQUARE_BYTES = {"python": 45_000, "bash": 5_000}
_SLOW_WITHOUT_ERRORS = frozenset({"bash"})  # 16 kB of "<[[ `" take it 0.9 s
_LETTERS_AND_QUESTION_MARKS = bytes.maketrans(b"?\x01", b"x?")


def image(text: str) -> bytes:
    """One byte for each code point: what is not ASCII stands there as a letter, which no grammar tells from another.

    So a byte offset is an offset in the text, whatever its characters, lone surrogates included. Lone carriage
    returns become line feeds; NUL, the end of input to a grammar, becomes a letter.
    """
    if "\r" in text:
        text = _LONE_CARRIAGE_RETURN.sub("\n", text)
    text = text.replace("\0", "x")
    if text.isascii():
        return text.encode("ascii")
    # The encoder writes a question mark for what it cannot encode; real ones wait behind U+0001 meanwhile.
    text = text.replace("\x01", "x").replace("?", "\x01")
    return text.encode("ascii", "replace").translate(_LETTERS_AND_QUESTION_MARKS)


@cache
def language(name: str) -> Language:
    return Language(import_module(f"tree_sitter_{name}").language())


class Allowance:
    """What all failed parses of one text's parts may take together, in hundreds of parser steps.

    `size`: bytes that are parsed whole at first, valid or not.
    """

    def __init__(self, size: int = 0) -> None:
        self.left = _EFFORT_OF_A_TEXT + _EFFORT_OF_VALID_TEXT * size

    @property
    def is_spent(self) -> bool:
        return self.left <= 0

    def affords(self, name: str, size: int) -> bool:
        """Whether so many bytes may still be parsed, however slow the grammar `name` is on them."""
        return self.left > _slowness(name, size)


def _slowness(name: str, size: int) -> float:
    return size * size / _SQUARE_BYTES[name] if name in _SQUARE_BYTES else 0.0


def parse_tree(name: str, source: bytes, allowance: Allowance) -> Tree | None:
    """The syntax tree, with errors where there are; None if it takes too much effort.

    Recovery from errors takes quadratic time on some texts (3 s for 6 kB of ``,-,-,-`` in Python) in more steps, on
    others (10 s for 110 kB of ``-x = 1\\n#a.b``) in slower ones. The effort is counted in the parser's own steps and
    in sizes, so the same text always gives the same answer.
    """
    slowness = _slowness(name, len(source))
    if slowness >= allowance.left:
        return None
    effort = 0
    limit = min(_LEAST_EFFORT + _EFFORT_PER_BYTE * len(source), allowance.left - slowness)

    def is_too_much(_offset: int, _has_error: bool) -> bool:
        nonlocal effort
        effort += 1
        return effort > limit

    view = memoryview(source)
    # A new parser each time (under a microsecond): parsers are not safe to share between threads.
    parser = Parser(language(name))
    try:
        tree = parser.parse(lambda offset, _: view[offset:], progress_callback=is_too_much)
    except ValueError:  # how a cancelled parse ends
        tree = None
    if tree is None or tree.root_node.has_error:
        allowance.left -= _LEAST_CHARGE + effort + slowness
    elif name in _SLOW_WITHOUT_ERRORS:
        allowance.left -= slowness
    return tree


def clean_tree(name: str, source: bytes, allowance: Allowance) -> Tree | None:
    """The syntax tree of a text without errors; None for any other."""
    tree = parse_tree(name, source, allowance)
    return None if tree is None or tree.root_node.has_error else tree
