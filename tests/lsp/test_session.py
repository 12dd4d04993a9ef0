"""What the session decides by itself, without a client."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import pytest
from lsp_workspace import CONFIG, make_workspace
from lsprotocol import types as t

from tried.lsp import session as session_module
from tried.lsp.client import Client, ClientFeatures
from tried.lsp.documents import Text
from tried.lsp.open_document import Analysed, Document, analysed_text
from tried.lsp.session import LARGE_CHARACTERS, Session


def test_now_is_read_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    tick = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: tick)
    session = Session(cast(Client, None))
    first = session.now()
    assert first.tzinfo is not None
    tick += 59.9
    assert session.now() is first
    tick += 0.2
    assert session.now() is not first
    session.close()


@pytest.mark.parametrize(
    ("refresh", "diagnostic", "pulls"),
    [(True, True, True), (False, True, False), (True, False, False), (False, False, False)],
)
def test_only_a_client_that_can_be_told_to_pull_again_pulls(refresh: bool, diagnostic: bool, pulls: bool) -> None:
    capabilities = t.ClientCapabilities(
        workspace=t.WorkspaceClientCapabilities(
            diagnostics=t.DiagnosticWorkspaceClientCapabilities(refresh_support=refresh)
        ),
        text_document=t.TextDocumentClientCapabilities(
            diagnostic=t.DiagnosticClientCapabilities() if diagnostic else None
        ),
    )
    assert ClientFeatures.of(capabilities).pulls_diagnostics is pulls


def test_a_client_that_says_nothing_is_asked_for_nothing() -> None:
    assert ClientFeatures.of(t.ClientCapabilities()) == ClientFeatures(encoding="utf-16")


class DeafClient:
    """Is told things and says nothing."""

    features = ClientFeatures()

    def notify(self, method: str, params: Any) -> None:
        """Nobody listens."""

    log = show = notify


def in_session(folder: Path, work: Callable[[Session], Awaitable[None]]) -> None:
    """Runs a test in a session with one open folder."""

    async def run() -> None:
        session = Session(cast(Client, DeafClient()))
        session.configured.set()
        session.add_folder(folder.as_uri())
        try:
            async with asyncio.timeout(20):
                await work(session)
        finally:
            session.close()

    make_workspace(folder)
    asyncio.run(run())


class SlowAnalysis:
    """In place of `analysed_text`: texts that begin with "# slow" are analysed when `go` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started = threading.Semaphore(0)
        self.go = threading.Event()
        monkeypatch.setattr(session_module, "analysed_text", self)

    def __call__(self, document: Document, text: Text, *others: Any) -> Analysed:
        if text.content.startswith("# slow"):
            self.started.release()
            assert self.go.wait(20)
        return analysed_text(document, text, *others)

    async def has_started(self) -> None:
        assert await asyncio.to_thread(self.started.acquire, timeout=10)


def test_an_analysis_that_an_edit_has_overtaken_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two edits while the first text is analysed: only the last one's result is told."""
    slow = SlowAnalysis(monkeypatch)
    told: list[int] = []

    def listen(document: Document) -> None:
        assert document.analysed is not None
        told.append(document.analysed.text.version)

    async def work(session: Session) -> None:
        session.listeners.append(listen)
        document = session.open((tmp_path / "next.yaml").as_uri(), "yaml", 1, "# slow\n" + CONFIG)
        await slow.has_started()
        session.edit(document, Text(CONFIG.replace("64", "65"), 2), range(0))
        session.edit(document, Text(CONFIG, 3), range(0))
        slow.go.set()
        known = await session.analysed(document, patience=10, hurry=True)
        assert known is not None
        assert (known.text.version, known.text.content) == (3, CONFIG)
        assert known.analysis is not None
        assert len(known.analysis.findings) >= 1

    try:
        in_session(tmp_path, work)
    finally:
        slow.go.set()
    assert told == [3]


def test_large_texts_do_not_hold_up_small_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowAnalysis(monkeypatch)
    large = "# slow" + "." * LARGE_CHARACTERS + "\n" + CONFIG

    async def work(session: Session) -> None:
        waiting = [session.open((tmp_path / name).as_uri(), "yaml", 1, large) for name in ("a.yaml", "b.yaml")]
        await slow.has_started()
        small = session.open((tmp_path / "small.yaml").as_uri(), "yaml", 1, CONFIG)
        assert await session.analysed(small, patience=10) is not None
        assert [document.analysed for document in waiting] == [None, None]
        slow.go.set()
        for document in waiting:
            assert await session.analysed(document, patience=10) is not None

    try:
        in_session(tmp_path, work)
    finally:
        slow.go.set()


def test_no_analysis_holds_up_what_is_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hovers, code actions and commands, once there is an analysis of their document."""
    slow = SlowAnalysis(monkeypatch)

    async def work(session: Session) -> None:
        for name in ("a.yaml", "b.yaml"):
            session.open((tmp_path / name).as_uri(), "yaml", 1, "# slow\n" + CONFIG)
        for _ in range(session_module.ANALYSIS_THREADS):
            await slow.has_started()
        async with asyncio.timeout(5):
            assert await session.in_background(sorted, (2, 1)) == [1, 2]

    try:
        in_session(tmp_path, work)
    finally:
        slow.go.set()
