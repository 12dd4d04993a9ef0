"""A folder with its settings and its pool: the only owner of anything that changes, used by the server and the command
line alike.

Invariant: `snapshot` and `settings` are immutable and replaced as a whole, so a reader in any thread sees one state.
Invariant: nothing here is raised for what a user's files hold; it is in `settings_problems` or in a source's `skipped`.
"""

from __future__ import annotations

import difflib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tried.analysis import Analysis, analyse, rank_in
from tried.pool.pool import Pool, PoolSnapshot, SourceReport
from tried.pool.sources.discovery import IS_LINK_OUT, JOURNALS, Discovery, discover, source_of
from tried.pool.sources.source import Skipped, Source
from tried.settings import LoadedSettings, Settings, SettingsProblem, has_settings, load_settings
from tried.settings.merge import GLOB, lies_inside
from tried.storage.paths import exists, is_file, is_folder

if TYPE_CHECKING:
    from tried.pool.record import Direction
    from tried.ranking.breakdown import ScoredRecord
    from tried.ranking.query import RetrievalQuery

NAMED_LIMIT = 1000
"""Files that one glob in `pool.sources` may stand for."""

PATIENCE = 20
"""A search for pools is repeated after so many times the time that it took."""

POOL_MARKERS = (".tried", ".soma", ".git")

Progress = Callable[[int, int, str], None]


class Workspace:
    """One folder (None: documents that lie in no folder) and what was tried there.

    `editor_settings` are the user's own, as in tried.toml; `overrides` the same from flags. `extra_pools` are read
    beside what is found and configured, or with `only_extra` instead of it. All methods may be called from any thread.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        editor_settings: Mapping[str, Any] | None = None,
        extra_pools: Sequence[Path] = (),
        overrides: Mapping[str, Any] | None = None,
        only_extra: bool = False,
    ) -> None:
        self.folder = _absolute(folder) if folder is not None else None
        self._extra_pools = tuple(map(_absolute, extra_pools))
        self._only_extra = only_extra
        self._overrides = dict(overrides or {})
        self._refreshing = threading.Lock()
        self._pool = Pool()
        self._directions: Mapping[str, Direction] = {}
        self._searched: _Search | None = None
        self._loaded = LoadedSettings()
        self.notes: tuple[Skipped, ...] = ()
        self.source_problems: Mapping[str, SettingsProblem] = {}
        self.configure(editor_settings)

    @property
    def settings(self) -> Settings:
        return self._loaded.settings

    @property
    def settings_problems(self) -> tuple[SettingsProblem, ...]:
        """Mistakes in settings; since the last refresh also those of `source_problems`."""
        return (*self._loaded.problems, *self.source_problems.values())

    @property
    def snapshot(self) -> PoolSnapshot:
        """The pool as of the last refresh; empty before the first."""
        return self._pool.snapshot

    def configure(self, editor_settings: Mapping[str, Any] | None = None) -> None:
        """Reads the settings files anew and takes over the editor's settings; the next `refresh` follows them."""
        self._loaded = load_settings(self.folder, editor_settings, self._overrides)
        self._searched = None

    def refresh(self, progress: Progress | None = None) -> PoolSnapshot:
        """Finds the sources and reads what is new in them; the same snapshot if nothing is.

        `source_problems` then tells of sources that settings name and that cannot be read, by their paths or globs;
        `notes` of those that `extra_pools` name, and of where the search for others ended.
        """
        with self._refreshing:
            loaded = self._loaded
            directions = loaded.settings.metrics.directions
            sources, self.notes, named = self._sources(loaded)
            if directions != self._directions:
                # How a run ended depends on them, so everything is judged anew.
                pool = Pool(sources, directions)
                pool.refresh(progress)
                self._pool, self._directions = pool, directions
            else:
                self._pool.use(sources)
                self._pool.refresh(progress)
            self.source_problems = dict(_source_problems(loaded, named, self._pool.snapshot))
            return self._pool.snapshot

    def analyse(
        self, text: str, path: Path | None, language_id: str | None, now: datetime, *, ranked: bool = True
    ) -> Analysis:
        """What is in a text, what is to be said about it, and (`ranked`) what bears on it, in the present snapshot."""
        return analyse(
            text,
            path,
            language_id,
            now,
            snapshot=self.snapshot,
            settings=self.settings,
            folder=self.folder,
            saved_at=_saved_at(path, text),
            ranked=ranked,
        )

    def rank(self, query: RetrievalQuery, now: datetime, limit: int | None = None) -> list[ScoredRecord]:
        """The records that bear on a query, best first; at most `limit`, or as many as the settings say."""
        return rank_in(self.snapshot, query, now, self.settings, limit)

    def place_of(self, record_id: str) -> tuple[Path, int] | None:
        """(file, line from 1) in which a record stands; None if no source knows. Reads the file."""
        return self._pool.place_of(record_id)

    def _sources(self, loaded: LoadedSettings) -> tuple[tuple[Source, ...], tuple[Skipped, ...], _Named]:
        """(all sources, notes, what each place that the settings name stands for)"""
        extra = [found for path in self._extra_pools for found in self._named(str(path), trusted=True)]
        named: _Named = {}
        if not self._only_extra:
            for place in loaded.settings.pool.sources:
                named[place] = tuple(self._named(place, trusted=place in loaded.trusted_sources))
        both = [*extra, *(found for place in named.values() for found in place)]
        sources = [found for found in both if not isinstance(found, Skipped)]
        notes = [found for found in extra if isinstance(found, Skipped)]
        if self.folder is not None and loaded.settings.pool.discover and not self._only_extra:
            found = self._search(self.folder, loaded.settings.pool.exclude)
            known = {str(source.path) for source in sources}
            sources, notes = (
                [*found.sources, *sources],
                [*notes, *(limit for limit in found.limits if limit.where not in known)],
            )
        return tuple(sources), tuple(notes), named

    def _named(self, place: str, *, trusted: bool) -> Iterator[Source | Skipped]:
        """The sources of a path or glob that somebody named; one that is not there is a source that says so."""
        for path in _expanded(place):
            if isinstance(path, Skipped):
                yield path
            elif not trusted and (self.folder is None or not lies_inside(str(path), self.folder)):
                yield Skipped(str(path), IS_LINK_OUT)
            elif is_folder(path) and (inside := _inside(discover(path, within=self.folder))):
                yield from inside
            else:
                yield source_of(path, self.folder)

    def _search(self, folder: Path, exclude: Sequence[str]) -> Discovery:
        """Searching a large tree takes long: what was found is kept for a while, unless a usual place says more."""
        last = self._searched
        now = time.monotonic()
        if last is not None and now - last.at < PATIENCE * last.seconds:
            known = {source.path for source in last.found.sources} | {Path(told.where) for told in last.found.limits}
            usual = [folder / journal for journal in JOURNALS] + [folder / "results.tsv"]
            if all(path in known or not exists(path) for path in usual):
                return last.found
        found = discover(folder, exclude)
        self._searched = _Search(found, now, time.monotonic() - now)
        return found


