"""Which sources a workspace folder holds without being told: journals, trackers' stores, results tables.

The folder is walked once; what lies in each of its folders is shown to every kind of source in `registry.py`. The
search is bounded in depth, folders, time and finds, and never enters what is not the user's own work: dependencies,
environments, version control, caches, nor the inside of trackers' stores. What version control ignores is searched,
since that is where runs lie.

Invariant: nothing outside of the workspace is read without consent, be it behind a link, where a plug-in says that a
store lies, or in a store that begins above the workspace.
"""

from __future__ import annotations

import fnmatch
import os
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from tried.pool.journal import OUR_JOURNAL
from tried.pool.sources.registry import HYDRA, JOURNALS, TABLE_NAMES, Hints, SourceKind, kinds, made_by
from tried.pool.sources.source import Skipped, Source, limited
from tried.storage.files import reason_of
from tried.storage.paths import exists, is_link, leads_out

__all__ = ["JOURNALS", "TABLE_NAMES", "Discovery", "discover", "project_of"]

SKIPPED_FOLDERS: Final = frozenset(
    {
        *("node_modules", "bower_components", "vendor", "third_party", "site-packages", "dist-packages"),
        *("venv", "env", "virtualenv", "conda", "miniconda3", "anaconda3", "__pycache__", "__pypackages__"),
        *("build", "dist", "target", "checkpoints"),
    }
)
"""Besides these, hidden folders, and every folder that holds a `pyvenv.cfg` or a `conda-meta`."""

TRACKER_FOLDERS: Final = frozenset({"mlruns", "mlartifacts", "wandb", "lightning_logs", "multirun"})
"""The inside of these is their kind's alone, whether one claims it or not."""

READ_BY_HYDRA: Final = "wandb"
"""A store in the folder of a job that is read with the job."""

DEPTH_LIMIT: Final = 6
FOLDER_LIMIT: Final = 5_000
SECONDS_LIMIT: Final = 2.0
SOURCE_LIMIT: Final = 200
ENTRY_LIMIT: Final = 20_000
"""Entries of one folder that are listed."""

CHILD_LIMIT: Final = 500
"""Subfolders of one folder that are searched, so that a folder of many does not use up the search."""

LINKS_SHOWN: Final = 20
"""Links out of the workspace that are told one by one, and folders that nobody may look into."""

IS_LINK_OUT: Final = "is a link out of the workspace and is not read without your consent"
LIES_OUTSIDE: Final = "lies outside of the workspace and is not read without your consent"


@dataclass(frozen=True, slots=True)
class Discovery:
    """Sources in the order of their kinds, our own journal first, else sorted by path; `limits`: where the search
    ended, which kinds could not be asked. `links`: the links out of the workspace, and what a plug-in found outside of
    it, which are not read."""

    sources: tuple[Source, ...] = ()
    limits: tuple[Skipped, ...] = ()
    links: tuple[Path, ...] = ()

    @property
    def notes(self) -> tuple[Skipped, ...]:
        """All that is to be told of the search."""
        return (*self.limits, *limited((Skipped(str(link), _why_unread(link)) for link in self.links), LINKS_SHOWN))


def discover(
    folder: Path,
    exclude: Sequence[str] = (),
    seconds: float = SECONDS_LIMIT,
    within: Path | None = None,
    *,
    disabled: Collection[str] = (),
    allowed: Collection[str] = (),
    depth: int = DEPTH_LIMIT,
) -> Discovery:
    """Search a workspace folder. `exclude` are globs on paths relative to it, of files or folders to pass over;
    `disabled` are kinds that are not looked for.

    Links are followed to what lies in the folder, or in `within`, the workspace that it is a part of, or to what the
    user `allowed` (real paths).
    """
    return _Search(folder, exclude, within or folder, disabled, allowed).run(time.monotonic() + seconds, depth)


def project_of(folder: Path) -> Path:
    """The nearest folder upwards that is under version control, else the folder itself: the same on every machine."""
    folder = folder.absolute()
    return next((place for place in (folder, *folder.parents) if exists(place / ".git")), folder)


