"""Tables of words, written as text so that they can be read and sorted as words."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text parted by white space."""
    return frozenset(text.split())


def word_list(text: str) -> tuple[str, ...]:
    """The words of a text parted by white space, in order."""
    return tuple(text.split())
