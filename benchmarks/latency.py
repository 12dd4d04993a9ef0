"""How long an editor waits: a real server process over stdio, with a given pool.

    python benchmarks/latency.py POOL.jsonl [--config FILE] [--rounds 100] [--json]

*change* is the time from sending an edit until the server has taken it in (a trivial request sent behind it is
answered); *diagnose* from sending an edit until the diagnostics of that version arrive, with the debounce set to 0;
*hover* one request on a key of a text that has been analysed; *hover after an edit* one whose text has not been.
All in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CONFIG = """# a warmup of 100 steps, as in the last run
name: latency
optimizer:
  name: adamw
  lr: 0.02
  weight_decay: 0.1
model:
  depth: 12
  dropout: 0.1
batch_size: 32
warmup_steps: 100
"""
LANGUAGES = {".json": "json", ".toml": "toml", ".py": "python", ".env": "dotenv", ".sh": "shellscript"}
CAPABILITIES = {"general": {"positionEncodings": ["utf-8"]}, "textDocument": {"hover": {"contentFormat": ["markdown"]}}}


class Server:
    """A server process, spoken to in order: one message at a time, nothing read ahead."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "tried", "serve"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.diagnosed = -1
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        options = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "workspaceFolders": folders,
                "capabilities": CAPABILITIES,
                "initializationOptions": options,
            },
        )
        self.notify("initialized", {})

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        self.number += 1
        number = self.number
        self._send({"id": number, "method": method, "params": params})
        return self.receive(lambda message: message.get("id") == number and "method" not in message)["result"]

    def receive(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            message = self._read()
            if message.get("method") == "textDocument/publishDiagnostics":
                self.diagnosed = max(self.diagnosed, message["params"]["version"])
            if "id" in message and "method" in message:
                self._send({"id": message["id"], "result": None})
            elif wanted(message):
                return message

    def wait_for_diagnostics(self, version: int) -> None:
        if self.diagnosed < version:
            self.receive(lambda message: self.diagnosed >= version)

    def stop(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.wait(10)

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            length = int(line.split(b":")[1])
        if not length:
            raise SystemExit("the server has ended; run `tried serve` by hand to see why")
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message


def measure(pool: Path, name: str, config: str, rounds: int) -> dict[str, list[float]]:
    """Milliseconds by what was measured."""
    found: dict[str, list[float]] = {}

    def timed(what: str, call: Callable[[], Any]) -> None:
        started = time.perf_counter()
        call()
        found.setdefault(what, []).append(1000 * (time.perf_counter() - started))

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary).resolve()
        (folder / ".tried").mkdir()
        shutil.copyfile(pool, folder / ".tried" / "pool.jsonl")
        started = time.perf_counter()
        server = Server(folder)
        found["start"] = [1000 * (time.perf_counter() - started)]
        editor = Editor(server, folder / name, config)
        timed("load and first diagnose", editor.open)
        editor.find_place()
        for _ in range(rounds):
            timed("change", editor.edit_and_wait_until_taken)
            server.wait_for_diagnostics(editor.version)
            timed("diagnose", editor.edit_and_diagnose)
            timed("hover", editor.hover)
            timed("hover after an edit", editor.edit_and_hover)
            server.wait_for_diagnostics(editor.version)
        server.stop()
    return found


class Editor:
    """One open config, and a person who adds lines at its end."""

    def __init__(self, server: Server, path: Path, config: str) -> None:
        self.server = server
        self.uri = path.as_uri()
        self.language = LANGUAGES.get(path.suffix, "yaml")
        self.config = config if config.endswith("\n") else config + "\n"
        self.version = 0
        self.place = (0, 0)

    def open(self) -> None:
        document = {"uri": self.uri, "languageId": self.language, "version": 0, "text": self.config}
        self.server.notify("textDocument/didOpen", {"textDocument": document})
        self.server.wait_for_diagnostics(0)

    def find_place(self) -> None:
        """Rests on the place with the most to tell."""
        most, best = 0, (0, 0)
        for line, text in enumerate(self.config.splitlines()):
            self.place = (line, len(text) - len(text.lstrip()) + 1)
            size = len(json.dumps(self.hover()))
            if size > most:
                most, best = size, self.place
        if most <= len("null"):
            sys.stderr.write("nothing in the config has anything to tell with this pool: hovers are empty\n")
        self.place = best

    def edit(self) -> None:
        end = {"line": self.config.count("\n") + self.version, "character": 0}
        self.version += 1
        change = {"range": {"start": end, "end": end}, "text": "\n"}
        document = {"uri": self.uri, "version": self.version}
        self.server.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})

    def edit_and_wait_until_taken(self) -> None:
        self.edit()
        elsewhere = {"textDocument": {"uri": "file:///not/open"}, "position": {"line": 0, "character": 0}}
        self.server.request("textDocument/hover", elsewhere)

    def edit_and_diagnose(self) -> None:
        self.edit()
        self.server.wait_for_diagnostics(self.version)

    def hover(self) -> Any:
        place = {"line": self.place[0], "character": self.place[1]}
        return self.server.request("textDocument/hover", {"textDocument": {"uri": self.uri}, "position": place})

    def edit_and_hover(self) -> None:
        self.edit()
        self.hover()


def percentile(values: list[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--config", type=Path, help="a config to edit instead of the built-in one")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    config = arguments.config.read_text(encoding="utf-8") if arguments.config else CONFIG
    name = arguments.config.name if arguments.config else "config.yaml"
    found = measure(arguments.pool, name, config, arguments.rounds)
    table = {
        what: {"n": len(values), "p50": percentile(values, 0.5), "p95": percentile(values, 0.95), "max": max(values)}
        for what, values in found.items()
    }
    if arguments.json:
        print(json.dumps(table, indent=2))
        return
    print(f"{'milliseconds':<26}{'n':>5}{'p50':>10}{'p95':>10}{'max':>10}")
    for what, row in table.items():
        print(f"{what:<26}{row['n']:>5}{row['p50']:>10.1f}{row['p95']:>10.1f}{row['max']:>10.1f}")


if __name__ == "__main__":
    main()
