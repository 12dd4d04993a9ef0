"""What sets runs that ended badly apart: a readable region of one or two parameters, such as `lr >= 0.01`.

A region has to hold the group, or most of it, and next to none of the runs that worked and that have the parameter at
all; and chance has to be an unlikely explanation: Fisher's exact test, one-sided, times the number of regions that were
looked at and that could have come out so low (R. E. Tarone, Biometrics 46, 1990), below 0.05. Only where physics stands
behind it (sizes for memory, learning rates for divergence) is that not asked.

Invariant: the same runs give the same region, in whatever order they come.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from tried.draft.keys import words_of
from tried.draft.parameters import ParameterKind, RecordedValue, is_known
from tried.findings.comparison import number_of
from tried.pool.history.run import Run
from tried.pool.record import Cause
from tried.review.working import Column, Working

Sign = Literal[">=", "<=", "="]

CHANCE_LIMIT: Final = 0.05
LEAST_SHARE: Final = 0.6
"""Of a group, what one region has to hold; the rest is a group of its own."""

LEAST_COVERED: Final = 3
"""Runs that a region has to hold, unless physics stands behind it: of fewer, any rare value would be one."""

_MOST_FIRST: Final = 5
"""Conditions to which a second one is looked for."""

MOST_INSIDE: Final = 0.1
"""Runs that worked and that may lie in a region, for each run of the group that does."""

_SIZE_WORDS: Final = frozenset(
    (
        *("batch", "size", "length", "len", "seq", "sequence", "width", "hidden", "dim", "dims", "depth", "layers"),
        *("resolution", "crop", "tokens", "context", "channels", "heads", "embed", "units", "filters", "image"),
        *("patches", "window", "nodes", "blocks", "batchsize", "seqlen", "hiddensize", "imagesize", "imgsize", "bs"),
    )
)
_SMALL_SIZE_WORDS: Final = frozenset({"vocab", "step", "accumulation", "test", "eval", "val", "valid", "validation"})


@dataclass(frozen=True, slots=True)
class Condition:
    """`shown` and `text` are key and value as runs have them. `nearest`: the value of the run that worked just outside
    and is otherwise as the group is, as it was written; None for a value that is no number, or where there is none."""

    key: str
    shown: str
    sign: Sign
    value: object
    text: str
    nearest: str | None = None
    is_context: bool = False

    def __str__(self) -> str:
        return f"{self.shown} {self.sign} {self.text}"

    def holds(self, run: Run) -> bool:
        recorded = run.in_force.get(self.key)
        return recorded is not None and is_known(recorded.value) and self.allows(recorded.value)

    def allows(self, value: object) -> bool:
        if self.sign == "=":
            return value == self.value
        mine, limit = number_of(value), number_of(self.value)
        if mine is None or limit is None:
            return False
        return mine >= limit if self.sign == ">=" else mine <= limit


@dataclass(frozen=True, slots=True)
class Region:
    """Conditions that hold together. `covered` of the group's runs lie in it, and `inside` of those that worked;
    `outside` is how many of those that worked have the parameters, and otherwise."""

    conditions: tuple[Condition, ...]
    covered: int
    inside: int
    outside: int

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))

    @property
    def is_context(self) -> bool:
        """It names a dataset or the like, and nothing that one turns."""
        return all(condition.is_context for condition in self.conditions)

    @property
    def nearest(self) -> str | None:
        """The value nearest to the region with which a run worked, all else in it."""
        turned = [condition for condition in self.conditions if not condition.is_context]
        return turned[0].nearest if len(turned) == 1 and not self.inside else None

    def holds(self, run: Run) -> bool:
        return all(condition.holds(run) for condition in self.conditions)


@dataclass(frozen=True, slots=True)
class _Candidate:
    condition: Condition
    covered: int
    inside: int
    outside: int
    telling: bool

    def order(self, group: int) -> tuple[object, ...]:
        """The best first: what physics explains, then what chance explains least, then the plainest."""
        chance = chance_of(self.covered, group, self.inside, self.inside + self.outside)
        form = (">=", "<=", "=").index(self.condition.sign)
        return (
            not self.telling,
            round(chance, 12),
            -self.covered,
            form,
            self.condition.key.count("."),
            self.condition.key,
        )


def region_of(group: Sequence[Run], working: Working, cause: Cause | None = None) -> Region | None:
    """The region that sets a group apart from what worked; None where nothing does so plainly."""
    if not group or not len(working):
        return None
    candidates = sorted(_candidates(group, working, cause), key=lambda candidate: candidate.order(len(group)))
    tested = _tested(candidates, len(group))
    for one in candidates:
        if _is_plain(one, len(group), tested):
            condition = replace(one.condition, nearest=_nearest(one.condition, group, working))
            return Region((condition,), one.covered, one.inside, one.outside)
    return _of_two(group, working, candidates, cause)


def _nearest(condition: Condition, group: Sequence[Run], working: Working) -> str | None:
    """The value nearest to the condition of a run that worked and is told by nothing else from the runs of the group
    that it holds for: what they share but for how long they ran, it has too, as far as it is known."""
    limit = number_of(condition.value)
    if limit is None or condition.sign == "=":
        return None
    held = [run.in_force for run in group if condition.holds(run)]
    away = np.zeros(len(working.runs), dtype=np.bool_)
    for key, recorded in held[0].items():
        if key == condition.key or recorded.kind is ParameterKind.BUDGET or not is_known(recorded.value):
            continue
        if all((other := each.get(key)) is not None and other.value == recorded.value for each in held):
            away |= working.elsewhere(key, recorded)
    column = working.narrowed(~away).column(condition.key)
    return column.text_below(limit) if condition.sign == ">=" else column.text_above(limit)


def _tested(candidates: Sequence[_Candidate], group: int) -> int:
    """The number of regions that chance is multiplied by: of different ones, those that chance could make so unlikely
    at all, after Tarone. A parameter that all runs share, say, is no try."""
    different = {(one.condition.key, one.covered, one.inside, one.outside) for one in candidates}
    lowest = sorted(
        chance_of(most, group, covered + inside - most, inside + outside)
        for _, covered, inside, outside in different
        for most in [min(group, covered + inside)]
    )
    for tested in range(1, len(lowest) + 1):
        if bisect_left(lowest, CHANCE_LIMIT / tested) <= tested:
            return tested
    return 1


def region_in_context(group: Sequence[Run], working: Working, cause: Cause | None = None) -> Region | None:
    """The same, held against those runs that worked in the group's context alone (its dataset, base model …), which it
    then names. None where the group has no context in common, or all that worked are in it."""
    shared = [
        (key, recorded)
        for key, recorded in group[0].in_force.items()
        if recorded.kind is ParameterKind.CONTEXT
        and is_known(recorded.value)
        and all((other := run.in_force.get(key)) and other.value == recorded.value for run in group)
    ]
    others = {key: working.elsewhere(key, recorded) for key, recorded in shared}
    away = np.zeros(len(working.runs), dtype=np.bool_)
    for places in others.values():
        away |= places
    near = working.narrowed(~away)
    if not working.count(away) or not len(near):
        return None
    found = region_of(group, near, cause)
    if found is None or found.is_context:
        return None
    most = max(shared, key=lambda item: (working.count(others[item[0]]), item[0]))
    named = Condition(most[0], most[1].shown, "=", most[1].value, most[1].text, is_context=True)
    return Region((named, *found.conditions), found.covered, found.inside, found.outside)


def chance_of(covered: int, group: int, inside: int, working: int) -> float:
    """How likely so many or more of the group lie in a region that holds `covered` + `inside` of all runs, if it has
    nothing to do with how they ended: the upper tail of the hypergeometric distribution."""
    drawn, total = covered + inside, group + working
    whole = _log_choose(total, drawn)
    return min(
        1.0,
        math.fsum(
            math.exp(_log_choose(group, k) + _log_choose(working, drawn - k) - whole)
            for k in range(covered, min(group, drawn) + 1)
            if drawn - k <= working
        ),
    )


def _log_choose(total: int, chosen: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(chosen + 1) - math.lgamma(total - chosen + 1)


def _is_plain(one: _Candidate, group: int, tested: int) -> bool:
    if not one.outside or one.inside > MOST_INSIDE * one.covered:
        return False
    if one.telling and one.covered == group and one.inside == 0:
        return True
    if one.covered < LEAST_COVERED or one.covered < LEAST_SHARE * group:
        return False
    return tested * chance_of(one.covered, group, one.inside, one.inside + one.outside) < CHANCE_LIMIT


def _of_two(
    group: Sequence[Run], working: Working, candidates: Sequence[_Candidate], cause: Cause | None
) -> Region | None:
    """Two conditions, both of which hold for the whole group, and together for none that worked."""
    whole = sorted(
        (one for one in candidates if one.covered == len(group) and one.outside),
        key=lambda one: (one.inside, not one.telling, one.condition.key),
    )
    if len(candidates) ** 2 * chance_of(len(group), len(group), 0, len(working)) >= CHANCE_LIMIT:
        return None  # whatever there is, chance would explain it
    for first in whole[:_MOST_FIRST]:
        rest = working.narrowed(working.holding(first.condition.key, first.condition.allows))
        for second in sorted(_candidates(group, rest, cause), key=lambda one: one.order(len(group))):
            if second.covered < len(group) or second.inside or second.condition.key == first.condition.key:
                continue
            outside = first.outside + second.outside
            if len(candidates) ** 2 * chance_of(len(group), len(group), 0, outside) < CHANCE_LIMIT:
                pair = sorted((first.condition, second.condition), key=lambda condition: condition.key)
                return Region(tuple(pair), len(group), 0, outside)
    return None


def _candidates(group: Sequence[Run], working: Working, cause: Cause | None) -> Iterator[_Candidate]:
    counts = Counter(key for run in group for key in run.in_force)
    least = max(1, math.ceil(LEAST_SHARE * len(group)))
    for key in sorted(key for key, count in counts.items() if count >= least):
        recorded = [found for run in group if (found := run.in_force.get(key)) is not None and is_known(found.value)]
        if len(recorded) < least:
            continue
        column = working.column(key)
        if (numbers := _numbers(recorded)) is not None and column.numbers:
            yield from _intervals(key, numbers, column, cause, least)
        yield from _equalities(key, recorded, column, least)


def _numbers(recorded: Collection[RecordedValue]) -> list[tuple[float, RecordedValue]] | None:
    """The values in their order; None if one is no number."""
    found = [(number_of(one.value), one) for one in recorded]
    numbers = [(number, one) for number, one in found if number is not None]
    return sorted(numbers, key=lambda pair: (pair[0], str(pair[1].recorded))) if len(numbers) == len(found) else None


def _intervals(
    key: str, numbers: Sequence[tuple[float, RecordedValue]], column: Column, cause: Cause | None, least: int
) -> Iterator[_Candidate]:
    shown, known = numbers[0][1].shown, column.numeric
    limits = dict(reversed([(number, one) for number, one in numbers]))
    values = [number for number, _ in numbers]
    for number, one in sorted(limits.items(), key=lambda pair: pair[0]):
        above = len(values) - bisect_left(values, number)
        if above >= least:
            outside = column.below(number)
            condition = Condition(key, shown, ">=", one.value, one.text)
            yield _Candidate(condition, above, known - outside, outside, _is_telling(key, shown, ">=", cause))
        below = bisect_right(values, number)
        if below >= least:
            inside = column.at_most(number)
            condition = Condition(key, shown, "<=", one.value, one.text)
            yield _Candidate(condition, below, inside, known - inside, _is_telling(key, shown, "<=", cause))


def _equalities(key: str, recorded: Sequence[RecordedValue], column: Column, least: int) -> Iterator[_Candidate]:
    counts = Counter(one.value for one in recorded)
    known = column.known
    for value, covered in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
        if covered < least or value is None:
            continue
        one = min((one for one in recorded if one.value == value), key=lambda one: str(one.recorded))
        inside = column.values.get(value, 0)
        condition = Condition(key, one.shown, "=", value, one.text, is_context=one.kind is ParameterKind.CONTEXT)
        yield _Candidate(condition, covered, inside, known - inside, False)


def _is_telling(key: str, shown: str, sign: Sign, cause: Cause | None) -> bool:
    """True where physics stands behind it: larger sizes take more memory, larger learning rates diverge."""
    if sign != ">=":
        return False
    words = set(words_of(shown.rsplit(".", 1)[-1].rsplit("/", 1)[-1]))
    if cause == "out_of_memory":
        return bool(words & _SIZE_WORDS) and not words & _SMALL_SIZE_WORDS
    if cause == "diverged":
        return "lr" in words or {"learning", "rate"} <= words or key.endswith("learningrate")
    return False
