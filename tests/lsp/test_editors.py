"""Sessions as two editors have them, checked against the protocol by pytest-lsp: one pulls, one is pushed to."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, Union

import pytest
import pytest_lsp
from lsp_workspace import CONFIG, make_workspace
from lsprotocol import types as t
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAST = {"editor": {"debounce_ms": 20, "typing_pause_ms": 300}}
PULLING = t.ClientCapabilities(
    general=t.GeneralClientCapabilities(position_encodings=[t.PositionEncodingKind.Utf16]),
    workspace=t.WorkspaceClientCapabilities(
        configuration=True,
        workspace_folders=True,
        workspace_edit=t.WorkspaceEditClientCapabilities(document_changes=True),
        diagnostics=t.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
    ),
    window=t.WindowClientCapabilities(
        work_done_progress=True, show_document=t.ShowDocumentClientCapabilities(support=True)
    ),
    text_document=t.TextDocumentClientCapabilities(
        diagnostic=t.DiagnosticClientCapabilities(dynamic_registration=False),
        hover=t.HoverClientCapabilities(content_format=[t.MarkupKind.Markdown]),
        code_action=t.CodeActionClientCapabilities(
            code_action_literal_support=t.ClientCodeActionLiteralOptions(
                code_action_kind=t.ClientCodeActionKindOptions(value_set=[t.CodeActionKind.QuickFix])
            )
        ),
    ),
)


def make_client() -> LanguageClient:
    """lsprotocol reads a code action that has a command as a command; this client does not."""
    client = make_test_lsp_client()
    converter = client.protocol._converter
    converter.register_structure_hook(
        Union[t.Command, t.CodeAction],  # noqa: UP007
        lambda data, _: converter.structure(data, t.Command if isinstance(data.get("command"), str) else t.CodeAction),
    )
    return client


CONFIGURATION = ClientServerConfig(
    server_command=[sys.executable, "-m", "tried", "serve", "--stdio"], client_factory=make_client
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("editors").resolve()
    make_workspace(folder)
    return folder


def parameters(capabilities: t.ClientCapabilities, folder: Path) -> t.InitializeParams:
    return t.InitializeParams(
        capabilities=capabilities,
        workspace_folders=[t.WorkspaceFolder(uri=folder.as_uri(), name=folder.name)],
        initialization_options=FAST,
    )


async def pulling_client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    result = await lsp_client.initialize_session(parameters(PULLING, folder))
    assert result.capabilities.diagnostic_provider is not None
    yield
    await lsp_client.shutdown_session()
    assert lsp_client.diagnostics == {}


async def pushed_client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    """Pulls, but cannot be told to pull again: it is pushed to."""
    result = await lsp_client.initialize_session(parameters(client_capabilities("neovim@v0.11"), folder))
    assert result.capabilities.diagnostic_provider is None
    yield
    await lsp_client.shutdown_session()


pulling = pytest_lsp.fixture(pulling_client, scope="module", config=CONFIGURATION)
pushed = pytest_lsp.fixture(pushed_client, scope="module", config=CONFIGURATION)


def open_document(client: LanguageClient, uri: str, text: str, version: int = 1) -> None:
    item = t.TextDocumentItem(uri=uri, language_id="yaml", version=version, text=text)
    client.text_document_did_open(t.DidOpenTextDocumentParams(text_document=item))


def replace_value(client: LanguageClient, uri: str, version: int, value: str) -> None:
    """Replaces the three characters of the learning rate."""
    place = t.Range(start=t.Position(line=2, character=6), end=t.Position(line=2, character=9))
    client.text_document_did_change(
        t.DidChangeTextDocumentParams(
            text_document=t.VersionedTextDocumentIdentifier(uri=uri, version=version),
            content_changes=[t.TextDocumentContentChangePartial(range=place, text=value)],
        )
    )


async def until(call: Callable[[], Any], seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not call():
            await asyncio.sleep(0.01)


async def pull(client: LanguageClient, uri: str, previous: str | None = None) -> t.DocumentDiagnosticReport:
    report: t.DocumentDiagnosticReport = await client.text_document_diagnostic_async(
        t.DocumentDiagnosticParams(
            text_document=t.TextDocumentIdentifier(uri=uri), identifier="tried", previous_result_id=previous
        )
    )
    return report


async def items(client: LanguageClient, uri: str) -> Sequence[t.Diagnostic]:
    report = await pull(client, uri)
    assert isinstance(report, t.RelatedFullDocumentDiagnosticReport)
    return report.items


async def test_a_pulling_client(pulling: LanguageClient, folder: Path) -> None:
    """Sees the dead end, edits it away, types it again and sees it after a pause, and silences it."""
    uri = (folder / "pulled.yaml").as_uri()
    open_document(pulling, uri, CONFIG)
    report = await pull(pulling, uri)
    assert isinstance(report, t.RelatedFullDocumentDiagnosticReport)
    (found,) = report.items
    assert found.range == t.Range(t.Position(2, 6), t.Position(2, 9))
    assert isinstance(await pull(pulling, uri, report.result_id), t.RelatedUnchangedDocumentDiagnosticReport)
    replace_value(pulling, uri, 2, "0.1")
    assert not await items(pulling, uri)
    replace_value(pulling, uri, 3, "0.5")
    assert not await items(pulling, uri)
    await until(lambda: pulling.diagnostic_refresh_count)
    assert [item.code for item in await items(pulling, uri)] == ["dead-end"]
    await check_hover_and_actions(pulling, uri, found)
    assert not [message for message in pulling.log_messages if message.type != t.MessageType.Debug]
    assert pulling.messages == []


async def test_a_pushed_client(pushed: LanguageClient, folder: Path) -> None:
    """The same, for a client that waits to be told."""
    uri = (folder / "pushed.yaml").as_uri()
    open_document(pushed, uri, CONFIG)
    await until(lambda: pushed.diagnostics.get(uri))
    (found,) = pushed.diagnostics[uri]
    replace_value(pushed, uri, 2, "0.1")
    await until(lambda: not pushed.diagnostics[uri])
    replace_value(pushed, uri, 3, "0.5")
    await asyncio.sleep(0.1)
    assert not pushed.diagnostics[uri]
    await until(lambda: pushed.diagnostics[uri])
    await check_hover_and_actions(pushed, uri, found)
    pushed.text_document_did_close(t.DidCloseTextDocumentParams(t.TextDocumentIdentifier(uri)))
    await until(lambda: not pushed.diagnostics[uri])
    assert pushed.messages == []


async def check_hover_and_actions(client: LanguageClient, uri: str, found: t.Diagnostic) -> None:
    document = t.TextDocumentIdentifier(uri=uri)
    hover = await client.text_document_hover_async(t.HoverParams(text_document=document, position=found.range.start))
    assert hover is not None
    assert isinstance(hover.contents, t.MarkupContent)
    assert hover.contents.value.startswith("**diverged after 200 steps**")
    context = t.CodeActionContext(diagnostics=[found])
    actions = await client.text_document_code_action_async(
        t.CodeActionParams(text_document=document, range=found.range, context=context)
    )
    assert actions is not None
    use, silence, open_record = actions[0], actions[1], actions[-2]
    assert isinstance(use, t.CodeAction)
    assert use.edit is not None
    assert isinstance(silence, t.CodeAction)
    assert silence.edit is not None
    assert isinstance(open_record, t.CodeAction)
    assert open_record.command is not None
    await client.workspace_execute_command_async(
        t.ExecuteCommandParams(command=open_record.command.command, arguments=open_record.command.arguments)
    )
    assert [shown.uri for shown in client.shown_documents] == ["https://example.org/runs/2"]
