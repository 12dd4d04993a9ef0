"""How a value is written in a config: in the language of the file, with the quotes that stand there.

Invariant: what `replacement` gives reads back as the value that was meant, and changes no other entry.
Invariant: nothing is written that a reader could take for something else: text with control characters, interpolations
or numbers that are not finite is not spelled at all.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tried.draft.entries import Entry, Scalar, Special
from tried.draft.syntax import parse
from tried.draft.syntax.env_values import typed
from tried.draft.syntax.scalars import number
from tried.draft.syntax.yaml_scalars import plain_value
from tried.draft.values import comparable, literal_of
from tried.text import Span

Value: TypeAlias = Scalar | tuple[Scalar, ...]

_PLAIN_YAML: Final = re.compile(r"[^\W\d_][\w./+@%=^~-]*(?: [\w./+@%=^~-]+)*", re.ASCII)
_OLD_YAML_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Booleans to readers of YAML 1.1, such as PyYAML, and to nobody else."""

_NO_YAML_VALUES: Final = ("*", "&", "|", ">", "!", "- ")
"""How aliases, anchors, block scalars, tags without a value and lists of one line begin."""

_BARE_WORD: Final = re.compile(r"[\w./:@%+,-]+")
_DEFAULT: Final = re.compile(r"\$\{\w+:?[-=]([^${}`]*)\}")
_COLON: Final = re.compile(r"[ \t]*:")
_OPEN_QUOTE: Final = re.compile(r"""["'][\w./+-]*""")
_QUOTES: Final = ('"', "'")
_BLANK: Final = " \t"


@dataclass(frozen=True, slots=True)
class Replacement:
    """`text` in place of what the span covers."""

    span: Span
    text: str

    def applied(self, text: str) -> str:
        return text[: self.span.start] + self.text + text[self.span.end :]


def recorded_value(recorded: Any, value: object) -> Value:
    """A value as configs hold it, from how a run recorded it and its comparable form; trackers record numbers, booleans
    and lists as text too. None where that cannot be told."""
    found = _recorded(recorded)
    return found if found is not None and comparable(found) == value else None


def _recorded(recorded: Any) -> Value:
    if isinstance(recorded, bool | int | float):
        return recorded
    if isinstance(recorded, list | tuple):
        return _scalars(recorded)
    if not isinstance(recorded, str):
        return None
    text = recorded.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES:
        text = text[1:-1].strip()
    if text[:1] in ("[", "(") and text[-1:] in ("]", ")"):
        literal = literal_of(text)
        if isinstance(literal, list | tuple):
            return _scalars(literal)
        return _scalars([_scalar(part.strip()) for part in text[1:-1].split(",")])
    return _scalar(text)


def _scalar(text: str) -> Scalar:
    meant = comparable(text)
    if isinstance(meant, tuple) and meant[:1] == ("bool",):
        return bool(meant[1])
    if isinstance(meant, int | float):
        read = number(text)
        return meant if read is None else read
    return text


def _scalars(items: Sequence[Any]) -> tuple[Scalar, ...] | None:
    return tuple(items) if all(isinstance(item, str | int | float | None) for item in items) else None


def value_place(text: str, language: str, entry: Entry) -> Span | None:
    """Where the entry's value stands: on one line, its quotes included; of a value that is not there yet, the blanks
    where it would stand. None for what cannot be replaced: a mapping, an alias, a value of several lines."""
    span = entry.span
    if entry.value in (Special.MAPPING, Special.LIST):
        return None
    if entry.tag is not None and entry.value is Special.UNKNOWN:
        return None  # !ref <lr>: whatever stands there is taken for a reference
    written = span.of(text)
    if "\n" in written or "\r" in written or (language == "yaml" and written.startswith(_NO_YAML_VALUES)):
        return None
    if language == "python" and isinstance(entry.value, bool) and written[:1] in _QUOTES:
        return None  # action="store_true"
    if language == "env" and (default := _DEFAULT.fullmatch(written)):
        return Span(span.start + default.start(1), span.start + default.end(1))
    if is_open_quote(written):
        opened = _OPEN_QUOTE.match(written)
        return Span(span.start, span.start + opened.end()) if opened else None
    if not written or (language == "toml" and written[0] == "#"):
        return _blanks(text, language, entry)
    return span


def _blanks(text: str, language: str, entry: Entry) -> Span | None:
    start = entry.span.start
    if language == "json" and entry.key is not None:
        colon = _COLON.match(text, entry.key.end)
        if colon is None:
            return None
        start = colon.end()
    end = start
    if language == "env":  # behind a blank stands the next word
        return Span(start, end)
    while start > 0 and text[start - 1] in _BLANK:
        start -= 1
    while end < len(text) and text[end] in _BLANK:
        end += 1
    return Span(start, end)


