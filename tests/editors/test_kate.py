"""A real Kate without a screen, with the configuration of docs/editors/kate.md: the server starts, findings come."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = REPOSITORY / "docs" / "editors" / "kate.md"
SECONDS = 60.0

WRAPPER = """#!/bin/sh
tee -a "{said}" | "{python}" -m tried "$@" | tee -a "{answered}"
"""
"""What stands for the command on the PATH: the server, and what both sides say kept in files."""


def test_it_starts_the_server_with_its_settings_and_is_told_of_a_dead_end(tmp_path: Path) -> None:
    if shutil.which("kate") is None or shutil.which("dbus-run-session") is None:
        pytest.skip("Kate is not installed (Debian: kate, dbus-daemon)")
    workspace = tmp_path.resolve() / "ships"
    shutil.copytree(REPOSITORY / "fixtures" / "demo", workspace)
    programs, said, answered = tmp_path / "bin", tmp_path / "said", tmp_path / "answered"
    programs.mkdir()
    wrapper = programs / "tried"
    wrapper.write_text(WRAPPER.format(said=said, answered=answered, python=sys.executable))
    wrapper.chmod(0o755)
    home = tmp_path / "home"
    (home / ".config" / "kate" / "lspclient").mkdir(parents=True)
    (home / ".config" / "kate" / "lspclient" / "settings.json").write_text(json.dumps(configuration()))
    (home / ".config" / "katerc").write_text(
        f"[Kate Plugins]\nlspclientplugin=true\n\n[lspclient]\nAllowedServerCommandLines={wrapper} serve\n"
    )
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "DBUS_", "DISPLAY"))},
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "XDG_RUNTIME_DIR": str(runtime),
        "QT_QPA_PLATFORM": "offscreen",
    }
    command = ["dbus-run-session", "--", "kate", "-n", "-b", str(workspace / "configs" / "bigger_batch.yaml")]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as editor:
        try:
            found = diagnostics(answered)
        finally:
            os.killpg(editor.pid, signal.SIGTERM)

    assert [(one["source"], one["data"]["record"]) for one in found] == [("tried", "HYD-009")]
    asked = said.read_text()
    assert json.dumps(str(workspace)) in asked, "the root is the folder with the tried.toml"
    assert re.search(r'"limit":\s*3\b', asked), "the settings"


def configuration() -> Any:
    """As the page has it, with a setting in the place that it names."""
    block = re.search(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    told = json.loads(block[1])
    assert told["servers"]["tried"]["settings"] == {}
    told["servers"]["tried"]["settings"] = {"tried": {"ranking": {"limit": 3}}}
    return told


def diagnostics(answered: Path) -> list[dict[str, Any]]:
    """What the server published first, once it is there."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        for message in messages(answered.read_bytes() if answered.exists() else b""):
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["diagnostics"]:
                return list(message["params"]["diagnostics"])
        time.sleep(0.1)
    raise AssertionError(f"no diagnostics within {SECONDS:g} s")


def messages(stream: bytes) -> list[dict[str, Any]]:
    """The whole messages of a stream so far."""
    found: list[dict[str, Any]] = []
    while header := re.match(rb"Content-Length: (\d+)\r\n(?:[^\r]+\r\n)*\r\n", stream):
        end = header.end() + int(header[1])
        if len(stream) < end:
            break
        found.append(json.loads(stream[header.end() : end]))
        stream = stream[end:]
    return found
