"""Scopes of the drafts that were looked at last: an editor asks of one draft for findings, a lens, hints, actions and a
list, and what compares it with a pool is made once for all of them.

Invariant: what is remembered depends on the same things as what is made anew; nothing is ever out of date.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Final

from tried.draft.draft import ExperimentDraft
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory

_MOST: Final = 4
"""Each may hold arrays as long as the pool."""

_Asked = tuple[ExperimentDraft, ParameterHistory, FindingSettings, datetime | None]


class Remembered:
    """What an iterator gave so far, and the rest of it when somebody asks for that. For any number of threads."""

    def __init__(self, made: Iterator[Scope]) -> None:
        self._made: Final = made
        self._kept: Final[list[Scope]] = []
        self._lock: Final = threading.Lock()
        self._is_whole = False

    def __iter__(self) -> Iterator[Scope]:
        place = 0
        while place < len(self._kept) or self._make_one(place):
            yield self._kept[place]
            place += 1

    def _make_one(self, place: int) -> bool:
        with self._lock:
            if place >= len(self._kept) and not self._is_whole:
                try:
                    self._kept.append(next(self._made))
                except StopIteration:
                    self._is_whole = True
            return place < len(self._kept)


class RecentScopes:
    """By the very draft and history that were asked about: they are immutable."""

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._recent: Final[deque[tuple[_Asked, Remembered]]] = deque(maxlen=_MOST)

    def of(self, asked: _Asked, make: Callable[[], Iterator[Scope]]) -> Remembered:
        with self._lock:
            for each in self._recent:
                if _is_same(each[0], asked):
                    return each[1]
            made = Remembered(make())
            self._recent.append((asked, made))
            return made


def _is_same(one: _Asked, other: _Asked) -> bool:
    return one[0] is other[0] and one[1] is other[1] and one[2:] == other[2:]
