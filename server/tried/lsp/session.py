"""All that changes while the server runs: folders, open documents, and which analysis is under way.

A document is analysed after a pause in the edits, in a worker thread, on immutable inputs; what comes back is dropped
if the text, the pool or the settings have changed meanwhile, and done anew.

Invariant: this state is touched on the event loop's thread only; handlers never block it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tried.lsp.documents import Text
from tried.lsp.folders import Folder
from tried.lsp.open_document import Analysed, Document, analysed_text
from tried.lsp.uris import is_untitled, path_of
from tried.pool.pool import PoolSnapshot
from tried.settings import Settings
from tried.workspace import workspace_folder

if TYPE_CHECKING:
    from tried.lsp.client import Client

log = logging.getLogger("tried.lsp")

Result = TypeVar("Result")

ANALYSIS_THREADS = 2
LARGE_ANALYSIS_THREADS = 1
ERRAND_THREADS = 2
LOADER_THREADS = 2
NOW_SECONDS = 60.0
REFRESH_SECONDS = 0.05

LARGE_CHARACTERS = 100_000
"""Texts from this length on are analysed in a thread apart: no number of them holds up the others."""

WHOLE_SECONDS = 1.0
"""So long a document waits for the whole pool; then it is looked at with what was read so far."""

HURRIED_SECONDS = 0.1
"""The same where somebody waits for an answer."""

CONFIGURATION_SECONDS = 5.0
"""Settings are waited for at most so long before the first analysis."""


Listener = Callable[[Document], None]


class Session:
    """Everything mutable. Features subscribe: `listeners` are called when a document was analysed, `closers` when it is
    closed, `folder_listeners` when a folder's settings or pool were read, and when a folder goes, `progress_listeners`
    when a folder begins to be read and, now and then, while it is."""

    def __init__(self, client: Client, pools: Sequence[Path] = ()) -> None:
        self.client = client
        self.documents: dict[str, Document] = {}
        self.folders: list[Folder] = []
        self.inner_folders: dict[Path, Folder] = {}
        self.listeners: list[Listener] = []
        self.closers: list[Listener] = []
        self.folder_listeners: list[Callable[[Folder], None]] = []
        self.progress_listeners: list[Callable[[Folder], None]] = []
        self.initial_settings: Mapping[str, Any] = {}
        self.pushed_settings: Mapping[str, Any] = {}
        self.common_settings: Mapping[str, Any] = {}
        self.told_of_hits: set[str] = set()
        self.problems_changed = asyncio.Event()
        self.configured = asyncio.Event()
        self.analysts = ThreadPoolExecutor(ANALYSIS_THREADS, "tried-analyst")
        self.large_analysts = ThreadPoolExecutor(LARGE_ANALYSIS_THREADS, "tried-large-analyst")
        self.errands = ThreadPoolExecutor(ERRAND_THREADS, "tried-errand")
        self.loaders = ThreadPoolExecutor(LOADER_THREADS, "tried-loader")
        self._pools = tuple(pools)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._now: tuple[float, datetime] | None = None
        self._refresh: asyncio.TimerHandle | None = None
        self._is_closed = False

    # time and tasks

    def now(self) -> datetime:
        """The time, read once a minute, so that unchanged text gives unchanged answers."""
        tick = time.monotonic()
        if self._now is None or tick - self._now[0] >= NOW_SECONDS:
            self._now = (tick, datetime.now(UTC).replace(microsecond=0))
        return self._now[1]

    def precise_now(self) -> datetime:
        """The time of something that happens now and is written down."""
        return datetime.now(UTC)

    async def in_background(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """What a quick function returns that runs in a worker thread, so that the event loop goes on meanwhile. No
        analysis holds it up."""
        return await asyncio.get_running_loop().run_in_executor(self.errands, work, *arguments)

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs in the background; a failure is logged, never raised anywhere else."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None and not self._is_closed:
            log.error("a background task failed", exc_info=error)

    def close(self) -> None:
        self._is_closed = True
        for task in list(self._tasks):
            task.cancel()
        for pool in (self.analysts, self.large_analysts, self.errands, self.loaders):
            pool.shutdown(wait=False, cancel_futures=True)

    # folders

    def add_folder(self, uri: str) -> Folder | None:
        path = path_of(uri)
        if path is None or any(folder.path == path for folder in self.folders):
            return None
        folder = Folder(path, uri, self._pools)
        folder.editor_settings = self.initial_settings
        self.folders.append(folder)
        return folder

    def remove_folder(self, uri: str) -> None:
        path = path_of(uri)
        gone = [folder for folder in self.folders if folder.path == path]
        self.folders = [folder for folder in self.folders if folder.path != path]
        self._tell_of(gone)

    def place_documents(self) -> None:
        """Finds each document's folder anew; those that moved are analysed again."""
        for document in self.documents.values():
            document.is_placed = False
            self.analyse(document)

    async def _place(self, document: Document) -> None:
        """Finds the folder whose pool and settings a document belongs to: in the innermost workspace folder around it
        the nearest with a tried.toml; outside of them all, the nearest that looks like a project. An unsaved document
        belongs to the first workspace folder."""
        path = document.path
        if path is None:
            document.folder = self.folders[0] if is_untitled(document.uri) and self.folders else None
        else:
            around = [folder.path for folder in self.folders if path.is_relative_to(folder.path)]
            within = max(around, key=lambda folder: len(folder.parts), default=None)
            document.folder = self._folder_at(await self.in_background(workspace_folder, path, within))
        document.is_placed = True
        self._drop_inner_folders()

    def _folder_at(self, path: Path) -> Folder:
        for folder in self.folders:
            if folder.path == path:
                return folder
        if path not in self.inner_folders:
            self.inner_folders[path] = Folder(path, None, self._pools)
            self.inner_folders[path].editor_settings = self._editor_settings_at(path)
        return self.inner_folders[path]

    def _editor_settings_at(self, path: Path) -> Mapping[str, Any]:
        """The editor's settings for the innermost workspace folder around a folder."""
        around = [folder for folder in self.folders if path.is_relative_to(folder.path)]
        outer = max(around, key=lambda folder: len(folder.path.parts), default=None)
        return outer.editor_settings if outer else self.common_settings

    def _drop_inner_folders(self) -> None:
        used = {document.folder for document in self.documents.values()}
        gone = [folder for folder in self.inner_folders.values() if folder not in used]
        self.inner_folders = {path: folder for path, folder in self.inner_folders.items() if folder in used}
        self._tell_of(gone)

    def _tell_of(self, folders: Iterable[Folder]) -> None:
        for folder in folders:
            for listener in self.folder_listeners:
                listener(folder)

    @property
    def active_folders(self) -> list[Folder]:
        """The folders with an open document, in the order of first use."""
        return list(dict.fromkeys(document.folder for document in self.documents.values() if document.folder))

    @property
    def known_folders(self) -> list[Folder]:
        return [*self.folders, *self.inner_folders.values()]

    async def refresh(self, folder: Folder, *, reconfigure: bool = False, thorough: bool = False) -> None:
        """Reads what changed in a folder's pool or settings, and analyses its documents anew if need be."""
        changed = await folder.refresh(self.client, self.loaders, reconfigure=reconfigure, thorough=thorough)
        self._refreshed(folder, changed)

    async def rescan(self, folder: Folder) -> None:
        """Looks for sources anew and asks each of them; a folder that was not read is read."""
        if folder.loaded.is_set():
            await self.refresh(folder, reconfigure=True, thorough=True)
        else:
            self._start_reading(folder)
            await folder.loaded.wait()

    async def read(self, folder: Folder, patience: float) -> bool:
        """Sees to it that a folder's pool is read, also where no document of it is open, and is as new as a look at the
        disk makes it; waits for that so many seconds at most. False where there is nothing yet."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(patience / 2):
                        await self.configured.wait()
                self._start_reading(folder)
                await folder.loaded.wait()
                if folder not in self.active_folders:  # the others are looked after all the time
                    await asyncio.shield(self.spawn(self.poll(folder)))
        return folder.workspace is not None

    async def poll(self, folder: Folder) -> None:
        """The same, if a file on the disk looks as if it had changed."""
        inside = (document.path for document in self.documents.values() if document.folder is folder)
        folder.beside_documents = frozenset(path.parent for path in inside if path is not None)
        self._refreshed(folder, await folder.poll(self.client, self.loaders))

    def _refreshed(self, folder: Folder, changed: bool) -> None:
        if not changed:
            return
        self._tell_of([folder])
        self._analyse_all(folder)

    def use_editor_settings(self, settings: Sequence[Mapping[str, Any]]) -> None:
        """Takes over the settings for each workspace folder, in their order, or for all where there is no folder."""
        self.common_settings = settings[0]
        for folder, own in zip(list(self.folders), settings, strict=False):
            self._use(folder, own)
        for path, folder in list(self.inner_folders.items()):
            self._use(folder, self._editor_settings_at(path))

    def _use(self, folder: Folder, settings: Mapping[str, Any]) -> None:
        if settings != folder.editor_settings:
            folder.editor_settings = settings
            self.spawn(self.refresh(folder, reconfigure=True))

    # documents

    def open(self, uri: str, language_id: str, version: int, content: str) -> Document:
        if uri in self.documents:
            self.close_document(uri)
        document = Document(uri=uri, language_id=language_id, path=path_of(uri), text=Text(content, version))
        self.documents[uri] = document
        self.analyse(document)
        return document

    def edit(self, document: Document, text: Text, typed: range) -> None:
        """Puts a new version in place; it is analysed when the typing pauses."""
        document.text = text
        loop = asyncio.get_running_loop()
        document.typed, document.typed_at = typed, loop.time()
        self.analyse(document, delay=self.settings_of(document).editor.debounce_ms / 1000)

    def close_document(self, uri: str) -> None:
        document = self.documents.pop(uri, None)
        if document is None:
            return
        document.is_open = False
        if document.task:
            document.task.cancel()
        document.changed.set()
        for closer in self.closers:
            closer(document)
        self._drop_inner_folders()

    def analyse(self, document: Document, delay: float = 0.0) -> None:
        """Sees to it that the document is analysed, after so many seconds without another edit."""
        if document.text is None:
            return
        due = asyncio.get_running_loop().time() + delay
        if due < document.due:
            document.nudge.set()
        document.due = due
        if document.task is None or document.task.done():
            document.task = self.spawn(self._analyse(document))

    async def analysed(self, document: Document, patience: float | None, *, hurry: bool = False) -> Analysed | None:
        """The analysis of the current text, as soon as there is one; None if the document is closed, is not looked at,
        or the patience (seconds; None: endless) is over. `hurry` waits neither for a pause in the typing nor for a pool
        that is being read."""
        try:
            async with asyncio.timeout(patience):
                while document.is_open and document.text is not None and not document.is_nowhere:
                    if (known := document.current or (document.so_far if hurry else None)) is not None:
                        return known
                    if hurry:
                        document.hurried.set()
                    if hurry or document.task is None or document.task.done():
                        self.analyse(document)
                    document.changed.clear()
                    await document.changed.wait()
        except TimeoutError:
            return None
        return None

    async def _analyse(self, document: Document) -> None:
        loop = asyncio.get_running_loop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CONFIGURATION_SECONDS):
                await self.configured.wait()
        while document.is_open and document.text is not None:
            if not document.is_placed:
                await self._place(document)
            folder = document.folder
            if folder is None:
                document.changed.set()
                return
            await self._read(folder, document)
            while (wait := document.due - loop.time()) > 0:
                document.nudge.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(wait):
                        await document.nudge.wait()
            text = document.text
            if text is None:
                return
            known = await self._analysed_now(document, text, folder)
            if document.text is text and document.is_placed and known.revision == folder.revision:
                document.analysed = known
                self.notify(document)
                if known.is_too_large:  # not kept; the document is known again when it is sent whole
                    document.text = None
                return

    async def _analysed_now(self, document: Document, text: Text, folder: Folder) -> Analysed:
        """One analysis in a worker thread. Never fails: what went wrong is in the log."""
        if folder.workspace is None:
            return Analysed(text, folder.revision, self.now(), PoolSnapshot(), Settings(), None)
        is_partial = not folder.loaded.is_set()
        work = functools.partial(
            analysed_text, document, text, folder.workspace, folder.revision, self.now(), is_partial
        )
        analysts = self.large_analysts if len(text.content) >= LARGE_CHARACTERS else self.analysts
        return await asyncio.get_running_loop().run_in_executor(analysts, work)

    async def _read(self, folder: Folder, document: Document) -> None:
        """Until the folder's pool is there, or has taken so long that what there is of it must do. It is read in a task
        of its own, which closing the document does not cancel."""
        loop = asyncio.get_running_loop()
        self._start_reading(folder)
        await folder.usable.wait()
        if folder.loaded.is_set():
            return
        whole = asyncio.ensure_future(folder.loaded.wait())
        hurried = asyncio.ensure_future(document.hurried.wait())
        try:
            for seconds, also in ((HURRIED_SECONDS, ()), (WHOLE_SECONDS, (hurried,))):
                left = folder.loading_since + seconds - loop.time()
                if left > 0 and not whole.done():
                    await asyncio.wait({whole, *also}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            whole.cancel()
            hurried.cancel()

    def _start_reading(self, folder: Folder) -> None:
        if not folder.loading:
            folder.loading, folder.loading_since = True, asyncio.get_running_loop().time()
            self.spawn(self._load(folder))

    async def _load(self, folder: Folder) -> None:
        def progressed() -> None:
            for listener in self.progress_listeners:
                listener(folder)

        await folder.load(self.client, self.loaders, lambda: self._analyse_all(folder), progressed)
        self._tell_of([folder])
        self._analyse_all(folder)

    def look_anew(self, folder: Folder) -> None:
        """Analyses a folder's documents again, for a reason that is neither in its pool nor in its settings."""
        folder.revision += 1
        self._tell_of([folder])
        self._analyse_all(folder)

    def _analyse_all(self, folder: Folder) -> None:
        for document in self.documents.values():
            if document.folder is folder:
                self.analyse(document)

    def notify(self, document: Document) -> None:
        """Tells the features, and whoever waits, that something about the document may be different."""
        for listener in self.listeners:
            try:
                listener(document)
            except Exception:
                log.exception("a feature failed for %s", document.uri)
        document.changed.set()

    def refresh_diagnostics_soon(self) -> None:
        """Tells the client once to pull again, however many documents have changed."""
        if self._refresh is None:
            self._refresh = asyncio.get_running_loop().call_later(REFRESH_SECONDS, self._refresh_diagnostics)

    def _refresh_diagnostics(self) -> None:
        self._refresh = None
        self.spawn(self.client.refresh_diagnostics())

    def settings_of(self, document: Document) -> Settings:
        """The settings in force for a document; the defaults until its folder is loaded."""
        workspace = document.folder.workspace if document.folder else None
        return workspace.settings if workspace else Settings()
