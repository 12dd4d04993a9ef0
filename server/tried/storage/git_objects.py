"""The objects of a git repository (commits, trees, files), read through the `git` executable without obeying it.

git runs inside an empty repository of ours, and only its folder of objects is theirs. So nothing in the configuration
or attributes of the repository that is read exists for it: no pager, hook, filter, file monitor, text conversion, ssh
command or remote. Names are hashes and paths, never refs.

Invariant: reading executes nothing that the repository names, writes nothing into it and fetches nothing.
Invariant: nothing here raises for what a repository holds: what is missing, too large or broken is None.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

from tried.storage.git_formats import Commit, GitObject, parse_commit, parse_tree
from tried.storage.paths import open_plain

SECONDS: Final = 20.0
"""After so long one session is given up."""

OBJECT_LIMIT: Final = 4 * 1024 * 1024
TOTAL_LIMIT: Final = 512 * 1024 * 1024
"""Bytes of one object, and of all that one session reads."""


_AT_ONCE: Final = (
    32 * 1024
)  # bytes that fit into a pipe, and the answers into another: neither side waits for the other
_RESTARTS: Final = 20
_ALTERNATES: Final = 50
_ENTRIES: Final = 20_000
_TREE_DEPTH: Final = 40
_NAME = re.compile(r"[0-9a-f]{4,64}(?:\^\{(?:commit|tree)\}|:[^\x00\r\n]{0,1000})?\Z")
_HEADER = re.compile(rb"([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)\n\Z")


class Objects:
    """A session with git; made by `reading_objects`."""

    def __init__(self, start: Callable[[str], subprocess.Popen[bytes] | None]) -> None:
        self._start = start
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._left = TOTAL_LIMIT
        self._restarts = _RESTARTS
        self._over = False

    def find(self, names: Sequence[str]) -> list[tuple[str, str, int] | None]:
        """(hash, kind, bytes) of each name: a hash, cut to 4 characters or more, perhaps with `^{commit}`, `^{tree}` or
        `:PATH` behind it. None for what there is not, or what is not unique."""
        return [found and found[:3] for found in self._ask("--batch-check", names)]

    def read(self, names: Sequence[str], limit: int = OBJECT_LIMIT) -> list[GitObject | None]:
        """The objects of these names; None for what there is not and what is larger than `limit`."""
        wanted: dict[str, None] = {}
        found = self.find(names)
        for item in found:
            if item is not None and item[2] <= limit and item[0] not in wanted and self._left >= item[2]:
                self._left -= item[2]
                wanted[item[0]] = None
        ids = list(wanted)
        data = {item[0]: GitObject(item[0], item[1], item[3]) for item in self._ask("--batch", ids) if item is not None}
        return [data.get(item[0]) if item is not None else None for item in found]

    def commits(self, names: Sequence[str]) -> dict[str, Commit]:
        """Those of the names (hashes or their beginnings) that are commits."""
        read = self.read([f"{name}^{{commit}}" for name in names])
        return {
            name: commit
            for name, item in zip(names, read, strict=True)
            if item is not None and (commit := parse_commit(item)) is not None
        }

    def close(self) -> None:
        self._over = True
        for process in self._processes.values():
            _end(process)
        self._processes = {}

    def kill(self) -> None:
        self._over = True
        for process in list(self._processes.values()):
            process.kill()

    def _ask(self, mode: str, names: Sequence[str]) -> list[tuple[str, str, int, bytes] | None]:
        answers: list[tuple[str, str, int, bytes] | None] = [None] * len(names)
        chunk: list[int] = []
        length = 0
        for place, name in enumerate(names):
            if not _NAME.match(name):
                continue
            length += len(name.encode("utf-8", "surrogateescape")) + 1
            if chunk and length > _AT_ONCE:
                self._fill(answers, mode, names, chunk)
                chunk, length = [], len(name.encode("utf-8", "surrogateescape")) + 1
            chunk.append(place)
        self._fill(answers, mode, names, chunk)
        return answers

    def _fill(
        self,
        answers: list[tuple[str, str, int, bytes] | None],
        mode: str,
        names: Sequence[str],
        chunk: Sequence[int],
    ) -> None:
        for place, answer in zip(chunk, self._answers(mode, [names[place] for place in chunk]), strict=True):
            answers[place] = answer

    def _answers(self, mode: str, names: Sequence[str]) -> list[tuple[str, str, int, bytes] | None]:
        """One for each name. An object that git dies of is passed over; the session ends if that happens too often."""
        answers: list[tuple[str, str, int, bytes] | None] = []
        while len(answers) < len(names):
            process = self._process(mode)
            if process is None or process.stdin is None or process.stdout is None:
                break
            try:
                process.stdin.write(
                    "".join(f"{name}\n" for name in names[len(answers) :]).encode("utf-8", "surrogateescape")
                )
                process.stdin.flush()
                while len(answers) < len(names):
                    answers.append(_answer(process.stdout, with_data=mode == "--batch"))
            except (OSError, ValueError, EOFError):
                answers.append(None)
                self._processes.pop(mode, None)
                _end(process)
                self._restarts -= 1
                self._over = self._over or self._restarts <= 0
        return [*answers, *[None] * (len(names) - len(answers))]

    def _process(self, mode: str) -> subprocess.Popen[bytes] | None:
        if self._over:
            return None
        if mode not in self._processes and (process := self._start(mode)) is not None:
            self._processes[mode] = process
        return self._processes.get(mode)


def _answer(stream: object, *, with_data: bool) -> tuple[str, str, int, bytes] | None:
    read, readline = stream.read, stream.readline  # type: ignore[attr-defined]
    line = readline(4096)
    if not line.endswith(b"\n"):
        raise EOFError
    match = _HEADER.match(line)
    if match is None:
        return None
    size, data = int(match[3]), b""
    if with_data:
        data = read(size)
        if len(data) != size or read(1) != b"\n":
            raise EOFError
    return match[1].decode(), match[2].decode(), size, data


@contextmanager
def reading_objects(folder: Path, *, sha256: bool = False, seconds: float = SECONDS) -> Iterator[Objects]:
    """A session on a repository's folder of objects. Where git is missing or fails, it finds nothing."""
    waits = _would_be_waited_for(folder)
    with _empty_repository(sha256=sha256) as home:

        def start(mode: str) -> subprocess.Popen[bytes] | None:
            return start_git(home, ["cat-file", mode], folder) if home is not None and not waits else None

        objects = Objects(start)
        watchdog = threading.Timer(seconds, objects.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            yield objects
        finally:
            watchdog.cancel()
            objects.close()


def start_git(
    home: Path, arguments: Sequence[str], objects: Path, more: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes] | None:
    """git with `home` as its repository and other objects. None where it cannot be started."""
    git = git_executable()
    if git is None:
        return None
    kept = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    environment |= {
        "GIT_DIR": str(home),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "LC_ALL": "C",
    }
    safe = ["--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"]
    try:
        return subprocess.Popen(
            [git, *safe, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=home,
            env=environment | dict(more or {}),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError):
        return None


def _would_be_waited_for(objects: Path) -> bool:
    """Whether a pipe or a device lies among what git opens first: alternates, packs and their indexes, here and where
    alternates lead. git would wait for it until the session is given up."""
    pending, seen = [objects], set[str]()
    while pending and len(seen) < _ALTERNATES:
        folder = pending.pop()
        if (name := str(folder)) in seen:
            continue
        seen.add(name)
        for part in ("info", "info/commit-graphs", "pack"):
            try:
                with os.scandir(folder / part) as entries:
                    if any(_is_special(entry) for entry in islice(entries, _ENTRIES)):
                        return True
            except (OSError, ValueError):
                continue
        try:
            with open_plain(folder / "info" / "alternates") as file:
                lines = file.read(_AT_ONCE).decode("utf-8", "surrogateescape").split("\n")
        except OSError:
            continue
        pending += [folder / line for line in lines if line and line[0] != "#"]
    return False


def _is_special(entry: os.DirEntry[str]) -> bool:
    try:
        return not (entry.is_file() or entry.is_dir()) and not stat.S_ISREG(entry.stat().st_mode)
    except OSError:  # a link to nowhere
        return False


def git_executable() -> str | None:
    """git on the search path; not one in the present folder, which Windows looks into first."""
    found = shutil.which("git")
    if found is None or not Path(found).is_absolute() or Path(found).parent == Path.cwd():
        return None
    return found


@contextmanager
def _empty_repository(*, sha256: bool, head: str = "ref: refs/heads/none") -> Iterator[Path | None]:
    try:
        made = tempfile.TemporaryDirectory(prefix="tried-git-", ignore_cleanup_errors=True)
    except OSError:
        yield None
        return
    with made as name:
        home: Path | None = Path(name)
        try:
            Path(name, "refs").mkdir()
            Path(name, "HEAD").write_text(f"{head}\n", encoding="ascii")
            if sha256:
                text = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n"
                Path(name, "config").write_text(text, encoding="ascii")
        except OSError:
            home = None
        yield home


def differs_from_head(work_tree: Path, index: Path, objects: Path, head: str, *, sha256: bool) -> bool | None:
    """Whether files under version control are other than in the commit `head`; None if that cannot be told.

    Attributes and filters of the repository do not apply, and submodules are not looked into.
    """
    with _empty_repository(sha256=sha256, head=head) as home:
        if home is None or _would_be_waited_for(objects):
            return None
        asked = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all", "--no-renames"]
        more = {"GIT_WORK_TREE": str(work_tree), "GIT_INDEX_FILE": str(index)}
        process = start_git(home, asked, objects, more)
        if process is None or process.stdout is None:
            return None
        watchdog = threading.Timer(SECONDS, process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            said = process.stdout.read(1)
            if said:
                process.kill()
                return True
            return False if process.wait() == 0 else None
        except (OSError, ValueError):
            return None
        finally:
            watchdog.cancel()
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        try:
            if stream is not None:
                stream.close()
        except OSError:
            pass
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def changed_paths(objects: Objects, before: str | None, after: str, limit: int = 200) -> list[str]:
    """Paths of files that one tree has otherwise than another (None: an empty one), at most `limit`; what was removed
    is not named."""
    found: list[str] = []
    pending: list[tuple[str, str | None, str]] = [("", before, after)]
    for _ in range(_TREE_DEPTH):
        if not pending or len(found) >= limit:
            break
        trees = objects.read([tree for _, *both in pending for tree in both if tree is not None])
        read = iter(trees)
        following: list[tuple[str, str | None, str]] = []
        for prefix, old, _new in pending:
            was = parse_tree(next(read)) if old is not None else {}
            for name, (mode, item) in parse_tree(next(read)).items():
                mode_before, item_before = was.get(name, ("", ""))
                if item == item_before:
                    continue
                if mode == "40000":
                    following.append((f"{prefix}{name}/", item_before if mode_before == "40000" else None, item))
                elif mode.startswith("100"):
                    found.append(f"{prefix}{name}")
        pending = following[:limit]
    return found[:limit]
