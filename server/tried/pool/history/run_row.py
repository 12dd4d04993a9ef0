"""One run in numbers, on its way into the columns of its research line.

Invariant: a row is a pure function of its record, its recorded parent and the declared metric directions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import IntFlag
from itertools import islice
from typing import Final, Literal, get_args

from tried.draft.parameters import (
    COMPARED_KINDS,
    comparable,
    is_known,
    kind_of,
    normalise_key,
    shown_value,
)
from tried.pool.history.vocabulary import ABSENT, KeyChange, KeyTable, Shape, Vocabulary
from tried.pool.lineage import blamed_changes
from tried.pool.outcome import (
    Directions,
    cause_of,
    is_bookkeeping_metric,
    is_broken,
    is_dead_end,
    is_debug_run,
    objective_of,
    worked,
)
from tried.pool.record import Cause, Change, Direction, ExperimentRecord

Ending = Literal["dead_end", "worked", "open"]
"""`open` is neither: still running, stopped by a person, inconclusive, or nobody knows."""

ENDINGS: Final[tuple[Ending, ...]] = ("open", "dead_end", "worked")
OPEN, DEAD_END, WORKED = range(3)
CAUSES: Final[tuple[Cause | None, ...]] = (None, *get_args(Cause))
DIRECTIONS: Final[tuple[Direction | None, ...]] = (None, "min", "max")
NO_TIME: Final = -(2**63)

_MOST_DERIVED_CHANGES: Final = 3
_MOST_METRICS: Final = 32
"""Metrics of one run whose spread among replicates can be told: the one that it is judged by, and the first others."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Flag(IntFlag):
    """What is true of a run and needs no more than a bit.

    WRITTEN: somebody wrote a headline or notes. RECORDED: its record lists what it changed, CONCRETE: not in words
    alone, MIXED: parameters and what no config can state. DERIVED: its changes are told by its parent. MOVED: it is
    known how the metric that it is judged by changed.
    """

    JUDGED = 1
    DEBUG = 2
    BROKEN = 4
    WRITTEN = 8
    RUNNING = 16
    RECORDED = 32
    CONCRETE = 64
    MIXED = 128
    DERIVED = 256
    MOVED = 512


@dataclass(slots=True)
class RunRow:
    """`numbers` are those of the values of the shape's keys; `unlogged` what the run changed and did not log.

    `changes`, `objective`, `sweep` and the names of `metrics` are numbers of the vocabulary, `ending`, `cause` and
    `direction` places in the tuples above, `time` microseconds since 1970 or NO_TIME. `origin`: the id of what it came
    from.
    """

    id: str
    order: int
    shape: Shape
    numbers: tuple[int, ...]
    unlogged: tuple[tuple[KeyTable, int], ...]
    changes: int
    ending: int
    cause: int
    flags: int
    objective: int
    value: float
    direction: int
    moved: float
    time: int
    origin: str | None
    sweep: int
    metrics: tuple[tuple[int, float], ...]

    @property
    def is_running(self) -> bool:
        return bool(self.flags & Flag.RUNNING)


def row_of(
    record: ExperimentRecord, order: int, vocabulary: Vocabulary, directions: Directions | None = None
) -> RunRow:
    shape, numbers = vocabulary.logged(record.params)
    ending = OPEN
    if is_dead_end(record, directions):
        ending = DEAD_END
    elif worked(record, directions):
        ending = WORKED
    objective = objective_of(record, directions)
    derivation = record.derivation
    recorded = blamed_changes(record)
    flags = _flags_of(record, recorded)
    delta = derivation.metric_delta.get(objective[0]) if derivation and objective else None
    moved = delta.change if delta is not None else None
    if moved is not None:
        flags |= Flag.MOVED
    row = RunRow(
        id=record.id,
        order=order,
        shape=shape,
        numbers=numbers,
        unlogged=(),
        changes=0,
        ending=ending,
        cause=CAUSES.index(cause_of(record, directions)),
        flags=flags,
        objective=vocabulary.names.number(objective[0]) if objective else 0,
        value=objective[1] if objective else math.nan,
        direction=DIRECTIONS.index(objective[2]) if objective else 0,
        moved=math.nan if moved is None else moved,
        time=NO_TIME if record.time is None else (record.time - _EPOCH) // _MICROSECOND,
        origin=record.parent or (derivation.from_ if derivation else None) or None,
        sweep=vocabulary.names.number(record.sweep),
        metrics=_metrics_of(record, objective[0] if objective else None, vocabulary),
    )
    changes = tuple(found for change in recorded if (found := _key_change(change)) is not None)
    if changes:
        return with_changes(row, changes, vocabulary)
    if record.parent:
        row.flags |= Flag.DERIVED
    return row


