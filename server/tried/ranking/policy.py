"""The weights and knobs that turn signals into a score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

DEFAULT_HALF_LIFE_DAYS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Policy:
    """Weights of the four signals, finite and not negative, and the half-life of recency in days (≤ 0: no decay).

    Raises ValueError for a weight or half-life outside these ranges.
    """

    lexical: float = 0.40
    structural: float = 0.25
    recency: float = 0.15
    importance: float = 0.20
    half_life_days: float = DEFAULT_HALF_LIFE_DAYS

    def __post_init__(self) -> None:
        for name in ("lexical", "structural", "recency", "importance"):
            weight = getattr(self, name)
            if not (math.isfinite(weight) and weight >= 0):
                raise ValueError(f"the weight {name!r} is {weight}: a weight must be a finite number of at least 0")
        if math.isnan(self.half_life_days):
            raise ValueError("half_life_days is not a number: give days, or 0 for no decay")


DEFAULT_POLICY: Final = Policy()
