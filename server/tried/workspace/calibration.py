"""The calibration of a workspace's findings: made anew when its pool or the rules are markedly others, else kept.

Invariant: looking at it costs nothing but, the first time, reading a small file; only `renew` works, and whoever calls
that decides when and where.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tried.analysis import finding_settings
from tried.pool.snapshot import PoolSnapshot
from tried.settings import Settings
from tried.storage.calibrations import KeptCalibration, keep_calibration, kept_calibration

if TYPE_CHECKING:
    from tried.evaluation.calibration import Calibration

GROWTH: Final = 0.1
"""The share by which the records or the dead ends of a pool have to be more or fewer for another backtest."""


@dataclass(frozen=True)
class _Kept:
    """A calibration, with the rules and the pool that it was made of."""

    rules: str
    records: int
    dead_ends: int
    calibration: Calibration


class Calibrator:
    """All methods may be called from any thread. `folder`: begins with what was kept for this workspace folder, and
    keeps what it makes; None: what it says follows from the pool and the settings alone."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._made: _Kept | None = None
        self._working = threading.Lock()

    def calibration(self, settings: Settings) -> Calibration | None:
        """None where nobody asked for it, and as long as there is none for these rules."""
        if not settings.findings.calibrate:
            return None
        kept = self._kept
        return kept.calibration if kept is not None and kept.rules == _rules_of(settings) else None

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
            self._made = _Kept(_rules_of(settings), len(snapshot), snapshot.totals.dead_ends, made)
            self._keep(self._made)
            return made != before if before is not None else bool(made)

    @property
    def _kept(self) -> _Kept | None:
        return self._made or self._recalled

    @cached_property
    def _recalled(self) -> _Kept | None:
        kept = kept_calibration(self._folder) if self._folder is not None else None
        if kept is None:
            return None
        from tried.evaluation.calibration import calibration_from

        return _Kept(kept.rules, kept.records, kept.dead_ends, calibration_from(kept.quiet))

    def _keep(self, made: _Kept) -> None:
        if self._folder is None:
            return
        quiet = {str(kind): (each.flagged, each.ended_badly) for kind, each in made.calibration.quiet.items()}
        kept = KeptCalibration(rules=made.rules, records=made.records, dead_ends=made.dead_ends, quiet=quiet)
        keep_calibration(self._folder, kept)


def _rules_of(settings: Settings) -> str:
    """A digest of what a backtest depends on beside the pool."""
    rules = finding_settings(settings)
    values = {each.name: getattr(rules, each.name) for each in dataclasses.fields(rules)}
    text = json.dumps([values, settings.metrics.directions], sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
