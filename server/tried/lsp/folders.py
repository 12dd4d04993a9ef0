"""The folders that are open, each with its pool; how a pool is loaded, grows and is configured anew.

Invariant: everything that reads a disk runs in a worker thread; what is kept here is touched on the event loop alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lsprotocol import types as t

from tried.lsp.progress import Progress
from tried.pool.pool import PoolSnapshot
from tried.settings import settings_files, user_file
from tried.workspace import Workspace

if TYPE_CHECKING:
    from tried.lsp.client import Client

log = logging.getLogger("tried.lsp")

REDISCOVER_SECONDS = 30.0
"""Sources that appear in places where none was are found this late at most, but for those in the folder itself and
beside open documents."""

PROGRESS_SECONDS = 0.5
"""While a pool is being read, word of how far it is goes out at most so often."""

GROWTH = 1.5
"""While a pool is being read, open documents are looked at anew whenever it has grown by so much: a few times in all,
however large it is."""

POOL_PLACES = (".tried/pool.jsonl", ".soma/experiments.jsonl", "results.tsv")

Stamp = Mapping[str, tuple[int, int, int] | None]
"""Modification time, size and inode of files; None where there is none."""


class Folder:
    """A folder with settings and a pool of its own: one that is open in the editor, or one that documents lie in.

    `revision` grows with every change of settings or pool that may change an answer. `usable`: the settings were read,
    and what is read of the pool is there as it comes; `loaded`: all of it is. `beside_documents` are the folders of
    open documents; a pool that appears there is seen as soon as one in the folder itself. `progress` is how far the
    reading is: done, in all (0: unknown), what is being done; None while nothing is read.
    """

    def __init__(self, path: Path, uri: str | None, pools: Sequence[Path]) -> None:
        self.path = path
        self.uri = uri
        self.workspace: Workspace | None = None
        self.revision = 0
        self.loading = False
        self.loading_since = 0.0
        self.usable = asyncio.Event()
        self.loaded = asyncio.Event()
        self.progress: tuple[int, int, str] | None = None
        self.told_of_missing_pool = False
        self.told_problems: set[str] = set()
        self.asked_consents: set[str] = set()
        self.files_with_problems: set[Path] = set()
        self.editor_settings: Mapping[str, Any] = {}
        self.beside_documents: frozenset[Path] = frozenset()
        self._pools = pools
        self._busy = asyncio.Lock()
        self._stamp: Stamp = {}
        self._stamped: Stamp = {}
        self._searched_at = 0.0
        self._reported: set[str] = set()

    @property
    def is_idle(self) -> bool:
        """True while nothing is being read."""
        return self.loaded.is_set() and not self._busy.locked()

    @property
    def state(self) -> Literal["unread", "reading", "ready"]:
        return "ready" if self.loaded.is_set() else "reading" if self.loading else "unread"

    async def load(
        self, client: Client, loader: ThreadPoolExecutor, grown: Callable[[], None], progressed: Callable[[], None]
    ) -> None:
        """Reads settings and pool, with progress; `grown` is called now and then while records come in, `progressed`
        when `progress` is another one. The folder is usable afterwards even if its pool is not."""
        async with self._busy:
            loop = asyncio.get_running_loop()
            try:
                progressed()
                workspace = self.workspace = await loop.run_in_executor(loader, self._open)
                self.usable.set()
                async with Progress(client, "Reading past experiments") as progress:
                    report, more = self._noting(progress.from_thread(), progressed), self._growing(grown)
                    await loop.run_in_executor(loader, workspace.refresh, report, datetime.now(UTC), more)
                self._stamp, self._searched_at = self._stamped, time.monotonic()
                self._tell_of_skipped(client)
            except Exception:
                log.exception("the pool of %s could not be read", self.path)
                client.log(
                    f"The pool of {self.path} could not be read; the server's log says why.", t.MessageType.Error
                )
            finally:
                self.progress = None
                self.revision += 1
                self.usable.set()
                self.loaded.set()

    def _open(self) -> Workspace:
        workspace = Workspace(
            self.path, editor_settings=self.editor_settings, extra_pools=self._pools, paced=True, recalls=True
        )
        self._stamped = stamp_of(self._places())
        return workspace

    def _noting(
        self, tell: Callable[[int, int, str], None], progressed: Callable[[], None]
    ) -> Callable[[int, int, str], None]:
        """What the loading thread calls with its progress."""
        loop = asyncio.get_running_loop()
        last = 0.0

        def report(done: int, total: int, what: str) -> None:
            nonlocal last
            self.progress = (done, total, what)
            tell(done, total, what)
            if time.monotonic() - last >= PROGRESS_SECONDS:
                last = time.monotonic()
                on_loop(loop, progressed)

        return report

    def _growing(self, grown: Callable[[], None]) -> Callable[[PoolSnapshot], None]:
        """What the loading thread calls when more of the pool is there."""
        loop = asyncio.get_running_loop()
        enough = 1

        def grow() -> None:
            if not self.loaded.is_set():
                self.revision += 1
                grown()

        def published(snapshot: PoolSnapshot) -> None:
            nonlocal enough
            if len(snapshot) >= enough:
                enough = int(len(snapshot) * GROWTH) + 1
                on_loop(loop, grow)

        return published

    async def refresh(
        self, client: Client, loader: ThreadPoolExecutor, *, reconfigure: bool = False, thorough: bool = False
    ) -> bool:
        """Finds the sources anew and reads what has changed; True if an answer may be another one now. `thorough`: each
        source is asked, also one that is asked seldom because asking costs."""

        def work(workspace: Workspace) -> None:
            if thorough:
                workspace.hurry()
            self._refresh(workspace, reconfigure)

        return await self._read(client, loader, work)

    async def poll(self, client: Client, loader: ThreadPoolExecutor) -> bool:
        """Reads what has changed in settings and known sources, at a small cost; True as for `refresh`."""
        return await self._read(client, loader, self._poll)

    async def _read(self, client: Client, loader: ThreadPoolExecutor, work: Callable[[Workspace], None]) -> bool:
        async with self._busy:  # also while it is being loaded: what changed meanwhile must not be missed
            workspace = self.workspace
            if workspace is None:
                return False
            before = _state(workspace)
            try:
                await asyncio.get_running_loop().run_in_executor(loader, work, workspace)
            except Exception:
                log.exception("the pool of %s could not be refreshed", self.path)
                return False
            if before == _state(workspace):
                return False
            self.revision += 1
            self._tell_of_skipped(client)
            return True

    def _refresh(self, workspace: Workspace, reconfigure: bool) -> None:
        # The stamp is taken first: what grows while it is being read is read once more.
        stamp = stamp_of(self._places())
        if reconfigure or _settings_changed(self._stamp, stamp):
            workspace.configure(self.editor_settings)
        workspace.refresh(now=datetime.now(UTC))
        self._stamp, self._searched_at = stamp, time.monotonic()

    def _poll(self, workspace: Workspace) -> None:
        stamp = stamp_of(self._places())
        changed = stamp != self._stamp
        if changed and self._is_to_be_searched(workspace, stamp):
            workspace.configure(self.editor_settings)
        elif time.monotonic() - self._searched_at < REDISCOVER_SECONDS:
            self._stamp = stamp
            workspace.poll(datetime.now(UTC))
            return
        self._refresh(workspace, reconfigure=False)

    def _is_to_be_searched(self, workspace: Workspace, stamp: Stamp) -> bool:
        if _settings_changed(self._stamp, stamp):
            return True
        return workspace.has_new_source([self.path, *sorted(self.beside_documents)])

    def _places(self) -> tuple[str, ...]:
        """What is looked at to see whether settings have changed or a pool has come. A folder changes when something
        comes directly in it."""
        own = user_file()
        settings = [*settings_files(self.path), *([own] if own else [])]
        around = [
            folder / place for folder in (self.path, *sorted(self.beside_documents)) for place in ("", *POOL_PLACES)
        ]
        return tuple(dict.fromkeys(map(str, [*settings, *around])))

    def _tell_of_skipped(self, client: Client) -> None:
        """Once for each thing in the pool that could not be read, in the log: nothing is lost silently."""
        if self.workspace is None:
            return
        notes = (*self.workspace.notes, *self.workspace.snapshot.notes)
        messages = [f"{note.where}: {note.why}" for note in notes]
        for source in self.workspace.snapshot.sources:
            if source.skipped:
                first = source.skipped[0]
                count = len(source.skipped)
                more = f" (and {count - 1} more)" if count > 1 else ""
                messages.append(f"{source.path}: not read: {first.where}: {first.why}{more}")
        for message in messages:
            if message not in self._reported:
                self._reported.add(message)
                client.log(message, t.MessageType.Warning)


def on_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: the server ends
        loop.call_soon_threadsafe(call)


def stamp_of(paths: Sequence[str]) -> Stamp:
    found: dict[str, tuple[int, int, int] | None] = {}
    for path in paths:
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            found[path] = None
        else:
            found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def _state(workspace: Workspace) -> object:
    return workspace.snapshot.generation, workspace.settings, workspace.settings_problems, workspace.consents_needed


def _settings_changed(before: Stamp, after: Stamp) -> bool:
    return any(
        before.get(path) != after.get(path)
        for path in {*before, *after}
        if path.endswith(("tried.toml", "pyproject.toml"))
    )