@dataclass(frozen=True, slots=True)
class _Listing:
    """Names in a folder. `links` are those of links, to folders or files; `cut`: there are more than are listed;
    `failure`: why nobody may look."""

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    links: frozenset[str] = frozenset()
    cut: bool = False
    failure: str | None = None


@dataclass
class _Search:
    folder: Path
    exclude: Sequence[str]
    within: Path
    disabled: Collection[str]
    allowed: Collection[str]
    found: dict[Path, SourceKind] = field(default_factory=dict)
    links: dict[Path, None] = field(default_factory=dict)
    limits: dict[str, Skipped] = field(default_factory=dict)
    barred: list[Skipped] = field(default_factory=list)

    def run(self, deadline: float, depth_limit: int) -> Discovery:
        every = kinds(self.disabled)
        pending: deque[tuple[Path, int]] = deque([(self.folder, 0)])
        searched = 0
        while pending:
            if searched >= FOLDER_LIMIT or len(self.found) >= SOURCE_LIMIT or time.monotonic() > deadline:
                why = f"the search for pools ended here: {_which(searched, len(self.found))}"
                self.limits["end"] = Skipped(str(pending[0][0]), why)
                break
            place, depth = pending.popleft()
            if self._is_inside_a_store(place):  # which was found after its inside had been put down to be searched
                continue
            searched += 1
            listing = listing_of(place)
            if listing.failure is not None:
                self.barred.append(Skipped(str(place), listing.failure))
            self._ask(every, place, listing)
            if depth < depth_limit:
                pending.extend((path, depth + 1) for path in self._inner(place, listing))
        project = project_of(self.folder)
        sources = tuple(self._sources(every, project))
        limits = (*self.limits.values(), *limited(self.barred, LINKS_SHOWN))
        return Discovery(sources, limits, tuple(self.links))

    def _ask(self, every: Sequence[SourceKind], place: Path, listing: _Listing) -> None:
        """What each kind finds directly in a folder."""
        suffixes = {os.path.splitext(name)[1].lower() for name in listing.files}  # noqa: PTH122 (of many names)
        inner: _Listing | None = None
        for kind in every:
            try:
                if kind.hints is not None and not kind.hints.fit(listing.folders, listing.files, suffixes):
                    continue
                if not kind.looks_only and listing.links and inner is None:
                    inner = self._inside(every, place, listing)
                shown = listing if kind.looks_only or inner is None else inner
                paths = _paths(place, kind.store_at(place, shown.folders, shown.files))
            except (Exception, SystemExit) as error:
                why = f"could not look for stores, {type(error).__name__}: {error}"[:400]
                self.limits.setdefault(kind.name, Skipped(f"{kind.name}: {place}", why))
                continue
            for path in map(self._bounded, paths):
                if path in self.found or self._is_excluded(path) or self._is_part_of_a_job(path, listing):
                    continue
                if self._leads_out(path):
                    self.links[path] = None
                else:
                    self.found[path] = kind

    def _bounded(self, path: Path) -> Path:
        """A store may begin above the folder in which it is noticed (Hydra's folder of jobs): it is read from the
        workspace on, or from the folder that was to be searched where that lies elsewhere."""
        bound = self.within if self.folder.is_relative_to(self.within) else self.folder
        return bound if path in bound.parents else path

    def _is_part_of_a_job(self, path: Path, listing: _Listing) -> bool:
        if path.name != READ_BY_HYDRA or ".hydra" not in listing.folders:
            return False
        return any(self.found.get(above) is HYDRA for above in path.parents)

    def _inside(self, every: Sequence[SourceKind], place: Path, listing: _Listing) -> _Listing:
        """Without the links that lead out, since a kind may read what it is shown; those of stores are told."""
        out = {name for name in listing.links if self._leads_out(place / name)}
        for name in sorted(out):
            of_stores = any(
                isinstance(kind.hints, Hints) and (name in kind.hints.folders or name in kind.hints.files)
                for kind in every
            )
            if of_stores and not name.startswith(".") and not self._is_excluded(place / name):
                self.links[place / name] = None
        return _Listing(
            tuple(name for name in listing.folders if name not in out),
            tuple(name for name in listing.files if name not in out),
        )

    def _inner(self, place: Path, listing: _Listing) -> Iterator[Path]:
        """The subfolders that are searched in turn."""
        claimed = self.found.get(place)
        if claimed is not None and claimed.whole:
            return
        names = sorted(
            name
            for name in listing.folders
            if name[0] != "." and name not in listing.links and name.lower() not in SKIPPED_FOLDERS | TRACKER_FOLDERS
        )
        inner = [path for name in names if not self._is_claimed(path := place / name) and not self._is_excluded(path)]
        if len(inner) > CHILD_LIMIT or listing.cut:
            more = "more than " if listing.cut else ""
            why = (
                f"of its {more}{len(inner):,} folders the first {CHILD_LIMIT:,} were searched for pools; name those in"
                " others in tried.toml"
            )
            self.limits.setdefault("children", Skipped(str(place), why))
        yield from islice(inner, CHILD_LIMIT)

    def _is_claimed(self, path: Path) -> bool:
        kind = self.found.get(path)
        return kind is not None and kind.whole

    def _is_inside_a_store(self, path: Path) -> bool:
        return any(self._is_claimed(above) for above in path.parents if above.is_relative_to(self.folder))

    def _leads_out(self, path: Path) -> bool:
        if not leads_out(path, self.folder, self.within):
            return False
        return not self.allowed or leads_out(path, *map(Path, self.allowed))

    def _is_excluded(self, path: Path) -> bool:
        if not self.exclude or path == self.folder:
            return False
        relative = path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else path.as_posix()
        return any(
            fnmatch.fnmatchcase(relative, glob) or fnmatch.fnmatchcase(relative, f"{glob}/*") for glob in self.exclude
        )

    def _sources(self, every: Sequence[SourceKind], project: Path) -> Iterator[Source]:
        places = {id(kind): place for place, kind in enumerate(every)}
        ours = self.folder / OUR_JOURNAL
        for path, kind in sorted(
            self.found.items(), key=lambda item: (item[0] != ours, places[id(item[1])], str(item[0]))
        ):
            try:
                if kind.is_store is None or kind.is_store(path):
                    yield made_by(kind, path, project)
            except (Exception, SystemExit) as error:
                why = f"no source of kind {kind.name} could be made, {type(error).__name__}: {error}"[:400]
                self.limits.setdefault(kind.name, Skipped(str(path), why))