def microseconds(moment: datetime) -> int:
    """Since 1970; `moment` is aware."""
    return (moment - _EPOCH) // _MICROSECOND


def _flags_of(record: ExperimentRecord, recorded: Sequence[Change]) -> int:
    flags = Flag(0)
    if record.verdict is not None:
        flags |= Flag.JUDGED
    if is_debug_run(record):
        flags |= Flag.DEBUG
    if is_broken(record):
        flags |= Flag.BROKEN
    if (record.conclusion and record.conclusion.headline) or record.notes:
        flags |= Flag.WRITTEN
    if (record.outcome or "").strip().lower() == "running" and record.verdict is None:
        flags |= Flag.RUNNING
    if recorded:
        kinds = {change.change for change in recorded}
        stated = {kind for kind in kinds if kind.startswith("Param")}
        flags |= Flag.RECORDED
        if kinds - {"Unspecified"}:
            flags |= Flag.CONCRETE
        if stated and kinds - stated - {"CodeChanged"}:
            flags |= Flag.MIXED
    return int(flags)


def _metrics_of(
    record: ExperimentRecord, objective: str | None, vocabulary: Vocabulary
) -> tuple[tuple[int, float], ...]:
    """The finite ones, for the spread among replicates."""
    numbers = record.numbers
    names = [objective] if objective is not None else []
    names += islice((n for n in numbers if n != objective and not is_bookkeeping_metric(n)), _MOST_METRICS)
    found = vocabulary.names
    return tuple((found.number(name), numbers[name]) for name in names if math.isfinite(numbers[name]))


def with_changes(row: RunRow, changes: tuple[KeyChange, ...], vocabulary: Vocabulary) -> RunRow:
    """The row with what the run changed, and with what it changed without logging it."""
    unlogged: dict[str, tuple[KeyTable, int]] = {}
    if changes:
        logged = {t.key for t, n in zip(row.shape.tables, row.numbers, strict=True) if n != ABSENT and t.is_compared}
        for change in changes:
            if change.key not in logged and change.after is not None and kind_of(change.shown) in COMPARED_KINDS:
                table = vocabulary.table(change.shown)
                unlogged[change.key] = table, table.number_of_value(change.after, change.text)
    return replace(row, changes=vocabulary.change_sets.number(changes), unlogged=tuple(unlogged.values()))


def _key_change(change: Change) -> KeyChange | None:
    if change.key is None or not (key := normalise_key(change.key)):
        return None
    before, after = change.from_, change.to
    if change.change == "ParamAdded":
        before, after = None, change.value if change.value is not None else change.to
    elif change.change == "ParamRemoved":
        before, after = change.value if change.value is not None else change.from_, None
    elif change.change != "ParamChanged":
        return None
    return KeyChange(key, change.key, comparable(before), comparable(after), shown_value(after))


def changes_between(parent: RunRow, run: RunRow) -> tuple[KeyChange, ...]:
    """What a run changed from a recorded parent of its own research line, for records that do not say it.

    Nothing where more than three parameters differ: that is another experiment, and no single change is to blame.
    """
    found: list[KeyChange] = []
    for old, new in _differing(parent, run):
        before = old[0].values[old[1]] if old is not None else None
        after = new[0].values[new[1]] if new is not None else None
        if before == after or not is_known(before) or not is_known(after):
            continue
        if new is not None:
            table, number = new
            found.append(KeyChange(table.key, table.shown, before, after, shown_value(table.recorded[number])))
        elif old is not None:
            found.append(KeyChange(old[0].key, old[0].shown, before, after, "absent"))
        if len(found) > _MOST_DERIVED_CHANGES:
            return ()
    return tuple(found)


_Place = tuple[KeyTable, int] | None


def _differing(parent: RunRow, run: RunRow) -> list[tuple[_Place, _Place]]:
    """(before, after) of the compared keys whose numbers differ, in the order of the run and then of the parent."""
    if parent.shape is run.shape:
        places = [place for place, (a, b) in enumerate(zip(parent.numbers, run.numbers, strict=True)) if a != b]
        tables = [run.shape.tables[place] for place in places]
        olds = [parent.numbers[place] for place in places]
        news = [run.numbers[place] for place in places]
        pairs = [
            ((table, old) if old else None, (table, new) if new else None)
            for table, old, new in zip(tables, olds, news, strict=True)
            if table.is_compared
        ]
        return sorted(pairs, key=lambda pair: pair[1] is None)
    before = {t.key: (t, n) for t, n in zip(parent.shape.tables, parent.numbers, strict=True) if n and t.is_compared}
    after = {t.key: (t, n) for t, n in zip(run.shape.tables, run.numbers, strict=True) if n and t.is_compared}
    return [(before.get(key), after.get(key)) for key in dict.fromkeys([*after, *before])]
