"""The source for a path that somebody names: by its name as in a search, else by what it holds.

Invariant: a path that is nothing that tried reads is a source, too: one that says so.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from tried.pool.sources import registry
from tried.pool.sources.discovery import listing_of, project_of
from tried.pool.sources.registry import SourceKind, kinds, made_by
from tried.pool.sources.source import Delta, Skipped, Source
from tried.storage.paths import is_file, is_folder, open_plain

SQLITE: Final = b"SQLite format 3\x00"
LOOKED_AT: Final = 50
"""Entries of a folder that are looked into to see what it is."""

_PEEK: Final = 64 * 1024


@dataclass(frozen=True)
class NothingToRead:
    """A path at which no kind of source finds anything of its own."""

    path: Path
    why: str
    kind: str = "unknown"

    def scan(self, cursor: object | None) -> Delta:
        said = (Skipped("the source", self.why),)
        return Delta(skipped=() if cursor == said else said, cursor=said)

    def line_of(self, record_id: str) -> int | None:
        return None


def source_of(path: Path, folder: Path | None = None, disabled: Collection[str] = ()) -> Source:
    """The source for a path; `folder` is the workspace that it is named in. A file of no kind that is known is read as
    a journal, which then says what is wrong with its lines."""
    kind = kind_of(path)
    project = project_of(folder) if folder is not None else None
    if kind is not None and kind.name in disabled:
        return NothingToRead(path, f"is not read: {kind.name} is switched off (pool.disable)", kind.name)
    if kind is not None:
        try:
            return made_by(kind, path, project)
        except (Exception, SystemExit) as error:
            why = f"could not be read as {kind.name}: {type(error).__name__}: {error}"[:400]
            return NothingToRead(path, why, kind.name)
    if is_folder(path):
        why = "is a folder, not a journal, and neither a tracker's store nor a folder with a pool in it"
        return NothingToRead(path, why)
    if _head(path).startswith(SQLITE):
        return NothingToRead(
            path, "is a database of something else: it has neither runs of MLflow nor trials of Optuna"
        )
    return registry.JOURNAL.make(path, project)


def kind_of(path: Path) -> SourceKind | None:
    """What lies at a path; None where that is not known, as for a folder with stores in it."""
    return _by_name(path) or _by_content(path)


def _by_name(path: Path) -> SourceKind | None:
    """As the search finds it: in the folder around it or around that, or in the folder itself."""
    is_directory = is_folder(path)
    if not is_directory and path.suffix.lower() in (".tsv", ".csv"):
        return registry.TABLE
    shown = [(path.parent, (path.name,), ()) if is_directory else (path.parent, (), (path.name,))]
    if is_directory:
        shown.append((path.parent.parent, (path.parent.name,), ()))
    inside = listing_of(path) if is_directory else None
    for kind in kinds():
        if not kind.whole:
            continue
        with suppress(Exception):
            if any(path in kind.store_at(*folder) for folder in shown):
                return kind
            if inside is not None and path in kind.store_at(path, inside.folders, inside.files):
                return kind
    return None


def _by_content(path: Path) -> SourceKind | None:
    if is_folder(path):
        return _by_inside(path)
    if not is_file(path):
        return None
    head = _head(path)
    if head.startswith(SQLITE):
        tables = _tables(path)
        if {"runs", "experiments"} <= tables:
            return registry.MLFLOW_DATABASE
        return registry.OPTUNA_DATABASE if {"studies", "trials"} <= tables else None
    with suppress(ValueError, RecursionError):
        first = json.loads(head.split(b"\n", 1)[0])
        if isinstance(first, dict):
            return registry.OPTUNA_JOURNAL if "op_code" in first else registry.JOURNAL
    return None


def _by_inside(path: Path) -> SourceKind | None:
    """A store under another name than its tracker gives it, such as a copy."""
    names = _names(path)
    if any(name.startswith(("run-", "offline-run-")) for name in names):
        return registry.WANDB
    for name in islice(names, LOOKED_AT):
        inner = _names(path / name)
        if "meta.yaml" in inner:
            return registry.MLFLOW_FILES
        if "run.json" in inner and "config.json" in inner:
            return registry.SACRED
        if "hparams.yaml" in inner and name.startswith("version_"):
            return registry.LIGHTNING
        if ".hydra" in inner or any(".hydra" in _names(path / name / below) for below in islice(inner, LOOKED_AT)):
            return registry.HYDRA
    return None


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in islice(entries, 1000))
    except OSError:
        return []


def _head(path: Path) -> bytes:
    try:
        with open_plain(path) as file:
            return file.read(_PEEK)
    except OSError:
        return b""


def _tables(path: Path) -> frozenset[str]:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            return frozenset(_table_names(database))
    except (sqlite3.Error, ValueError):
        return frozenset()


def _table_names(database: sqlite3.Connection) -> Iterator[str]:
    for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 1000"):
        yield str(name)
