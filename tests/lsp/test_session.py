"""What the session decides by itself, without a client."""

from __future__ import annotations

import time
from typing import cast

import pytest
from lsprotocol import types as t

from tried.lsp.client import Client, ClientFeatures
from tried.lsp.session import Session


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
