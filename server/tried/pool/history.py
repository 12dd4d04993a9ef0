"""What the pool knows of each parameter: key → value → the runs that had it, research line by research line.

Invariant: a history is immutable. `updated` shares everything that a delta does not touch, so a snapshot that somebody
holds never changes. It copies the postings of the terms in the delta, of the lines that it touches, and no others.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any, Final, Literal

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
    recorded = record.derivation.changes if record.derivation else ()
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
    return _with_changes(run, tuple(found for change in recorded if (found := _key_change(change)) is not None))


def _with_changes(run: Run, changes: tuple[KeyChange, ...]) -> Run:
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


class Postings:
    """A persistent map from a term to the runs that have it."""

    def __init__(self, runs: Mapping[Hashable, Mapping[str, Run]] | None = None) -> None:
        self._runs = runs or {}

    def __getitem__(self, term: Hashable) -> Mapping[str, Run]:
        return self._runs.get(term, {})

    def __contains__(self, term: Hashable) -> bool:
        return term in self._runs

    def __iter__(self) -> Iterator[Any]:
        return iter(self._runs)

    def count(self, term: Hashable) -> int:
        return len(self._runs.get(term, ()))

    def updated(self, removed: Iterable[tuple[Hashable, str]], added: Iterable[tuple[Hashable, Run]]) -> Postings:
        """The map after a delta; only the lists of the terms in it are copied, each once."""
        runs = dict(self._runs)
        copied: dict[Hashable, dict[str, Run]] = {}

        def own(term: Hashable) -> dict[str, Run]:
            if term not in copied:
                copied[term] = dict(runs.get(term, {}))
                runs[term] = copied[term]
            return copied[term]

        for term, run_id in removed:
            own(term).pop(run_id, None)
        for term, run in added:
            own(term)[run.id] = run
        for term, left in copied.items():
            if not left:
                del runs[term]
        return Postings(runs)


@dataclass(frozen=True)
class LineHistory:
    """The runs of one research line, by key, by item, and by what they changed."""

    research_line: str | None
    runs: Mapping[str, Run] = field(default_factory=dict)
    by_key: Postings = field(default_factory=Postings)
    by_item: Postings = field(default_factory=Postings)
    changed_to: Postings = field(default_factory=Postings)
    changed_from: Postings = field(default_factory=Postings)
    endings: Mapping[Ending, int] = field(default_factory=dict)
    _spreads: dict[str, float | None] = field(default_factory=dict, repr=False, compare=False)

    def updated(self, removed: Iterable[str], added: Iterable[Run]) -> LineHistory:
        new = {run.id: run for run in added}
        gone = [self.runs[run_id] for run_id in {**dict.fromkeys(removed), **new} if run_id in self.runs]
        runs = dict(self.runs)
        endings = dict(self.endings)
        for run in gone:
            del runs[run.id]
            endings[run.ending] = endings.get(run.ending, 0) - 1
        for run in new.values():
            runs[run.id] = run
            endings[run.ending] = endings.get(run.ending, 0) + 1
        return LineHistory(
            research_line=self.research_line,
            runs=runs,
            by_key=self.by_key.updated(
                ((key, run.id) for run in gone for key in run.values),
                ((key, run) for run in new.values() for key in run.values),
            ),
            by_item=self.by_item.updated(
                ((item, run.id) for run in gone for item in run.items()),
                ((item, run) for run in new.values() for item in run.items()),
            ),
            changed_to=self.changed_to.updated(
                (((c.key, c.after), run.id) for run in gone for c in run.changes),
                (((c.key, c.after), run) for run in new.values() for c in run.changes),
            ),
            changed_from=self.changed_from.updated(
                (((c.key, c.before), run.id) for run in gone for c in run.changes),
                (((c.key, c.before), run) for run in new.values() for c in run.changes),
            ),
            endings=endings,
        )

    @property
    def worked(self) -> int:
        return self.endings.get("worked", 0)

    @cached_property
    def keys(self) -> frozenset[str]:
        """All keys that a run of the line logged or changed."""
        return frozenset(self.by_key) | {key for key, _ in self.changed_to} | {key for key, _ in self.changed_from}

    @cached_property
    def keys_by_suffix(self) -> Mapping[str, str | None]:
        """The key that ends in these segments; None where several do."""
        found: dict[str, str | None] = {}
        for key in sorted(self.keys):
            rest = key
            while "." in rest:
                rest = rest.split(".", 1)[1]
                found[rest] = None if rest in found else key
        return found

    @cached_property
    def leaf_items(self) -> frozenset[Item]:
        """(last key segment, value) of every item: a cheap test of whether a draft can have anything in common."""
        return frozenset((key.rsplit(".", 1)[-1], value) for key, value in self.by_item)

    @cached_property
    def values_of_key(self) -> Mapping[str, tuple[object, ...]]:
        """Every value that a key had in the line, in the order of first use."""
        found: dict[str, list[object]] = {}
        for key, value in self.by_item:
            found.setdefault(key, []).append(value)
        return {key: tuple(values) for key, values in found.items()}

    @cached_property
    def changed_values(self) -> Mapping[str, tuple[object, ...]]:
        """Every value to which a run turned a key."""
        found: dict[str, list[object]] = {}
        for key, value in self.changed_to:
            found.setdefault(key, []).append(value)
        return {key: tuple(values) for key, values in found.items()}

    @cached_property
    def logging(self) -> int:
        """How many runs logged any parameter."""
        return sum(1 for run in self.runs.values() if run.values)

    @cached_property
    def replicates(self) -> Mapping[int, tuple[Run, ...]]:
        """The runs that differ only in volatile keys, by their common signature."""
        groups: dict[int, list[Run]] = {}
        for run in self.runs.values():
            groups.setdefault(run.signature, []).append(run)
        return {signature: tuple(group) for signature, group in groups.items()}

    def spread(self, metric: str) -> float | None:
        """The pooled standard deviation of a metric over replicates; None where there are none."""
        if metric not in self._spreads:
            self._spreads[metric] = _pooled_deviation(metric, self.replicates.values())
        return self._spreads[metric]

    def usual_value(self, key: str) -> object:
        """The value that most runs of the line logged for a key; the earliest of equals; None if none did."""
        best: object = None
        most = 0
        for value in self.values_of_key.get(key, ()):
            count = self.by_item.count((key, value))
            if count > most:
                best, most = value, count
        return best


def _pooled_deviation(metric: str, groups: Iterable[Sequence[Run]]) -> float | None:
    squares: list[float] = []
    degrees = 0
    for group in groups:
        values = [number for run in group if (number := run.record.numbers.get(metric)) is not None]
        values = [number for number in values if math.isfinite(number)]
        if len(values) > 1:
            mean = fmean(values)
            squares += [(value - mean) ** 2 for value in values]
            degrees += len(values) - 1
    return math.sqrt(math.fsum(squares) / degrees) if degrees else None


@dataclass(frozen=True)
class ParameterHistory:
    """All research lines of a snapshot. `directions` are the declared metric directions that endings rest on."""

    lines: Mapping[str | None, LineHistory] = field(default_factory=dict)
    line_of: Mapping[str, str | None] = field(default_factory=dict)
    children: Mapping[str, Mapping[str, None]] = field(default_factory=dict)
    next_order: int = 0
    directions: Directions | None = None

    @classmethod
    def empty(cls, directions: Directions | None = None) -> ParameterHistory:
        return cls(directions=directions)

    def updated(self, removed: Iterable[str], upserts: Iterable[ExperimentRecord]) -> ParameterHistory:
        """The history after a delta; an upsert of a known id replaces it and keeps its place in the pool."""
        gone = set(removed)
        new: dict[str, Run] = {}
        children = dict(self.children)
        fresh: dict[str, dict[str, None]] = {}
        order = self.next_order
        for record in upserts:
            known = self.run(record.id)
            new[record.id] = run_of(record, known.order if known else order, self.directions)
            order += 1
            if record.parent and record.id not in children.get(record.parent, ()):
                if record.parent not in fresh:
                    fresh[record.parent] = dict(children.get(record.parent, {}))
                    children[record.parent] = fresh[record.parent]
                fresh[record.parent][record.id] = None
        for parent in [*new, *gone]:
            for child in children.get(parent, ()):
                if child not in new and child not in gone and (run := self.run(child)) is not None:
                    new[child] = run_of(run.record, run.order, self.directions)
        for run_id, run in new.items():
            if not run.changes and run.record.parent:
                parent_run = new.get(run.record.parent) or (
                    None if run.record.parent in gone else self.run(run.record.parent)
                )
                if parent_run is not None and parent_run.record.research_line == run.record.research_line:
                    new[run_id] = _with_changes(run, changes_between(parent_run, run))
        return self._with(gone, new, children, order)

    def _with(
        self, gone: set[str], new: Mapping[str, Run], children: Mapping[str, Mapping[str, None]], order: int
    ) -> ParameterHistory:
        line_of = dict(self.line_of)
        removed: dict[str | None, list[str]] = {}
        added: dict[str | None, list[Run]] = {}
        for run_id in [*gone, *new]:
            if run_id in line_of:
                removed.setdefault(line_of.pop(run_id), []).append(run_id)
        for run in new.values():
            line_of[run.id] = run.record.research_line
            added.setdefault(run.record.research_line, []).append(run)
        lines = dict(self.lines)
        for line in dict.fromkeys([*removed, *added]):
            after = (lines.get(line) or LineHistory(line)).updated(removed.get(line, ()), added.get(line, ()))
            if after.runs:
                lines[line] = after
            else:
                lines.pop(line, None)
        return ParameterHistory(lines, line_of, children, order, self.directions)

    def run(self, run_id: str | None) -> Run | None:
        if run_id is None or run_id not in self.line_of:
            return None
        return self.lines[self.line_of[run_id]].runs.get(run_id)
