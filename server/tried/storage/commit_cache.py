"""What was once learnt from commits of a repository, kept for when they are gone: agents reset discarded commits away,
and git forgets them.

One file of JSON lines for each repository, in the user's own state folder: `commit` lines (hash, parents, time, what
its `Tried:` trailers say, which version of the config file it holds), `config` lines (the parameters of one version of
a file) and `table` lines (which file is the config of a table), after one that names the schema. All of it can be
deleted: what git still has is read anew.

Invariant: nothing here raises; a cache that cannot be read is empty, one that cannot be written stays as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tried.storage.files import StorageError, locked, replace_file
from tried.storage.user_folders import state_folder

SCHEMA: Final = "tried.commits/v1"

SIZE_LIMIT: Final = 32 * 1024 * 1024
"""Bytes of one repository's file; when it is over, its older half is left out."""


@dataclass(frozen=True, slots=True)
class KnownCommit:
    """`configs`: path → hash of the version of that file in it. `tried`: the values of its `Tried:` trailers."""

    id: str
    parents: tuple[str, ...] = ()
    time: str | None = None
    tried: tuple[str, ...] = ()
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KnownConfig:
    """`params` as they stand in the file, `unknown` the keys whose values cannot be read without executing anything;
    `rest` is a digest of what else the file holds, without comments."""

    params: Mapping[str, Any]
    unknown: tuple[str, ...] = ()
    rest: str = ""


class CommitCache:
    """The cache of one repository, in memory; `save` adds to the file what is new."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.commits: dict[str, KnownCommit] = {}
        self.configs: dict[tuple[str, str], KnownConfig] = {}
        """By (hash of the version, path)."""
        self.tables: dict[str, str] = {}
        """Table → path of its config file."""
        self._new: dict[object, dict[str, Any]] = {}
        self._sorted: list[str] | None = None
        if path is not None and not self._load(path):
            self.path = None  # it is another version's

    def find(self, name: str) -> str | None:
        """The only known commit whose hash begins so."""
        if name in self.commits:
            return name
        if self._sorted is None:
            self._sorted = sorted(self.commits)
        at = bisect_left(self._sorted, name)
        found = [known for known in self._sorted[at : at + 2] if known.startswith(name)]
        return found[0] if len(found) == 1 else None

    def add_commit(self, commit: KnownCommit) -> None:
        before = self.commits.get(commit.id)
        if before is not None:
            commit = KnownCommit(
                commit.id, commit.parents, commit.time, commit.tried, {**before.configs, **commit.configs}
            )
        else:
            self._sorted = None
        if commit != before:
            self.commits[commit.id] = commit
            self._new[commit.id] = _line_of_commit(commit)

    def add_config(self, blob: str, path: str, config: KnownConfig) -> None:
        if (blob, path) not in self.configs:
            self.configs[blob, path] = config
            self._new[blob, path] = _line_of_config(blob, path, config)

    def set_table(self, table: str, path: str) -> None:
        if self.tables.get(table) != path:
            self.tables[table] = path
            self._new["table", table, path] = {"table": table, "path": path}

    def save(self) -> bool:
        """Write down what is new. False if that was not possible, which costs nothing but work later."""
        if not self._new or self.path is None:
            return True
        data = _encoded(list(self._new.values()))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.path):
                size = self.path.stat().st_size if self.path.exists() else 0
                if size == 0 or size + len(data) > SIZE_LIMIT:
                    replace_file(self.path, self._everything())
                else:
                    with self.path.open("ab") as file:
                        file.write(b"\n" + data)  # a line that somebody left torn is closed by the first line end
        except (OSError, StorageError, ValueError):
            return False
        self._new = {}
        return True

    def _everything(self) -> bytes:
        """All lines, or the newer half where that is too much."""
        keep = len(self.commits)
        while True:
            commits = list(islice(self.commits.values(), len(self.commits) - keep, None))
            used = {(blob, path) for commit in commits for path, blob in commit.configs.items()}
            lines: list[dict[str, Any]] = [{"schema": SCHEMA}]
            lines += [_line_of_config(*key, config) for key, config in self.configs.items() if key in used]
            lines += map(_line_of_commit, commits)
            lines += [{"table": table, "path": path} for table, path in self.tables.items()]
            data = _encoded(lines)
            if len(data) <= SIZE_LIMIT // 2 or keep == 0:
                return data
            keep //= 2

    def _load(self, path: Path) -> bool:
        """False for a file of another schema, of which nothing is taken. One that names none is of the first."""
        try:
            if path.stat().st_size > 2 * SIZE_LIMIT:
                return True
            lines = path.read_bytes().split(b"\n")
        except OSError:
            return True
        if any(_schema_in(line) != SCHEMA for line in lines if line.startswith(b'{"schema"')):
            return False
        for line in lines:
            try:
                self._take(json.loads(line)) if line.strip() else None
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                continue
        return True

    def _take(self, item: dict[str, Any]) -> None:
        if "commit" in item:
            name = str(item["commit"])
            self.commits[name] = KnownCommit(
                name,
                tuple(map(str, item.get("parents") or ())),
                item.get("time"),
                tuple(map(str, item.get("tried") or ())),
                {str(path): str(blob) for path, blob in (item.get("configs") or {}).items()},
            )
        elif "config" in item:
            self.configs[str(item["config"]), str(item["path"])] = KnownConfig(
                dict(item["params"]), tuple(map(str, item.get("unknown") or ())), str(item.get("rest") or "")
            )
        elif "table" in item:
            self.tables[str(item["table"])] = str(item["path"])


def cache_of(repository: Path, folder: Path | None = None) -> Path | None:
    """The file for a repository, told by the place of what all its worktrees share; below the user's state folder, or
    `folder`. None without either."""
    below = folder or state_folder()
    digest = hashlib.sha256(os.fsencode(repository)).hexdigest()[:24]
    return below / "commits" / f"{digest}.jsonl" if below is not None else None


def _schema_in(line: bytes) -> str:
    """Of a line that is torn the first one."""
    try:
        return str(json.loads(line)["schema"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return SCHEMA


def _line_of_commit(commit: KnownCommit) -> dict[str, Any]:
    line: dict[str, Any] = {"commit": commit.id, "parents": list(commit.parents), "time": commit.time}
    if commit.tried:
        line["tried"] = list(commit.tried)
    if commit.configs:
        line["configs"] = dict(commit.configs)
    return line


def _line_of_config(blob: str, path: str, config: KnownConfig) -> dict[str, Any]:
    params = dict(config.params)
    return {"config": blob, "path": path, "params": params, "unknown": list(config.unknown), "rest": config.rest}


def _encoded(lines: list[dict[str, Any]]) -> bytes:
    text = "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
    return f"{text}\n".encode("utf-8", "replace")
