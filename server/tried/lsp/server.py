"""`tried serve`: the process around the protocol, on standard streams or one TCP connection.

Invariant: the process ends with its client: at the end of its input, when the process that started it is gone, or on
`exit`, within two seconds whatever else it is doing. The exit status is 0 only after `shutdown`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from lsprotocol import types as t
from pygls.lsp.server import LanguageServer

from tried import __version__
from tried.lsp.client import Client
from tried.lsp.features import register_features
from tried.lsp.parent import is_alive
from tried.lsp.protocol import TriedProtocol, converter
from tried.lsp.session import Session
from tried.lsp.transport import Frame, SocketStream, StandardStreams, Transport, Writer, frames

log = logging.getLogger("tried.lsp")

PARENT_CHECK_SECONDS = 0.5
LAST_GASP_SECONDS = 1.5
BACKLOG = 256
"""Messages that were read and not handled yet; beyond, the client has to wait."""

BACKLOG_SECONDS = 5.0
"""But not longer, or the end of its input would never be seen."""


class CannotServe(Exception):
    """The server cannot start; the message says why and what to do."""


class TriedServer(LanguageServer):
    """pygls' registry of features over our protocol."""

    protocol: TriedProtocol

    def __init__(self) -> None:
        super().__init__(
            "tried",
            __version__,
            protocol_cls=TriedProtocol,
            converter_factory=converter,
            text_document_sync_kind=t.TextDocumentSyncKind.Incremental,
        )

    def report_server_error(self, error: Exception, source: type[Exception]) -> None:
        """To the log; pygls would show a popup, and fail again where the client is gone."""
        log.error("%s: %s", source.__name__, error)


def serve(
    *,
    tcp: tuple[str, int] | None = None,
    log_file: Path | None = None,
    log_level: int = logging.WARNING,
    pools: Sequence[Path] = (),
) -> NoReturn:
    """Serves one client and ends the process. Raises CannotServe before anything is served.

    `tcp` is a host and port to listen on (port 0: any free one, told on stderr); the first client to connect is the
    only one. `pools` are read in every workspace folder, beside what is found there.
    """
    _configure_logging(log_file, log_level)
    transport = _listen(*tcp) if tcp else _standard_streams()
    sys.setswitchinterval(0.001)  # the event loop gets its turn while a worker thread reads a large pool
    status = asyncio.run(_run(transport, pools, watch_parent=tcp is None))
    logging.shutdown()
    os._exit(status)  # a worker thread may still be busy, and nobody is left to wait for it


async def _run(transport: Transport, pools: Sequence[Path], watch_parent: bool) -> int:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[int] = loop.create_future()

    def end(status: int) -> None:
        if not ended.done():
            ended.set_result(status)

    server = TriedServer()
    protocol = server.protocol
    protocol.on_exit = end
    writer = Writer(transport, on_closed=lambda: _on_loop(loop, end, 1))
    protocol.use_writer(writer)
    session = Session(Client(protocol), pools)
    register_features(server, session)
    room = threading.BoundedSemaphore(BACKLOG)

    def handle(frame: Frame) -> None:
        with contextlib.suppress(ValueError):  # the reader did not wait any longer
            room.release()
        protocol.receive(frame)

    def read() -> None:
        for frame in frames(transport):
            room.acquire(timeout=BACKLOG_SECONDS)
            _on_loop(loop, handle, frame)
        _on_loop(loop, lambda: end(0 if protocol.is_shut_down else 1))
        time.sleep(LAST_GASP_SECONDS)
        os._exit(1)  # the event loop is stuck

    threading.Thread(target=read, name="tried-reader", daemon=True).start()
    watch = asyncio.create_task(_watch_parent(server, end)) if watch_parent else None
    status = await ended
    if watch:
        watch.cancel()
    session.close()
    writer.close()
    return status


async def _watch_parent(server: TriedServer, end: Callable[[int], None]) -> None:
    """Ends with the process that the client named in `initialize`, unless that id means nothing here (a container)."""
    while server.process_id is None:
        await asyncio.sleep(PARENT_CHECK_SECONDS)
    if not is_alive(server.process_id):
        return
    while is_alive(server.process_id):
        await asyncio.sleep(PARENT_CHECK_SECONDS)
    log.warning("the process that started the server is gone")
    end(1)


def _on_loop(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *arguments: object) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(call, *arguments)


def _standard_streams() -> StandardStreams:
    if sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write("tried serve speaks the Language Server Protocol and is meant to be started by an editor.\n")
    try:
        return StandardStreams()
    except OSError as error:
        raise CannotServe(f"standard input or output is closed ({error.strerror}); start it from an editor") from error


def _listen(host: str, port: int) -> SocketStream:
    """Waits for the one client. The listening socket is closed then: others are refused, not kept waiting."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.create_server((host, port), family=family) as listening:
            address = listening.getsockname()
            sys.stderr.write(f"tried serve listens on {address[0]}:{address[1]}\n")
            sys.stderr.flush()
            connection, _ = listening.accept()
    except (OSError, OverflowError) as error:
        raise CannotServe(f"cannot listen on {host}:{port}: {error}; choose another --tcp HOST:PORT") from error
    return SocketStream(connection)


def _configure_logging(log_file: Path | None, level: int) -> None:
    handler: logging.Handler
    try:
        handler = logging.FileHandler(log_file, encoding="utf-8") if log_file else logging.StreamHandler(sys.stderr)
    except OSError as error:
        raise CannotServe(f"cannot write the log file {log_file}: {error.strerror}") from error
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it logs the bodies of messages
    logging.raiseExceptions = False
