"""A tracker's server as a source: what was fetched is read from a cache, and fetching goes on in the background.

Invariant: a scan waits for no network.
Invariant: nothing is fetched from a server that the user did not configure; see `remote_tracker`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tried.pool.sources.remote.cache import RemoteCache, cache_path, lines_from, parse, state_of
from tried.pool.sources.remote.fetch import Fetcher, Server
from tried.pool.sources.remote.http import RemoteClient
from tried.pool.sources.remote.mlflow_server import MlflowServer
from tried.pool.sources.remote.tracker import (
    SHORTEST_INTERVAL,
    RemoteRefused,
    RemoteTracker,
    endpoint_of,
    shown_address,
)
from tried.pool.sources.remote.wandb_server import WandbServer
from tried.pool.sources.source import BATCH, Delta, Skipped, Source

LONGEST_INTERVAL: Final = 900.0
"""Seconds between two tries of a server that does not answer."""


@dataclass(frozen=True, slots=True)
class RemoteCursor:
    """How far which cache was read, what the server's `Records` remember, and which failure was told."""

    made: str | None = None
    offset: int = 0
    lines: Mapping[str, int] = field(default_factory=dict)
    memory: object = None
    told: Skipped | None = None


@dataclass(frozen=True)
class RemoteSource:
    """`path` is the file of its cache. `environment` is where credentials may come from."""

    tracker: RemoteTracker
    path: Path
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False, compare=False)
    _background: _Background = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_background", _Background(self.tracker, self.path, self.environment))

    @property
    def kind(self) -> str:
        return self.tracker.kind

    def line_of(self, record_id: str) -> int | None:
        return None

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, RemoteCursor) else RemoteCursor()
        self._background.start_if_due()
        failure = self._background.failure
        state = state_of(self.path)
        # A failure that is over is taken back, which takes saying everything again.
        anew = cursor is not None and (
            (known.told is not None and failure != known.told)
            or (known.made is not None and (state is None or state.made != known.made or state.size < known.offset))
        )
        if anew:
            known = RemoteCursor()
        skipped = (failure,) if failure is not None and failure != known.told else ()
        known = replace(known, told=failure)
        if state is None or (state.made == known.made and state.size == known.offset):
            return Delta(skipped=skipped, cursor=known, reset=anew)
        delta = self._read(known, state.made)
        return replace(delta, skipped=(*skipped, *delta.skipped), reset=anew)

    def _read(self, known: RemoteCursor, made: str) -> Delta:
        offset = known.offset if known.made == made else 0
        lines = dict(known.lines)
        fresh: dict[str, Mapping[str, Any] | None] = {}
        broken = 0
        try:
            with self.path.open("rb") as file:
                for line, end in islice(lines_from(file, offset), BATCH):
                    cached = parse(line)
                    if cached is not None:
                        fresh.pop(cached.run_id, None)
                        fresh[cached.run_id] = cached.run
                        lines[cached.run_id] = offset
                    elif offset:
                        broken += 1
                    offset = end

                def again(run_id: str) -> Mapping[str, Any] | None:
                    """A run that was read before."""
                    file.seek(lines[run_id])
                    found = parse(file.readline())
                    return found.run if found is not None else None

                for run_id, run in fresh.items():
                    if run is None:
                        lines.pop(run_id, None)
                news = self._background.server.records(fresh, known.memory, lines, again)
                more = file.seek(0, os.SEEK_END) > offset and bool(fresh)
        except OSError as error:
            return Delta(skipped=(Skipped(str(self.path), f"cannot be read: {type(error).__name__}"),), cursor=known)
        skipped = [*news.skipped]
        if broken:
            skipped.append(Skipped(f"the cache {self.path.name}", f"{broken:,} lines cannot be read"))
        return Delta(
            upserts=tuple(news.records),
            removed=tuple(f"{self.kind}:{run_id}" for run_id, run in fresh.items() if run is None),
            skipped=tuple(skipped),
            cursor=RemoteCursor(made, offset, lines, news.memory, known.told),
            more=more,
            total=len(lines) if more else None,
        )

    def wait(self, seconds: float) -> bool:
        """Wait until nothing is being fetched; False if that takes longer."""
        return self._background.wait(seconds)

    def hurry(self) -> None:
        """The next scan fetches what is new, however short ago it was asked."""
        self._background.hurry()


def remote_source(tracker: RemoteTracker, cache: Path) -> Source:
    """`cache` is the user's folder for such caches; nothing is fetched before the first scan."""
    return RemoteSource(tracker, cache_path(cache, tracker.kind, shown_address(tracker.address), tracker.projects))


class _Background:
    """Fetches in a thread of its own, one fetch at a time."""

    def __init__(self, tracker: RemoteTracker, path: Path, environment: Mapping[str, str]) -> None:
        self.server: Server = MlflowServer(tracker) if tracker.kind == "mlflow" else WandbServer(tracker)
        self.failure: Skipped | None = None
        self._tracker = tracker
        self._environment = environment
        self._fetcher = Fetcher(self.server, RemoteCache(path))
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._due = 0.0
        self._failures = 0

    def start_if_due(self) -> None:
        with self._lock:
            if (self._thread is not None and self._thread.is_alive()) or time.monotonic() < self._due:
                return
            self._due = time.monotonic() + max(SHORTEST_INTERVAL, self._tracker.interval_seconds)
            self._thread = threading.Thread(target=self._run, name=f"tried-{self._tracker.kind}", daemon=True)
            self._thread.start()

    def hurry(self) -> None:
        with self._lock:
            self._due = 0.0

    def wait(self, seconds: float) -> bool:
        thread = self._thread
        if thread is None:
            return True
        thread.join(seconds)
        return not thread.is_alive()

    def _run(self) -> None:
        where = shown_address(self._tracker.address)
        try:
            client = RemoteClient(endpoint_of(self._tracker, self._environment))
        except RemoteRefused as error:
            self.failure = Skipped(where, str(error).removeprefix(f"{where}: "))
            return
        problem = self._fetcher.fetch(client)
        if problem is None:
            self._failures, self.failure = 0, None
            return
        self._failures += 1
        wait = min(
            LONGEST_INTERVAL, max(SHORTEST_INTERVAL, self._tracker.interval_seconds) * 2 ** min(self._failures - 1, 8)
        )
        self._due = time.monotonic() + wait
        # What passes by itself is told when it has not passed.
        if not problem.passes or self._failures > 1 or not self._fetcher.has_answered:
            self.failure = Skipped(where, f"{problem.reason}; what was fetched before is shown, and it is tried again")
