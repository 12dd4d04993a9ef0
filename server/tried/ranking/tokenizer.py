"""Text → terms, the same for records and queries.

NFC; maximal runs of letters, marks and numbers (Unicode categories L*, M*, N*); split further

- before an upper-case letter that follows a lower-case letter or a number: `valF1` → val f1, `1B` → 1 b;
- before the last upper-case letter of an acronym that a lower-case letter follows: `MoSHead` → mo s head;
- where a Chinese, Japanese or Korean run (`CJK_RANGES`) begins or ends. Such a run gives its overlapping bigrams, a
  lone character itself: `学习率` → 学习 习率.

Each term is lowercased character by character, so neither the word around it (final sigma) nor a locale changes a
letter; `İ` becomes the two characters that Unicode assigns to it. No stemming, no stop words.

A mark belongs to the character before it: an accent neither parts a word nor hides the case of its letter.

Invariant: terms depend on the text alone, and the work is linear in its length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise
from typing import Final
from unicodedata import category, normalize

CJK_RANGES: Final = (
    (0x1100, 0x11FF, "Hangul Jamo"),
    (0x3005, 0x3007, "ideographic iteration, closing and zero marks"),
    (0x3021, 0x3029, "Hangzhou numerals"),
    (0x3031, 0x3035, "kana repeat marks"),
    (0x3038, 0x303C, "Hangzhou numerals and masu mark"),
    (0x3040, 0x309F, "Hiragana"),
    (0x30A0, 0x30FF, "Katakana"),
    (0x3100, 0x312F, "Bopomofo"),
    (0x3130, 0x318F, "Hangul Compatibility Jamo"),
    (0x31A0, 0x31BF, "Bopomofo Extended"),
    (0x31F0, 0x31FF, "Katakana Phonetic Extensions"),
    (0x3400, 0x4DBF, "CJK Unified Ideographs Extension A"),
    (0x4E00, 0x9FFF, "CJK Unified Ideographs"),
    (0xA960, 0xA97F, "Hangul Jamo Extended-A"),
    (0xAC00, 0xD7AF, "Hangul Syllables"),
    (0xD7B0, 0xD7FF, "Hangul Jamo Extended-B"),
    (0xF900, 0xFAFF, "CJK Compatibility Ideographs"),
    (0xFF66, 0xFF9F, "Halfwidth Katakana"),
    (0xFFA0, 0xFFDC, "Halfwidth Hangul"),
    (0x1AFF0, 0x1B16F, "Kana Extended-B, Supplement, Extended-A and Small Kana"),
    (0x20000, 0x2FA1F, "CJK Unified Ideographs Extensions B to F and I, Compatibility Supplement"),
    (0x30000, 0x3347F, "CJK Unified Ideographs Extensions G, H and J"),
)
"""First and last code point of each range that is cut into bigrams; only letters, marks and numbers in them count."""

_CJK_STARTS: Final = [first for first, _, _ in CJK_RANGES]
_ASCII_TERM: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+")
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_RUN: Final = re.compile(r"[0-9A-Za-z\x80-\U0010ffff]+")

# Kinds of characters, one letter each: C Chinese, Japanese or Korean; U upper-case, L lower-case, O other letter;
# N number; M mark; S separator. A run is cut by regular expressions over the kinds of its characters.
_UNIT: Final = re.compile(r"[^M]M*|M+")
_CUT: Final = re.compile(r"(?<=[LN])(?=U)|(?<=U)(?=UL)|(?<=C)(?=[^C])|(?<=[^C])(?=C)")


def tokenize(text: str) -> list[str]:
    """The terms of a text in their order, repeated as often as they occur."""
    if not text.isascii():
        text = _NOT_ASCII.sub(_without_separators, normalize("NFC", text))
    if text.isascii():
        return _ascii_terms(text)
    terms: list[str] = []
    for run in _RUN.findall(text):
        terms += _ascii_terms(run) if run.isascii() else _terms_of_run(run)
    return terms


def _ascii_terms(text: str) -> list[str]:
    """One pass of a regular expression; on ASCII text it finds what `_terms_of_run` finds in its runs."""
    found = _ASCII_TERM.findall(text)
    return " ".join(found).lower().split(" ") if found else []


def _terms_of_run(run: str) -> list[str]:
    """The terms of one maximal run of letters, marks and numbers, character by character."""
    kinds = "".join(map(_kind, run))
    bounds = [unit.start() for unit in _UNIT.finditer(kinds)]
    leading = "".join([kinds[bound] for bound in bounds])
    bounds.append(len(run))
    terms: list[str] = []
    for start, end in pairwise((0, *(cut.start() for cut in _CUT.finditer(leading)), len(leading))):
        if leading[start] == "C" and end - start > 1:
            terms += [run[bounds[place] : bounds[place + 2]] for place in range(start, end - 1)]
        else:
            terms.append("".join([character.lower() for character in run[bounds[start] : bounds[end]]]))
    return terms


def _without_separators(match: re.Match[str]) -> str:
    return "".join([" " if _kind(character) == "S" else character for character in match[0]])


@lru_cache(maxsize=8192)
def _kind(character: str) -> str:
    name = category(character)
    if name[0] == "M":
        return "M"
    if name[0] not in "LN":
        return "S"
    code = ord(character)
    place = bisect_right(_CJK_STARTS, code) - 1
    if place >= 0 and code <= CJK_RANGES[place][1]:
        return "C"
    if name[0] == "N":
        return "N"
    return {"Lu": "U", "Lt": "U", "Ll": "L"}.get(name, "O")
