"""Opening what others put there: a file, and nothing else, without waiting."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tried.storage.paths import NotPlain, open_plain, plain_descriptor

SECONDS = 20


def test_a_file_is_opened_and_a_link_to_one_only_if_wanted(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_bytes(b"abc")
    link.symlink_to(path)
    for each in (path, str(path), link):
        with open_plain(each) as file:
            assert file.read() == b"abc"
    with pytest.raises(NotPlain, match="it is a link, which is not followed"):
        open_plain(link, follow=False)
    with open_plain(path, follow=False) as file:
        assert file.read(2) == b"ab"


def test_a_pipe_is_refused_without_being_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    code = (
        "import sys; from tried.storage.paths import NotPlain, open_plain\n"
        "try: open_plain(sys.argv[1])\n"
        "except NotPlain as error: print(error.strerror)"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "pipe"], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert told.stdout == "it is a pipe, a socket or a device\n", told.stderr


def test_what_else_is_no_file_raises_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_plain(tmp_path)
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "none")
    with pytest.raises(OSError, match="a name that no file can have"):
        open_plain(f"{tmp_path}/a\0b")
    with pytest.raises(OSError, match=r"(?i)too long"):
        open_plain(tmp_path / ("x" * 5_000))
    with pytest.raises(NotPlain):
        open_plain(os.devnull)
    with pytest.raises(NotPlain):
        plain_descriptor(os.devnull)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(NotPlain, match="it is a pipe, a socket or a device"):
            open_plain("socket")


def test_a_file_that_has_nothing_to_give_yet_is_no_wait_and_no_surprise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `/proc/kmsg`, which looks like a plain file; here a pipe with a writer that says nothing."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    monkeypatch.setattr("tried.storage.paths.plain_descriptor", lambda path, *, follow: os.dup(reader))
    for size in (-1, 10):
        with open_plain(tmp_path) as file, pytest.raises(BlockingIOError, match="nothing to give yet"):
            file.read(size)
    os.close(writer)
    os.close(reader)
