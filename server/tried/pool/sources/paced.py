"""A source that is asked again and again, at a cost that stays small: how often depends on what asking costs.

To see whether a large store has anything new may take a tenth of a second. Of a store the outside is looked at first,
which costs nearly nothing: its own times, those of its subfolders, a database's log. Where that has changed it is
asked soon; else so seldom that all sources of a workspace together take a twentieth of one core.

Invariant: a source that has more to say is asked at once, and so is one that was never asked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from tried.pool.sources.source import Delta, Source, checked, touched

SHARE: Final = 0.05
"""Of one core, for all sources that share a budget."""

SOON: Final = 1.0
"""Seconds between two scans of a store that changes before our eyes, unless these would take a quarter of the time."""

YOUNG: Final = 60.0
"""A store that said something within so many seconds is asked every second or two, whatever else there is to do. Then
it shares the budget with the others: after many runs nothing may come for hours."""

SELDOM: Final = 30.0
"""The longest wait, in seconds."""

SUBFOLDERS: Final = 200
"""So many subfolders of a store are looked at from outside, the last by name: names of runs often begin with a date."""

MOST_TOUCHED: Final = 1_000
"""Files that have changed, as a client says; of more a store finds the rest by itself."""

Stamp = tuple[tuple[int, int, int], ...]
Tick = Callable[[], float]


def outside_of(path: Path) -> Stamp:
    """What a store looks like without reading it; empty where there is nothing. Never raises."""
    looked_at = [str(path)]
    looked_at += [f"{path}-wal", f"{path}-journal"] if path.suffix else []
    try:
        with os.scandir(path) as entries:
            folders = sorted(entry.name for entry in islice(entries, 20_000) if entry.is_dir(follow_symlinks=False))
        looked_at += [os.path.join(path, name) for name in folders[-SUBFOLDERS:]]  # noqa: PTH118 (of many, often)
    except (OSError, ValueError):
        pass
    return tuple(map(_times_of, looked_at))


def _times_of(path: str) -> tuple[int, int, int]:
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return (0, 0, 0)
    return status.st_mtime_ns, status.st_size, status.st_ino


@dataclass
class Budget:
    """What the sources of one workspace cost, together."""

    costs: dict[object, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.costs.values())


@dataclass
class Pace:
    """When one source is asked next. `cost` and `wall`: seconds of the last scan that found nothing new."""

    budget: Budget
    key: object
    tick: Tick = time.monotonic
    asked_at: float | None = None
    spoke_at: float | None = None
    cost: float = 0.0
    wall: float = 0.0
    stamp: Stamp = ()
    woken: bool = False
    touched: set[Path] = field(default_factory=set)
    has_more: bool = False

    def wake(self, path: Path | None = None) -> None:
        """Something in the store has changed, as far as somebody could tell: this file."""
        self.woken = True
        if path is not None and len(self.touched) < MOST_TOUCHED:
            self.touched.add(path)

    def hurry(self) -> None:
        """It is to be asked at the next scan, as if it had never been."""
        self.asked_at = None

    def is_due(self, path: Path) -> bool:
        if self.asked_at is None or self.has_more:
            self.stamp = outside_of(path)
            return True
        now = self.tick()
        waited = now - self.asked_at
        soon = max(min(SOON, self.cost / SHARE), 4 * self.cost, self.wall)
        if waited < soon:
            return False
        stamp = outside_of(path)
        changed, self.stamp = stamp != self.stamp, stamp
        if changed or self.woken:
            self.woken = True
            return True
        is_young = self.spoke_at is not None and now - self.spoke_at < YOUNG
        return waited >= min(self.budget.total / SHARE, max(SOON, soon) if is_young else SELDOM)

    def took(self, cpu: float, wall: float, delta: Delta) -> None:
        self.asked_at = self.tick()
        self.woken = False
        self.has_more = delta.more
        if delta.is_empty:
            # What another process did for it (git) costs a core, too.
            self.cost, self.wall = max(cpu, wall / 4), wall
            self.budget.costs[self.key] = self.cost
        else:
            self.spoke_at = self.asked_at


@dataclass(frozen=True)
class PacedSource:
    """A source that says nothing when it is asked too often."""

    inner: Source
    pace: Pace = field(compare=False)

    @property
    def kind(self) -> str:
        return self.inner.kind

    @property
    def path(self) -> Path:
        return self.inner.path

    def scan(self, cursor: object | None) -> Delta:
        if not self.pace.is_due(self.inner.path) and cursor is not None:
            return Delta(cursor=cursor)
        wall, cpu = time.perf_counter(), time.thread_time()
        paths, self.pace.touched = self.pace.touched, set()
        delta = checked(self.inner.scan(touched(self.inner, cursor, paths)))
        self.pace.took(time.thread_time() - cpu, time.perf_counter() - wall, delta)
        return delta

    def line_of(self, record_id: str) -> int | None:
        return self.inner.line_of(record_id)
