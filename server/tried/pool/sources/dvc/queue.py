"""What DVC's queue tells of the experiments that it ran: `.dvc/tmp/exps/run/<hash>/`, the hash being that of a commit
that holds what the experiment was started with.

Invariant: nothing here raises, whatever the files hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tried.pool.sources.common.run_files import Unreadable, json_of, names_in
from tried.pool.sources.common.run_log import tail_of
from tried.pool.sources.source import Skipped
from tried.pool.sources.tracked_run import Status
from tried.storage.paths import is_link, leads_out

FILE_LIMIT: Final = 1024 * 1024
QUEUE_LIMIT: Final = 5_000
_QUEUED: Final = frozenset({"dvc-task", "tempdir"})
_TASK_STATES: Final[Mapping[int, Status]] = {2: "running", 4: "failed", 5: "killed"}
"""DVC's `TaskStatus`; what succeeded has a ref."""


@dataclass(frozen=True, slots=True)
class QueuedRun:
    hash: str
    name: str
    baseline: str
    status: Status
    exit_code: int | None
    error: str
    written: datetime


def queue_of(root: Path) -> dict[str, tuple[int, int]]:
    """By hash of the queued commit: time and size of what DVC keeps of its run."""
    found: dict[str, tuple[int, int]] = {}
    folder = root / ".dvc" / "tmp" / "exps" / "run"
    if leads_out(folder, root):
        return found
    for name in names_in(folder, 4 * QUEUE_LIMIT)[:QUEUE_LIMIT]:
        try:
            status = (folder / name / f"{name}.run").lstat()
        except (OSError, ValueError):
            continue
        found[name] = (status.st_mtime_ns, status.st_size)
    return found


def queued_run(root: Path, name: str) -> QueuedRun | Skipped | None:
    """A queued run that did not succeed, as DVC's worker tells of it; None for others."""
    folder = root / ".dvc" / "tmp" / "exps" / "run" / name
    if is_link(folder):
        return None
    try:
        told = json_of(folder / f"{name}.run", FILE_LIMIT)
        process = json_of(folder / f"{name}.json", FILE_LIMIT)
    except Unreadable as error:
        return Skipped(f".dvc/tmp/exps/run/{name[:12]}", f"{error}; what DVC's queue says of this run is not known")
    if not isinstance(told, dict) or told.get("location") not in _QUEUED or told.get("result_ref"):
        return None
    number = told.get("status")
    status = _TASK_STATES.get(number) if isinstance(number, int) else None
    if status is None:
        return None
    code = process.get("returncode") if isinstance(process, dict) else None
    try:
        written = datetime.fromtimestamp((folder / f"{name}.run").lstat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None
    return QueuedRun(
        hash=name,
        name=str(told.get("name") or name[:7]),
        baseline=str(told.get("baseline_rev") or ""),
        status=status,
        # DVC's own code is 255 for every failure; a signal that ended it tells more than its state.
        exit_code=code if isinstance(code, int) and status == "failed" and code < 0 else None,
        error=tail_of(folder / f"{name}.out"),
        written=written,
    )
