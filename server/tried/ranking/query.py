"""What is looked for, and among which records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tried.architecture import ArchitectureFingerprint


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """Free text, an architecture and a vector to rank by, and filters that restrict the candidates.

    All of it may be left out: recency and importance still rank. Filters hold together: a record passes with this
    research line, every one of these tags, this source, an age of at most `ttl_days`, and every word of `containing`
    among its terms, of the last word a beginning. A record without a timestamp has no age and passes any `ttl_days`; a
    `containing` without letters or numbers lets all pass.

    Raises ValueError for a vector without `embedder_id` and for a `ttl_days` below 0 or NaN.
    """

    text: str = ""
    architecture: ArchitectureFingerprint | None = None
    vector: Sequence[float] | None = None
    embedder_id: str | None = None
    research_line: str | None = None
    tags: Sequence[str] = ()
    source: str | None = None
    ttl_days: float | None = None
    containing: str = ""

    def __post_init__(self) -> None:
        if self.vector is not None and self.embedder_id is None:
            raise ValueError("a query vector needs the embedder_id of the model that made it")
        if self.ttl_days is not None and (math.isnan(self.ttl_days) or self.ttl_days < 0):
            raise ValueError(f"ttl_days is {self.ttl_days}: give an age in days of at least 0, or None for any age")
        if isinstance(self.tags, str):
            object.__setattr__(self, "tags", (self.tags,))
