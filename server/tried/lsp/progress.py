"""Work-done progress: the client's spinner while something takes time."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from lsprotocol import types as t

if TYPE_CHECKING:
    from tried.lsp.client import Client

REPORT_SECONDS = 0.1
"""At most so often."""

CREATE_SECONDS = 1.0
"""A client that does not answer holds up nothing for longer."""

_tokens = itertools.count(1)


class Progress:
    """``async with Progress(client, title) as progress``; does nothing with a client that shows none."""

    def __init__(self, client: Client, title: str) -> None:
        self._client = client
        self._title = title
        self._token: str | None = None
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Progress:
        if self._client.features.progress:
            token = f"tried/{next(_tokens)}"
            params = t.WorkDoneProgressCreateParams(token=token)
            if await self._client.accepts(t.WINDOW_WORK_DONE_PROGRESS_CREATE, params, CREATE_SECONDS):
                self._token = token
                self._send(t.WorkDoneProgressBegin(title=self._title, cancellable=False, percentage=0))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._send(t.WorkDoneProgressEnd())
        self._token = None

    def from_thread(self) -> Callable[[int, int, str], None]:
        """A callback for another thread: done, in all (0: unknown), and what is being done."""
        last = 0.0

        def report(done: int, total: int, what: str) -> None:
            nonlocal last
            if time.monotonic() - last < REPORT_SECONDS:
                return
            last = time.monotonic()
            percentage = min(100, 100 * done // total) if total else None
            message = t.WorkDoneProgressReport(message=what, percentage=percentage)
            self._loop.call_soon_threadsafe(self._send, message)

        return report

    def _send(self, value: t.WorkDoneProgressBegin | t.WorkDoneProgressReport | t.WorkDoneProgressEnd) -> None:
        if self._token is not None:
            self._client.notify(t.PROGRESS, t.ProgressParams(token=self._token, value=value))
