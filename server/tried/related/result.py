"""What came out of the replicates of one experiment: the mean of the metric that they are judged by, and its spread."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tried.pool.history.run import Run
from tried.pool.record import Direction

_DIGITS: Final = 4
_MOST_DECIMALS: Final = 8
_LARGE: Final = 1e7


@dataclass(frozen=True, slots=True)
class Result:
    """`mean` over `count` runs with a finite value. `spread` is the sample standard deviation, None for a single run
    and where it is too large for a number. `direction`: which way is better, None where nobody knows."""

    metric: str
    direction: Direction | None
    mean: float
    spread: float | None
    count: int

    def __str__(self) -> str:
        """ "0.912 ± 0.004" or "0.9123": the spread to its first digit (to two where that is 1), the mean to the same
        place, for what lies beyond is noise; four digits of a mean without a spread."""
        if not self.spread:
            return shown_number(self.mean) if self.spread is None else f"{shown_number(self.mean)} ± 0"
        decimals = _decimals_of(self.spread)
        if not 0 <= decimals <= _MOST_DECIMALS or abs(self.mean) >= _LARGE:
            return f"{shown_number(self.mean)} ± {self.spread:.2g}"
        return f"{self.mean:.{decimals}f} ± {self.spread:.{decimals}f}"


def result_of(runs: Iterable[Run]) -> Result | None:
    """Of the metric that most of them are judged by (of equals the first); None where none has a finite value."""
    values: dict[str, list[float]] = {}
    directions: dict[str, Direction | None] = {}
    for run in runs:
        objective = run.objective
        if objective is not None and math.isfinite(objective[1]):
            values.setdefault(objective[0], []).append(objective[1])
            directions.setdefault(objective[0], objective[2])
    if not values:
        return None
    metric = max(values, key=lambda name: len(values[name]))
    return Result(metric, directions[metric], *_mean_and_spread(values[metric]), len(values[metric]))


def shown_number(value: float) -> str:
    """Four digits without zeros that say nothing: "0.912", "15000", "1.5e-07"; whole numbers below ten million in
    full."""
    if 10**_DIGITS <= abs(value) < _LARGE:
        return f"{value:.0f}"
    return f"{value:.{_DIGITS}g}"


def _decimals_of(spread: float) -> int:
    """Decimals that show its first digit, or its first two where the first is 1; below 0 for what needs none."""
    digits, _, exponent = f"{spread:.1e}".partition("e")
    return (1 if digits.startswith("1") else 0) - int(exponent)


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float | None]:
    """Of finite values; sums of what differs from the first, so that equal values have a spread of exactly 0."""
    first, count = values[0], len(values)
    if count == 1:
        return first, None
    shifted = [value - first for value in values]
    scale = max(map(abs, shifted))
    if not math.isfinite(scale):
        return math.fsum(value / count for value in values), None
    if scale == 0:
        return first, 0.0
    parts = [value / scale for value in shifted]
    middle = math.fsum(parts) / count
    spread = scale * math.sqrt(math.fsum((part - middle) ** 2 for part in parts) / (count - 1))
    return first + scale * middle, spread if math.isfinite(spread) else None