def is_open_quote(written: str) -> bool:
    """True for a text whose closing quote is not typed yet."""
    return written[:1] in _QUOTES and (len(written) == 1 or written[-1] != written[0])


def replacement(text: str, language: str, entry: Entry, value: Value) -> Replacement | None:
    """The edit that gives the entry this value; None where there is none that is sure to do that and no more.

    It is read again to see to it: costs two parses of the text.
    """
    place = value_place(text, language, entry)
    written = spelled(value, language, place.of(text)) if place is not None else None
    if place is None or written is None:
        return None
    if not place.of(text).strip(_BLANK):
        written = spaced(text, place.start, written)
        if text[place.end : place.end + 1] == "#":
            written += "  "
    made = Replacement(place, written)
    return made if _is_exact(text, language, entry, made, value) else None


def spaced(text: str, at: int, written: str) -> str:
    """A new value with the blank that belongs before it, right behind a colon or an equals sign."""
    before = text[at - 1 : at]
    if before == ":" or (before == "=" and text[at - 2 : at - 1] in (" ", "\t")):
        return f" {written}"
    return written


def _is_exact(text: str, language: str, entry: Entry, made: Replacement, value: Value) -> bool:
    before, after = parse(text, language).entries, parse(made.applied(text), language).entries
    if len(before) != len(after):
        return False
    wanted = comparable(value)
    for old, new in zip(before, after, strict=True):
        if (old.document, old.path, old.tag) != (new.document, new.path, new.tag):
            return False
        if (old.document, old.path) == (entry.document, entry.path):
            if new.value is Special.UNKNOWN or comparable(new.value) != wanted:
                return False
        elif repr(old.value) != repr(new.value):
            return False
    return True


def spelled(value: Value, language: str, written: str = "") -> str | None:
    """A value as it is written in a language of `LANGUAGES`, on one line, quoted as `written`, which stood there.

    None where the language has no such value, or none that everybody would read as this one.
    """
    quote = written[0] if written[:1] in _QUOTES and not written.startswith(('"""', "'''")) else ""
    if isinstance(value, tuple):
        return _list(value, language, written)
    if isinstance(value, str):
        return _text(value, language, quote)
    plain = _plain(value, language, written.strip("\"'"))
    if plain is None or not quote:
        return plain
    return _quoted(plain, language, quote)


def _plain(value: bool | int | float | None, language: str, written: str) -> str | None:
    if value is None:
        return {"yaml": "null", "json": "null", "python": "None"}.get(language)
    if isinstance(value, bool):
        is_capital = language == "python" or (language in ("yaml", "env") and written[:1] in ("T", "F"))
        is_upper = is_capital and language != "python" and len(written) > 1 and written.isupper()
        return str(value).upper() if is_upper else str(value) if is_capital else str(value).lower()
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return None
    found = repr(value)
    mantissa, exponent, power = found.partition("e")
    if language == "yaml" and exponent and "." not in mantissa:
        return f"{mantissa}.0e{power}"  # PyYAML reads 1e-05 as text
    return found


def _text(text: str, language: str, quote: str) -> str | None:
    if not text.isprintable() or "${" in text or text == "???":
        return None
    if language == "env" and typed(text) != text:
        return None
    if quote:
        return _quoted(text, language, quote)
    if language == "yaml":
        old = text.casefold() in _OLD_YAML_WORDS
        is_plain = _PLAIN_YAML.fullmatch(text) and not old and plain_value(text) == text
        return text if is_plain else _quoted(text, language, '"')
    if language == "env":
        return text if _BARE_WORD.fullmatch(text) else _quoted(text, language, '"' if "'" in text else "'")
    return _quoted(text, language, '"')


def _quoted(text: str, language: str, quote: str) -> str | None:
    if quote == "'":
        if language == "yaml":
            return "'" + text.replace("'", "''") + "'"
        if language == "python":
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        if "'" not in text and not (language == "json" and "\\" in text):
            return f"'{text}'"
    if language == "env":
        return '"' + re.sub(r'([\\"$`])', r"\\\1", text) + '"'
    return json.dumps(text, ensure_ascii=False)


def _list(items: tuple[Scalar, ...], language: str, written: str) -> str | None:
    if language == "env" or written[:1] in _QUOTES:
        return None
    each = [_text(item, language, "") if isinstance(item, str) else _plain(item, language, "") for item in items]
    if any(one is None for one in each):
        return None
    inner = ", ".join(one for one in each if one is not None)
    if language == "python" and written[:1] == "(":
        return f"({inner},)" if len(items) == 1 else f"({inner})"
    return f"[{inner}]"
