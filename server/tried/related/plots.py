"""A parameter's values against what came of them, over the runs of a research line that bear on a draft.

Invariant: the same line, draft and record give the same plots, whatever the order in which they are asked for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from tried.draft.keys import words_of
from tried.draft.parameters import Parameter, is_known, shown_value
from tried.findings.scope import Scope
from tried.pool.history.column import Mask
from tried.pool.history.line_history import LineHistory
from tried.pool.history.run import Run
from tried.pool.history.run_columns import Held, Rows, RunColumns
from tried.pool.history.run_row import DIRECTIONS
from tried.pool.history.vocabulary import ABSENT, number_of
from tried.pool.record import Direction
from tried.related.outcome import OUTCOMES, Outcome, outcomes_in

MOST_PLOTS: Final = 8
MOST_POINTS: Final = 200
MOST_CATEGORIES: Final = 24
"""Texts on one axis; of more, those that fewest runs had are left out."""

LOG_SPAN: Final = 100.0
"""Largest over smallest value from which an axis is logarithmic …"""

RATE_SPAN: Final = 10.0
"""… and the same for rates, which people turn by factors."""

_RATE_WORDS: Final = frozenset({"lr", "eps", "epsilon", "decay", "temperature", "alpha", "lambda", "l1", "l2", "sigma"})
_RATE_PHRASE: Final = ("learning", "rate")

Scale = Literal["linear", "log", "category"]


@dataclass(frozen=True, slots=True)
class Point:
    """One run. `x` is the parameter's value, or counts in the plot's categories; `y` is finite, or None for a dead end
    that came to no result. `is_this`: it is the record that is shown."""

    record: str
    x: float
    y: float | None
    outcome: Outcome
    is_this: bool


@dataclass(frozen=True, slots=True)
class Plot:
    """`points` in the order of the pool, at least two different `x` among them. `draft` and `record` are the places of
    the draft's and the record's own value on the axis, None where they have none; `draft_text` as it was written."""

    key: str
    metric: str
    direction: Direction | None
    scale: Scale
    categories: tuple[str, ...] | None
    draft: float | None
    draft_text: str | None
    record: float | None
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter to plot, by the pool's `key`; `shown` as people write it, `draft` where the draft sets it."""

    key: str
    shown: str
    draft: Parameter | None = None


def plots_of(run: Run, line: LineHistory, axes: Iterable[Axis], scope: Scope | None = None) -> tuple[Plot, ...]:
    """At most MOST_PLOTS, in the order of `axes`: those of which the runs had more than one value.

    The runs are those of `line` that `scope` admits as evidence, all of them without one; the run itself always. Of
    more than MOST_POINTS the most similar to the draft are shown, and the latest of these.
    """
    metric = _metric(run, line, scope)
    if metric is None:
        return ()
    drawing = _Drawing(run, line, metric, scope)
    found: list[Plot] = []
    for axis in axes:
        plot = drawing.plot(axis)
        if plot is not None:
            found.append(plot)
            if len(found) == MOST_PLOTS:
                break
    return tuple(found)


def _metric(run: Run, line: LineHistory, scope: Scope | None) -> int | None:
    """The number of the name of the metric that the run is judged by; of one that came to none, that of most others."""
    objectives = line.columns.facts["objective"]
    own = int(objectives[run.place])
    if own:
        return own
    counts = np.bincount(objectives if scope is None else objectives[scope.admitted], minlength=1)
    counts[0] = 0
    return int(np.argmax(counts)) if counts.max() else None


