"""Traces of the rankings that editors are given, if `[trace] enabled` or one request asks for them.

Invariant: a trace is made in a thread of its own, after the answer, and rests most of the time; nothing waits for it,
and none of its failures is anybody else's.
"""

from __future__ import annotations

import logging
import re
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Final

from tried.analysis import ranking_policy
from tried.lsp.open_document import Analysed, Document
from tried.lsp.session import Session
from tried.settings.requested_policy import RequestedPolicy, active_name
from tried.storage.files import StorageError

log = logging.getLogger("tried.lsp")

MOST_WAITING: Final = 8
"""Traces that wait to be written; where rankings come faster than that, some have none."""

REST: Final = 4.0
"""So many times as long as it has worked a trace rests before it goes on: what answers need is the same interpreter."""

LONGEST_REST: Final = 0.05
"""Seconds."""

_FIGURES = re.compile(r"\d[\d.,]*")


def subscribe(session: Session) -> None:
    session.listeners.append(_Listener(session).analysed)


class _Listener:
    """Traces each analysis once, however often features are told of it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._seen: weakref.WeakKeyDictionary[Document, weakref.ref[Analysed]] = weakref.WeakKeyDictionary()

    def analysed(self, document: Document) -> None:
        known = document.analysed
        if known is None or not known.settings.trace.enabled:
            return
        seen = self._seen.get(document)
        if seen is not None and seen() is known:
            return
        self._seen[document] = weakref.ref(known)
        settings = known.settings
        asked = RequestedPolicy(active_name(settings), ranking_policy(settings), is_requested=False)
        trace_soon(self.session, known, asked, settings.ranking.limit)


def trace_soon(session: Session, known: Analysed, asked: RequestedPolicy, limit: int) -> None:
    """Sees to it that the ranking of an analysed text, under this policy, is written down; at once, or never."""
    if known.analysis is not None and known.analysis.query is not None:
        _queue_of(session).put(lambda: _keep(known, asked, limit))


def _keep(known: Analysed, asked: RequestedPolicy, limit: int) -> None:
    from tried.workspace.traces import keep_ranking, trace_of_ranking

    assert known.analysis is not None
    assert known.analysis.query is not None
    line = trace_of_ranking(
        known.analysis.query,
        known.snapshot,
        known.now,
        known.settings,
        limit=limit,
        policy=asked.policy,
        policy_name=asked.name,
        hits=known.analysis.hits,
        pause=_Rest(),
    )
    keep_ranking(line, known.settings)


class _Rest:
    """Called every few milliseconds of work."""

    def __init__(self) -> None:
        self._since = time.perf_counter()

    def __call__(self) -> None:
        time.sleep(min(LONGEST_REST, REST * (time.perf_counter() - self._since)))
        self._since = time.perf_counter()


class _Queue:
    """What waits to be written, never much of it. Each kind of failure is logged once, whatever its figures."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, "tried-tracer")
        self._lock = Lock()
        self._waiting = 0
        self._told: set[str] = set()

    def put(self, work: Callable[[], None]) -> None:
        with self._lock:
            is_full = self._waiting >= MOST_WAITING
            self._waiting += not is_full
        if is_full:
            self._tell("rankings come faster than they can be written down: some are not traced")
            return
        try:
            self._worker.submit(self._do, work)
        except RuntimeError:  # the server is about to end
            with self._lock:
                self._waiting -= 1

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except StorageError as error:
            self._tell(f"the ranking was not traced: {error}")
        except Exception:
            log.exception("a ranking could not be traced")
        finally:
            with self._lock:
                self._waiting -= 1

    def _tell(self, message: str) -> None:
        kind = _FIGURES.sub("", message)
        with self._lock:
            is_new = kind not in self._told
            self._told.add(kind)
        if is_new:
            log.warning("%s", message)


_queues: weakref.WeakKeyDictionary[Session, _Queue] = weakref.WeakKeyDictionary()


def _queue_of(session: Session) -> _Queue:
    if session not in _queues:
        _queues[session] = _Queue()
    return _queues[session]
