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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tried.analysis import Analysis, analyse, rank_in
from tried.pool.pool import Pool, PoolSnapshot, Published, SourceReport
from tried.pool.sources.filtered import FilteredSource, Rules
from tried.pool.sources.paced import PacedSource
from tried.pool.sources.source import Skipped, Source
from tried.settings import LoadedSettings, Settings, SettingsProblem, has_settings, load_settings
from tried.storage.consents import allow, consents_of
from tried.storage.hits import Way
from tried.workspace.calibration import Calibrator
from tried.workspace.hits import WorkspaceHits
from tried.workspace.sources import ConsentNeeded, Named, SourceFinder

if TYPE_CHECKING:
    from tried.evaluation.calibration import Calibration
    from tried.pool.record import Direction
    from tried.pool.sources.remote.source import RemoteSource
    from tried.ranking.breakdown import ScoredRecord
    from tried.ranking.hits import Hits
    from tried.ranking.policy import Policy
    from tried.ranking.query import RetrievalQuery

NAMED_LIMIT = 1000
"""Entries of a folder among which a name that was meant is looked for."""

POOL_MARKERS = (".tried", ".soma", ".git")

WHOLE = frozenset({"the file", "the folder", "the database", "the store", "the source"})
"""Where a source says that something is wrong with it as a whole."""

Progress = Callable[[int, int, str], None]


