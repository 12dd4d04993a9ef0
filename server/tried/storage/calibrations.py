"""What the last replay of a workspace's pool came to: kept in the user's cache folder, so that a server that starts
knows at once what to say quietly.

Invariant: a file that is torn, foreign, of other rules or of another version of tried is as good as none.
Invariant: where it lies follows from the user's environment and the folder's real path alone, never from what a
workspace holds.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeGuard

from tried import __version__
from tried.storage.cache import cache_folder
from tried.storage.files import StorageError, locked, replace_file
from tried.storage.paths import open_plain

SCHEMA: Final = "tried.calibration/v1"
MAX_BYTES: Final = 64 * 1024
LOCK_SECONDS: Final = 1.0

_MOST: Final = 2**53
"""Of records and drafts; larger numbers than any pool has cannot be reckoned with."""


@dataclass(frozen=True, slots=True)
class KeptCalibration:
    """`rules`: a digest of what decides when to speak. `records` and `dead_ends` of the pool that was replayed.
    `quiet`: kind of evidence → (drafts on which it spoke, how many of them ended badly)."""

    rules: str
    records: int
    dead_ends: int
    quiet: Mapping[str, tuple[int, int]]


def calibration_file(folder: Path) -> Path:
    """Where the calibration of a workspace folder is kept. Makes nothing."""
    try:
        real = os.path.realpath(folder)
    except (OSError, ValueError):
        real = str(folder)
    name = hashlib.sha256(real.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return cache_folder() / "calibrations" / f"{name}.json"


def keep_calibration(folder: Path, kept: KeptCalibration) -> bool:
    """Write it down for the next time. False if that was not possible, which costs nothing but work later."""
    path = calibration_file(folder)
    quiet = {evidence: list(counts) for evidence, counts in kept.quiet.items()}
    data = {
        "schema": SCHEMA,
        "tried": __version__,
        "rules": kept.rules,
        "records": kept.records,
        "dead_ends": kept.dead_ends,
        "quiet": quiet,
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(path, LOCK_SECONDS):
            replace_file(path, json.dumps(data).encode() + b"\n")
    except (OSError, StorageError, ValueError):
        return False
    return True


def kept_calibration(folder: Path) -> KeptCalibration | None:
    """What was kept of a workspace folder; None where there is nothing that this version of tried wrote. Never
    raises."""
    try:
        with open_plain(calibration_file(folder)) as file:
            data = json.loads(file.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or (data.get("schema"), data.get("tried")) != (SCHEMA, __version__):
        return None
    rules, records, dead_ends, quiet = (data.get(name) for name in ("rules", "records", "dead_ends", "quiet"))
    if not isinstance(rules, str) or not isinstance(quiet, dict) or not all(map(_is_tally, quiet.values())):
        return None
    if not _is_count(records) or not _is_count(dead_ends):
        return None
    return KeptCalibration(rules, records, dead_ends, {name: (each[0], each[1]) for name, each in quiet.items()})


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _is_tally(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_count, value)) and value[1] <= value[0]
