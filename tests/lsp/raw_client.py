"""A tiny language client for the tests: JSON over the pipes of a real server process, with nothing in between.

It answers what a server may ask of it, and remembers everything that it was sent: `leftovers` are the messages that no
test has asked for, and a fixture fails where there are any.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Message = dict[str, Any]

COMMAND = [sys.executable, "-m", "tried", "serve"]

NEOVIM_LIKE: Message = {
    "general": {"positionEncodings": ["utf-8", "utf-16", "utf-32"]},
    "workspace": {"configuration": True, "workspaceFolders": True, "applyEdit": True},
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "textDocument": {
        "diagnostic": {"dynamicRegistration": False},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix"]}}},
    },
}
"""Pulls diagnostics, but cannot be told to pull again."""

VSCODE_LIKE: Message = {
    "general": {"positionEncodings": ["utf-16"]},
    "workspace": {
        "configuration": True,
        "workspaceFolders": True,
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True},
        "didChangeConfiguration": {"dynamicRegistration": True},
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "diagnostics": {"refreshSupport": True},
    },
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "textDocument": {
        "diagnostic": {"dynamicRegistration": True},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": ["", "quickfix"]}}},
    },
}


def no_findings(found: Sequence[Message]) -> bool:
    """To wait until diagnostics are gone."""
    return not found


class RequestFailed(Exception):
    """The server answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: int = error["code"]
        self.error = error


def until(call: Callable[[], Any], is_right: Callable[[Any], bool] = bool, seconds: float = 10.0) -> Any:
    """What a question is answered with as soon as the answer is right."""
    deadline = time.monotonic() + seconds
    while not is_right(answer := call()):
        assert time.monotonic() < deadline, f"still {answer}"
        time.sleep(0.01)
    return answer


