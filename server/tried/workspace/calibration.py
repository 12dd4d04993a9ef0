"""The calibration of a workspace's findings: made anew when its pool or the rules are markedly others, else kept.

Invariant: looking at it costs nothing; only `renew` works, and whoever calls that decides when and where.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tried.analysis import finding_settings
from tried.pool.snapshot import PoolSnapshot
from tried.settings import Settings

if TYPE_CHECKING:
    from tried.evaluation.calibration import Calibration

GROWTH: Final = 0.1
"""The share by which the records or the dead ends of a pool have to be more or fewer for another backtest."""


@dataclass(frozen=True)
class _Kept:
    """A calibration, with the rules and the pool that it was made of."""

    rules: object
    records: int
    dead_ends: int
    calibration: Calibration


class Calibrator:
    """All methods may be called from any thread."""

    def __init__(self) -> None:
        self._kept: _Kept | None = None
        self._working = threading.Lock()

    def calibration(self, settings: Settings) -> Calibration | None:
        """None where nobody asked for it, and as long as there is none for these rules."""
        kept = self._kept
        if not settings.findings.calibrate or kept is None or kept.rules != _rules_of(settings):
            return None
        return kept.calibration

    def is_due(self, snapshot: PoolSnapshot, settings: Settings) -> bool:
        """True if it is asked for, and not there or of a pool that was markedly another one."""
        if not settings.findings.calibrate or not settings.findings.enable or not len(snapshot):
            return False
        kept = self._kept
        if kept is None or kept.rules != _rules_of(settings):
            return True
        before, after = (kept.records, kept.dead_ends), (len(snapshot), snapshot.totals.dead_ends)
        return any(abs(new - old) > GROWTH * old for old, new in zip(before, after, strict=True))

    def renew(self, snapshot: PoolSnapshot, settings: Settings, pause: Callable[[], None] = lambda: None) -> bool:
        """Replays the pool if need be, which takes seconds; True if findings may be of another loudness now.

        `pause` is called between one record and the next; what it raises ends the work.
        """
        with self._working:
            if not self.is_due(snapshot, settings):
                return False
            from tried.evaluation.backtest import backtest_of
            from tried.evaluation.calibration import calibration_of

            before = self.calibration(settings)
            made = calibration_of(backtest_of(snapshot, finding_settings(settings), pause=pause))
            self._kept = _Kept(_rules_of(settings), len(snapshot), snapshot.totals.dead_ends, made)
            return made != before if before is not None else bool(made)


def _rules_of(settings: Settings) -> object:
    """What a backtest depends on beside the pool."""
    return finding_settings(settings), dict(settings.metrics.directions)
