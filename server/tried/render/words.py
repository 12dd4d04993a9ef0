"""Dates, numbers, outcomes and bars in few words."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from tried.pool.history.run import Ending
from tried.pool.pool import PoolSnapshot
from tried.pool.record import ExperimentRecord

CELLS_PER_POINT: Final = 20
"""Length of a bar for the value 1.0, which is the best score there can be."""

_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_DAY: Final = 86_400.0
_HUGE: Final = 1e6
MARKS: Final[dict[Ending, str]] = {"dead_end": "✗", "worked": "✓", "open": "·"}


def ending_of(snapshot: PoolSnapshot, record_id: str) -> Ending:
    run = snapshot.history.run(record_id)
    return run.ending if run is not None else "open"


def when(record: ExperimentRecord, now: datetime | None) -> str:
    """ "3 weeks ago (2026-11-08)"; the date alone without `now` or for the future; empty without a timestamp."""
    time = record.time
    if time is None:
        return ""
    date = time.date().isoformat()
    if now is None or time > now:
        return date
    seconds = (now - time).total_seconds()
    has_hours = len((record.timestamp or "").strip()) > len("2026-01-01")
    return f"{_ago(seconds, has_hours)} ({date})"


def moment_ago(moment: datetime, now: datetime, *, has_hours: bool = True) -> str:
    """ "3 weeks ago"; the date where it lies in the future. Without hours the first day is "today"."""
    seconds = (now - moment).total_seconds()
    return _ago(seconds, has_hours) if seconds >= 0 else moment.date().isoformat()


def _ago(seconds: float, has_hours: bool) -> str:
    days = int(seconds // _DAY)
    if seconds < 60 and has_hours:
        return "just now"
    if days < 1 and has_hours:
        return f"{int(seconds // 60)} min ago" if seconds < 3600 else f"{int(seconds // 3600)} h ago"
    if days < 1:
        return "today"
    if days < 2:
        return "yesterday"
    if days < 14:
        return f"{days} days ago"
    if days < 61:
        return f"{days // 7} weeks ago"
    if days < 730:
        return f"{days * 12 // 365} months ago"
    return f"{days // 365} years ago"


def bar(value: float) -> str:
    """A bar of block characters, an eighth of a cell fine; a sign before that of a negative value."""
    eighths = round(min(abs(value), 1.0) * CELLS_PER_POINT * 8)
    full, rest = divmod(eighths, 8)
    blocks = "█" * full + (_EIGHTHS[rest] if rest else "")
    return f"−{blocks}" if value < 0 and blocks else blocks


def number(value: float | None, digits: int = 3) -> str:
    """With so many decimals; what no column could hold is told in a few digits."""
    if value is None:
        return "–"
    return f"{value:z.{digits}f}" if abs(value) < _HUGE else f"{value:.{digits}g}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """ "1 run", "2 runs" """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
