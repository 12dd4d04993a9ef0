"""Which sources a workspace folder holds without being told: journals of known names and results tables.

The search is bounded in depth, folders, time and finds, and never enters what is not the user's own work:
dependencies, environments, version control, caches, trackers' stores.
"""

from __future__ import annotations

import fnmatch
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tried.pool.journal import OUR_JOURNAL
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.results_table import ResultsTableSource, is_results_table
from tried.pool.sources.source import Skipped, Source, limited
from tried.storage.paths import exists, is_link, leads_out, may_exist

JOURNALS: Final = (OUR_JOURNAL.as_posix(), ".soma/experiments.jsonl")
"""Paths below any folder that is searched."""

TABLE_NAMES: Final = ("*results*.tsv", "*results*.csv", "experiments*.tsv", "experiments*.csv")
"""Names of files that are looked into; see `results_table` for what makes one a results table."""

SKIPPED_FOLDERS: Final = frozenset(
    {
        *("node_modules", "bower_components", "vendor", "third_party", "site-packages", "dist-packages"),
        *("venv", "env", "virtualenv", "conda", "miniconda3", "anaconda3", "__pycache__", "__pypackages__"),
        *("build", "dist", "target", "mlruns", "wandb", "lightning_logs", "checkpoints"),
    }
)
"""Besides these, hidden folders, and every folder that holds a `pyvenv.cfg` or a `conda-meta`."""

DEPTH_LIMIT: Final = 6
FOLDER_LIMIT: Final = 5_000
SECONDS_LIMIT: Final = 2.0
SOURCE_LIMIT: Final = 100
ENTRY_LIMIT: Final = 20_000
"""Entries of one folder that are listed."""

LINKS_SHOWN: Final = 20
"""Links out of the workspace that are told one by one."""

IS_LINK_OUT: Final = "is a link out of the workspace and is not read; name it in your own settings"

_PEEK: Final = 64 * 1024
_JOURNAL_FOLDERS: Final = frozenset(Path(journal).parts[0] for journal in JOURNALS)


@dataclass(frozen=True, slots=True)
class Discovery:
    """Our own journal first, then other journals, then tables, sorted by path; `limits`: where the search ended, and
    which links out of the workspace are not read."""

    sources: tuple[Source, ...]
    limits: tuple[Skipped, ...] = ()


def discover(
    folder: Path, exclude: Sequence[str] = (), seconds: float = SECONDS_LIMIT, within: Path | None = None
) -> Discovery:
    """Search a workspace folder. `exclude` are globs on paths relative to it, of files or folders to pass over.

    Links are followed to files in the folder, or in `within`, the workspace that it is a part of.
    """
    deadline = time.monotonic() + seconds
    project = project_of(folder)
    found: list[Path] = []
    limits: list[Skipped] = []
    links: list[Skipped] = []
    homes = (folder, within or folder)
    pending: list[tuple[Path, int]] = [(folder, 0)]
    searched = 0
    while pending:
        if searched >= FOLDER_LIMIT or len(found) >= SOURCE_LIMIT or time.monotonic() > deadline:
            limits.append(
                Skipped(str(pending[0][0]), f"the search for pools ended here: {_which(searched, len(found))}")
            )
            break
        place, depth = pending.pop(0)
        searched += 1
        folders, files = _listing(place)
        named = [place / name for name in sorted(files) if _may_be_table(name)]
        named += [place / j for j in JOURNALS if Path(j).parts[0] in folders and may_exist(place / j)]
        for path in named:
            if _is_excluded(path, folder, exclude):
                continue
            # Folders behind links are not entered, so that only these two can lead elsewhere.
            if (is_link(path) or is_link(path.parent)) and leads_out(path, *homes):
                links.append(Skipped(str(path), IS_LINK_OUT))
            else:
                found.append(path)
        if depth < DEPTH_LIMIT:
            inner = (place / name for name in sorted(folders) if name.lower() not in SKIPPED_FOLDERS and name[0] != ".")
            pending.extend((path, depth + 1) for path in inner if not _is_excluded(path, folder, exclude))
    journals = [JournalSource(path) for path in found if path.suffix == ".jsonl"]
    tables = [ResultsTableSource(path, project) for path in found if path.suffix != ".jsonl" and _is_table(path)]
    ours = folder / OUR_JOURNAL
    told = (*limits, *limited(links, LINKS_SHOWN))
    ordered = sorted(journals, key=lambda source: (source.path != ours, str(source.path)))
    return Discovery((*ordered, *sorted(tables, key=lambda source: str(source.path))), told)


def source_of(path: Path, folder: Path | None = None) -> Source:
    """The source for a file that somebody named: a table by its suffix, anything else as a journal."""
    if path.suffix.lower() in (".tsv", ".csv"):
        return ResultsTableSource(path, project_of(folder) if folder is not None else None)
    return JournalSource(path)


def project_of(folder: Path) -> Path:
    """The nearest folder upwards that is under version control, else the folder itself: the same on every machine."""
    folder = folder.absolute()
    return next((place for place in (folder, *folder.parents) if exists(place / ".git")), folder)


def _listing(place: Path) -> tuple[list[str], list[str]]:
    """Names of (folders, files); links to folders are not followed, but to those of journals. Nothing where an
    environment begins."""
    folders: list[str] = []
    files: list[str] = []
    try:
        with os.scandir(place) as entries:
            for number, entry in enumerate(entries):
                if number >= ENTRY_LIMIT:
                    break
                try:
                    if entry.is_dir(follow_symlinks=False) or (entry.name in _JOURNAL_FOLDERS and entry.is_dir()):
                        folders.append(entry.name)
                    elif entry.is_file():
                        files.append(entry.name)
                except OSError:
                    continue
    except OSError:
        return [], []
    if "pyvenv.cfg" in files or "conda-meta" in folders:
        return [], []
    return folders, files


def _may_be_table(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in TABLE_NAMES)


def _is_excluded(path: Path, folder: Path, exclude: Sequence[str]) -> bool:
    relative = path.relative_to(folder).as_posix()
    return any(fnmatch.fnmatchcase(relative, glob) or fnmatch.fnmatchcase(relative, f"{glob}/*") for glob in exclude)


def _is_table(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return is_results_table(file.read(_PEEK))
    except OSError:
        return False


def _which(searched: int, found: int) -> str:
    if found >= SOURCE_LIMIT:
        return f"{SOURCE_LIMIT} were found; name further ones in tried.toml"
    if searched >= FOLDER_LIMIT:
        return f"{FOLDER_LIMIT:,} folders were searched; name further pools in tried.toml"
    return "it took too long; name further pools in tried.toml"