class _Drawing:
    """What all plots of a record share."""

    def __init__(self, run: Run, line: LineHistory, metric: int, scope: Scope | None) -> None:
        columns = line.columns
        self.run: Final = run
        self.columns: Final = columns
        self.metric: Final[str] = columns.vocabulary.names.things[metric]
        self.direction: Final[Direction | None] = _direction(columns, metric)
        column = columns.metrics.get(metric)
        self.y: Final[NDArray[np.float64]] = (
            np.full(len(columns), np.nan) if column is None else column.dense(len(columns), np.nan)
        )
        result = ~np.isnan(self.y)
        nowhere = line.is_dead & ~(np.isfinite(columns.facts["value"]) & (columns.facts["objective"] != 0))
        shown: Mask = result | nowhere
        if scope is not None:
            shown &= scope.admitted
        shown[run.place] = bool(result[run.place]) or bool(line.is_dead[run.place])
        self.shown: Final = shown
        self.outcomes: Final = outcomes_in(line)
        self.similarity: Final = None if scope is None else scope.compared.similarity

    def plot(self, axis: Axis) -> Plot | None:
        held = self.columns.in_force(axis.key)
        rows = self._rows(held)
        if len(rows) < 2:
            return None
        draft = axis.draft
        ours = None if draft is None or draft.value is None or not is_known(draft.value) else draft.value
        x = self.columns.floats(held)[rows]
        if (strange := np.isnan(x)).any() and not any(map(is_known, self._values(held, rows[strange])[0])):
            rows, x = rows[~strange], x[~strange]
            if len(rows) < 2:
                return None
        if np.isnan(x).any() or (ours is not None and number_of(ours) is None):
            return self._by_category(axis, held, rows, ours)
        if (x == x[0]).all():
            return None
        mine = number_of(ours)
        numbers = (float(x.min()), float(x.max()), *(() if mine is None else (mine,)))
        return self._plot(axis, rows, x.tolist(), _scale(axis.shown, numbers), None, mine)

    def _by_category(self, axis: Axis, held: Sequence[Held], rows: Rows, ours: object) -> Plot | None:
        """Texts in the order of how many runs had them, of equals in that of the pool; numbers may be among them."""
        values, texts = self._values(held, rows)
        counts = Counter(value for value in values if is_known(value))
        own = values[int(np.argmax(rows == self.run.place))] if self.run.place in rows else None
        order = sorted(counts, key=lambda value: (value not in (own, ours), -counts[value]))[:MOST_CATEGORIES]
        chosen = sorted(order, key=lambda value: -counts[value])
        if all(number_of(value) is not None for value in chosen):
            chosen.sort(key=lambda value: number_of(value) or 0.0)
        if ours is not None and ours not in counts and axis.draft is not None:
            chosen.append(ours)
            texts[ours] = shown_value(axis.draft.entry.value)
        places = {value: float(place) for place, value in enumerate(chosen)}
        x = [places.get(value, math.nan) for value in values]
        kept = ~np.isnan(np.array(x))
        if len(set(x) & set(places.values())) < 2 or 2 * np.count_nonzero(kept) < len(rows):
            return None  # nearly every run has a text of its own
        mine = None if ours is None else places.get(ours)
        categories = tuple(texts[value] for value in chosen)
        return self._plot(axis, rows[kept], [each for each in x if each == each], "category", categories, mine)

    def _plot(
        self,
        axis: Axis,
        rows: Rows,
        x: Sequence[float],
        scale: Scale,
        categories: tuple[str, ...] | None,
        draft: float | None,
    ) -> Plot:
        this, ids = self.run.place, self.columns.ids
        results, outcomes = self.y[rows].tolist(), self.outcomes[rows].tolist()
        points = tuple(
            Point(ids[row], value, None if y != y else y, OUTCOMES[outcome], row == this)
            for row, value, y, outcome in zip(rows.tolist(), x, results, outcomes, strict=True)
        )
        record = next((point.x for point in points if point.is_this), None)
        if record is None and categories is None:
            own = float(self.columns.floats(self.columns.in_force(axis.key))[this])
            record = None if own != own else own
        written = None if axis.draft is None else shown_value(axis.draft.entry.value)
        return Plot(axis.shown, self.metric, self.direction, scale, categories, draft, written, record, points)

    def _values(self, held: Sequence[Held], rows: Rows) -> tuple[list[object], dict[object, str]]:
        """The value of each row, and a text for each value, as the first of them spelled it."""
        values: list[object] = [None] * len(rows)
        texts: dict[object, str] = {}
        for table, column in held:
            for place, number in enumerate(column.dense(len(self.columns))[rows].tolist()):
                if number != ABSENT:
                    value = values[place] = table.values[number]
                    if value not in texts:
                        texts[value] = table.recorded_value(number).text
        return values, texts

    def _rows(self, held: Sequence[Held]) -> Rows:
        """The rows that are shown and have the key, in the order of the pool."""
        mask = np.zeros(len(self.columns), np.bool_)
        for _, column in held:
            mask |= column.dense(len(self.columns)) != ABSENT
        rows = np.flatnonzero(mask & self.shown)
        if len(rows) > MOST_POINTS:
            likeness = np.zeros(len(rows)) if self.similarity is None else self.similarity[rows]
            # Rows are distinct, so the order is too.
            order = np.round(likeness * 1e6).astype(np.int64) * (len(self.columns) + 1) + rows
            order[rows == self.run.place] = np.iinfo(np.int64).max
            rows = np.sort(rows[np.argpartition(order, len(rows) - MOST_POINTS)[len(rows) - MOST_POINTS :]])
        return rows


def _direction(columns: RunColumns, metric: int) -> Direction | None:
    """As most runs that are judged by it have it."""
    facts = columns.facts
    counts = np.bincount(facts["direction"][facts["objective"] == metric], minlength=len(DIRECTIONS))
    counts[0] = 0
    return DIRECTIONS[int(np.argmax(counts))] if counts.max() else None


def _scale(key: str, numbers: Sequence[float]) -> Scale:
    """Logarithmic for what spans two decades, for rates one; never where there is a zero or less."""
    least, most = min(numbers), max(numbers)
    if least <= 0:
        return "linear"
    return "log" if most >= (RATE_SPAN if _is_rate(key) else LOG_SPAN) * least else "linear"


def _is_rate(key: str) -> bool:
    words = words_of(key.rsplit(".", 1)[-1])
    phrase = any(words[place : place + 2] == _RATE_PHRASE for place in range(len(words)))
    return phrase or not _RATE_WORDS.isdisjoint(words)