class RawClient:
    """One server process and everything it has said."""

    def __init__(self, command: Sequence[str] = COMMAND, environment: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
        )
        self.answers: dict[str, Callable[[Any], Any]] = {
            "workspace/configuration": lambda params: [None for _ in params["items"]],
            "client/registerCapability": lambda params: None,
            "window/workDoneProgress/create": lambda params: None,
            "workspace/diagnostic/refresh": lambda params: None,
            "window/showDocument": lambda params: {"success": True},
        }
        self.responses: dict[Any, Message] = {}
        self.nameless: list[Message] = []
        self.notifications: list[Message] = []
        self.requests: list[Message] = []
        self.diagnostics: dict[str, list[Message]] = {}
        self.pushes: list[Message] = []
        self.stderr = ""
        self._number = 0
        self._news = threading.Condition()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._read_stderr)]
        for thread in self._threads:
            thread.start()

    # out

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def start_request(self, method: str, params: Any = None) -> int:
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def request(self, method: str, params: Any = None, seconds: float = 20.0) -> Any:
        return self.result(self.start_request(method, params), seconds)

    def result(self, identifier: Any, seconds: float = 20.0) -> Any:
        response = self.response(identifier, seconds)
        if "error" in response:
            raise RequestFailed(response["error"])
        return response["result"]

    def response(self, identifier: Any, seconds: float = 20.0) -> Message:
        self.wait(lambda: identifier in self.responses, seconds, f"an answer to request {identifier!r}")
        return self.responses.pop(identifier)

    # the protocol's usual ways

    def initialize(
        self, capabilities: Message, folders: Sequence[Path] = (), options: Any = None, process_id: int | None = None
    ) -> Message:
        result: Message = self.request(
            "initialize",
            {
                "processId": process_id,
                "rootUri": folders[0].as_uri() if folders else None,
                "workspaceFolders": [{"uri": folder.as_uri(), "name": folder.name} for folder in folders] or None,
                "initializationOptions": options,
                "capabilities": capabilities,
            },
        )
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, language: str = "yaml", version: int = 1) -> None:
        item = {"uri": uri, "languageId": language, "version": version, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def change(self, uri: str, version: int, *changes: Message) -> None:
        document = {"uri": uri, "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": list(changes)})

    def close(self, uri: str) -> None:
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})

    def pull(self, uri: str, previous: str | None = None) -> Message:
        params: Message = {"textDocument": {"uri": uri}}
        if previous is not None:
            params["previousResultId"] = previous
        report: Message = self.request("textDocument/diagnostic", params)
        return report

    def hover(self, uri: str, line: int, character: int) -> Any:
        place = {"line": line, "character": character}
        return self.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})

    def pushed(self, uri: str, until: Callable[[list[Message]], bool] = bool, seconds: float = 20.0) -> list[Message]:
        """The diagnostics of a document once they are as expected; by default, once there are any."""
        self.wait(
            lambda: uri in self.diagnostics and until(self.diagnostics[uri]),
            seconds,
            f"diagnostics of {uri}; they are {self.diagnostics.get(uri)}",
        )
        return self.diagnostics[uri]

    def take(self, method: str, seconds: float = 20.0) -> Any:
        """The params of the oldest notification of this method, which is forgotten then."""

        def found() -> Message | None:
            return next((message for message in self.notifications if message["method"] == method), None)

        self.wait(lambda: found() is not None, seconds, method)
        message = found()
        assert message is not None
        self.notifications.remove(message)
        return message.get("params")

    def take_request(self, method: str, seconds: float = 20.0) -> Any:
        """The params of the oldest request that the server made of us by this method, which is forgotten then."""

        def found() -> Message | None:
            return next((message for message in self.requests if message["method"] == method), None)

        self.wait(lambda: found() is not None, seconds, method)
        message = found()
        assert message is not None
        self.requests.remove(message)
        return message.get("params")

    def leftovers(self, *expected: str) -> list[Message]:
        """What the server said that nobody took, but for progress, word of analyses, and `expected`."""
        usual = {"$/progress", "tried/didAnalyse", "tried/statusDidChange", *expected}
        unasked = [message for message in self.notifications if message["method"] not in usual]
        return [*unasked, *self.nameless, *self.responses.values()]

    def finish(self, seconds: float = 5.0) -> int:
        """Shuts the server down as an editor does; its exit status."""
        self.request("shutdown")
        self.notify("exit")
        return self.exit_status(seconds)

    def exit_status(self, seconds: float = 5.0) -> int:
        status = self.process.wait(seconds)
        for thread in self._threads:
            thread.join(5.0)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with contextlib.suppress(OSError):
                stream.close()
        return status

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.exit_status()

    def wait(self, until: Callable[[], bool], seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        with self._news:
            while not until():
                left = deadline - time.monotonic()
                if left <= 0 or (self.process.poll() is not None and not self._threads[0].is_alive()):
                    raise AssertionError(f"waited in vain for {what}; stderr: {self.stderr[-2000:]!r}")
                self._news.wait(min(left, 0.5))

    # in

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            name, _, value = line.partition(b":")
            assert name == b"Content-Length", f"not a message: {line!r}"
            assert stream.readline() == b"\r\n"
            self._receive(json.loads(stream.read(int(value))))

    def _receive(self, message: Message) -> None:
        if "method" in message and "id" in message:
            answer = self.answers.get(message["method"])
            if answer is None:
                error = {"code": -32601, "message": "not known to this client"}
                reply = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            else:
                reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message.get("params"))}
            with contextlib.suppress(OSError, ValueError):  # the test may be over
                self.send(reply)
        with self._news:
            if "method" not in message:
                if message["id"] is None:
                    self.nameless.append(message)
                else:
                    self.responses[message["id"]] = message
            elif "id" in message:
                self.requests.append(message)
            elif message["method"] == "textDocument/publishDiagnostics":
                self.pushes.append(message["params"])
                self.diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
            else:
                self.notifications.append(message)
            self._news.notify_all()

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line.decode(errors="replace")
