"""The bag of terms by which a record is found: how often each term counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from tried.pool.record import ExperimentRecord
from tried.ranking.tokenizer import tokenize

NAME_WEIGHT: Final = 3
HYPOTHESIS_WEIGHT: Final = 3
HEADLINE_WEIGHT: Final = 2
TAGS_WEIGHT: Final = 2
PIPELINE_WEIGHT: Final = 2
DERIVATION_WEIGHT: Final = 2
NOTES_WEIGHT: Final = 1
RESEARCH_LINE_WEIGHT: Final = 1
KEYS_WEIGHT: Final = 1
ARCHITECTURE_WEIGHT: Final = 1

FIELD_LIMIT: Final = 200_000
"""Characters of one field that are indexed: a log that was pasted into the notes does not swamp the index."""

_SHORT: Final = 80
_REMEMBERED: Final = 8_192
"""Tags, lines and node tokens, and lists of keys, whose terms are remembered, since many records share them."""


def bag_of(record: ExperimentRecord) -> Counter[str]:
    """Term → how often it counts: a field's terms count once for each unit of the field's weight.

    Of parameters and metrics only the keys count, of the architecture only the node tokens.
    """
    derivation = record.derivation
    bag = Counter(_bag_of_keys(tuple(record.params)))
    bag.update(_bag_of_keys(tuple(record.metrics)))
    own: tuple[tuple[str | None, int], ...] = (
        (record.name, NAME_WEIGHT),
        (record.hypothesis, HYPOTHESIS_WEIGHT),
        (record.headline, HEADLINE_WEIGHT),
        (record.pipeline_summary, PIPELINE_WEIGHT),
        (derivation.summary if derivation else None, DERIVATION_WEIGHT),
        (record.notes, NOTES_WEIGHT),
    )
    for text, weight in own:
        if text:
            for term in tokenize(text[:FIELD_LIMIT]):
                bag[term] += weight
    shared: tuple[tuple[Iterable[str | None], int], ...] = (
        (record.tags, TAGS_WEIGHT),
        ((record.research_line,), RESEARCH_LINE_WEIGHT),
        (record.architecture.nodes.values() if record.architecture else (), ARCHITECTURE_WEIGHT),
    )
    for texts, weight in shared:
        for each in texts:
            for term in _terms_of(each) if each else ():
                bag[term] += weight
    return bag


@lru_cache(maxsize=_REMEMBERED)
def _bag_of_keys(keys: tuple[str, ...]) -> Mapping[str, int]:
    bag: Counter[str] = Counter()
    for key in keys:
        for term in tokenize(key[:FIELD_LIMIT]):
            bag[term] += KEYS_WEIGHT
    return bag


def _terms_of(text: str) -> tuple[str, ...]:
    return _terms_of_short(text) if len(text) <= _SHORT else tuple(tokenize(text[:FIELD_LIMIT]))


@lru_cache(maxsize=_REMEMBERED)
def _terms_of_short(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))
