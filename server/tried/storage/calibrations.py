"""What the last replay of a workspace's pool came to: kept in the user's cache folder, so that a server that starts
knows at once what to say quietly.

Invariant: a file that is torn, foreign, of other rules or of another version of tried is as good as none.
Invariant: where it lies follows from the user's environment and the folder's real path alone, never from what a
workspace holds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tried import __version__
from tried.storage.cache import cache_folder
from tried.storage.files import StorageError, replace_file
from tried.storage.paths import open_plain, real_path

SCHEMA: Final = "tried.calibration/v1"
MAX_BYTES: Final = 64 * 1024

Count = Annotated[int, Field(ge=0, le=2**53)]
"""Of records and drafts; larger numbers than any pool has cannot be reckoned with."""


class KeptCalibration(BaseModel):
    """`rules`: a digest of what decides when to speak. `records` and `dead_ends` of the pool that was replayed.
    `quiet`: kind of evidence → (drafts on which it spoke, how many of them ended badly)."""

    model_config = ConfigDict(frozen=True, strict=True, defer_build=True)

    rules: str
    records: Count
    dead_ends: Count
    quiet: Mapping[str, tuple[Count, Count]]


class _File(KeptCalibration):
    schema_name: str = Field(alias="schema")
    tried: str


def calibration_file(folder: Path) -> Path:
    """Where the calibration of a workspace folder is kept. Makes nothing."""
    name = hashlib.sha256(real_path(folder).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return cache_folder() / "calibrations" / f"{name}.json"


def keep_calibration(folder: Path, kept: KeptCalibration) -> bool:
    """Write it down for the next time. False if that was not possible, which costs nothing but work later."""
    path = calibration_file(folder)
    whole = _File.model_validate({"schema": SCHEMA, "tried": __version__, **kept.model_dump()})
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(path, whole.model_dump_json(by_alias=True).encode() + b"\n")
    except (OSError, StorageError):
        return False
    return True


def kept_calibration(folder: Path) -> KeptCalibration | None:
    """What was kept of a workspace folder; None where there is nothing that this version of tried wrote. Never
    raises."""
    try:
        with open_plain(calibration_file(folder)) as file:
            whole = _File.model_validate_json(file.read(MAX_BYTES))
    except (OSError, ValidationError):
        return None
    if (whole.schema_name, whole.tried) != (SCHEMA, __version__):
        return None
    return KeptCalibration(rules=whole.rules, records=whole.records, dead_ends=whole.dead_ends, quiet=whole.quiet)
