"""Vectors for the vector seam of ranking whose cosine is a likeness of words with a known noise on it.

A model that scores pairs of texts gives slightly other scores each time it is asked or trained anew. Here records have,
beside the part of their vector that their words make, coordinates from a hash of their ids, and a noisy query looks
along one of those. So each record's cosine is off by an amount of its own, and always by the same.

Invariant: all queries are of one length, and all records: noise moves each cosine by at most NOISE, up as often as
down, and changes nothing else. (Below 0 a cosine counts as 0, noisy or not.)
Invariant: no model and no random numbers: the same texts and ids give the same vectors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from tried.pool.record import Embedding, ExperimentRecord
from tried.ranking.embedding import embedding_text
from tried.ranking.tokenizer import tokenize

EMBEDDER_ID: Final = "tried.stability/hashed-words"
WORD_DIMENSIONS: Final = 64
NOISES: Final = 8
"""Kinds of noise that a query can have, numbered from 0."""

NOISE: Final = 0.05
"""A cosine of 0.5 becomes 0.45 to 0.55, evenly spread; a score moves by a fifth of that under the default weights."""

_RECORD_SHARE: Final = 0.125
"""What a record has at most along each kind of noise, where its words have a length of 1."""

_RECORD_LENGTH: Final = math.sqrt(1.0 + NOISES * _RECORD_SHARE**2)
_SLOPE: Final = NOISE * _RECORD_LENGTH / _RECORD_SHARE
_QUERY_SHARE: Final = _SLOPE / math.sqrt(1.0 - _SLOPE**2)
"""So that share · share / (length · length) is NOISE."""

_QUERY_LENGTH: Final = math.sqrt(1.0 + _QUERY_SHARE**2)
_TEXT_LIMIT: Final = 20_000


def query_vector(text: str, noise: int | None = None) -> list[float]:
    """`noise` is one of `NOISES`; None for none."""
    along = [0.0] * NOISES
    if noise is not None:
        along[noise] = _QUERY_SHARE
    vector = [*_words(text), *along]
    return [*vector, _rest(vector, _QUERY_LENGTH), 0.0]


def with_vectors(records: Iterable[ExperimentRecord]) -> list[ExperimentRecord]:
    """The same records with such vectors instead of those that they may have."""
    return [
        record.model_copy(update={"embedding": Embedding(embedder_id=EMBEDDER_ID, vector=_record_vector(record))})
        for record in records
    ]


def _record_vector(record: ExperimentRecord) -> list[float]:
    digest = blake2b(record.id.encode("utf-8", "surrogatepass"), digest_size=NOISES).digest()
    vector = [*_words(embedding_text(record)), *(_RECORD_SHARE * (byte / 127.5 - 1.0) for byte in digest)]
    return [*vector, 0.0, _rest(vector, _RECORD_LENGTH)]


def _rest(vector: Iterable[float], length: float) -> float:
    """What a vector lacks to be of this length, for a coordinate that nothing is compared with."""
    return math.sqrt(max(0.0, length**2 - math.fsum(each * each for each in vector)))


def _words(text: str) -> list[float]:
    """Of length 1, or 0 without words: each different word adds 1 or −1 at a few places that its hash names."""
    vector = [0.0] * WORD_DIMENSIONS
    for word in dict.fromkeys(tokenize(text[:_TEXT_LIMIT])):
        for place, sign in _places(word):
            vector[place] += sign
    length = math.sqrt(math.fsum(each * each for each in vector))
    return [each / length for each in vector] if length else vector


@lru_cache(maxsize=65_536)
def _places(word: str) -> tuple[tuple[int, float], ...]:
    digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return tuple((byte % WORD_DIMENSIONS, 1.0 if byte < 128 else -1.0) for byte in digest)
