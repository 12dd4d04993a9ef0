"""A record as evidence: what it ran with, what it changed, how it ended.

Invariant: a run is a pure function of its record, its recorded parent and the declared metric directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from tried.draft.parameters import (
    COMPARED_KINDS,
    RecordedValue,
    comparable,
    flatten,
    is_known,
    kind_of,
    normalise_key,
    shown_value,
)
from tried.pool.lineage import blamed_changes
from tried.pool.outcome import Directions, cause_of, is_dead_end, is_debug_run, objective_of, worked
from tried.pool.record import Cause, Change, Direction, ExperimentRecord

Item = tuple[str, object]
"""A normalised key and a comparable value."""

Ending = Literal["dead_end", "worked", "open"]
"""`open` is neither: still running, stopped by a person, inconclusive, or nobody knows."""

_MOST_DERIVED_CHANGES: Final = 3


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A change of one parameter from what a run came from; `before` or `after` None where it was absent."""

    key: str
    shown: str
    before: object
    after: object
    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """A record as evidence: its comparable parameters, what it changed and how it ended.

    `values` holds knobs, budgets and contexts that it logged, `in_force` these and what it changed without logging it;
    `volatile` what a replicate may have otherwise (seeds, run names, hardware). `signature` is equal for replicates.
    `order` grows with the place in the pool. `judged`: a person or an agent gave the verdict.
    """

    record: ExperimentRecord
    order: int
    values: Mapping[str, RecordedValue]
    in_force: Mapping[str, RecordedValue]
    volatile: Mapping[str, RecordedValue]
    changes: tuple[KeyChange, ...]
    signature: int
    ending: Ending
    cause: Cause | None
    judged: bool
    debug: bool
    objective: tuple[str, float, Direction | None] | None

    @property
    def id(self) -> str:
        return self.record.id

    def is_after(self, other: Run) -> bool:
        """Later by timestamp where both have one and they differ, else by the place in the pool."""
        mine, theirs = self.record.time, other.record.time
        if mine is not None and theirs is not None and mine != theirs:
            return mine > theirs
        return self.order > other.order

    def items(self) -> Iterator[Item]:
        """Every (key, value) that was in force and that can be known."""
        for key, recorded in self.in_force.items():
            if is_known(recorded.value):
                yield key, recorded.value


def run_of(record: ExperimentRecord, order: int, directions: Directions | None = None) -> Run:
    parameters = flatten(record.params)
    values = {k: v for k, v in parameters.items() if v.kind in COMPARED_KINDS and v.value is not None}
    volatile = {k: v for k, v in parameters.items() if v.kind not in COMPARED_KINDS and v.value is not None}
    ending: Ending = "open"
    if is_dead_end(record, directions):
        ending = "dead_end"
    elif worked(record, directions):
        ending = "worked"
    recorded = blamed_changes(record)
    run = Run(
        record=record,
        order=order,
        values=values,
        in_force=values,
        volatile=volatile,
        changes=(),
        signature=0,
        ending=ending,
        cause=cause_of(record, directions),
        judged=record.verdict is not None,
        debug=is_debug_run(record),
        objective=objective_of(record, directions),
    )
    return with_changes(run, tuple(found for change in recorded if (found := _key_change(change)) is not None))


def with_changes(run: Run, changes: tuple[KeyChange, ...]) -> Run:
    """The run with what it changed, and with all that follows from it."""
    unlogged = {
        change.key: RecordedValue(change.shown, change.text, change.after, kind)
        for change in changes
        if change.key not in run.values
        and change.after is not None
        and (kind := kind_of(change.shown)) in COMPARED_KINDS
    }
    in_force = {**unlogged, **run.values} if unlogged else run.values
    alone = run.id if not in_force else None
    signature = hash((alone, frozenset((key, recorded.value) for key, recorded in in_force.items())))
    return replace(run, changes=changes, in_force=in_force, signature=signature)


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


def changes_between(parent: Run, run: Run) -> tuple[KeyChange, ...]:
    """What a run changed from a recorded parent of its own research line, for records that do not say it.

    Nothing where more than three parameters differ: that is another experiment, and no single change is to blame.
    """
    found: list[KeyChange] = []
    for key in dict.fromkeys([*run.values, *parent.values]):
        before, after = parent.values.get(key), run.values.get(key)
        old, new = before.value if before else None, after.value if after else None
        if old == new or not is_known(old) or not is_known(new):
            continue
        if after is not None:
            found.append(KeyChange(key, after.shown, old, new, after.text))
        elif before is not None:
            found.append(KeyChange(key, before.shown, old, new, "absent"))
    return tuple(found) if len(found) <= _MOST_DERIVED_CHANGES else ()