class Workspace:
    """One folder (None: documents that lie in no folder) and what was tried there.

    `editor_settings` are the user's own, as in tried.toml; `overrides` the same from flags. `extra_pools` are read
    beside what is found and configured, or with `only_extra` instead of it. `paced`: it is refreshed again and again,
    at a small cost; sources then say what is new a little later. `recalls`: it begins with the calibration that the
    last one of this folder made, and keeps its own for the next. All methods may be called from any thread.
    """

    def __init__(
        self,
        folder: Path | None,
        *,
        editor_settings: Mapping[str, Any] | None = None,
        extra_pools: Sequence[Path] = (),
        overrides: Mapping[str, Any] | None = None,
        only_extra: bool = False,
        paced: bool = False,
        recalls: bool = False,
    ) -> None:
        self.folder = _absolute(folder) if folder is not None else None
        extra = tuple(map(_absolute, extra_pools))
        self._finder = SourceFinder(self.folder, extra, only_extra=only_extra, paced=paced)
        self._overrides = dict(overrides or {})
        self._refreshing = threading.Lock()
        self._pool = Pool()
        self._hits = WorkspaceHits(extra if only_extra and extra else self.folder)
        self._directions: Mapping[str, Direction] = {}
        self._named: Named = {}
        self._loaded = LoadedSettings()
        self._allowed: frozenset[str] = frozenset()
        self._calibrator = Calibrator(self.folder if recalls else None)
        self.notes: tuple[Skipped, ...] = ()
        self.consents_needed: tuple[ConsentNeeded, ...] = ()
        self.remotes: Mapping[str, str] = {}
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

    @property
    def hits(self) -> Hits:
        """How often the records of the pool were of use, by what the state folder says now. Never raises."""
        return self._hits.among(self.snapshot)

    @property
    def hits_problem(self) -> str | None:
        """What of them could not be read when they were last asked for."""
        return self._hits.problem

    def count_hits(self, record_ids: Iterable[str], how: Way, now: datetime) -> None:
        """Remembers that a person did something with these records; nothing where documents lie in no folder, nor of
        so many records at once that nobody looked at each.

        Raises StorageError.
        """
        self._hits.count(record_ids, how, now)

    def configure(self, editor_settings: Mapping[str, Any] | None = None) -> None:
        """Reads the settings files and the user's consents anew and takes over the editor's settings; the next
        `refresh` follows them."""
        self._allowed = consents_of(self.folder) if self.folder is not None else frozenset()
        self._loaded = load_settings(self.folder, editor_settings, self._overrides, self._allowed)
        self._finder.forget()

    def allow(self, path: str) -> None:
        """Remembers that the user lets this workspace read a place outside of it; the next `configure` follows it.
        Raises StorageError."""
        if self.folder is not None:
            allow(self.folder, path)

    def refresh(
        self, progress: Progress | None = None, now: datetime | None = None, published: Published | None = None
    ) -> PoolSnapshot:
        """Finds the sources and reads what is new in them; the same snapshot if nothing is. With `now`, runs that
        nobody has written to for long count as stopped; `published` is told of snapshots on the way.

        `source_problems` then tells of sources that settings name and that cannot be read, by their paths or globs;
        `notes` of those that `extra_pools` name, and of where the search for others ended; `consents_needed` of places
        that are not read because they lie outside; `remotes` of servers, by the path of each one's source.
        """
        with self._refreshing:
            loaded = self._loaded
            directions = loaded.settings.metrics.directions
            found = self._finder.find(loaded, self._allowed)
            self.notes, self.consents_needed, self._named = found.notes, found.consents, found.named
            self.remotes = found.remotes
            if directions != self._directions:
                # How a run ended depends on them, so everything is judged anew.
                pool = Pool(found.sources, directions)
                if not self._pool.sources:
                    self._pool, self._directions = pool, directions  # what is read is seen while more of it comes
                pool.refresh(progress, now, published)
                self._pool, self._directions = pool, directions
            else:
                self._use(found.sources)
                self._pool.refresh(progress, now, published)
            self.source_problems = dict(_source_problems(loaded, found.named, self._pool.snapshot))
            return self._pool.snapshot

    def poll(self, now: datetime | None = None) -> PoolSnapshot:
        """Reads what is new in the sources that are known, without looking for others; the same snapshot if nothing
        is."""
        with self._refreshing:
            before = self._pool.snapshot
            if self._pool.refresh(now=now) is not before:
                self.source_problems = dict(_source_problems(self._loaded, self._named, self._pool.snapshot))
            return self._pool.snapshot

    def fetch(self, seconds: float) -> PoolSnapshot:
        """Waits until what servers are being asked for has come, but no longer than so many seconds, and reads it."""
        if not self.remotes:
            return self.snapshot
        deadline = time.monotonic() + seconds
        for remote in self._remote_sources():
            remote.wait(max(0.0, deadline - time.monotonic()))
        return self.poll()

    def _remote_sources(self) -> list[RemoteSource]:
        if not self.remotes:
            return []
        from tried.pool.sources.remote.source import RemoteSource

        return [inner for source in self._pool.sources if isinstance(inner := _inside(source), RemoteSource)]

    def wake(self, paths: Iterable[Path]) -> bool:
        """These files have changed: what they belong to is read at the next `poll`. True if all are parts of sources
        that are known."""
        woken = [self._finder.wake(path) for path in paths]
        return all(woken)

    def hurry(self) -> None:
        """The next `refresh` asks every source, servers included, however often it was asked and whatever that costs.
        What servers answer is there a little later."""
        self._finder.hurry()
        for remote in self._remote_sources():
            remote.hurry()

    def has_new_source(self, folders: Iterable[Path]) -> bool:
        """True if directly in one of these folders lies something to read that no source of this workspace reads."""
        known = {str(source.path) for source in self._pool.sources}
        known |= {needed.path for needed in self.consents_needed} | {note.where for note in self.notes}
        return self._loaded.settings.pool.discover and self._finder.has_new(
            tuple(folders), known, self._loaded.settings.pool.disable
        )

    def _use(self, sources: Sequence[Source]) -> None:
        """A source for which other rules hold now is read anew."""
        ruled = {(source.kind, source.path): _rules_in(source) for source in self._pool.sources}
        same = [s for s in sources if ruled.get((s.kind, s.path), _rules_in(s)) == _rules_in(s)]
        if len(same) < len(sources):
            self._pool.use(same)
        self._pool.use(sources)

    def analyse(
        self,
        text: str,
        path: Path | None,
        language_id: str | None,
        now: datetime,
        *,
        ranked: bool = True,
        snapshot: PoolSnapshot | None = None,
    ) -> Analysis:
        """What is in a text, what is to be said about it, and (`ranked`) what bears on it, in a snapshot or in the
        present one."""
        snapshot = snapshot if snapshot is not None else self.snapshot
        return analyse(
            text,
            path,
            language_id,
            now,
            snapshot=snapshot,
            settings=self.settings,
            folder=self.folder,
            saved_at=_saved_at(path, text),
            ranked=ranked,
            hits=self._hits.among(snapshot),
            calibration=self.calibration,
        )

    @property
    def calibration(self) -> Calibration | None:
        """Which kinds of evidence speak in the hover alone, as far as that is known and asked for."""
        return self._calibrator.calibration(self.settings)

    @property
    def calibration_is_due(self) -> bool:
        return self._calibrator.is_due(self.snapshot, self.settings)

    def calibrate(self, pause: Callable[[], None] = lambda: None) -> bool:
        """Replays the pool if the settings ask for it and it is due, which takes seconds; True if findings may be of
        another loudness now. `pause` is called again and again; what it raises ends the work."""
        return self._calibrator.renew(self.snapshot, self.settings, pause)

    def rank(
        self, query: RetrievalQuery, now: datetime, limit: int | None = None, policy: Policy | None = None
    ) -> list[ScoredRecord]:
        """The records that bear on a query, best first, by a policy or the active one; at most `limit`, or as many as
        the settings say."""
        snapshot = self.snapshot
        return rank_in(snapshot, query, now, self.settings, limit, policy=policy, hits=self._hits.among(snapshot))

    def place_of(self, record_id: str) -> tuple[Path, int] | None:
        """(file, line from 1) in which a record stands; None if no source knows. Reads the file."""
        return self._pool.place_of(record_id)


def failure_of(report: SourceReport) -> str | None:
    """Why a source as a whole could not be read; None if it could, whatever became of its lines."""
    return next((skipped.why for skipped in report.skipped if skipped.where in WHOLE), None)


def _source_problems(
    loaded: LoadedSettings, named: Named, snapshot: PoolSnapshot
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


def _rules_in(source: Source) -> Rules:
    inner = source.inner if isinstance(source, PacedSource) else source
    return inner.rules if isinstance(inner, FilteredSource) else Rules()


def _inside(source: Source) -> Source:
    """What reads the store, without what settings and pace put around it."""
    while isinstance(source, PacedSource | FilteredSource):
        source = source.inner
    return source


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
