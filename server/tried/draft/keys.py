"""Keys of parameters in one comparable spelling."""

from __future__ import annotations

import re
from functools import lru_cache

from tried.draft.entries import Path

SEGMENT_BREAK = re.compile(r"\.|/|__|\[|\]")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]+[0-9]*(?![a-z])|[A-Z]?[a-z]+[0-9]*|[0-9]+|[^\W_\dA-Za-z]+")


def shown_path(path: Path) -> str:
    """A path as people write it: ``optimizer.lr``, ``layers.0.units``."""
    return ".".join(str(part) for part in path)


@lru_cache(maxsize=65536)
def normalise_key(key: str | Path) -> str:
    """The comparable form of a key path: segments joined by dots, each in lower case without what parts its words.

    ``.``, ``/`` and ``__`` part segments; ``model__encoder/Batch-Size`` becomes ``model.encoder.batchsize``.
    """
    parts = (key,) if isinstance(key, str) else tuple(str(part) for part in key)
    segments = (segment for part in parts for segment in SEGMENT_BREAK.split(part.strip().lstrip("-")))
    plain = ("".join(c for c in segment.casefold() if c.isalnum()) for segment in segments)
    return ".".join(segment for segment in plain if segment)


@lru_cache(maxsize=65536)
def words_of(segment: str) -> tuple[str, ...]:
    """The words of one key segment in lower case: ``numTrainEpochs``, ``num_train_epochs`` → num train epochs."""
    return tuple(word.lower() for word in _WORD.findall(segment))
