"""The one explanation of a score, rendered by everybody and computed beside nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tried.pool.record import ExperimentRecord


@dataclass(frozen=True, slots=True)
class Term:
    """One summand of a score: value = weight in force · signal. Signal None: the term does not apply."""

    name: str
    value: float
    signal: float | None
    weight: float | None
    note: str | None = None
    inputs: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ScoreComponents:
    """The four signals of a record given a query, each in [0, 1]; 0 where one does not apply."""

    lexical: float = 0.0
    structural: float = 0.0
    recency: float = 0.0
    importance: float = 0.0


@dataclass(frozen=True, slots=True)
class ScoredRecord:
    """A record with its score, the left-to-right sum of its terms' values."""

    record: ExperimentRecord
    score: float
    components: ScoreComponents
    terms: tuple[Term, ...] = field(default_factory=tuple)
