"""The text by which a draft's related records are found.

It has six parts, each of which can be left out: prose, name, tags, components (the last name part of each), values
(texts that are words), and knobs: the names of the parameters that can be turned. Names that nearly every record shares
cost nothing, since BM25 weighs a term by its rarity, and the rare ones are what a config of mere numbers has to say:
docs/ranking.md has the measurement.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

from tried.draft.entries import Entry
from tried.draft.keys import words_of
from tried.draft.parameter_kinds import ParameterKind, kind_of
from tried.draft.parameters import Parameter
from tried.draft.prose import is_prose_key, named_value
from tried.draft.word_tables import word_set
from tried.text import Span

QueryPart = Literal["prose", "name", "tags", "components", "values", "knobs"]
ALL_PARTS: tuple[QueryPart, ...] = ("prose", "name", "tags", "components", "values", "knobs")

LONGEST_VALUE = 80
MOST_VALUES = 300
LONGEST_QUERY = 20_000
"""Characters: more words find nothing better, and each costs time in every ranking."""

_NO_WORDS = word_set("none null true false yes no on off auto default nan inf")
_URL = re.compile(r"(?<![\w+.-])[a-zA-Z][\w+.-]*://\S*|\bwww\.\S+")
_NO_VALUE = re.compile(r"[${}<>\\|=;`]|\A[~./]|\A[A-Za-z]:[\\/]|.*/.*/|@|\n", re.DOTALL)
_FILE = re.compile(
    r"\.(?:ya?ml|json[l5]?|jsonnet|toml|csv|tsv|txt|md|py|sh|pth?|ckpt|pkl|bin|npy|npz|parquet|gz|zip|tar|log|html|png"
    r"|jpe?g|wav|flac|mp[34]|h5|hdf5|onnx|safetensors|gguf|model|cfg|ini|env|db|sqlite)(?::\w+)?\Z",
    re.IGNORECASE,
)
_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*[.:]([A-Za-z_]\w*)")
_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_PLACE_WORDS = word_set("dir directory folder root file files output cache log logs uri url host")
_NO_KNOBS = word_set("name type target component class_path class_name")
_NO_TEXT_KINDS = frozenset({ParameterKind.VOLATILE, ParameterKind.HARDWARE, ParameterKind.BOOKKEEPING})
_MADE_BY_TAG = re.compile(r"!(?:new|apply|name):(?:\w+\.)*([A-Z]\w*)")


def query_text(
    *,
    prose: Iterable[str] = (),
    name: str | None = None,
    tags: Iterable[str] = (),
    components: Iterable[str] = (),
    values: Iterable[str] = (),
    knobs: Iterable[str] = (),
    parts: Collection[QueryPart] = ALL_PARTS,
) -> str:
    """The parts that are wanted, one text a line, at most `LONGEST_QUERY` characters; addresses are left out."""
    texts: dict[QueryPart, Iterable[str]] = {
        "prose": prose,
        "name": (name,) if name else (),
        "tags": tags,
        "components": components,
        "values": values,
        "knobs": knobs,
    }
    chosen = (_URL.sub(" ", text).strip() for part in ALL_PARTS if part in parts for text in texts[part])
    return "\n".join(text for text in chosen if text)[:LONGEST_QUERY]


def value_words(entries: Iterable[Entry], apart_from: Collection[Span] = ()) -> tuple[str, ...]:
    """The text values that are words rather than paths, addresses or numbers, each once, in the order of the text.

    A dataset, an optimizer, an activation; of an import path its last part (`torch.optim.AdamW` → AdamW). Left out
    are prose, volatile and hardware values, long texts and templates, and the values at the places `apart_from`, which
    other parts of the query hold.
    """
    found: dict[str, str] = {}
    for entry in entries:
        if entry.span in apart_from:
            continue
        for text in _texts(entry):
            words = word_value(text)
            if words and words.casefold() not in found:
                found[words.casefold()] = words
        if len(found) >= MOST_VALUES:
            break
    return tuple(found.values())


def knob_names(parameters: Iterable[Parameter]) -> tuple[str, ...]:
    """The last key segment of each knob that is set, each once, in the order of the text; `name` is none."""
    found: dict[str, None] = {}
    for parameter in parameters:
        name = next((part for part in reversed(parameter.entry.path) if isinstance(part, str)), "")
        if parameter.kind is ParameterKind.KNOB and parameter.value is not None and name.strip("_") not in _NO_KNOBS:
            found[name] = None
        if len(found) >= MOST_VALUES:
            break
    return tuple(found)


def word_value(text: str) -> str | None:
    """A text value as words: itself, the last part of an import path, or None."""
    plain = text.strip("()[]\"', \t\r\n")
    if not plain or len(plain) > LONGEST_VALUE or plain.casefold() in _NO_WORDS or _NO_VALUE.search(plain):
        return None
    if not _HAS_WORD.search(plain) or _FILE.search(plain) or named_value(plain) is None:
        return None
    dotted = _IMPORT_PATH.fullmatch(plain)
    return dotted[1] if dotted else plain


def _texts(entry: Entry) -> Iterator[str]:
    key = next((part for part in reversed(entry.path) if isinstance(part, str)), "")
    if entry.tag is not None and (made := _MADE_BY_TAG.fullmatch(entry.tag)):
        yield made[1]
    if not isinstance(entry.value, str | tuple):
        return
    if is_prose_key(key) or kind_of(entry.path) in _NO_TEXT_KINDS or not _PLACE_WORDS.isdisjoint(words_of(key)):
        return
    if isinstance(entry.value, str):
        yield entry.value
    else:
        yield from (item for item in entry.value if isinstance(item, str))
