"""The bag of terms by which a record is found: how often each term counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
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

_SHORT = 80


def bag_of(record: ExperimentRecord) -> Counter[str]:
    """Term → how often it counts: a field's terms count once for each unit of the field's weight.

    Of parameters and metrics only the keys count, of the architecture only the node tokens.
    """
    bag: Counter[str] = Counter()
    derivation = record.derivation
    for text, weight in (
        (record.name, NAME_WEIGHT),
        (record.hypothesis, HYPOTHESIS_WEIGHT),
        (record.headline, HEADLINE_WEIGHT),
        (record.pipeline_summary, PIPELINE_WEIGHT),
        (derivation.summary if derivation else None, DERIVATION_WEIGHT),
        (record.notes, NOTES_WEIGHT),
    ):
        if text:
            bag.update(tokenize(text[:FIELD_LIMIT]) * weight)
    _count(bag, record.tags, TAGS_WEIGHT)
    _count(bag, record.params, KEYS_WEIGHT)
    _count(bag, record.metrics, KEYS_WEIGHT)
    if record.research_line:
        _count(bag, (record.research_line,), RESEARCH_LINE_WEIGHT)
    if record.architecture is not None:
        _count(bag, record.architecture.nodes.values(), ARCHITECTURE_WEIGHT)
    return bag


def _count(bag: Counter[str], texts: Iterable[str], weight: int) -> None:
    """Adds texts that many records share; those of usual length are tokenised once."""
    for text in texts:
        terms = _terms_of_shared(text) if len(text) <= _SHORT else tuple(tokenize(text[:FIELD_LIMIT]))
        bag.update(terms * weight)


@lru_cache(maxsize=65_536)
def _terms_of_shared(text: str) -> tuple[str, ...]:
    return tuple(tokenize(text))
