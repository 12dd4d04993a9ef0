"""A session as Neovim 0.11 has it, checked against the protocol by pytest-lsp."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest_lsp
from lsp_workspace import make_workspace
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

CONFIGURATION = ClientServerConfig(server_command=[sys.executable, "-m", "tried", "serve", "--stdio"])


def neovim_fixture(*records: dict[str, Any]) -> Any:
    """A client for all tests of a module in its fixture `folder`, which holds these records, or what it holds."""

    async def session(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
        if records:
            make_workspace(folder, *records)
        await lsp_client.initialize_session(
            t.InitializeParams(
                capabilities=client_capabilities("neovim@v0.11"),
                workspace_folders=[t.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)],
                initialization_options={"editor": {"debounce_ms": 0, "typing_pause_ms": 0}},
            )
        )
        yield
        await lsp_client.shutdown_session()

    return pytest_lsp.fixture(session, scope="module", config=CONFIGURATION)


def file_of(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))
