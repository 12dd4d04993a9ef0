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
_EFFORT_PER_BYTE = 0.15
_LEAST_EFFORT = 500
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


def parse_tree(name: str, source: bytes) -> Tree | None:
    """The syntax tree, with errors where there are; None if it takes too much effort.

    Recovery from errors takes quadratic time on some texts (3 s for 6 kB of ``,-,-,-`` in Python). The effort is
    counted in the parser's own steps, so the same text always gives the same answer.
    """
    effort = 0
    limit = _LEAST_EFFORT + int(_EFFORT_PER_BYTE * len(source))

    def is_too_much(_offset: int, _has_error: bool) -> bool:
        nonlocal effort
        effort += 1
        return effort > limit

    view = memoryview(source)
    # A new parser each time (under a microsecond): parsers are not safe to share between threads.
    parser = Parser(language(name))
    try:
        return parser.parse(lambda offset, _: view[offset:], progress_callback=is_too_much)
    except ValueError:  # how a cancelled parse ends
        return None


def clean_tree(name: str, source: bytes) -> Tree | None:
    """The syntax tree of a text without errors; None for any other."""
    tree = parse_tree(name, source)
    return None if tree is None or tree.root_node.has_error else tree
