"""Hydra's output folders as a source: every folder with a `.hydra/config.yaml` below `outputs/`, `multirun/` or a
folder of another name, however its `hydra.run.dir` lays them out.

Invariant: links are not followed and the search is bounded in depth and folders; nothing is unpickled or resolved.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tried.pool.sources.common.folder_watch import (
    Listing,
    Signature,
    joined,
    listing_of,
    signature_of,
    signature_of_folder,
)
from tried.pool.sources.common.run_files import FolderReader
from tried.pool.sources.common.run_folders import Found, Reading, scan_folders
from tried.pool.sources.common.run_parents import in_order, relative_name
from tried.pool.sources.hydra.inner_wandb import FOLDER as WANDB
from tried.pool.sources.hydra.inner_wandb import wandb_files, with_wandb
from tried.pool.sources.hydra.job import LOGGER_FOLDERS, files_of, read_job
from tried.pool.sources.source import Delta
from tried.storage.paths import exists, is_barred, is_file, is_folder

DEPTH_LIMIT: Final = 6
"""Levels below the source's folder at which a job may lie."""

FOLDER_LIMIT: Final = 20_000
"""Folders without a job of their own that are searched."""

LOOKED_AT: Final = 60
"""Folders that are listed to see whether a folder of a common name is Hydra's."""

STORES: Final = ("outputs", "multirun")

_CONFIG_FILES: Final = ("config.yaml", "hydra.yaml", "overrides.yaml")

_NOT_SEARCHED: Final = frozenset(
    {"node_modules", "__pycache__", "site-packages", "mlruns", "wandb", "lightning_logs", "checkpoints", "tensorboard"}
)


@dataclass(frozen=True, slots=True)
class _Tree:
    """Listings of the folders that hold jobs or lead to them, by path relative to the source's; the jobs' paths, in
    the order of time as far as names tell; and which of them belong to a sweep."""

    listings: Mapping[str, Listing] = field(default_factory=dict)
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True)
class HydraFoldersSource:
    """`project`: the folder that ids are told from."""

    path: Path
    project: Path | None = None
    kind: str = "hydra"

    def scan(self, cursor: object | None) -> Delta:
        return scan_folders(self, cursor)

    def line_of(self, record_id: str) -> int | None:
        return None

    def found(self, before: Any, now: float) -> Found:
        known = before if isinstance(before, _Tree) else _Tree()
        root = str(self.path)
        jobs_before = set(known.jobs)
        listings: dict[str, Listing] = {}
        jobs: list[str] = []
        skipped: dict[str, str] = {}
        pending: list[tuple[str, int]] = [("", 0)]
        same = True
        # Below a folder of another name these are stores of their own.
        closed = _NOT_SEARCHED if self.path.name in STORES else _NOT_SEARCHED.union(STORES)
        while pending:
            place, depth = pending.pop()
            if len(listings) >= FOLDER_LIMIT:
                skipped[place] = f"the search ended here: {FOLDER_LIMIT:,} folders were searched for jobs of Hydra"
                break
            was = known.listings.get(place)
            listing = listing_of(f"{root}/{place}" if place else root, was, now)
            if listing is None:
                if not place:
                    return Found(failure="there is no such folder")
                continue
            same = same and listing == was
            if ".hydra" in listing.folders:
                jobs.append(place)
                continue
            listings[place] = listing
            if listing.failure is not None:
                skipped[place or "."] = f"cannot be listed: {listing.failure}; jobs below it are not read"
            for name in listing.folders:
                inner = f"{place}/{name}" if place else name
                if inner in jobs_before:
                    jobs.append(inner)
                elif depth < DEPTH_LIMIT and name[0] != "." and name not in closed:
                    pending.append((inner, depth + 1))
        if same and len(jobs) == len(known.jobs):
            return Found(known.jobs, known, skipped)
        tree = _Tree(listings, tuple(sorted(jobs, key=in_order)))
        return Found(tree.jobs, tree, skipped)

    def signature(self, key: str) -> Signature | None:
        # Of hundreds of jobs once a second: no `Path` is made where none is needed.
        folder = f"{self.path}/{key}" if key else str(self.path)
        config = signature_of([f"{folder}/.hydra/{name}" for name in _CONFIG_FILES])
        if config is None:
            return None
        has_logs = any(os.path.isdir(f"{folder}/{name}") for name in LOGGER_FOLDERS)  # noqa: PTH112
        histories = signature_of(files_of(Path(folder))) if has_logs else None
        has_wandb = os.path.isdir(f"{folder}/{WANDB}")  # noqa: PTH112
        inside = signature_of(wandb_files(Path(folder))) if has_wandb else None
        return joined(config, signature_of_folder(folder), histories, inside)

    def read(self, key: str) -> Reading:
        job = FolderReader(self._folder(key), key or ".")
        run = read_job(job, self._relative(job.folder), self._sweep_of(key))
        return Reading.of(with_wandb(run, job) if is_folder(job.folder / WANDB) else run, job)

    def record_id(self, key: str) -> str:
        return f"{self.kind}:{self._relative(self._folder(key))}"

    def _folder(self, key: str) -> Path:
        return self.path / key if key else self.path

    def _relative(self, folder: Path) -> str:
        return relative_name(folder, self.path, self.project)

    def _sweep_of(self, key: str) -> str | None:
        """The folder of the search that a job is a part of: the nearest one around it with a `multirun.yaml`, else, of
        what lies below `multirun`, the one around it."""
        if not key:
            return None
        folder = self._folder(key)
        around = list(islice(folder.parents, key.count("/") + 1))
        swept = next((place for place in around if is_file(place / "multirun.yaml")), None)
        if swept is None and "multirun" in (self.path.name, *Path(key).parts[:-1]) and around[0] != self.path:
            swept = around[0]
        return f"{self.kind}:{self._relative(swept)}" if swept is not None else None


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """`outputs` and `multirun` if Hydra wrote there. Of a folder that is a job itself: the folder of the jobs of which
    it is one, where names of dates and numbers lead up to it, or where its neighbours are jobs too."""
    found = [folder / name for name in STORES if name in folders and _has_a_job(folder / name)]
    if ".hydra" in folders and is_file(folder / ".hydra" / "config.yaml"):
        found.append(_home_of(folder))
    return found


def _has_a_job(folder: Path) -> bool:
    """Whether a job lies within three levels, the newest names first, or may lie where nobody may look."""
    pending, looked = [(folder, 0)], 0
    while pending and looked < LOOKED_AT:
        place, depth = pending.pop()
        looked += 1
        names = _subfolders(place)
        if ".hydra" in names or (not names and is_barred(place)):
            return True
        if depth < 3:
            pending.extend((place / name, depth + 1) for name in names[-20:] if name[0] != ".")
    return False


def _home_of(job: Path) -> Path:
    home = job
    while home.name[:1].isdigit() and home.parent != home:
        home = home.parent
    if home != job:
        return home
    around = job.parent
    if exists(around / ".git"):
        return job
    others = (name for name in _subfolders(around) if name != job.name and name[0] != ".")
    return around if any(is_folder(around / name / ".hydra") for name in islice(others, LOOKED_AT)) else job


def _subfolders(folder: Path) -> list[str]:
    """Dates and numbers last, the newest at the end."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, 5_000) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(names, key=lambda name: (name[:1].isdigit(), name))
