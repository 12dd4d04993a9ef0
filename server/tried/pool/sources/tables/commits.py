"""The commits that the rows of a results table name: which file of the repository is the table's config, what it held
in each of them, and which row's commit each comes from.

The config of a table is chosen once and remembered: `train.py` in the table's folder if it reads as a config; else the
one file beside the table that does, of several the one that the rows' commits changed most often; else, of the files
elsewhere that the rows' commits changed, the one changed most often that reads as a config.

Invariant: what was once learnt from a commit holds when the commit is gone.
Invariant: what is known already costs no process; only names that nobody knows are asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Final

from tried.pool.record import parse_time
from tried.pool.sources.tables.config_versions import SIZE_LIMIT, ConfigVersions, may_be_config, reads_as_config
from tried.pool.sources.trailers import Conclusion, conclusion_in, tried_values
from tried.storage.commit_cache import CommitCache, KnownCommit, KnownConfig, cache_of
from tried.storage.git_formats import Commit, parse_tree
from tried.storage.git_objects import Objects, changed_paths
from tried.storage.repository import Repository, text_of

COMMIT_LIMIT: Final = 20_000
"""Commits of one table that are looked at: those of its last rows."""

AT_ONCE: Final = 200
"""Versions of a config that are read before the records are given out: a long table is joined bit by bit."""

ANCESTOR_LIMIT: Final = 500
"""Commits between a row's and the one that it comes from."""

_WALK_LIMIT: Final = 20_000
_CLOCKS_DIFFER: Final = timedelta(days=1)
_CHOICE_COMMITS: Final = 100
_CHOICE_FILES: Final = 40
_USUAL: Final = "train.py"


@dataclass(frozen=True)
class TableCommits:
    """What is known of a table's commits. `complete`: no version of the config is still to be read."""

    cache: CommitCache
    full: Mapping[str, str]
    """As a row names it → the whole hash."""

    config_path: str | None = None
    complete: bool = True

    def commit_of(self, name: str) -> KnownCommit | None:
        full = self.full.get(name)
        return self.cache.commits.get(full) if full is not None else None

    def config_of(self, commit: KnownCommit) -> KnownConfig | None:
        blob = commit.configs.get(self.config_path or "")
        return self.cache.configs.get((blob, self.config_path or "")) if blob is not None else None

    def conclusion_of(self, commit: KnownCommit) -> Conclusion | None:
        return conclusion_in(commit.tried)

    def nearest(self, commit: KnownCommit, wanted: Collection[str], limit: int = ANCESTOR_LIMIT) -> str | None:
        """The nearest ancestor that is one of the wanted commits; of equally near ones the first parent's."""
        seen = {commit.id}
        level: Sequence[str] = commit.parents
        while level and len(seen) <= limit:
            following: dict[str, None] = {}
            for one in level:
                if one in wanted:
                    return one
                seen.add(one)
                known = self.cache.commits.get(one)
                following.update(dict.fromkeys(known.parents if known is not None else ()))
            level = [one for one in following if one not in seen]
        return None


NOTHING: Final = TableCommits(CommitCache(None), {})


def commits_of(table: Path, names: Iterable[str], state: Path | None = None) -> TableCommits:
    """What is known of the commits that a table names (hashes, whole or cut). `state`: the user's state folder, if it
    is another than usual. Never raises for what a repository holds."""
    repository = Repository.at(table.parent)
    wanted = list(dict.fromkeys(names))[-COMMIT_LIMIT:] if repository is not None else []
    if repository is None or not wanted:
        return NOTHING
    try:
        place = PurePosixPath(table.parent.absolute().relative_to(repository.root).as_posix())
    except ValueError:
        return NOTHING
    cache = CommitCache(cache_of(repository.common, state))
    full = {name: known for name in wanted if (known := cache.find(name)) is not None}
    path = cache.tables.get(f"{place}/{table.name}")
    unknown = [name for name in wanted if name not in full]
    lacking = [name for name in full if _lacks(cache, full[name], path)]
    if not unknown and not lacking:
        return TableCommits(cache, full, path)
    with repository.objects() as objects:
        commits = objects.commits([*unknown, *(full[name] for name in lacking)])
        by_id = {commit.id: commit for commit in commits.values()}
        full |= {name: commits[name].id for name in unknown if name in commits}
        if path is None and by_id:
            path = _chosen(objects, list(by_id.values()), place)
            if path is not None:
                cache.set_table(f"{place}/{table.name}", path)
        for commit in by_id.values():
            cache.add_commit(_known(commit))
        _walk(objects, cache, full.values())
        complete = _read_configs(objects, cache, list(by_id), path)
    cache.save()
    return TableCommits(cache, full, path, complete)


