"""Folders of Lightning's loggers as a source: `version_N/{hparams.yaml,metrics.csv}` in `lightning_logs` or elsewhere.

Lightning writes down neither how a training ended nor why, so a training is done if it was tested afterwards or reached
its last epoch; of others nobody knows.

Invariant: objects in `hparams.yaml` are read as the plain data that stands in them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tried.pool.sources.common.folder_watch import Signature, signature_of
from tried.pool.sources.common.json_parts import mapping_in, own_labels
from tried.pool.sources.common.logged_metrics import Logged, metrics_in_csv
from tried.pool.sources.common.run_files import FolderReader, modified, moment_of
from tried.pool.sources.common.run_folders import Found, Reading, scan_folders
from tried.pool.sources.common.run_parents import relative_name, subfolders
from tried.pool.sources.hydra.job import is_through, output_folder_of
from tried.pool.sources.source import Delta
from tried.pool.sources.tracked_run import TrackedRun
from tried.storage.paths import is_file, is_folder

FOLDER: Final = "lightning_logs"
FILES: Final = ("hparams.yaml", "metrics.csv")
JOB_LEVELS: Final = 4
"""Folders upwards in which the Hydra job is looked for that a training is a part of."""

LOOKED_AT: Final = 20
_VERSION = re.compile(r"version_\d+\Z")


@dataclass(frozen=True)
class LightningLogsSource:
    """`path` is the folder of the versions, `project` the one that ids are told from."""

    path: Path
    project: Path | None = None
    kind: str = "lightning"

    def scan(self, cursor: object | None) -> Delta:
        return scan_folders(self, cursor)

    def line_of(self, record_id: str) -> int | None:
        return None

    def found(self, before: Any, now: float) -> Found:
        return subfolders(self.path, before, now, _is_version)

    def signature(self, key: str) -> Signature | None:
        return signature_of(self.path / key / name for name in FILES)

    def read(self, key: str) -> Reading:
        version = FolderReader(self.path / key, key)
        return Reading.of(self._tracked(version), version)

    def record_id(self, key: str) -> str:
        return f"{self.kind}:{relative_name(self.path / key, self.path, self.project)}"

    def _tracked(self, version: FolderReader) -> TrackedRun:
        folder = version.folder
        hparams = version.yaml("hparams.yaml")
        params, labels = own_labels(mapping_in(hparams))
        history = version.read("metrics.csv", metrics_in_csv) or Logged()
        began, wrote = modified(folder / "hparams.yaml"), modified(folder / "metrics.csv")
        through = is_through(history, params) is True
        title = self.path.name if self.path.name != FOLDER else None
        return TrackedRun(
            kind=self.kind,
            native_id=relative_name(folder, self.path, self.project),
            name=f"{title} {version.key}" if title else version.key,
            status="finished" if through else None,
            params=params,
            labels=labels,
            metrics=history.values,
            nonfinite=history.nonfinite,
            started=moment_of(began if began is not None else wrote),
            ended=moment_of(wrote) if through else None,
            last_written=moment_of(wrote if wrote is not None else began),
            experiment=title,
            folder=_folder_of(folder),
            places=[str(folder)],
        )


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """`lightning_logs`, and a folder of another name with versions of its own (CSVLogger)."""
    found = [folder / FOLDER] if FOLDER in folders and is_folder(folder / FOLDER) else []
    versions = sorted(name for name in folders if _is_version(name))
    if any(is_file(folder / name / file) for name in islice(versions, LOOKED_AT) for file in FILES):
        found.append(folder)
    return found


def _is_version(name: str) -> bool:
    return _VERSION.match(name) is not None


def _folder_of(version: Path) -> str:
    """The output folder by which other sources know the run: that of the Hydra job that it is a part of, if it is."""
    for place in islice(version.parents, JOB_LEVELS):
        if is_file(place / ".hydra" / "config.yaml"):
            return output_folder_of(place) or str(place)
    return str(version)
