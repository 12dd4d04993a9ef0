"""What is no regular file is never read: a pipe without a writer would keep the command for ever."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 60
CONFIG = "lr: 0.9\ndepth: 4\nwidth: 64\n"

if sys.platform == "win32":
    pytest.skip("named pipes and sockets in folders are not there on Windows", allow_module_level=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    os.mkfifo("pipe.yaml")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.yaml")
    Path("device.yaml").symlink_to("/dev/zero")
    return tmp_path


def tried(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, which a hang ends with an error."""
    command = [sys.executable, "-m", "tried", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_a_folder_with_special_files_is_checked_without_them(folder: Path) -> None:
    (folder / "train.yaml").write_text(CONFIG, encoding="utf-8")

    result = tried(folder, "check", ".")

    assert result.returncode == 0
    assert result.stdout == "1 config, 0 past runs: 0 warnings, 0 informations, 0 for the hover\n"
    assert "pipe" not in result.stderr


@pytest.mark.parametrize("name", ["pipe.yaml", "socket.yaml", "device.yaml"])
def test_what_is_no_file_of_judgements_is_told_what_to_name(folder: Path, name: str) -> None:
    result = tried(folder, "evaluate", name)

    assert result.returncode == 2
    assert result.stderr.endswith(
        f"{name}: is a pipe, socket or device; name a file of judgements, or save the text to one\n"
    )
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["pipe.yaml", "socket.yaml", "device.yaml"])
@pytest.mark.parametrize("command", [("check",), ("rank",), ("conclude", "too high")])
def test_a_special_file_that_is_named_is_an_error_of_one_line(
    folder: Path, command: tuple[str, ...], name: str
) -> None:
    (folder / "pool.jsonl").write_text('{"id": "a", "params": {"lr": 0.9}}\n')
    (folder / "tried.toml").write_text('[[pool.sources]]\npath = "pool.jsonl"\n')

    result = tried(folder, command[0], name, *command[1:])

    assert result.returncode == 2
    told = [line for line in result.stderr.splitlines() if name in line]
    assert len(told) == 1
    assert told[0].endswith(f"{name}: is a pipe, socket or device; name a config file, or save the text to one")
    assert "Traceback" not in result.stderr


def test_a_link_to_a_regular_file_is_read(folder: Path) -> None:
    (folder / "kept.txt").write_text(CONFIG, encoding="utf-8")
    (folder / "link.yaml").symlink_to("kept.txt")

    assert tried(folder, "check", ".").stdout.startswith("1 config, ")
