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
from weakref import WeakKeyDictionary

from tried.draft.draft import ExperimentDraft
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory

_MOST: Final = 4
"""Of one history; each may hold arrays as long as the pool."""

_Asked = tuple[ExperimentDraft, FindingSettings, datetime | None]


class Remembered:
    """What an iterator gave so far, and the rest of it when somebody asks for that. For any number of threads. An error
    on the way is everybody's: a list that ends early must not pass for all of it."""

    def __init__(self, made: Iterator[Scope]) -> None:
        self._made: Final = made
        self._kept: Final[list[Scope]] = []
        self._lock: Final = threading.Lock()
        self._is_whole = False
        self._failed = ""

    def __iter__(self) -> Iterator[Scope]:
        place = 0
        while place < len(self._kept) or self._make_one(place):
            yield self._kept[place]
            place += 1

    def _make_one(self, place: int) -> bool:
        with self._lock:
            if place >= len(self._kept) and not self._is_whole:
                if self._failed:
                    raise RuntimeError(self._failed)
                try:
                    self._kept.append(next(self._made))
                except StopIteration:
                    self._is_whole = True
                except Exception as error:
                    self._failed = f"{type(error).__name__}: {error}"  # the error itself would hold the history
                    raise
            return place < len(self._kept)


class RecentScopes:
    """By the very draft and history that were asked about: they are immutable.

    Invariant: nothing of a history is kept once nobody else has it, or a pool that grows would be there several times.
    """

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._recent: Final[WeakKeyDictionary[ParameterHistory, deque[tuple[_Asked, Remembered]]]] = WeakKeyDictionary()

    def of(self, history: ParameterHistory, asked: _Asked, make: Callable[[], Iterator[Scope]]) -> Remembered:
        """What was made for this question, or is made now: it must not hold the history itself."""
        with self._lock:
            recent = self._recent.setdefault(history, deque(maxlen=_MOST))
            for known, remembered in recent:
                if known[0] is asked[0] and known[1:] == asked[1:]:
                    return remembered
            made = Remembered(make())
            recent.append((asked, made))
            return made
