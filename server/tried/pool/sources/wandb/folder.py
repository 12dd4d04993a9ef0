"""One run of W&B from the folder, or the folders of a resumed run, in which it lies.

Online folders hold `files/config.yaml`, `files/wandb-summary.json` and `files/wandb-metadata.json`; both kinds hold the
log `run-<id>.wandb` and `files/output.log`.

Invariant: what can be read of a folder is read; each file that cannot be is complained of once.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tried.pool.sources.common.run_files import Unreadable, bytes_of
from tried.pool.sources.common.run_log import ending_in, tail_of
from tried.pool.sources.common.yaml_text import UnreadableYaml, load_yaml
from tried.pool.sources.wandb.frames import NotAWandbLog
from tried.pool.sources.wandb.log import SIZE_LIMIT, WandbLog, read_log
from tried.pool.sources.wandb.run import WandbRun, metrics_of, moment, values_of
from tried.storage.files import reason_of
from tried.storage.paths import NotPlain, is_folder, is_link

CONFIG: Final = "config.yaml"
SUMMARY: Final = "wandb-summary.json"
METADATA: Final = "wandb-metadata.json"
OUTPUT: Final = "output.log"

FILE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a configuration, a summary or metadata that is read."""

IS_LINK: Final = "is a link and is not read"

LOG_BESIDE_FILES: Final = 2 * 1024 * 1024
"""Bytes of a log that are read where the summary lies beside it; all of it if the run went wrong."""

_NAME = re.compile(r"(?:(?:offline-)?run|dryrun)-(\d{8}_\d{6})-([\w.-]+)\Z")


@dataclass(frozen=True, slots=True)
class FolderName:
    """What the name of a run's folder says: `started` as text (`20260326_122037`, local time), and the run's id."""

    name: str
    started: str
    run_id: str


@dataclass(slots=True)
class FolderReading:
    """`run` is None where a folder holds nothing that tells of a run. `complaints` are (file, why). `is_linked`: what
    should be the folder of its files is a link, and nothing behind it is read."""

    run: WandbRun | None = None
    complaints: list[tuple[str, str]] = field(default_factory=list)
    is_linked: bool = False


def parse_name(name: str) -> FolderName | None:
    match = _NAME.match(name)
    return FolderName(name, match[1], match[2]) if match else None


def names_of(run_id: str) -> tuple[str, ...]:
    """The files by which a change shows, told from the run's folder."""
    return (f"files/{CONFIG}", f"files/{SUMMARY}", f"files/{METADATA}", f"files/{OUTPUT}", f"run-{run_id}.wandb")


def files_of(folder: Path, run_id: str) -> tuple[Path, ...]:
    """The same, as paths."""
    return tuple(folder / name for name in names_of(run_id))


def read_folder(folder: Path, name: FolderName) -> FolderReading:
    """Never raises for what a folder may hold."""
    reading = FolderReading(is_linked=is_link(folder / "files"))
    if reading.is_linked:
        reading.complaints.append(("files", IS_LINK))
    summary = _json(folder / "files" / SUMMARY, reading)
    metadata = _json(folder / "files" / METADATA, reading)
    path = folder / f"run-{name.run_id}.wandb"
    log = _log(path, summary is not None, reading)
    # YAML is slow to read, and a log that is whole has the same in it.
    is_whole = log is not None and log.exit_code is not None and bool(log.config) and not (log.left_out or log.resumed)
    config = None if is_whole else _config(folder / "files" / CONFIG, reading)
    output = None if reading.is_linked else folder / "files" / OUTPUT
    nothing = config is None and summary is None and metadata is None and log is None
    if nothing and (output is None or not os.path.lexists(output)):
        return reading
    values = {**(log.config if log else {}), **(config or {})}
    results = {**(log.summary if log else {}), **(summary or {})}
    if log is not None and log.left_out and not all(map(math.isfinite, metrics_of(results).values())):
        log = _log(path, False, FolderReading()) or log  # with the steps in between
    log = log or WandbLog()
    machine = metadata or {}
    environment = _environment(values.get("_wandb"))
    home = _text(machine.get("root")) or log.root or _text(environment.get("root"))
    error = ending_in(tail_of(output)) if output is not None else None
    started = log.started or moment(machine.get("startedAt")) or moment(environment.get("startedAt"))
    ended = log.exit_code is not None
    reading.run = WandbRun(
        run_id=name.run_id,
        name=log.name,
        project=log.project,
        entity=log.entity,
        group=log.group,
        job_type=log.job_type,
        notes=log.notes,
        tags=log.tags,
        sweep=log.sweep,
        fork_of=log.fork_of,
        commit=log.commit or _commit(machine) or _commit(environment),
        # Without a log nobody knows whether it still runs.
        status=("failed" if log.exit_code else "finished") if ended else "running" if path.exists() else None,
        exit_code=log.exit_code,
        started=started or _started(name.started),
        config=values,
        summary=results,
        directions=log.directions,
        first_bad=log.first_bad,
        error=error,
        folder=job_folder(folder, home),
        home=home,
    )
    if error and not ended:
        reading.run.status = None
    return reading


