"""A client just large enough to be the editor of `tried demo`: it starts the server and talks to it over stdio."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from tried.cli.failure import Failure

PATIENCE = 30.0
"""Seconds to wait for any answer; a slow machine that starts the server for the first time needs several."""

Message = dict[str, Any]


class DemoClient:
    """A server process and the messages that have come from it. Ends the process on leaving, whatever happens."""

    def __init__(self, folder: Path, log_file: Path) -> None:
        self._folder = folder
        self._log_file = log_file
        self._inbox: queue.Queue[Message | None] = queue.Queue()
        self._seen: list[Message] = []
        self._number = 0

    def __enter__(self) -> DemoClient:
        # What the server has to say goes to its log file; nothing else may stand on this terminal.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tried", "serve", "--stdio", "--log-file", str(self._log_file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: IO[bytes] = self._process.stdin
        threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True).start()
        uri = self._folder.as_uri()
        self.request(
            "initialize",
            {
                "processId": None,
                "clientInfo": {"name": "tried demo"},
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": self._folder.name}],
                "capabilities": {
                    "general": {"positionEncodings": ["utf-32"]},
                    "textDocument": {
                        "publishDiagnostics": {"versionSupport": True},
                        "hover": {"contentFormat": ["markdown", "plaintext"]},
                    },
                },
            },
        )
        self.notify("initialized", {})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.request("shutdown", None)
                self.notify("exit", None)
                self._process.wait(timeout=PATIENCE)
        except (Failure, OSError, subprocess.TimeoutExpired):
            pass
        finally:
            if self._process.poll() is None:
                self._process.kill()
            self._process.wait()

    def request(self, method: str, params: Any) -> Any:
        """The result of a request. Raises Failure if it is refused or does not come in time."""
        self._number += 1
        number = self._number
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self._wait(lambda message: message.get("id") == number and "method" not in message, method)
        if "error" in answer:
            raise Failure(f"the server refused {method}: {answer['error'].get('message')}{self._log()}")
        return answer.get("result")

    def notify(self, method: str, params: Any) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def diagnostics(self, uri: str, version: int, *, some: bool) -> list[Message]:
        """The first diagnostics of a version of a document that are `some`, or none."""

        def fits(message: Message) -> bool:
            params = message.get("params") or {}
            return (
                message.get("method") == "textDocument/publishDiagnostics"
                and params["uri"] == uri
                and params.get("version") == version
                and bool(params["diagnostics"]) == some
            )

        found: list[Message] = self._wait(fits, f"diagnostics of {uri}")["params"]["diagnostics"]
        return found

    def _wait(self, fits: Callable[[Message], bool], what: str) -> Message:
        deadline = time.monotonic() + PATIENCE
        for message in self._seen:
            if fits(message):
                self._seen.remove(message)
                return message
        while True:
            try:
                received = self._inbox.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Failure(f"the server did not answer within {PATIENCE:g} s: {what}{self._log()}") from None
            if received is None:
                raise Failure(f"the server ended while this was waited for: {what}{self._log()}")
            message = received
            if "method" in message and "id" in message:  # a request to the client: none is understood here
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": None})
            elif fits(message):
                return message
            else:
                self._seen.append(message)

    def _send(self, message: Message) -> None:
        body = json.dumps(message).encode()
        try:
            self._input.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            self._input.flush()
        except OSError as error:
            raise Failure(f"the server is gone ({error.strerror}){self._log()}") from error

    def _read(self, output: IO[bytes]) -> None:
        while True:
            length = 0
            while (header := output.readline()) not in (b"\r\n", b""):
                name, _, value = header.partition(b":")
                if name.strip().lower() == b"content-length":
                    length = int(value)
            if header == b"":
                self._inbox.put(None)
                return
            self._inbox.put(json.loads(output.read(length)))

    def _log(self) -> str:
        try:
            lines = self._log_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        except OSError:
            return ""
        return f"; its log ends with: {lines[-1]}" if lines else ""
