"""Servers that answer slowly, wrongly, endlessly or with an attack, for both kinds of trackers."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from remote_servers import Asked, respond, serving

from tried.pool.sources.remote.cache import RemoteCache
from tried.pool.sources.remote.fetch import Fetcher, Server
from tried.pool.sources.remote.http import RemoteClient, RemoteFailure
from tried.pool.sources.remote.mlflow_server import MlflowServer
from tried.pool.sources.remote.tracker import Kind, RemoteTracker, Secret, endpoint_of
from tried.pool.sources.remote.wandb_server import WandbServer

TOKEN = "s3cr3t-t0ken"
KINDS: tuple[Kind, ...] = ("mlflow", "wandb")


def tracker_of(kind: Kind, address: str, token: str | None = TOKEN) -> RemoteTracker:
    return RemoteTracker(
        kind, address, ("team/denoise",) if kind == "wandb" else (), token=Secret(token) if token else None
    )


def server_of(tracker: RemoteTracker) -> Server:
    return MlflowServer(tracker) if tracker.kind == "mlflow" else WandbServer(tracker)


def client_of(tracker: RemoteTracker, pauses: list[float] | None = None, **limits: Any) -> RemoteClient:
    noted = pauses if pauses is not None else []
    return RemoteClient(
        endpoint_of(tracker, {}), **{"timeout": 0.4, "answer_seconds": 0.6, "pause": noted.append, **limits}
    )


def failure_of(kind: Kind, address: str, folder: Path, token: str | None = TOKEN, **limits: Any) -> str:
    """What a fetch from there says; also that nobody is told the token."""
    tracker = tracker_of(kind, address, token)
    failure = Fetcher(server_of(tracker), RemoteCache(folder / "cache.jsonl")).fetch(client_of(tracker, **limits))
    assert failure is not None
    for text in (str(failure), repr(failure), failure.reason, repr(failure.__context__), repr(failure.__cause__)):
        assert TOKEN not in text
    for path in folder.rglob("*"):
        assert not path.is_file() or TOKEN.encode() not in path.read_bytes()
    return failure.reason


def status(code: int, body: bytes | dict[str, Any] = b"", **headers: str) -> Any:
    def answer(handler: BaseHTTPRequestHandler, _: Asked) -> None:
        respond(handler, body, code, {name.replace("_", "-"): value for name, value in headers.items()})

    return answer


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("code", "body", "says"),
    [
        (401, {"message": "who?"}, "does not accept the credentials (401)"),
        (403, {"message": f"token {TOKEN} may\nnot\x1b[31m"}, "does not allow this (403): token … may not?[31m"),
        (404, b"<html>", "does not have this (404): is the address right?"),
        (400, {"error_code": "X", "message": "bad filter"}, "refused (400): bad filter"),
        (418, b"", "refused (418)"),
        (200, b"<!DOCTYPE html><html><body>login</body>", "answered with a web page (HTML)"),
        (200, b"\n  <html>", "answered with a web page (HTML)"),
        (200, b"hello", "answered with something that is no JSON"),
        (200, b"", "answered with something that is no JSON"),
        (200, b"\x00\xff\xfe", "answered with something that is no JSON"),
        (200, b'{"runs": ', "sent only a part of its answer"),
        (200, b"[" * 100_000, "answered with JSON that is nested too deep"),
        (200, [1, 2], "is this its address?"),
        (200, b"null", "is this its address?"),
        (204, b"", "answered with something that is no JSON"),
    ],
)
def test_answers_that_are_of_no_use(kind: Kind, code: int, body: Any, says: str, tmp_path: Path) -> None:
    with serving(status(code, body)) as server:
        assert says in failure_of(kind, server.address, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_credentials_that_are_missing(kind: Kind, tmp_path: Path) -> None:
    with serving(status(401)) as server:
        reason = failure_of(kind, server.address, tmp_path, token=None)
    assert reason == "wants credentials (401), and none are configured for this host"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("code", "says"),
    [(429, "is asked too often (429)"), (500, "an error of its own (500): boom"), (503, "an error of its own (503)")],
)
def test_what_may_pass_is_tried_again_and_not_for_ever(kind: Kind, code: int, says: str, tmp_path: Path) -> None:
    pauses: list[float] = []
    with serving(status(code, {"message": "boom"})) as server:
        assert says in failure_of(kind, server.address, tmp_path, pauses=pauses)
        assert len(server.asked) == 3
    assert pauses == [1.0, 2.0]


def test_a_server_says_how_long_to_wait() -> None:
    pauses: list[float] = []
    answers = [status(429, b"", Retry_After="7"), status(200, {"ok": True})]
    with serving(lambda handler, asked: answers.pop(0)(handler, asked)) as server:
        assert client_of(tracker_of("mlflow", server.address), pauses).post("/x", {}) == {"ok": True}
    assert pauses == [7.0]


@pytest.mark.parametrize("header", ["3600", "999999999999999", "Wed, 21 Oct 2199 07:28:00 GMT"])
def test_but_not_for_how_long_it_likes(header: str) -> None:
    pauses: list[float] = []
    with serving(status(429, b"", Retry_After=header)) as server, pytest.raises(RemoteFailure) as raised:
        client_of(tracker_of("mlflow", server.address), pauses).post("/x", {})
    assert raised.value.passes
    assert sum(pauses) <= 3.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_carries_no_token_there(kind: Kind, code: int, tmp_path: Path) -> None:
    with serving(status(200, {})) as other:
        away = f"{other.address}/steal?key={TOKEN}"
        with serving(status(code, b"", Location=away)) as server:
            reason = failure_of(kind, server.address, tmp_path)
            assert server.asked[0].authorization is not None
        assert not other.asked
    assert reason.startswith(f"redirects to {other.address}/steal, which is not followed")


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_has_no_end(kind: Kind, tmp_path: Path) -> None:
    def endless(handler: BaseHTTPRequestHandler, _: Asked) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"[" + b" " * 65536)

    with serving(endless) as server:
        reason = failure_of(kind, server.address, tmp_path, size_limit=1024 * 1024, answer_seconds=20)
    assert reason == "answered with more than 1,024 KiB"


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_drips(kind: Kind, tmp_path: Path) -> None:
    def dripping(handler: BaseHTTPRequestHandler, _: Asked) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _number in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    with serving(dripping) as server:
        began = time.monotonic()
        assert failure_of(kind, server.address, tmp_path, tries=1) == "was still answering after 0.6 s"
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("kind", KINDS)
def test_no_answer(kind: Kind, tmp_path: Path) -> None:
    free = threading.Event()

    def silent(*_: object) -> None:
        free.wait(10)

    with serving(silent) as server:
        assert failure_of(kind, server.address, tmp_path, tries=1) == "did not answer within 0.4 s"
        free.set()


@pytest.mark.parametrize("kind", KINDS)
def test_half_an_answer(kind: Kind, tmp_path: Path) -> None:
    def half(handler: BaseHTTPRequestHandler, _: Asked) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"experiments": [')

    with serving(half) as server:
        assert failure_of(kind, server.address, tmp_path, tries=2) == "sent only a part of its answer"
        assert len(server.asked) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_there(kind: Kind, tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
        assert "does not take connections" in failure_of(kind, address, tmp_path, tries=1)


@pytest.mark.parametrize("kind", KINDS)
def test_something_that_does_not_speak_http(kind: Kind, tmp_path: Path) -> None:
    def greeting(handler: BaseHTTPRequestHandler, _: Asked) -> None:
        handler.wfile.write(b"220 smtp ready\r\n")

    with serving(greeting) as server:
        assert "did not answer in HTTP" in failure_of(kind, server.address, tmp_path, tries=1)


def test_tls_to_a_server_without_it_names_the_reason(tmp_path: Path) -> None:
    with serving(status(200, {})) as server:
        reason = failure_of("mlflow", server.address.replace("http://", "https://"), tmp_path, tries=1)
    assert reason == "cannot be spoken to in TLS"


def test_what_is_for_this_machine_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(status(200, {})) as proxy, serving(status(200, {"ok": 1})) as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        monkeypatch.delenv("no_proxy", raising=False)
        assert client_of(tracker_of("mlflow", server.address)).post("/x", {}) == {"ok": 1}
        assert not proxy.asked


def test_what_is_sent(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), serving(status(200, {"ok": "é"})) as server:
        client = client_of(tracker_of("mlflow", server.address + "/prefix/"))
        assert client.post("/api", {"a": "é"}) == {"ok": "é"}
    assert [(one.path, one.body, one.authorization) for one in server.asked] == [
        ("/prefix/api", {"a": "é"}, f"Bearer {TOKEN}")
    ]
    assert TOKEN not in caplog.text + repr(client) + json.dumps(str(client))