def _paths(place: Path, found: Iterable[Path]) -> list[Path]:
    """What a kind found in a folder, each from the root; raises TypeError where that is no paths."""
    paths = list(islice(found, SOURCE_LIMIT))
    for path in paths:
        if not isinstance(path, Path):
            raise TypeError(f"store_at gave a {type(path).__name__} for a path")
    return [place / path for path in paths]


def listing_of(place: Path) -> _Listing:
    """What a folder holds, at most ENTRY_LIMIT; nothing where an environment begins or nobody may look."""
    folders: list[str] = []
    files: list[str] = []
    links: set[str] = set()
    cut = False
    try:
        with os.scandir(place) as entries:
            for number, entry in enumerate(entries):
                if number >= ENTRY_LIMIT:
                    cut = True
                    break
                try:
                    if entry.is_dir():
                        folders.append(entry.name)
                    elif entry.is_file():
                        files.append(entry.name)
                    if entry.is_symlink():
                        links.add(entry.name)
                except OSError:
                    continue
    except PermissionError as error:
        return _Listing(failure=f"cannot be listed: {reason_of(error)}; pools in it are not found")
    except OSError:
        return _Listing()
    if "pyvenv.cfg" in files or "conda-meta" in folders:
        return _Listing()
    return _Listing(tuple(folders), tuple(files), frozenset(links), cut)


def _why_unread(path: Path) -> str:
    return IS_LINK_OUT if is_link(path) or is_link(path.parent) else LIES_OUTSIDE


def _which(searched: int, found: int) -> str:
    if found >= SOURCE_LIMIT:
        return f"{SOURCE_LIMIT} were found; name further ones in tried.toml"
    if searched >= FOLDER_LIMIT:
        return f"{FOLDER_LIMIT:,} folders were searched; name further pools in tried.toml"
    return "it took too long; name further pools in tried.toml"
