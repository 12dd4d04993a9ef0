"""The orders in which a list of experiments can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, Literal

from tried.related.experiment import Experiment

Sort = Literal["score", "newest", "best"]

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)


def ordered(experiments: Sequence[Experiment], sort: Sort) -> list[Experiment]:
    """`experiments` are best-ranked first, and of equals that order stays.

    "newest": without a time last. "best": results of one metric can be compared, so those of the metric that most have
    come first, and behind them those of the next one; then those of which nobody knows which way is better, then those
    without a result.
    """
    if sort == "newest":
        return sorted(experiments, key=lambda each: each.time or _LONG_AGO, reverse=True)
    if sort == "best":
        return _best_first(experiments)
    return list(experiments)


def _best_first(experiments: Sequence[Experiment]) -> list[Experiment]:
    kinds = Counter((each.result.metric, each.result.direction) for each in experiments if each.result is not None)
    places = {kind: place for place, (kind, _) in enumerate(kinds.most_common())}

    def key(each: Experiment) -> tuple[int, int, float]:
        result = each.result
        if result is None:
            return 2, 0, 0.0
        place = places[result.metric, result.direction]
        if result.direction is None:
            return 1, place, 0.0
        return 0, place, result.mean if result.direction == "min" else -result.mean

    return sorted(experiments, key=key)
