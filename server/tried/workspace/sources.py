"""Which sources a workspace reads: what is found in it, what settings name, what the user consented to, each as the
settings want it.

Invariant: what a file of the workspace names outside of it, and what a link leads to, is read with consent only.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from tried.pool.sources.discovery import IS_LINK_OUT, Discovery, discover
from tried.pool.sources.filtered import Rules, filtered
from tried.pool.sources.paced import Budget, Pace, PacedSource
from tried.pool.sources.registry import plugins
from tried.pool.sources.sniffing import kind_of, source_of
from tried.pool.sources.source import Skipped, Source
from tried.settings import LoadedSettings, RemoteSettings, SourceSettings
from tried.settings.merge import GLOB, lies_inside
from tried.storage.consents import is_allowed
from tried.storage.paths import is_barred, is_folder, may_exist

NAMED_LIMIT = 1000
"""Files that one glob in `pool.sources` may stand for."""

PATIENCE = 20
"""A search for pools is repeated after so many times the time that it took."""

Named: TypeAlias = Mapping[str, tuple[Source | Skipped, ...]]
"""By place in `pool.sources`: its sources, or why there are none."""


@dataclass(frozen=True, slots=True)
class ConsentNeeded:
    """A place outside of the workspace that is not read yet; `named_by`: the file that names it, or the link."""

    path: str
    named_by: str


@dataclass(frozen=True, slots=True)
class SourcesInForce:
    """`notes`: what is to be told of the search and of what was given with the command; `named`: see `Named`.
    `remotes`: by the path of its cache, the address of a server."""

    sources: tuple[Source, ...] = ()
    notes: tuple[Skipped, ...] = ()
    named: Named = field(default_factory=dict)
    consents: tuple[ConsentNeeded, ...] = ()
    remotes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Search:
    found: Discovery
    at: float
    seconds: float
    asked: object


class SourceFinder:
    """Finds the sources of one workspace again and again; what a search found is kept for a while.

    `paced`: they are asked again and again for long, so each is asked as seldom as its cost demands.
    """

    def __init__(self, folder: Path | None, extra: Sequence[Path], *, only_extra: bool, paced: bool) -> None:
        self.folder = folder
        self._extra = tuple(extra)
        self._only_extra = only_extra
        self._paced = paced
        self._budget = Budget()
        self._paces: dict[tuple[str, str], Pace] = {}
        self._searches: dict[Path, _Search] = {}

    def forget(self) -> None:
        """The next search is a new one."""
        self._searches.clear()

    def wake(self, path: Path) -> bool:
        """A file has changed: the sources that it may be a part of are asked soon; False if it is a part of none."""
        woken = False
        for (_, place), pace in list(self._paces.items()):
            if path.is_relative_to(place) or str(path).startswith(f"{place}-"):
                pace.wake(path)
                woken = True
        return woken

    def hurry(self) -> None:
        """All sources are asked at the next scan, whatever it costs."""
        for pace in list(self._paces.values()):
            pace.hurry()

    def find(self, loaded: LoadedSettings, allowed: Collection[str]) -> SourcesInForce:
        """All sources, in the order in which the pool takes them. `allowed`: the places outside that may be read."""
        pool = loaded.settings.pool
        disabled = frozenset(pool.disable)
        extra = [found for path in self._extra for found in self._at(str(path), disabled, allowed, trusted=True)]
        named: dict[str, tuple[Source | Skipped, ...]] = {}
        if not self._only_extra:
            for setting in pool.sources:
                if setting.enable:
                    trusted = setting.path in loaded.trusted_sources
                    named[setting.path] = tuple(self._at(setting.path, disabled, allowed, trusted=trusted))
        both = [*extra, *(found for place in named.values() for found in place)]
        sources = [found for found in both if not isinstance(found, Skipped)]
        notes = [*(found for found in extra if isinstance(found, Skipped)), *plugins().problems]
        links: tuple[Path, ...] = ()
        if self.folder is not None and pool.discover and not self._only_extra:
            found = self._search(self.folder, pool.exclude, disabled, allowed)
            known = {str(source.path) for source in sources}
            sources = [*found.sources, *sources]
            notes += [note for note in found.notes if note.where not in known]
            links = tuple(link for link in found.links if str(link) not in known)
        rules = self._rules(loaded, named)
        off = [setting.path for setting in pool.sources if not setting.enable]
        ruled = [filtered(source, rules(source)) for source in sources if not _is_off(source.path, off)]
        remote = {} if self._only_extra else self._remote(loaded)
        consents = [ConsentNeeded(path, str(name.layer.path or "")) for path, name in loaded.outside.items()]
        consents += [ConsentNeeded(str(link), str(link)) for link in links]
        return SourcesInForce(
            tuple(self._pace(source) for source in [*ruled, *remote]),
            tuple(notes),
            named,
            tuple(consents),
            {str(source.path): address for source, address in remote.items()},
        )

    def has_new(self, folders: Collection[Path], known: Collection[str], disabled: Collection[str]) -> bool:
        """True if directly in one of these folders lies a store that is not known. Looks at nothing else."""
        return any(
            str(source.path) not in known
            for folder in folders
            for source in discover(folder, within=self.folder, disabled=disabled, depth=0).sources
        )

    def _at(
        self, place: str, disabled: Collection[str], allowed: Collection[str], *, trusted: bool
    ) -> Iterator[Source | Skipped]:
        """The sources of a path or glob that somebody named; one that is not there is a source that says so."""
        for path in _expanded(place):
            if isinstance(path, Skipped):
                yield path
            elif not trusted and not self._may_read(path, allowed):
                yield Skipped(str(path), IS_LINK_OUT)
            elif not is_folder(path) or kind_of(path) is not None:
                yield source_of(path, self.folder, disabled)
            else:
                found = self._search(path, (), disabled, allowed)
                inside: list[Source | Skipped] = [*found.sources, *found.notes]
                yield from inside or [source_of(path, self.folder, disabled)]

    def _may_read(self, path: Path, allowed: Collection[str]) -> bool:
        return (self.folder is not None and lies_inside(str(path), self.folder)) or is_allowed(path, allowed)

    def _rules(self, loaded: LoadedSettings, named: Named) -> _RulesOf:
        """What settings say of each source: by its own path, else by the glob or folder that it was named with."""
        pool = loaded.settings.pool
        by_path: dict[str, Rules] = {}
        for setting in pool.sources:
            rules = rules_of(setting, pool.parent_key)
            for found in named.get(setting.path, ()):
                if not isinstance(found, Skipped):
                    by_path.setdefault(str(found.path), rules)
        by_path |= {setting.path: rules_of(setting, pool.parent_key) for setting in pool.sources}
        return _RulesOf(by_path, Rules(parent_key=pool.parent_key))

    def _search(
        self, folder: Path, exclude: Sequence[str], disabled: Collection[str], allowed: Collection[str]
    ) -> Discovery:
        """Searching a large tree takes long: what was found is kept for a while, unless the folder itself says more."""
        last = self._searches.get(folder)
        now = time.monotonic()
        if last is not None and now - last.at < PATIENCE * last.seconds:
            known = {str(source.path) for source in last.found.sources} | {str(link) for link in last.found.links}
            told = known | {limit.where for limit in last.found.limits}
            if not self.has_new([folder], told, disabled):
                return last.found
        found = discover(folder, exclude, within=self.folder, disabled=disabled, allowed=allowed)
        asked = (tuple(exclude), frozenset(disabled), frozenset(allowed))
        if last is not None and last.asked == asked:
            found = _with_barred(found, last.found)
        self._searches[folder] = _Search(found, now, time.monotonic() - now, asked)
        return found

    def _remote(self, loaded: LoadedSettings) -> dict[Source, str]:
        """Each server that is to be asked here, with its address as it may be shown."""
        settings = [one for one in loaded.settings.remote if one.enable and self._is_meant(one)]
        if not settings:
            return {}
        from tried.pool.sources.remote.source import remote_source
        from tried.pool.sources.remote.tracker import WANDB_ADDRESS, RemoteTracker, shown_address
        from tried.storage.cache import cache_folder

        rules = Rules(parent_key=loaded.settings.pool.parent_key)
        trackers = [
            RemoteTracker(
                kind=one.kind,
                address=one.address or WANDB_ADDRESS,
                projects=one.projects,
                token_variable=one.token_variable,
                interval_seconds=one.interval_seconds,
            )
            for one in settings
        ]
        cache = cache_folder() / "remote"
        return {filtered(remote_source(tracker, cache), rules): shown_address(tracker.address) for tracker in trackers}

    def _is_meant(self, remote: RemoteSettings) -> bool:
        if not remote.workspaces:
            return True
        globs = [str(Path(glob).expanduser()) if glob.startswith("~/") else glob for glob in remote.workspaces]
        return self.folder is not None and any(fnmatch.fnmatchcase(str(self.folder), glob) for glob in globs)

    def _pace(self, source: Source) -> Source:
        if not self._paced:
            return source
        key = (source.kind, str(source.path))
        return PacedSource(source, self._paces.setdefault(key, Pace(self._budget, key)))


@dataclass(frozen=True, slots=True)
class _RulesOf:
    by_path: Mapping[str, Rules]
    otherwise: Rules

    def __call__(self, source: Source) -> Rules:
        return self.by_path.get(str(source.path), self.otherwise)


def rules_of(setting: SourceSettings, parent_key: str | None) -> Rules:
    return Rules(
        setting.research_line,
        setting.experiments,
        setting.tags,
        setting.statuses,
        setting.max_age_days,
        parent_key,
    )


def _with_barred(found: Discovery, before: Discovery) -> Discovery:
    """With the sources of before that nobody may look at any more: they are asked, and say why they cannot be read."""
    known = {source.path for source in found.sources}
    barred = [source for source in before.sources if source.path not in known and is_barred(source.path)]
    return replace(found, sources=(*found.sources, *barred)) if barred else found


def _is_off(path: Path, off: Sequence[str]) -> bool:
    """A path that is switched off, lies inside of one, or fits a glob that is."""
    return any(
        path == Path(place) or Path(place) in path.parents or fnmatch.fnmatchcase(str(path), place) for place in off
    )


def _expanded(place: str) -> Iterator[Path | Skipped]:
    """The files and stores that an absolute path or glob stands for; `**` does not follow links."""
    parts = Path(place).parts
    fixed = next((index for index, part in enumerate(parts) if GLOB.search(part)), len(parts))
    if fixed == len(parts):
        yield Path(place)
        return
    try:
        matches = islice(Path(*parts[:fixed]).glob(str(Path(*parts[fixed:]))), NAMED_LIMIT + 1)
        found = sorted(path for path in matches if may_exist(path))
    except (OSError, RuntimeError, ValueError) as error:
        yield Skipped(place, f"cannot be searched: {error}")
        return
    if not found:
        yield Skipped(place, "matches no file")
    elif len(found) > NAMED_LIMIT:
        yield Skipped(place, f"matches more than {NAMED_LIMIT} files; only the first are read")
    yield from found[:NAMED_LIMIT]