def merged(runs: Sequence[WandbRun]) -> WandbRun:
    """One run that was resumed in several folders, oldest first: the newest wins, and what it does not say the older
    ones say."""
    whole = runs[0]
    for newer in runs[1:]:
        said = {
            name: value
            for name in WandbRun.__slots__
            if (value := getattr(newer, name)) not in (None, "", (), {}, [])
            and name not in ("config", "summary", "directions", "first_bad", "started", "tags")
        }
        whole = replace(
            whole,
            **{
                **said,
                "exit_code": newer.exit_code,
                "status": newer.status,
                "error": newer.error,
                "tags": tuple(newer.tags) or whole.tags,
                "started": min(filter(None, (whole.started, newer.started)), default=None),
                "config": {**whole.config, **newer.config},
                "summary": {**whole.summary, **newer.summary},
                "directions": {**whole.directions, **newer.directions},
                "first_bad": {**newer.first_bad, **whole.first_bad},
            },
        )
    return whole


def _bytes(path: Path, reading: FolderReading) -> bytes | None:
    """None where there is no such file, and, with a complaint, where it cannot be read."""
    try:
        return None if reading.is_linked else bytes_of(path, FILE_LIMIT)
    except Unreadable as error:
        reading.complaints.append((path.name, str(error)))
        return None


def _config(path: Path, reading: FolderReading) -> dict[str, Any] | None:
    data = _bytes(path, reading)
    if data is None:
        return None
    try:
        found = load_yaml(data.decode("utf-8", "replace"))
    except UnreadableYaml as error:
        reading.complaints.append((path.name, f"{error}; its parameters are missing"))
        return None
    if found is None or isinstance(found, dict):
        return values_of(found)
    reading.complaints.append((path.name, "holds no keys with values"))
    return None


def _json(path: Path, reading: FolderReading) -> dict[str, Any] | None:
    data = _bytes(path, reading)
    if data is None:
        return None
    try:
        found = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        what = "is nested too deep" if isinstance(error, RecursionError) else f"is no JSON: {str(error)[:100]}"
        reading.complaints.append((path.name, what if data.strip() else "is empty"))
        return None
    if not isinstance(found, dict):
        reading.complaints.append((path.name, "holds no keys with values"))
        return None
    return found


def _log(path: Path, beside_summary: bool, reading: FolderReading) -> WandbLog | None:
    try:
        limit = LOG_BESIDE_FILES if beside_summary else SIZE_LIMIT
        log = read_log(path, limit, summary=not beside_summary)
    except FileNotFoundError:
        return None
    except (NotPlain, IsADirectoryError) as error:
        is_linked = error.errno == errno.ELOOP
        reading.complaints.append((path.name, IS_LINK if is_linked else "is no file"))
        return None
    except (OSError, ValueError) as error:
        why = str(error) if isinstance(error, NotAWandbLog) else f"cannot be read: {_reason(error)}"
        reading.complaints.append((path.name, why))
        return None
    if log.damaged:
        reading.complaints.append((path.name, f"is damaged in {log.damaged:,} places, which were passed over"))
    return log


def _reason(error: Exception) -> str:
    return reason_of(error) if isinstance(error, OSError) else str(error)[:100]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _environment(own: Any) -> dict[str, Any]:
    """What `_wandb.e` of a configuration says of the machine; that of the last process, if the run was resumed."""
    processes = own.get("e") if isinstance(own, dict) else None
    found = [each for each in processes.values() if isinstance(each, dict)] if isinstance(processes, dict) else []
    return max(found, key=lambda each: _text(each.get("startedAt")), default={})


def _commit(machine: dict[str, Any]) -> str:
    git = machine.get("git")
    return _text(git.get("commit")) if isinstance(git, dict) else ""


def _started(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%Y%m%d_%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def job_folder(folder: Path, home: str) -> str | None:
    """Hydra's output folder, if the run was started in it: the folder that holds `wandb/`, or the one it names. That
    depends on the disk, so whoever keeps the answer asks again (`WandbSource`)."""
    for place in (str(folder.absolute().parent.parent), home):
        if os.path.isabs(place) and "\0" not in place and is_folder(Path(place, ".hydra")):  # noqa: PTH117
            return os.path.normpath(place)
    return None
