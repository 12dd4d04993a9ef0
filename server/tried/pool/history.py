"""What the pool knows of each parameter: key → value → the runs that had it, research line by research line.

Invariant: a history is immutable. `updated` shares everything that a delta does not touch, so a snapshot that somebody
holds never changes. It copies the postings of the terms in the delta, of the lines that it touches, and no others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

from tried.pool.outcome import Directions
from tried.pool.postings import Postings
from tried.pool.record import ExperimentRecord
from tried.pool.run import Ending, Item, Run, changes_between, run_of, with_changes


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
    def names(self) -> frozenset[str]:
        """The last segments of all keys."""
        return frozenset(key.rsplit(".", 1)[-1] for key in self.keys)

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
                    new[run_id] = with_changes(run, changes_between(parent_run, run))
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
