"""Limits of measures, as a check of continuous integration asks for them: at least ``recall@10=0.8``, at most
``false_alarms=0``."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from tried.evaluation.evaluate import SAME, SCOPES, Evaluation, Overall, Scope

_SHARES: Final = ("finding_precision", "finding_precision_strict", "coverage")
_COUNTS: Final = ("false_alarms", "too_loud")
_OF_LISTS: Final = ("recall", "ndcg")
_LIST: Final = re.compile(r"(recall|ndcg)@([0-9]{1,6})")
_COUNT: Final = re.compile(r"[0-9]{1,9}")
MOST_PLACES: Final = 1_000_000


class GateError(ValueError):
    """What is wrong with a limit, and what was expected."""


@dataclass(frozen=True, slots=True)
class Limit:
    """`measure` is a share of the findings' or `recall`, `ndcg` at `k`, of which `value` in [0, 1] is the least; or a
    count of findings, of which it is the most."""

    scope: Scope
    measure: str
    k: int | None
    value: float
    side: Literal["least", "most"] = "least"

    @property
    def name(self) -> str:
        return self.measure if self.k is None else f"{self.measure}@{self.k}"


@dataclass(frozen=True, slots=True)
class Held:
    """What came of a limit. `policy` is None for findings, which no policy changes; `value` where nothing was
    measured."""

    limit: Limit
    policy: str | None
    value: float | None

    @property
    def short_by(self) -> float:
        """0 where a least value is reached; what was not measured falls short by all of it."""
        return max(0.0, self.limit.value - (self.value or 0.0)) if self.limit.side == "least" else 0.0

    @property
    def over_by(self) -> float:
        """0 where it is not more than the most."""
        return max(0.0, (self.value or 0.0) - self.limit.value) if self.limit.side == "most" else 0.0

    @property
    def holds(self) -> bool:
        return self.value is not None and self.short_by <= SAME and self.over_by <= SAME


def minimum_of(text: str) -> Limit:
    """Reads ``recall@10=0.8`` or, for the whole pool, ``whole_pool.recall@10=0.8``. Raises GateError."""
    scope, name, value = _parts_of(text, "recall@10=0.8")
    if name in _COUNTS:
        raise GateError(f"{name}: the fewer the better; --max {name}={value or 0} holds it")
    listed = _LIST.fullmatch(name)
    if listed is None and name not in _SHARES:
        raise GateError(f"{name or text}: no measure; {_instead_of(name)}")
    k = int(listed[2]) if listed else None
    if k is not None and not 1 <= k <= MOST_PLACES:
        raise GateError(f"{name}: expected a number of places from 1 to {MOST_PLACES:,}")
    try:
        least = float(value)
    except ValueError:
        least = math.nan
    if not 0.0 <= least <= 1.0:
        raise GateError(f"{name}: expected a number from 0 to 1, got {value or 'nothing'}")
    return Limit(scope, listed[1] if listed else name, k, least)


def maximum_of(text: str) -> Limit:
    """Reads ``false_alarms=0`` or, for the whole pool, ``whole_pool.false_alarms=0``. Raises GateError."""
    scope, name, value = _parts_of(text, "false_alarms=0")
    if name in _SHARES or _LIST.fullmatch(name):
        raise GateError(f"{name}: the more the better; --min {name}={value or 1} holds it")
    if name not in _COUNTS:
        near = difflib.get_close_matches(name, _COUNTS, n=1)
        instead = f"did you mean {near[0]}?" if near else f"there are {' and '.join(_COUNTS)}"
        raise GateError(f"{name or text}: no measure; {instead}")
    if not _COUNT.fullmatch(value):
        raise GateError(f"{name}: expected a whole number from 0, got {value or 'nothing'}")
    return Limit(scope, name, None, int(value), "most")


def _parts_of(text: str, example: str) -> tuple[Scope, str, str]:
    """(scope, measure, value as it was written, cut)."""
    name, sign, value = text.partition("=")
    name = name.strip().lower()
    scope: Scope = SCOPES[0]
    for each in SCOPES:
        if name.startswith(f"{each}."):
            scope, name = each, name.removeprefix(f"{each}.")
    if not sign:
        raise GateError(f"{text}: expected MEASURE=VALUE, as in {example}")
    return scope, name, value.strip()[:60]


def held(evaluation: Evaluation, limits: Iterable[Limit]) -> list[Held]:
    """Each limit beside what was measured, a list's once for each policy."""
    found: list[Held] = []
    for limit in limits:
        overall = evaluation.scopes[limit.scope]
        if limit.k is None:
            found.append(Held(limit, None, _of_findings(overall, limit.measure)))
        else:
            for policy in evaluation.policies:
                measure = overall.recall if limit.measure == "recall" else overall.ndcg
                found.append(Held(limit, policy, measure(policy, limit.k)))
    return found


def _of_findings(overall: Overall, measure: str) -> float | None:
    match measure:
        case "coverage":
            return overall.coverage
        case "finding_precision":
            return overall.finding_precision
        case "finding_precision_strict":
            return overall.finding_precision_strict
        case "false_alarms":
            return overall.false_alarms if overall.silent else None
        case _:
            return overall.too_loud if overall.may_be_too_loud else None


def _instead_of(name: str) -> str:
    if name in _OF_LISTS:
        return f"did you mean {name}@10?"
    near = difflib.get_close_matches(name, [*_SHARES, "recall@10", "ndcg@10"], n=1)
    return f"did you mean {near[0]}?" if near else f"there are recall@K, ndcg@K, {', '.join(_SHARES)}"
