"""Bytes to and from the one client: standard streams or a socket, framed as the protocol says.

Invariant: reading and writing each have a thread of their own and never hold up the event loop; both are daemons, so
that a client that is stuck cannot keep the process alive.
Invariant: nothing but messages ever reaches the client: what is printed goes to stderr.
"""

from __future__ import annotations

import os
import queue
import re
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

MAX_MESSAGE_BYTES = 32 * 2**20
"""Larger messages are skipped: no file that is looked at needs as much (`editor.max_file_bytes`)."""

_CHUNK = 1 << 16
_MAX_HEADER_BYTES = 1 << 16
PEEK = 2048
_CONTENT_LENGTH = re.compile(rb"\s*content-length\s*:\s*(\d{1,18})\s*\Z", re.IGNORECASE)


class Transport(Protocol):
    """Blocking bytes. `read` returns nothing at the end; both raise OSError when the client is gone."""

    def read(self, size: int) -> bytes: ...

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...


class StandardStreams:
    """stdin and stdout, taken away from everything else: a stray `print`, or a child process, cannot touch them."""

    def __init__(self) -> None:
        self._input = os.dup(0)
        self._output = os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # stderr is closed
            os.dup2(nothing, 1)
        os.close(nothing)
        sys.stdout = sys.stderr

    def read(self, size: int) -> bytes:
        return os.read(self._input, size)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._output, view) :]

    def close(self) -> None:
        os.close(self._output)


class SocketStream:
    """One client on a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read(self, size: int) -> bytes:
        return self._connection.recv(size)

    def write(self, data: bytes) -> None:
        self._connection.sendall(data)

    def close(self) -> None:
        self._connection.close()


@dataclass(frozen=True, slots=True)
class Oversized:
    """A message that was skipped: its length in bytes and how it begins and ends."""

    length: int
    head: bytes
    tail: bytes


Frame: TypeAlias = bytes | Oversized


def frames(transport: Transport, limit: int = MAX_MESSAGE_BYTES) -> Iterator[Frame]:
    """The bodies of the messages, until the client is gone.

    Tolerant: the header's name in any case, with or without white space, lines that end with a bare newline, unknown
    headers and stray lines. A message that breaks off is not delivered.
    """
    source = _Buffer(transport)
    length: int | None = None
    while (line := source.line()) is not None:
        if match := _CONTENT_LENGTH.match(line):
            length = int(match[1])
        elif not line.strip() and length is not None:
            frame = source.body(length) if length <= limit else source.skip(length)
            if frame is None:
                return
            yield frame
            length = None


class _Buffer:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._data = bytearray()

    def line(self) -> bytes | None:
        """The next line without its end; None at the end. What is too long for a header is dropped."""
        searched = 0
        while (end := self._data.find(b"\n", searched)) < 0:
            searched = len(self._data)
            if searched > _MAX_HEADER_BYTES:
                self._data.clear()
                searched = 0
            if not self._more(_CHUNK):
                return None
        line = bytes(self._data[:end])
        del self._data[: end + 1]
        return line

    def body(self, length: int) -> bytes | None:
        while len(self._data) < length:
            if not self._more(max(_CHUNK, length - len(self._data))):
                return None
        body = bytes(self._data[:length])
        del self._data[:length]
        return body

    def skip(self, length: int) -> Oversized | None:
        """Reads past a body without keeping it."""
        head = self.body(PEEK) or b""
        tail = b""
        left = length - len(head)
        while left > 0:
            piece = self.body(min(left, _CHUNK))
            if piece is None:
                return None
            left -= len(piece)
            tail = (tail + piece)[-PEEK:]
        return Oversized(length, head, tail)

    def _more(self, size: int) -> bool:
        try:
            data = self._transport.read(size)
        except OSError:
            return False
        self._data += data
        return bool(data)


class Writer:
    """Queues messages for a thread that writes them in order. After the client is gone they are dropped, silently."""

    def __init__(self, transport: Transport, on_closed: Callable[[], None]) -> None:
        self._transport = transport
        self._on_closed = on_closed
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="tried-writer", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._queue.put(data)

    def close(self, patience: float = 1.0) -> None:
        """Writes what is queued, for at most so many seconds."""
        self._queue.put(None)
        self._thread.join(patience)

    def _run(self) -> None:
        alive = True
        while (data := self._queue.get()) is not None:
            if not alive:
                continue
            try:
                self._transport.write(data)
            except OSError:
                alive = False
                self._on_closed()