def _lacks(cache: CommitCache, commit: str, path: str | None) -> bool:
    """Whether git is to be asked again: no config was read yet, though there may be one."""
    known = cache.commits[commit]
    if path is None:
        return True
    return path not in known.configs or (known.configs[path] != "" and (known.configs[path], path) not in cache.configs)


def _known(commit: Commit) -> KnownCommit:
    moment = commit.time.isoformat().replace("+00:00", "Z") if commit.time is not None else None
    return KnownCommit(commit.id, commit.parents, moment, tried_values(commit.trailers))


def _walk(objects: Objects, cache: CommitCache, named: Iterable[str]) -> None:
    """Learn the commits between those that are named: back to the time of the oldest of them, or somewhat further."""
    known = [cache.commits[name] for name in named if name in cache.commits]
    times = [moment for commit in known if (moment := parse_time(commit.time)) is not None]
    if not times:
        return
    oldest = min(times) - _CLOCKS_DIFFER
    seen = {commit.id for commit in known}
    level = known
    for _ in range(ANCESTOR_LIMIT):
        parents = dict.fromkeys(parent for commit in level for parent in commit.parents if parent not in seen)
        if not parents or len(seen) > _WALK_LIMIT:
            return
        seen.update(parents)
        asked = [parent for parent in parents if parent not in cache.commits]
        found = objects.commits(asked) if asked else {}
        for commit in found.values():
            if commit.time is not None and commit.time >= oldest:
                cache.add_commit(_known(commit))
        level = [cache.commits[parent] for parent in parents if parent in cache.commits]


def _read_configs(objects: Objects, cache: CommitCache, commits: Sequence[str], path: str | None) -> bool:
    """Read the versions that are not known, AT_ONCE of them at most. False if there are more."""
    if path is None:
        return True
    found = objects.find([f"{commit}:{path}" for commit in commits])
    missing: dict[str, None] = {}
    for commit, item in zip(commits, found, strict=True):
        usable = item is not None and item[1] == "blob" and item[2] <= SIZE_LIMIT
        blob = item[0] if item is not None and usable else ""
        cache.add_commit(KnownCommit(*_basics(cache.commits[commit]), {path: blob}))
        if blob and (blob, path) not in cache.configs:
            missing[blob] = None
    blobs = list(missing)
    versions = ConfigVersions(path)
    for blob, read in zip(blobs[:AT_ONCE], objects.read(blobs[:AT_ONCE]), strict=True):
        text = text_of(read.data) if read is not None else None
        cache.add_config(blob, path, versions.read(text) if text is not None else KnownConfig({}))
    return len(blobs) <= AT_ONCE


def _basics(commit: KnownCommit) -> tuple[str, tuple[str, ...], str | None, tuple[str, ...]]:
    return commit.id, commit.parents, commit.time, commit.tried


def _chosen(objects: Objects, commits: Sequence[Commit], place: PurePosixPath) -> str | None:
    """The path of the table's config file; None if there is none that reads as one."""
    newest = commits[-1]
    folder = f"{newest.id}^{{tree}}" if str(place) == "." else f"{newest.id}:{place}"
    names = [
        name
        for name, (mode, _) in parse_tree(objects.read([folder])[0]).items()
        if mode.startswith("100") and may_be_config(name)
    ]
    names.sort(key=lambda name: (name != _USUAL, name))
    beside = [_joined(place, name) for name in names[:_CHOICE_FILES]]
    accepted = _accepted(objects, newest.id, beside)
    if len(accepted) == 1 or (accepted and PurePosixPath(accepted[0]).name == _USUAL):
        return accepted[0]
    changed = _changed_by(objects, commits[-_CHOICE_COMMITS:])
    if accepted:
        return min(accepted, key=lambda path: (-changed[path], path))
    often = sorted((path for path in changed if may_be_config(path)), key=lambda path: (-changed[path], path))
    elsewhere = set(_accepted(objects, newest.id, often[:_CHOICE_FILES]))
    return next((path for path in often if path in elsewhere), None)


def _accepted(objects: Objects, commit: str, paths: Sequence[str]) -> list[str]:
    read = objects.read([f"{commit}:{path}" for path in paths], SIZE_LIMIT)
    texts = (text_of(item.data) if item is not None else None for item in read)
    return [path for path, text in zip(paths, texts, strict=True) if text is not None and reads_as_config(path, text)]


def _changed_by(objects: Objects, commits: Sequence[Commit]) -> Counter[str]:
    """How many of the commits changed each file, against their first parents."""
    changed: Counter[str] = Counter()
    trees = objects.commits([commit.parents[0] for commit in commits if commit.parents])
    for commit in commits:
        before = trees.get(commit.parents[0]) if commit.parents else None
        if before is not None:
            changed.update(changed_paths(objects, before.tree, commit.tree))
    return changed


def _joined(place: PurePosixPath, name: str) -> str:
    return name if str(place) == "." else f"{place}/{name}"
