"""What came out of the replicates of one experiment: the mean of the metric that they are judged by, and its spread."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tried.pool.history.run import Run
from tried.pool.record import Direction


@dataclass(frozen=True, slots=True)
class Result:
    """`mean` over `count` runs with a finite value; `spread` is the sample standard deviation, None for a single run.
    `direction`: which way is better, None where nobody knows."""

    metric: str
    direction: Direction | None
    mean: float
    spread: float | None
    count: int

    def __str__(self) -> str:
        """ "0.912 ± 0.004" or "0.912": four significant digits of the mean, the spread to the same place."""
        shown = f"{self.mean:.4g}"
        if self.spread is None:
            return shown
        digits = len(shown.partition("e")[0].partition(".")[2])
        return f"{shown} ± {self.spread:.4g}" if "e" in shown else f"{shown} ± {self.spread:.{digits}f}"


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


def _mean_and_spread(values: Sequence[float]) -> tuple[float, float | None]:
    mean = math.fsum(values) / len(values)
    if len(values) == 1:
        return mean, None
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