_Named: TypeAlias = dict[str, tuple[Source | Skipped, ...]]
"""By place in `pool.sources`: its sources, or why there are none."""


def failure_of(report: SourceReport) -> str | None:
    """Why a source as a whole could not be read; None if it could, whatever became of its lines."""
    return next((skipped.why for skipped in report.skipped if skipped.where in ("the file", "the source")), None)


def _source_problems(
    loaded: LoadedSettings, named: _Named, snapshot: PoolSnapshot
) -> Iterator[tuple[str, SettingsProblem]]:
    """(path or glob, what is wrong) of each source that the settings name and that cannot be read."""
    failures = {report.path: why for report in snapshot.sources if (why := failure_of(report))} if named else {}
    for place, found in named.items():
        for one in found:
            if isinstance(one, Skipped):
                where, why = one.where, one.why
            elif str(one.path) in failures:
                where, why = str(one.path), failures[str(one.path)]
                if not os.path.lexists(where):
                    why = f"{why}; {_instead_of(one.path)}"
            else:
                continue
            yield where, loaded.named_sources[place].problem(why if where == place else f"{where}: {why}")


def _instead_of(path: Path) -> str:
    """What to do about a path where there is nothing."""
    try:
        beside = sorted(entry.name for entry in islice(os.scandir(path.parent), NAMED_LIMIT))
    except (OSError, ValueError):
        return f"nor is there a folder {path.parent}; correct the path"
    near = difflib.get_close_matches(path.name, beside, n=1)
    return f"did you mean {near[0]}?" if near else "correct the path, or create the file"


@dataclass(frozen=True, slots=True)
class _Search:
    found: Discovery
    at: float
    seconds: float


def _inside(found: Discovery) -> tuple[Source | Skipped, ...]:
    return (*found.sources, *found.limits)


def _expanded(place: str) -> Iterator[Path | Skipped]:
    """The files that an absolute path or glob stands for; `**` does not follow links."""
    parts = Path(place).parts
    fixed = next((index for index, part in enumerate(parts) if GLOB.search(part)), len(parts))
    if fixed == len(parts):
        yield Path(place)
        return
    try:
        matches = islice(Path(*parts[:fixed]).glob(str(Path(*parts[fixed:]))), NAMED_LIMIT + 1)
        found = sorted(path for path in matches if is_file(path))
    except (OSError, RuntimeError, ValueError) as error:
        yield Skipped(place, f"cannot be searched: {error}")
        return
    if not found:
        yield Skipped(place, "matches no file")
    elif len(found) > NAMED_LIMIT:
        yield Skipped(place, f"matches more than {NAMED_LIMIT} files; only the first are read")
    yield from found[:NAMED_LIMIT]


def workspace_folder(path: Path, within: Path | None = None) -> Path:
    """The folder whose settings and pool a file belongs to: the nearest above it with a tried.toml.

    Without one it is `within`, the folder that is open in the editor; where there is none of those either (on the
    command line), the nearest folder with a pool or a repository, then with a results table, then the file's own. A
    pool alone does not part a project: pools are looked for in subfolders anyway.
    """
    path = _absolute(path)
    above = [folder for folder in path.parents if within is None or folder == within or within in folder.parents]
    for folder in above:
        if has_settings(folder):
            return folder
    if within is not None:
        return within
    for markers in (POOL_MARKERS, ("results.tsv",)):
        for folder in above:
            if any(os.path.lexists(folder / marker) for marker in markers):
                return folder
    return path.parent


def _absolute(path: Path) -> Path:
    """Links are not followed: paths are compared with those that editors send."""
    return Path(os.path.normpath(path.absolute()))


def _saved_at(path: Path | None, text: str) -> datetime | None:
    """When the file was last written, if `text` is what it holds; None for unsaved text."""
    if path is None:
        return None
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > 4 * len(text) + 3:
            return None
        if path.read_bytes().decode("utf-8-sig", "replace") != text.removeprefix("\ufeff"):
            return None
    except (OSError, ValueError):
        return None
    return datetime.fromtimestamp(status.st_mtime, UTC)
