"""Least values of measures, as a check of continuous integration asks for them: ``recall@10=0.8``."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tried.evaluation.evaluate import SAME, SCOPES, Evaluation, Overall, Scope

_OF_FINDINGS: Final = ("finding_precision", "finding_precision_strict", "coverage")
_OF_LISTS: Final = ("recall", "ndcg")
_LIST: Final = re.compile(r"(recall|ndcg)@([0-9]{1,6})")
MOST_PLACES: Final = 1_000_000


class GateError(ValueError):
    """What is wrong with a least value, and what was expected."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """`measure` is one of the findings' or `recall`, `ndcg` at `k`; `least` is in [0, 1]."""

    scope: Scope
    measure: str
    k: int | None
    least: float

    @property
    def name(self) -> str:
        return self.measure if self.k is None else f"{self.measure}@{self.k}"


@dataclass(frozen=True, slots=True)
class Held:
    """What came of a minimum. `policy` is None for findings, which no policy changes; `value` where nothing was
    measured."""

    minimum: Minimum
    policy: str | None
    value: float | None

    @property
    def short_by(self) -> float:
        """0 where it holds; what was not measured falls short by all of it."""
        return max(0.0, self.minimum.least - (self.value or 0.0))

    @property
    def holds(self) -> bool:
        return self.value is not None and self.value >= self.minimum.least - SAME


def minimum_of(text: str) -> Minimum:
    """Reads ``recall@10=0.8`` or, for the whole pool, ``whole_pool.recall@10=0.8``. Raises GateError."""
    name, sign, value = text.partition("=")
    name = name.strip().lower()
    scope: Scope = SCOPES[0]
    for each in SCOPES:
        if name.startswith(f"{each}."):
            scope, name = each, name.removeprefix(f"{each}.")
    if not sign:
        raise GateError(f"{text}: expected MEASURE=VALUE, as in recall@10=0.8")
    listed = _LIST.fullmatch(name)
    if listed is None and name not in _OF_FINDINGS:
        raise GateError(f"{name or text}: no measure; {_instead_of(name)}")
    k = int(listed[2]) if listed else None
    if k is not None and not 1 <= k <= MOST_PLACES:
        raise GateError(f"{name}: expected a number of places from 1 to {MOST_PLACES:,}")
    try:
        least = float(value)
    except ValueError:
        least = math.nan
    if not 0.0 <= least <= 1.0:
        raise GateError(f"{name}: expected a number from 0 to 1, got {value.strip()[:60] or 'nothing'}")
    return Minimum(scope, listed[1] if listed else name, k, least)


def held(evaluation: Evaluation, minima: Iterable[Minimum]) -> list[Held]:
    """Each minimum beside what was measured, a list's once for each policy."""
    found: list[Held] = []
    for minimum in minima:
        overall = evaluation.scopes[minimum.scope]
        if minimum.k is None:
            found.append(Held(minimum, None, _of_findings(overall, minimum.measure)))
        else:
            for policy in evaluation.policies:
                measure = overall.recall if minimum.measure == "recall" else overall.ndcg
                found.append(Held(minimum, policy, measure(policy, minimum.k)))
    return found


def _of_findings(overall: Overall, measure: str) -> float | None:
    if measure == "coverage":
        return overall.coverage
    return overall.finding_precision if measure == "finding_precision" else overall.finding_precision_strict


def _instead_of(name: str) -> str:
    if name in _OF_LISTS:
        return f"did you mean {name}@10?"
    near = difflib.get_close_matches(name, [*_OF_FINDINGS, "recall@10", "ndcg@10"], n=1)
    return f"did you mean {near[0]}?" if near else f"there are recall@K, ndcg@K, {', '.join(_OF_FINDINGS)}"
