"""Replays a folder's pool where `[findings] calibrate` asks for it: in the background, once the pool is there and again
when it is markedly another one. Until that is done, what the last server found holds, or findings are as loud as
without; then documents are looked at anew.

Invariant: no answer waits for it, and it lets others work at least three quarters of the time.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tried.lsp.folders import Folder
from tried.lsp.session import Session
from tried.workspace import Workspace

SLICE_SECONDS = 0.005
"""After so much work it rests."""

REST = 3.0
"""So many times as long as it has worked."""


class Ended(Exception):
    """The server ends, and nobody wants to know any more."""


def subscribe(session: Session) -> None:
    session.folder_listeners.append(_Calibrations(session).changed)


class _Calibrations:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.worker = ThreadPoolExecutor(1, "tried-calibrator")
        self.busy: set[Folder] = set()
        self.ended = threading.Event()
        self.rested_at = 0.0

    def changed(self, folder: Folder) -> None:
        """A folder's pool or settings are others."""
        workspace = folder.workspace
        if workspace is None or not folder.loaded.is_set() or folder in self.busy:
            return
        if workspace.calibration_is_due:
            self.busy.add(folder)
            self.session.spawn(self._calibrate(folder, workspace))

    async def _calibrate(self, folder: Folder, workspace: Workspace) -> None:
        self.rested_at = time.perf_counter()
        try:
            is_other = await asyncio.get_running_loop().run_in_executor(self.worker, workspace.calibrate, self._pause)
        except asyncio.CancelledError:
            self.ended.set()
            raise
        finally:
            self.busy.discard(folder)
        if is_other:
            self.session.look_anew(folder)
        self.changed(folder)  # it may have grown meanwhile

    def _pause(self) -> None:
        """In the worker's thread, between one record and the next."""
        worked = time.perf_counter() - self.rested_at
        if worked >= SLICE_SECONDS:
            if self.ended.wait(min(REST * worked, 1.0)):
                raise Ended
            self.rested_at = time.perf_counter()
