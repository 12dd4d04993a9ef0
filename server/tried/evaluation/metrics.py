"""Measures of a ranked list against judgements, as information retrieval defines them.

Invariant: pure functions of their arguments. An item that stands in the list twice counts where it stands first.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence


def recall_at(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant items that stand among the first k, in [0, 1].

    Raises ValueError if nothing is relevant, for then there is nothing to recall, or if k < 1.
    """
    _check(k)
    wanted = set(relevant)
    if not wanted:
        raise ValueError("recall is undefined without relevant items: leave such queries out")
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def ndcg_at(ranked: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Normalised discounted cumulative gain of the first k, in [0, 1].

    Gain 2^grade − 1, discount log2(place + 1) with places from 1 (Burges et al. 2005), over that of the ideal list; an
    item without a grade gains nothing. Raises ValueError if no grade is above 0 or if k < 1.
    """
    _check(k)
    ideal = _discounted(sorted((_gain(grade) for grade in grades.values()), reverse=True)[:k])
    if ideal <= 0:
        raise ValueError("nDCG is undefined without a grade above 0: leave such queries out")
    seen: set[str] = set()
    gains: list[float] = []
    for item in ranked[:k]:
        gains.append(0.0 if item in seen else _gain(grades.get(item, 0.0)))
        seen.add(item)
    return _discounted(gains) / ideal


def _gain(grade: float) -> float:
    return max(0.0, math.pow(2.0, grade) - 1.0)


def _discounted(gains: Sequence[float]) -> float:
    total = 0.0
    for place, gain in enumerate(gains, start=1):
        total += gain / math.log2(place + 1)
    return total


def _check(k: int) -> None:
    if k < 1:
        raise ValueError(f"k is {k}: give a number of places of at least 1")
