"""A tracker's server as a source. `remote_source` is what settings are turned into sources with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tried.pool.sources.remote_tracker import RemoteTracker
from tried.pool.sources.source import Delta, Source


@dataclass(frozen=True)
class RemoteSource:
    """`path` is the file of its cache."""

    tracker: RemoteTracker
    path: Path

    @property
    def kind(self) -> str:
        return self.tracker.kind

    def scan(self, cursor: object | None) -> Delta:
        return Delta(cursor=cursor)

    def line_of(self, record_id: str) -> int | None:
        return None


def remote_source(tracker: RemoteTracker, cache: Path) -> Source:
    """`cache` is the user's folder for such caches; nothing is fetched before the first scan."""
    return RemoteSource(tracker, cache / f"{tracker.kind}.jsonl")
