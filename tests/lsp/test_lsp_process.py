"""The process around the server: it starts quietly, speaks only messages, and ends with its client."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, make_workspace
from raw_client import COMMAND, NEOVIM_LIKE, RawClient

HOVER = {"textDocument": {"uri": "file:///nowhere.yaml"}, "position": {"line": 0, "character": 0}}


@pytest.fixture
def client() -> Iterator[RawClient]:
    client = RawClient()
    yield client
    client.kill()


def test_exit_after_shutdown_is_status_zero_and_silent(client: RawClient) -> None:
    client.initialize(NEOVIM_LIKE)
    assert client.finish() == 0
    assert client.stderr == ""
    assert client.leftovers() == []


def test_exit_without_shutdown_is_status_one(client: RawClient) -> None:
    client.initialize(NEOVIM_LIKE)
    client.notify("exit")
    assert client.exit_status() == 1
    assert client.stderr == ""


def test_exit_before_initialize_is_status_one(client: RawClient) -> None:
    client.notify("exit")
    assert client.exit_status(20.0) == 1  # it has to start first


def test_requests_before_initialize_and_after_shutdown_are_refused(client: RawClient) -> None:
    assert client.response(client.start_request("textDocument/hover", HOVER))["error"]["code"] == -32002
    client.notify("textDocument/didOpen", {})
    client.initialize(NEOVIM_LIKE)
    client.request("shutdown")
    assert client.response(client.start_request("textDocument/hover", HOVER))["error"]["code"] == -32600
    assert client.response(client.start_request("shutdown"))["error"]["code"] == -32600
    client.notify("exit")
    assert client.exit_status() == 0


def test_the_end_of_input_ends_the_server_within_two_seconds(client: RawClient) -> None:
    client.initialize(NEOVIM_LIKE)
    assert client.process.stdin is not None
    started = time.monotonic()
    client.process.stdin.close()
    assert client.process.wait(2.0) == 1
    assert time.monotonic() - started < 2.0


def test_a_message_that_breaks_off_ends_the_server(client: RawClient) -> None:
    client.initialize(NEOVIM_LIKE)
    client.send_bytes(b'Content-Length: 1000\r\n\r\n{"jsonrpc"')
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert client.process.wait(2.0) == 1


def test_the_end_of_the_parent_ends_the_server_within_two_seconds(client: RawClient) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        client.initialize(NEOVIM_LIKE, process_id=editor.pid)
        time.sleep(1.2)
        assert client.process.poll() is None
    finally:
        editor.kill()
        editor.wait()
    assert client.process.wait(2.0) == 1


def test_a_parent_that_was_never_there_is_not_waited_for(client: RawClient) -> None:
    client.initialize(NEOVIM_LIKE, process_id=2**22 + 17)  # as from another container
    time.sleep(1.2)
    assert client.request("textDocument/hover", HOVER) is None
    assert client.finish() == 0


def framed(message: dict[str, object]) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def unread_server() -> subprocess.Popen[bytes]:
    """A server whose output nobody reads."""
    return subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_closed_stdout_ends_the_server_quietly() -> None:
    with unread_server() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(framed({"jsonrpc": "2.0", "id": 1, "method": "no/such"}))
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"Content-Length")
        process.stdout.close()
        process.stdin.write(framed({"jsonrpc": "2.0", "id": 2, "method": "no/such"}) * 100)
        process.stdin.flush()
        assert process.wait(2.0) == 1
        assert process.stderr.read() == b""


def test_a_client_that_does_not_read_cannot_hold_the_server() -> None:
    """The pipe fills up; the server still sees that its input ends."""
    with unread_server() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(framed({"jsonrpc": "2.0", "id": "x" * 1000, "method": "no/such"}) * 500)
        process.stdin.flush()
        assert process.stdout.read(1)
        time.sleep(0.3)
        process.stdin.close()
        assert process.wait(2.5) == 1


def test_stray_prints_and_children_do_not_reach_the_client() -> None:
    """Whatever prints, in Python or below it, prints to stderr; a child process reads nothing of ours."""
    program = (
        "import os, subprocess, sys, threading, time\n"
        "def stray():\n"
        "    while sys.stdout is not sys.stderr: time.sleep(0.01)\n"
        "    print('stray print', flush=True)\n"
        "    os.write(1, b'stray write\\n')\n"
        "    os.system('echo stray child; cat')\n"
        "threading.Thread(target=stray, daemon=True).start()\n"
        "from tried.lsp.server import serve\n"
        "serve()\n"
    )
    client = RawClient([sys.executable, "-c", program])
    try:
        client.initialize(NEOVIM_LIKE)
        client.wait(lambda: "stray child" in client.stderr, 10, "the stray output")
        assert client.finish() == 0
        assert all(text in client.stderr for text in ("stray print", "stray write", "stray child"))
    finally:
        client.kill()


def test_shutdown_while_requests_are_pending_answers_them(client: RawClient, tmp_path: Path) -> None:
    client.answers["workspace/configuration"] = lambda params: [{}]
    client.initialize(NEOVIM_LIKE, [tmp_path])
    pending = [client.start_request("textDocument/hover", HOVER) for _ in range(20)]
    assert client.finish() == 0
    assert all(client.response(number) for number in pending)
    assert "Traceback" not in client.stderr


def test_tcp_serves_one_client_and_ends_with_it() -> None:
    program = "from tried.lsp.server import serve; serve(tcp=('127.0.0.1', 0))"
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        assert process.stderr is not None
        port = int(process.stderr.readline().rsplit(b":", 1)[1])
        with socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(framed({"jsonrpc": "2.0", "id": 0, "method": "no/such"}))
            assert b'"id": 0' in connection.recv(4096)
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), 1)
            connection.sendall(framed({"jsonrpc": "2.0", "id": 1, "method": "no/such"}))
            assert b'"id": 1' in connection.recv(4096)
        assert process.wait(2.0) == 1
    finally:
        process.kill()
        process.wait()
        assert process.stderr is not None
        process.stderr.close()


def test_a_port_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        program = (
            "from tried.lsp.server import CannotServe, serve\n"
            "try:\n"
            f"    serve(tcp=('127.0.0.1', {port}))\n"
            "except CannotServe as error:\n"
            "    raise SystemExit(str(error))\n"
        )
        finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20)
    assert finished.returncode == 1
    assert finished.stderr.startswith(f"cannot listen on 127.0.0.1:{port}: ")
    assert finished.stderr.count("\n") == 1


def test_the_log_goes_to_a_file(tmp_path: Path) -> None:
    log = tmp_path / "tried.log"
    program = f"from pathlib import Path; from tried.lsp.server import serve; serve(log_file=Path({str(log)!r}))"
    client = RawClient([sys.executable, "-c", program])
    try:
        client.initialize(NEOVIM_LIKE)
        client.notify("textDocument/didOpen", {"textDocument": 3})
        assert client.finish() == 0
        assert "invalid params for textDocument/didOpen" in log.read_text()
        assert client.stderr == ""
    finally:
        client.kill()


@pytest.mark.parametrize("level", [None, "INFO", "DEBUG"])
def test_what_is_in_messages_stays_out_of_the_log(tmp_path: Path, level: str | None) -> None:
    """Neither texts nor what is answered, at the usual level and where all is wanted."""
    log = tmp_path / "tried.log"
    wanted = f", log_level=logging.{level}" if level else ""
    program = (
        "import logging; from pathlib import Path; from tried.lsp.server import serve;"
        f"serve(log_file=Path({str(log)!r}){wanted})"
    )
    client = RawClient([sys.executable, "-c", program])
    make_workspace(tmp_path, BASELINE, {**DIVERGED, "id": "confidential"})
    client.answers["workspace/configuration"] = lambda params: [{"pool": {"exclude": ["confidential"]}}]
    try:
        client.initialize(NEOVIM_LIKE, [tmp_path])
        uri = (tmp_path / "next.yaml").as_uri()
        client.open(uri, CONFIG + "note: confidential\n")
        assert "confidential" in client.pushed(uri)[0]["message"]
        assert "confidential" in client.hover(uri, 2, 7)["contents"]["value"]
        client.notify("textDocument/didChange", {"textDocument": "confidential"})
        client.notify("nobody/knows", {"note": "confidential"})
        assert client.finish() == 0
        written = log.read_text()
        assert "invalid params for textDocument/didChange" in written
        assert [line for line in written.splitlines() if "confidential" in line] == []
        assert client.stderr == ""
    finally:
        client.kill()
