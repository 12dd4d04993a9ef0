"""Sacred's run folders (FileStorageObserver) as a source: `N/{run,config,metrics,info}.json`, `N/cout.txt`.

Invariant: what jsonpickle wrote is data: a number or a list where that is all it holds, else a mapping as it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tried.pool.record import as_number
from tried.pool.sources.common.folder_watch import Signature, signature_of
from tried.pool.sources.common.json_parts import list_in, mapping_in, own_labels, text_in, time_in
from tried.pool.sources.common.logged_metrics import METRIC_LIMIT, Logged, last_of, numbers_in
from tried.pool.sources.common.run_files import FolderReader
from tried.pool.sources.common.run_folders import Found, Reading, scan_folders
from tried.pool.sources.common.run_log import ending_in, tail_of
from tried.pool.sources.common.run_parents import relative_name, subfolders
from tried.pool.sources.source import Delta
from tried.pool.sources.tracked_run import Status, TrackedRun
from tried.storage.paths import is_barred, is_file

STATUSES: Final[Mapping[str, Status]] = {
    "COMPLETED": "finished",
    "FAILED": "failed",
    "INTERRUPTED": "killed",
    "TIMEOUT": "killed",
    "DIED": "killed",
    "RUNNING": "running",
    "QUEUED": "waiting",
}

FILES: Final = ("run.json", "config.json", "metrics.json", "info.json", "cout.txt")

NAME_LIMIT: Final = 100
LOOKED_AT: Final = 20
_DEEPEST: Final = 32


@dataclass(frozen=True)
class SacredRunsSource:
    """`path` is the observer's folder, `project` the one that ids are told from."""

    path: Path
    project: Path | None = None
    kind: str = "sacred"

    def scan(self, cursor: object | None) -> Delta:
        return scan_folders(self, cursor)

    def line_of(self, record_id: str) -> int | None:
        return None

    def found(self, before: Any, now: float) -> Found:
        return subfolders(self.path, before, now, _may_be_run)

    def signature(self, key: str) -> Signature | None:
        folder = self.path / key
        return signature_of(folder / name for name in FILES) if _is_run(folder) else None

    def read(self, key: str) -> Reading:
        run = FolderReader(self.path / key, key)
        return Reading.of(_tracked(run, self._name(key)), run)

    def record_id(self, key: str) -> str:
        return f"{self.kind}:{self._name(key)}"

    def _name(self, key: str) -> str:
        return relative_name(self.path / key, self.path, self.project)


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """The folder itself, if Sacred's observer keeps its runs there."""
    names = sorted((name for name in folders if name.isdecimal()), key=lambda name: (len(name), name))
    marks = "_sources" in folders or "_resources" in folders
    if not names or (names[0] != "1" and not marks):
        return ()
    is_sacreds = any(_is_run(folder / name) for name in islice(names, LOOKED_AT))
    return (folder,) if is_sacreds else ()


def _is_run(folder: Path) -> bool:
    """Also where nobody may look: whoever reads it then says so."""
    return is_file(folder / "run.json") or is_barred(folder / "run.json")


def _may_be_run(name: str) -> bool:
    return name[0] not in "._"


def _tracked(run: FolderReader, native_id: str) -> TrackedRun:
    said = mapping_in(run.json("run.json"))
    experiment = mapping_in(said.get("experiment"))
    meta = mapping_in(said.get("meta"))
    options = mapping_in(meta.get("options"))
    status = STATUSES.get(str(said.get("status")).upper())
    logged = _metrics(run, said.get("result"))
    params, labels = own_labels(mapping_in(_plain(run.json("config.json"), 0)))
    updates = [str(each) for each in list_in(options.get("UPDATE"))]
    host = mapping_in(said.get("host")).get("hostname")
    name = " ".join([text_in(experiment.get("name")) or "run", *updates])
    repository = next((each for each in list_in(experiment.get("repositories")) if isinstance(each, dict)), {})
    dirty = repository.get("dirty")
    more = {"overrides": updates, "host": host if isinstance(host, str) else None}
    return TrackedRun(
        kind="sacred",
        native_id=native_id,
        name=name if len(name) <= NAME_LIMIT else f"{name[: NAME_LIMIT - 1]}…",
        status=status,
        params=params,
        labels=labels,
        metrics=logged.values,
        nonfinite=logged.nonfinite,
        started=time_in(said.get("start_time")),
        ended=time_in(said.get("stop_time")),
        last_written=time_in(said.get("heartbeat")) or time_in(said.get("stop_time")),
        note=text_in(meta.get("comment")) or text_in(options.get("--comment")),
        error=_trace(said.get("fail_trace")) or (ending_in(tail_of(run.folder / "cout.txt")) if status else None),
        experiment=text_in(experiment.get("name")),
        folder=str(run.folder),
        commit=text_in(repository.get("commit")),
        dirty=dirty if isinstance(dirty, bool) else None,
        places=[str(run.folder)],
        more={key: value for key, value in more.items() if value},
    )


def _metrics(run: FolderReader, result: Any) -> Logged:
    """Series of `metrics.json`, numbers of `info.json`, and the result."""
    series = {}
    bad: dict[str, int | None] = {}
    for name, told in islice(mapping_in(run.json("metrics.json")).items(), METRIC_LIMIT):
        values = list_in(mapping_in(told).get("values"))
        steps = list_in(mapping_in(told).get("steps"))
        found = last_of(
            {"step": step, "value": _plain(value, 0)}
            for step, value in zip([*steps, *[None] * (len(values) - len(steps))], values, strict=False)
        )
        if "value" in found.values:
            series[name] = found.values["value"]
        if "value" in found.nonfinite:
            bad[name] = found.nonfinite["value"]
    info = dict(numbers_in(mapping_in(_plain(run.json("info.json"), 0))))
    plain = _plain(result, 0)
    results = dict(numbers_in({"result": plain})) if isinstance(plain, dict | list) else _numbered("result", plain)
    return Logged({**info, **series, **results}, bad)


def _numbered(name: str, value: Any) -> dict[str, float]:
    number = as_number(value)
    return {} if number is None else {name: number}


def _plain(value: Any, depth: int) -> Any:
    """Without the shells that jsonpickle puts around numbers and tuples."""
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value] if depth < _DEEPEST else "…"
    if not isinstance(value, dict):
        return value
    if depth >= _DEEPEST:
        return "…"
    for shell in ("py/tuple", "py/set"):
        if isinstance(value.get(shell), list):
            return [_plain(item, depth + 1) for item in value[shell]]
    if "py/object" in value and isinstance(value.get("value"), int | float | str):
        return value["value"]
    return {key: _plain(item, depth + 1) for key, item in value.items()}


def _trace(lines: Any) -> str | None:
    if isinstance(lines, str):
        return lines
    return "".join(line for line in list_in(lines) if isinstance(line, str)) or None
