"""The editor at the other end: what it can do, and what we say to it without being asked.

Invariant: nothing is sent that the client did not say it understands.
Invariant: an answer of the client is never waited for without a limit.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types as t
from pygls.capabilities import ServerCapabilitiesBuilder, get_capability
from pygls.exceptions import JsonRpcException

from tried.render.escape import without_links
from tried.text import Encoding

if TYPE_CHECKING:
    from tried.lsp.protocol import TriedProtocol

log = logging.getLogger("tried.lsp")

PATIENCE = 30.0
"""Seconds to wait for an answer of the client; a person may have to press a button first."""

_ENCODINGS: dict[str, Encoding] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


@dataclass(frozen=True, slots=True)
class ClientFeatures:
    """What the client said it can do, in our words."""

    encoding: Encoding = "utf-16"
    pulls_diagnostics: bool = False
    configuration: bool = False
    registers_configuration: bool = False
    registers_watchers: bool = False
    progress: bool = False
    shows_documents: bool = False
    markdown: bool = False
    code_action_literals: bool = False
    versioned_edits: bool = False
    definition_links: bool = False
    link_tooltips: bool = False
    resolves_symbols: bool = False
    refreshes_lenses: bool = False
    refreshes_hints: bool = False
    completion_markdown: bool = False
    completion_tags: bool = False
    completion_deprecated: bool = False
    completion_label_details: bool = False

    @classmethod
    def of(cls, capabilities: t.ClientCapabilities) -> ClientFeatures:
        def can(path: str) -> bool:
            return bool(get_capability(capabilities, path, False))

        formats = get_capability(capabilities, "text_document.hover.content_format", ()) or ()
        item = "text_document.completion.completion_item"
        item_formats = get_capability(capabilities, f"{item}.documentation_format", ()) or ()
        tags = get_capability(capabilities, f"{item}.tag_support.value_set", ()) or ()
        return cls(
            encoding=_ENCODINGS.get(str(_encoding(capabilities)), "utf-16"),
            # A client that pulls but cannot be told to pull again would miss what a growing pool changes.
            pulls_diagnostics=get_capability(capabilities, "text_document.diagnostic", None) is not None
            and can("workspace.diagnostics.refresh_support"),
            configuration=can("workspace.configuration"),
            registers_configuration=can("workspace.did_change_configuration.dynamic_registration"),
            registers_watchers=can("workspace.did_change_watched_files.dynamic_registration"),
            progress=can("window.work_done_progress"),
            shows_documents=can("window.show_document.support"),
            markdown=t.MarkupKind.Markdown in formats,
            code_action_literals=get_capability(
                capabilities, "text_document.code_action.code_action_literal_support", None
            )
            is not None,
            versioned_edits=can("workspace.workspace_edit.document_changes"),
            refreshes_lenses=can("workspace.code_lens.refresh_support"),
            refreshes_hints=can("workspace.inlay_hint.refresh_support"),
            completion_markdown=t.MarkupKind.Markdown in item_formats,
            completion_tags=t.CompletionItemTag.Deprecated in tags,
            completion_deprecated=can(f"{item}.deprecated_support"),
            completion_label_details=can(f"{item}.label_details_support"),
            definition_links=can("text_document.definition.link_support"),
            link_tooltips=can("text_document.document_link.tooltip_support"),
            resolves_symbols="location.range"
            in (get_capability(capabilities, "workspace.symbol.resolve_support.properties", ()) or ()),
        )


def _encoding(capabilities: t.ClientCapabilities) -> str:
    chosen = ServerCapabilitiesBuilder.choose_position_encoding(capabilities)
    return chosen.value if isinstance(chosen, t.PositionEncodingKind) else chosen


class Client:
    """Notifications and requests to the client. Used on the event loop's thread only."""

    def __init__(self, protocol: TriedProtocol) -> None:
        self._protocol = protocol
        self._numbers = itertools.count(1)
        self.features = ClientFeatures()

    def notify(self, method: str, params: Any) -> None:
        self._protocol.notify(method, params)

    def log(self, message: str, kind: t.MessageType = t.MessageType.Info) -> None:
        """One line in the client's log; in ours, which clients show beside it, only where details are wanted."""
        log.info("%s", message)
        self.notify(t.WINDOW_LOG_MESSAGE, t.LogMessageParams(type=kind, message=message))

    def show(self, message: str, kind: t.MessageType = t.MessageType.Info) -> None:
        self.notify(t.WINDOW_SHOW_MESSAGE, t.ShowMessageParams(type=kind, message=without_links(message)))

    def publish(self, uri: str, version: int | None, diagnostics: Sequence[t.Diagnostic]) -> None:
        params = t.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=diagnostics)
        self.notify(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)

    async def refresh_diagnostics(self) -> None:
        await self.request(t.WORKSPACE_DIAGNOSTIC_REFRESH, None)

    async def configuration(self, scopes: Sequence[str | None], section: str) -> Sequence[Any]:
        """The section's value for each scope (the URI of a folder); empty if the client does not answer."""
        items = [t.ConfigurationItem(scope_uri=scope, section=section) for scope in scopes]
        answer = await self.request(t.WORKSPACE_CONFIGURATION, t.ConfigurationParams(items=items))
        return answer if isinstance(answer, list | tuple) else ()

    async def register(self, identifier: str, method: str, options: Any) -> None:
        registration = t.Registration(id=identifier, method=method, register_options=options)
        await self.request(t.CLIENT_REGISTER_CAPABILITY, t.RegistrationParams(registrations=[registration]))

    async def show_document(self, uri: str, line: int | None = None, *, external: bool = False) -> bool:
        """Opens a file at a line (from 0), or a URL in the browser; False if the client did not."""
        if not self.features.shows_documents:
            return False
        place = t.Range(t.Position(line, 0), t.Position(line, 0)) if line is not None else None
        params = t.ShowDocumentParams(uri=uri, external=external, take_focus=True, selection=place)
        answer = cast("t.ShowDocumentResult | None", await self.request(t.WINDOW_SHOW_DOCUMENT, params))
        return answer is not None and answer.success

    async def request(self, method: str, params: Any, patience: float = PATIENCE) -> Any:
        """The client's answer; None, with a line in the log, if it refuses or does not answer in time."""
        return (await self._ask(method, params, patience))[1]

    async def accepts(self, method: str, params: Any, patience: float = PATIENCE) -> bool:
        """True if the client answered, and not with an error."""
        return (await self._ask(method, params, patience))[0]

    async def _ask(self, method: str, params: Any, patience: float) -> tuple[bool, Any]:
        identifier = f"tried/{next(self._numbers)}"
        try:
            async with asyncio.timeout(patience):
                return True, await self._protocol.send_request_async(method, params, msg_id=identifier)
        except TimeoutError:
            log.warning("the client did not answer %s within %g s", method, patience)
        except JsonRpcException as error:
            log.warning("the client refused %s: %s", method, error.message)
        finally:
            self._protocol.forget(identifier)
        return False, None
