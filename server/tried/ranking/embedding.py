"""The seam for embedding models: none is part of this package, and ranking never calls one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tried.pool.record import ExperimentRecord

SEPARATOR = " — "


class Embedder(Protocol):
    """Turns a text into a vector. Vectors are compared only if they carry the same `id`."""

    @property
    def id(self) -> str:
        """A stable identifier of the model, stored beside each of its vectors as `embedder_id`."""
        ...

    def embed(self, text: str) -> Sequence[float]:
        """The vector of a text, of one length for all texts."""
        ...


def embedding_text(record: ExperimentRecord) -> str:
    """What to embed of a record: name, pipeline, hypothesis, headline, derivation summary, notes, tags.

    Empty parts are dropped, the others joined by " — " as soma does, so that vectors made by either agree.
    """
    derivation = record.derivation
    parts = (
        record.name,
        record.pipeline_summary,
        record.hypothesis,
        record.headline,
        derivation.summary if derivation else None,
        record.notes,
        *record.tags,
    )
    return SEPARATOR.join(part for part in parts if part and part.strip())
