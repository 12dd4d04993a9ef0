"""A git repository: where it lies, what its refs name, what its commits say. Refs are read from their files, objects
through `git_objects`, so that nothing of the repository's configuration ever takes effect.

Invariant: nothing here raises for what a folder holds, whether there is git or not: it gives None or less.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tried.storage.git_formats import Commit
from tried.storage.git_objects import Objects, differs_from_head, reading_objects
from tried.storage.paths import is_file, is_folder, is_link, open_plain

REFS_LIMIT: Final = 100_000
_PACKED_LIMIT: Final = 64 * 1024 * 1024
_SMALL: Final = 64 * 1024
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_SHA256 = re.compile(r"^\s*objectformat\s*=\s*sha256\s*$", re.IGNORECASE | re.MULTILINE)
_SYMBOLIC_DEPTH: Final = 5
_GRAIN_NS: Final = 2_000_000_000


@dataclass(frozen=True, slots=True)
class WorkingState:
    """What a run that is started now comes from. `dirty`: files under version control are other than in the commit
    (None: unknown)."""

    commit: str
    parent: str | None
    dirty: bool | None
    branch: str | None


@dataclass(frozen=True, slots=True)
class Repository:
    """`root` is the folder of the working files, `git_folder` what git keeps about it, `common` what all its worktrees
    share."""

    root: Path
    git_folder: Path
    common: Path
    sha256: bool = False

    @classmethod
    def at(cls, folder: Path) -> Repository | None:
        """The repository that a folder lies in; None without one, for a bare one, and for a `.git` file that leads to a
        place which does not know of it."""
        try:
            folder = folder.absolute()
        except OSError:
            return None
        for root in (folder, *folder.parents):
            place = root / ".git"
            if is_folder(place) and not is_link(place):
                return cls._of(root, place)
            if is_file(place):
                return cls._of_worktree(root, place)
        return None

    @classmethod
    def _of(cls, root: Path, git_folder: Path, common: Path | None = None) -> Repository | None:
        common = common or git_folder
        if not (is_folder(common / "objects") and is_file(git_folder / "HEAD")):
            return None
        return cls(root, git_folder, common, bool(_SHA256.search(_text(common / "config") or "")))

    @classmethod
    def _of_worktree(cls, root: Path, place: Path) -> Repository | None:
        """Of a worktree or a submodule. A file of the workspace must not name any folder as its repository: that one
        has to name the worktree, or to belong to a repository around it."""
        said = (_text(place) or "").strip()
        if not said.startswith("gitdir:"):
            return None
        git_folder = _resolved(root, said.removeprefix("gitdir:").strip())
        if git_folder is None:
            return None
        back = (_text(git_folder / "gitdir") or "").strip()
        knows = bool(back) and _resolved(git_folder, back) == _resolved(root, ".git")
        around = any(
            git_folder.is_relative_to(inner) for folder in root.parents if (inner := _resolved(folder, ".git"))
        )
        if not (knows or around):
            return None
        shared = (_text(git_folder / "commondir") or "").strip()
        return cls._of(root, git_folder, _resolved(git_folder, shared) if shared else git_folder)

    @contextmanager
    def objects(self) -> Iterator[Objects]:
        """A session in which many objects are read at the cost of two processes."""
        with reading_objects(self.common / "objects", sha256=self.sha256) as objects:
            yield objects

    def commits_named(self, hashes: Iterable[str]) -> dict[str, Commit]:
        """By hash, as given (of 4 characters or more): the commits that there are."""
        names = list(dict.fromkeys(hashes))
        if not names:
            return {}
        with self.objects() as objects:
            return objects.commits(names)

    def file_at(self, commit: str, path: str) -> str | None:
        """The text of a file in a commit, by its path from the root; None if there is none or it is no text."""
        return self.files_at([(commit, path)])[0]

    def files_at(self, wanted: Sequence[tuple[str, str]]) -> list[str | None]:
        with self.objects() as objects:
            found = objects.read([f"{commit}:{path}" for commit, path in wanted])
        return [text_of(item.data) if item is not None and item.kind == "blob" else None for item in found]

    def head(self) -> str | None:
        """The hash of the commit that is checked out; None if there is none yet, or refs are stored another way."""
        return self._resolve("HEAD")[0]

    def is_dirty(self) -> bool | None:
        """Whether files under version control differ from the commit that is checked out."""
        head = self.head()
        if head is None or not is_file(self.git_folder / "index"):
            return None
        return differs_from_head(
            self.root, self.git_folder / "index", self.common / "objects", head, sha256=self.sha256
        )

    def working_state(self) -> WorkingState | None:
        """Where a run starts from now; None without a commit."""
        head, branch = self._resolve("HEAD")
        if head is None:
            return None
        commit = self.commits_named([head]).get(head)
        return WorkingState(
            commit=head,
            parent=commit.parents[0] if commit is not None and commit.parents else None,
            dirty=self.is_dirty(),
            branch=branch.removeprefix("refs/heads/") if branch else None,
        )

    def refs(self, prefix: str) -> dict[str, str]:
        """Name → hash of all refs below a prefix (`refs/heads`), sorted by name; symbolic ones are left out."""
        prefix = prefix.strip("/")
        found = {name: value for name, value in self._packed() if name.startswith(f"{prefix}/")}
        folders = [(self.common / prefix, prefix)]
        while folders and len(found) < REFS_LIMIT:
            folder, name = folders.pop()
            try:
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            folders.append((Path(entry.path), f"{name}/{entry.name}"))
                        elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(".lock"):
                            value = (_text(Path(entry.path), 100) or "").strip()
                            if _HASH.match(value):
                                found[f"{name}/{entry.name}"] = value
            except OSError:
                continue
        return dict(sorted(found.items()))

    def refs_signature(self, prefix: str) -> Hashable:
        """Stays equal as long as no ref below a prefix is made, moved or removed: git writes each by renaming a file,
        which changes the time of its folder. None for a moment after a change, since time has its grain."""
        times: list[tuple[str, int, int]] = []
        folders = [str(self.common / prefix.strip("/"))]
        try:
            packed = (self.common / "packed-refs").stat()
            times.append(("packed-refs", packed.st_mtime_ns, packed.st_size))
        except OSError:
            pass
        while folders and len(times) < REFS_LIMIT:
            folder = folders.pop()
            try:
                times.append((folder, Path(folder).stat().st_mtime_ns, 0))
                with os.scandir(folder) as entries:
                    folders += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            except OSError:
                continue
        if max((moment for _, moment, _ in times), default=0) > time.time_ns() - _GRAIN_NS:
            return None
        return hash(tuple(sorted(times)))

    def _packed(self) -> Iterator[tuple[str, str]]:
        for line in (_text(self.common / "packed-refs", _PACKED_LIMIT) or "").split("\n"):
            value, _, name = line.partition(" ")
            if name and _HASH.match(value):
                yield name.strip(), value

    def _resolve(self, ref: str) -> tuple[str | None, str | None]:
        """(hash, the last ref on the way to it)."""
        name = ref
        for _ in range(_SYMBOLIC_DEPTH):
            folder = self.git_folder if name == "HEAD" else self.common
            value = (_text(folder / name, 1_000) or "").strip()
            if value.startswith("ref:"):
                name = value.removeprefix("ref:").strip()
                if not name.startswith("refs/") or ".." in name:
                    break
                continue
            if not value:
                value = next((found for packed, found in self._packed() if packed == name), "")
            return (value if _HASH.match(value) else None), (name if name != "HEAD" else None)
        return None, None


def text_of(data: bytes) -> str | None:
    """The text of a file, as an editor would show it; None for what is none."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def _text(path: Path, limit: int = _SMALL) -> str | None:
    """The text of a small regular file; None for anything else."""
    try:
        with open_plain(path) as file:
            data = file.read(limit + 1)
    except OSError:
        return None
    return data.decode("utf-8", "replace") if len(data) <= limit else None


def _resolved(folder: Path, path: str) -> Path | None:
    if not path or "\0" in path:
        return None
    try:
        return Path(os.path.realpath(folder / path))
    except (OSError, ValueError, RuntimeError):
        return None
