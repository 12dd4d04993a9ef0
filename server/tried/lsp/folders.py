"""The folders that are open, each with its pool; how a pool is loaded, grows and is configured anew.

Invariant: everything that reads a disk runs in a worker thread; what is kept here is touched on the event loop alone.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types as t

from tried.lsp.progress import Progress
from tried.workspace import Workspace

if TYPE_CHECKING:
    from tried.lsp.client import Client

log = logging.getLogger("tried.lsp")

REDISCOVER_SECONDS = 30.0
"""Sources that appear in places where none was are found this late at most, if the client does not watch files."""

POOL_PLACES = (".tried/pool.jsonl", ".soma/experiments.jsonl", "results.tsv")
USUAL_PLACES = (*POOL_PLACES, "tried.toml", "pyproject.toml")

Stamp = Mapping[str, tuple[int, int, int] | None]
"""Modification time, size and inode of files; None where there is none."""


class Folder:
    """A folder with settings and a pool of its own: one that is open in the editor, or one that documents lie in.

    `revision` grows with every change of settings or pool that may change an answer. `beside_documents` are the folders
    of open documents; a pool that appears there is seen as soon as one in the folder itself.
    """

    def __init__(self, path: Path, uri: str | None, pools: Sequence[Path]) -> None:
        self.path = path
        self.uri = uri
        self.workspace: Workspace | None = None
        self.revision = 0
        self.loading = False
        self.loaded = asyncio.Event()
        self.told_of_missing_pool = False
        self.told_problems: set[str] = set()
        self.files_with_problems: set[Path] = set()
        self.editor_settings: Mapping[str, Any] = {}
        self.beside_documents: frozenset[Path] = frozenset()
        self._pools = pools
        self._busy = asyncio.Lock()
        self._stamp: Stamp = {}
        self._refreshed_at = 0.0
        self._reported: set[str] = set()

    @property
    def is_idle(self) -> bool:
        """True while nothing is being read."""
        return self.loaded.is_set() and not self._busy.locked()

    async def load(self, client: Client, loader: ThreadPoolExecutor) -> None:
        """Reads settings and pool, with progress. The folder is usable afterwards even if its pool is not."""
        async with self._busy:
            loop = asyncio.get_running_loop()
            try:
                async with Progress(client, "Reading past experiments") as progress:
                    report = progress.from_thread()
                    self.workspace = await loop.run_in_executor(loader, self._open, report)
                self._stamp, self._refreshed_at = self._stamped, time.monotonic()
                self._tell_of_skipped(client)
            except Exception:
                log.exception("the pool of %s could not be read", self.path)
                client.log(
                    f"The pool of {self.path} could not be read; the server's log says why.", t.MessageType.Error
                )
            finally:
                self.revision += 1
                self.loaded.set()

    def _open(self, report: Callable[[int, int, str], None]) -> Workspace:
        workspace = Workspace(self.path, editor_settings=self.editor_settings, extra_pools=self._pools)
        self._stamped = stamp_of(self._places(workspace))
        workspace.refresh(report)
        return workspace

    async def refresh(self, client: Client, loader: ThreadPoolExecutor, *, reconfigure: bool = False) -> bool:
        """Reads what has changed; True if an answer may be another one now."""
        async with self._busy:  # also while it is being loaded: what changed meanwhile must not be missed
            workspace = self.workspace
            if workspace is None:
                return False
            before = (workspace.snapshot.generation, workspace.settings, workspace.settings_problems)
            loop = asyncio.get_running_loop()
            try:
                await loop.run_in_executor(loader, self._refresh, workspace, reconfigure)
            except Exception:
                log.exception("the pool of %s could not be refreshed", self.path)
                return False
            self._stamp, self._refreshed_at = self._stamped, time.monotonic()
            if before == (workspace.snapshot.generation, workspace.settings, workspace.settings_problems):
                return False
            self.revision += 1
            self._tell_of_skipped(client)
            return True

    def _refresh(self, workspace: Workspace, reconfigure: bool) -> None:
        # The stamp is taken first: what grows while it is being read is read once more.
        self._stamped = stamp_of(self._places(workspace))
        if reconfigure or _settings_changed(self._stamp, self._stamped) or self._has_new_pool(workspace):
            workspace.configure(self.editor_settings)
        workspace.refresh()

    async def poll(self, client: Client, loader: ThreadPoolExecutor) -> bool:
        """Looks whether a file of the pool or of the settings has changed, and refreshes; True as for `refresh`."""
        workspace = self.workspace
        if workspace is None:
            return False
        now = await asyncio.get_running_loop().run_in_executor(loader, stamp_of, self._places(workspace))
        if now == self._stamp and time.monotonic() - self._refreshed_at < REDISCOVER_SECONDS:
            return False
        return await self.refresh(client, loader)

    def _has_new_pool(self, workspace: Workspace) -> bool:
        """True if a file has come or changed that the last search for pools did not take for one."""
        known = {source.path for source in workspace.snapshot.sources}
        return any(
            now is not None and now != self._stamp.get(path) and path not in known
            for path, now in self._stamped.items()
        )

    def _places(self, workspace: Workspace) -> tuple[str, ...]:
        usual = (str(self.path / place) for place in USUAL_PLACES)
        beside = (str(folder / place) for folder in sorted(self.beside_documents) for place in POOL_PLACES)
        return tuple(dict.fromkeys([*usual, *beside, *(source.path for source in workspace.snapshot.sources)]))

    def _tell_of_skipped(self, client: Client) -> None:
        """Once for each thing in the pool that could not be read, in the log: nothing is lost silently."""
        if self.workspace is None:
            return
        messages = [f"{note.where}: {note.why}" for note in self.workspace.notes]
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


def _settings_changed(before: Stamp, after: Stamp) -> bool:
    return any(
        before.get(path) != after.get(path)
        for path in {*before, *after}
        if path.endswith(("tried.toml", "pyproject.toml"))
    )
