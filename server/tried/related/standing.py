"""Where a draft stands among what was tried: how often it ran as it is, else what is nearest, and the dead ends around.

Only runs that share evidence with the draft count: of its research line, or in a similar setting, in its context.
Replicates are one experiment. What is nearest in the draft's own line goes before what is nearer in another.

The distance of an experiment is the number of compared parameters in which it differs: those that both set otherwise,
budgets among them, those that the draft alone sets, and those that the experiment alone sets where that is no default
of its line. A dead end is nearby within `NEARBY` steps, budgets left out, if some parameter can be the cause of it: it
is blamed on neither code, machine nor a person who stopped it, it changed more than code, and no replicate of it did
not end badly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

import numpy as np

from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import COMPARED_KINDS, is_known
from tried.findings.find import own_line, scopes
from tried.findings.repeat import repeats
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.history.column import Mask
from tried.pool.history.run import Run
from tried.pool.history.vocabulary import ABSENT
from tried.pool.snapshot import PoolSnapshot
from tried.related.grouping import Grouping
from tried.related.result import Result, result_of

NEARBY: Final = 2
"""Compared parameters in which a dead end differs at most, to be one nearby."""

_MOST_LOOKED_AT: Final = 48
"""Experiments whose own parameters are compared one by one, the nearest by what the draft sets."""

_MOST_TIED: Final = 4_096

_MOST_DEAD_ENDS: Final = 256
"""Dead ends of which it is seen how much they set that the draft does not; what is behind them is taken as it is."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The runs equal to the draft to the letter, the earliest first. `dead_ends`: how many of them ended badly.
    `research_line` is that of the runs where it is not the draft's own. `unread` names the parameters that the draft or
    they have and of which nobody can read what they are: the runs are equal to it if these are. `result` is None where
    they may be several experiments."""

    runs: tuple[Run, ...]
    result: Result | None
    dead_ends: int
    research_line: str | None
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nearest:
    """The experiment that differs in fewest compared parameters, told by its latest run; `keys` are their names as the
    draft has them, else as the run logged them. `research_line` as in `Ran`."""

    run: Run
    runs: int
    result: Result | None
    keys: tuple[str, ...]
    research_line: str | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """`ran` or `nearest` or neither, where nothing can be compared. `pool`: how many runs the pool has."""

    ran: Ran | None
    nearest: Nearest | None
    dead_ends: int
    pool: int


def standing_of(
    draft: ExperimentDraft, snapshot: PoolSnapshot, settings: FindingSettings, *, count_dead_ends: bool = True
) -> Standing | None:
    """None where there is nothing to say: an empty pool, or a draft with too few parameters to be told from another.
    Counting the dead ends around costs most of it: not where nobody asks."""
    history, grouping = snapshot.history, Grouping(snapshot)
    compared = [p for p in draft.parameters if p.kind in COMPARED_KINDS and p.value is not None and is_known(p.value)]
    if not history.line_of or len(compared) < settings.minimum_compared:
        return None
    knows_own = own_line(draft, history, settings) is not None
    every = list(scopes(draft, history, settings))
    if repeated := _repeated(every):  # its own line is the first of them; without one all are alike
        ran = _ran(repeated[:1] if knows_own else repeated, grouping, knows_own)
        return Standing(ran, None, 0, len(history.line_of))
    around = [_Around(scope, grouping) for scope in every]
    nearest = _nearest_in(each for each in around if each.scope.own)
    if nearest is None:
        nearest = _nearest_in(each for each in around if not each.scope.own)
        if nearest is not None and knows_own:
            nearest = replace(nearest, research_line=history.line_of[nearest.run.id])
    dead_ends = sum(each.dead_ends() for each in around) if count_dead_ends else 0
    return Standing(None, nearest, dead_ends, len(history.line_of))


def _nearest_in(around: Iterable[_Around]) -> Nearest | None:
    found = [nearest for each in around if (nearest := each.nearest()) is not None]
    return min(found, key=lambda each: each[0])[1] if found else None


@dataclass(frozen=True, slots=True)
class _Repeated:
    """The runs of one line that the draft repeats; the parameters that cannot be read, and in which runs."""

    scope: Scope
    runs: list[Run]
    unread: Mapping[str, Mask]


def _repeated(every: Iterable[Scope]) -> list[_Repeated]:
    """Line by line: what can be read and is equal, where there is any; else what may be."""
    sure: list[_Repeated] = []
    doubtful: list[_Repeated] = []
    for scope in every:
        if not (runs := repeats(scope)[0]):
            continue
        unread = _unread(scope)
        if equal := [run for run in runs if not any(rows[run.place] for rows in unread.values())]:
            sure.append(_Repeated(scope, equal, {}))
        doubtful.append(_Repeated(scope, runs, unread))
    return sure or doubtful


def _unread(scope: Scope) -> dict[str, Mask]:
    """The runs in which the draft or they have a parameter that nobody can read, by what it is called.

    What both write alike is no such parameter.
    """
    columns, found = scope.line.columns, dict[str, Mask]()
    for key, parameter in scope.draft.values.items():
        rows = np.zeros(len(columns), np.bool_)
        for table, column in columns.in_force(key):
            strange = [*table.unknown, *table.truncated]
            if not is_known(parameter.value):
                numbers = column.dense(len(columns))
                alike = [number for number in strange if table.is_written(number, parameter.entry.value)]
                rows |= (numbers != ABSENT) & ~np.isin(numbers, alike)
            elif strange:
                rows |= np.isin(column.dense(len(columns)), strange)
        if rows.any():
            found[parameter.shown] = rows
    return found


def _ran(found: Sequence[_Repeated], grouping: Grouping, knows_own: bool) -> Ran:
    lines = [each.scope.line.runs_in_time(each.runs) for each in found]
    in_time = lines[0] if len(lines) == 1 else sorted(chain(*lines), key=lambda run: run.time)
    ended = [run for run in in_time if run.ending != "dead_end"]
    unread = [name for each in found for name, rows in each.unread.items() if any(rows[run.place] for run in each.runs)]
    may_be_several = bool(unread) or len(found) > 1
    scope = found[0].scope
    return Ran(
        runs=tuple(in_time),
        result=None if may_be_several and len({grouping.kind_of(run.id) for run in ended}) > 1 else result_of(ended),
        dead_ends=sum(run.ending == "dead_end" for run in in_time),
        research_line=scope.line.research_line if knows_own and not scope.own else None,
        unread=tuple(dict.fromkeys(unread)),
    )


class _Around:
    """What lies around a draft in one research line."""

    def __init__(self, scope: Scope, grouping: Grouping) -> None:
        self.grouping: Final = grouping
        self.scope: Final = scope
        self.columns: Final = scope.line.columns
        counts = scope.compared
        self.new: Final = len(scope.draft.new)
        self.distance: Final = counts.differing.astype(np.int64) + counts.draft_only + self.new
        equal = counts.equal.astype(np.int64) + counts.equal_budget
        self.comparable: Final[Mask] = scope.admitted & (equal > 0) & scope.line.logs_anything

    def nearest(self) -> tuple[tuple[int, int, str], Nearest] | None:
        """With its place among the nearest of other lines: nearer first, then later, then by id."""
        best: tuple[tuple[int, int, str], Run, tuple[str, ...]] | None = None
        for run in self._candidates():
            if best is not None and int(self.distance[run.place]) > best[0][0]:
                break
            keys = self._differing(run)
            place = len(keys), -int(self.columns.facts["time"][run.place]), run.id
            if best is None or place < best[0]:
                best = place, run, keys
        if best is None:
            return None
        place, run, keys = best
        alike = [each for each in self.grouping.replicates_of(run.id) if self.comparable[each.place]]
        return place, Nearest(run, len(alike), result_of(alike), keys)

    def _candidates(self) -> Iterator[Run]:
        """The latest run of each experiment, the nearest by what the draft sets first."""
        rows = np.flatnonzero(self.comparable)
        if not len(rows):
            return
        distance = self.distance[rows]
        few = min(len(rows), _MOST_TIED)
        farthest = int(np.partition(distance, few - 1)[few - 1])
        rows = rows[distance <= farthest]
        times = self.columns.facts["time"][rows]
        order = np.lexsort((-rows, -np.maximum(times, -(2**62)), self.distance[rows]))
        told: set[tuple[int, int]] = set()
        for row in rows[order].tolist():
            kind = int(self.columns.signatures[row]), int(self.columns.facts["changes"][row])
            if kind not in told:
                told.add(kind)
                yield self.scope.line.run_at(row)
            if len(told) >= _MOST_LOOKED_AT:
                return

    def _differing(self, run: Run) -> tuple[str, ...]:
        """The names of what differs: what both set otherwise, what one of them alone sets, then budgets. Of what no run
        ever set only where nothing else differs: many a config says more than its tracker logs."""
        scope = self.scope
        found = scope.comparison(run)
        own = {change.key for change in run.changes}
        alone = [key for key in found.run_only if key in own or not scope.is_default(run, key)]
        keys = dict.fromkeys([*found.differing, *found.draft_only, *alone, *found.budget])
        names = [self._shown(run, key) for key in keys]
        return tuple(names) or tuple(parameter.shown for parameter in scope.draft.new)

    def _shown(self, run: Run, key: str) -> str:
        parameter, recorded = self.scope.draft.values.get(key), run.in_force.get(key)
        return parameter.shown if parameter is not None else recorded.shown if recorded is not None else key

    def dead_ends(self) -> int:
        """How many dead ends, each with its replicates, lie nearby."""
        scope, line, facts = self.scope, self.scope.line, self.columns.facts
        equal = scope.compared.equal.astype(np.int64) + scope.compared.equal_budget
        near = self.comparable & (self.distance <= NEARBY) & (equal >= scope.settings.minimum_compared)
        dead = near & ~line.is_blameless & ~scope.code_alone
        if not dead.any():
            return 0
        kinds = np.stack([self.columns.signatures, facts["changes"].astype(np.uint64)], axis=1)
        alive = {tuple(kind) for kind in kinds[near & ~line.is_dead].tolist()}
        rows = np.flatnonzero(dead)
        by_kind: dict[tuple[int, ...], int] = {}
        for row, kind in zip(rows.tolist(), kinds[rows].tolist(), strict=True):
            by_kind.setdefault(tuple(kind), row)
        found = sorted((int(self.distance[row]), row) for kind, row in by_kind.items() if kind not in alive)
        looked_at = found[:_MOST_DEAD_ENDS]
        near_by = sum(distance + self._alone(line.run_at(row)) <= NEARBY for distance, row in looked_at)
        return near_by + len(found) - len(looked_at)

    def _alone(self, run: Run) -> int:
        """How much a run changed, or set to what is no default, that the draft does not set at all: so much farther
        away is it."""
        draft = self.scope.draft
        keys = {change.key for change in run.changes} - draft.values.keys() - draft.nulls - draft.ambiguous
        if self.scope.compared.run_only[run.place]:
            keys.update(key for key in self.scope.comparison(run).run_only if not self.scope.is_default(run, key))
        return len(keys)
