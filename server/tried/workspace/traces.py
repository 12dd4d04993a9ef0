"""Traces of the rankings of a workspace: made of what was ranked, and kept where and as far as its settings say.

Invariant: whoever ranks gives the answer first; what goes wrong here is raised as StorageError and is no part of it.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tried import __version__
from tried.storage.traces import keep_trace, write_trace

if TYPE_CHECKING:
    from tried.pool.snapshot import PoolSnapshot
    from tried.ranking.candidate_snapshot import Pause
    from tried.ranking.hits import Hits
    from tried.ranking.policy import Policy
    from tried.ranking.query import RetrievalQuery
    from tried.settings import Settings

_MEGABYTE = 1024**2


def trace_of_ranking(
    query: RetrievalQuery,
    snapshot: PoolSnapshot,
    now: datetime,
    settings: Settings,
    *,
    limit: int,
    policy: Policy,
    policy_name: str,
    hits: Hits,
    with_text: bool = False,
    pause: Pause | None = None,
) -> bytes:
    """The line of a trace. `policy_name` is that of the policy it is, or began with: then it is left out. `pause` is
    called every few milliseconds of the work."""
    from tried.evaluation.trace import trace_of
    from tried.ranking.candidate_snapshot import no_pause
    from tried.ranking.policy import PolicyError
    from tried.render.trace_reports import trace_line
    from tried.settings.policies import policy_of

    try:
        is_named = policy_of(settings, policy_name) == policy
    except PolicyError:
        is_named = False
    pause = pause or no_pause
    trace = trace_of(
        query,
        snapshot.index,
        now=now,
        policy=policy,
        version=__version__,
        hits=hits,
        limit=limit,
        cap=settings.trace.candidates,
        generation=snapshot.generation,
        policy_name=policy_name if is_named else None,
        with_text=with_text or settings.trace.include_text,
        pause=pause,
    )
    return trace_line(trace, pause)


def keep_ranking(line: bytes, settings: Settings) -> Path:
    """In the user's state folder; the file. Raises StorageError."""
    return keep_trace(line, settings.trace.max_mb * _MEGABYTE)


def write_ranking(line: bytes, path: Path) -> None:
    """In a file that somebody named. Raises StorageError."""
    from tried.render.trace_reports import LINE_BEGINNING

    write_trace(line, path, LINE_BEGINNING)
