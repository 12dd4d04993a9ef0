"""The methods of the protocol that tried answers, each with its handler: a new feature is a file and a line here.

Handlers take the session and the params. Those that change state are plain functions and do no work; those that answer
are coroutines and wait for work that runs elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types as t

from tried.lsp import (
    absence,
    calibration,
    code_actions,
    code_lens,
    commands,
    completion,
    configuration,
    consents,
    definition,
    diagnostics,
    document_links,
    experiments,
    explain,
    findings_list,
    hits,
    hover,
    inlay_hints,
    lens_refresh,
    lifecycle,
    notices,
    policies,
    record,
    related,
    settings_problems,
    status,
    symbols,
    synchronization,
    traces,
    watching,
)
from tried.lsp.session import Session

if TYPE_CHECKING:
    from tried.lsp.server import TriedServer

HANDLERS: dict[str, Callable[[Session, Any], Any]] = {
    t.INITIALIZED: lifecycle.initialized,
    t.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: lifecycle.did_change_workspace_folders,
    t.WORKSPACE_DID_CHANGE_CONFIGURATION: configuration.did_change_configuration,
    t.WORKSPACE_DID_CHANGE_WATCHED_FILES: watching.did_change_watched_files,
    t.TEXT_DOCUMENT_DID_OPEN: synchronization.did_open,
    t.TEXT_DOCUMENT_DID_CHANGE: synchronization.did_change,
    t.TEXT_DOCUMENT_DID_CLOSE: synchronization.did_close,
    t.TEXT_DOCUMENT_HOVER: hover.hover,
    t.TEXT_DOCUMENT_CODE_ACTION: code_actions.code_actions,
    t.TEXT_DOCUMENT_CODE_LENS: code_lens.code_lens,
    t.TEXT_DOCUMENT_INLAY_HINT: inlay_hints.inlay_hints,
    t.TEXT_DOCUMENT_COMPLETION: completion.completion,
    t.TEXT_DOCUMENT_DOCUMENT_LINK: document_links.document_links,
    t.TEXT_DOCUMENT_DEFINITION: definition.definition,
    t.WORKSPACE_SYMBOL: symbols.symbols,
    t.WORKSPACE_SYMBOL_RESOLVE: symbols.resolve,
    related.METHOD: related.related,
    experiments.METHOD: experiments.experiments,
    absence.METHOD: absence.absence,
    explain.METHOD: explain.explain,
    policies.METHOD: policies.policies,
    findings_list.METHOD: findings_list.findings_list,
    record.METHOD: record.record,
    status.METHOD: status.status,
}

CUSTOM_PARAMS: dict[str, type[Any]] = {
    related.METHOD: related.RelatedParams,
    experiments.METHOD: experiments.ExperimentsParams,
    absence.METHOD: absence.AbsenceParams,
    explain.METHOD: explain.ExplainParams,
    policies.METHOD: policies.PoliciesParams,
    findings_list.METHOD: findings_list.FindingsParams,
    record.METHOD: record.RecordParams,
    status.METHOD: status.StatusParams,
}

PULL_HANDLERS: dict[str, Callable[[Session, Any], Any]] = {
    t.TEXT_DOCUMENT_DIAGNOSTIC: diagnostics.pull,
    t.WORKSPACE_DIAGNOSTIC: settings_problems.pull_workspace,
}
"""Offered only to a client that pulls; all others are pushed to."""

COMMANDS: dict[str, Callable[[Session, Any], Awaitable[Any]]] = {
    commands.MARK: commands.mark,
    commands.CONCLUDE: commands.conclude_all,
    commands.SILENCE: commands.silence,
    commands.OPEN_RECORD: commands.open_record,
    commands.COMPARE_RECORD: commands.compare_record,
    hits.COUNT: hits.count_hit,
    commands.RESCAN: commands.rescan,
}

OPTIONS: dict[str, Any] = {
    t.WORKSPACE_SYMBOL: t.WorkspaceSymbolOptions(resolve_provider=True),
    t.TEXT_DOCUMENT_CODE_ACTION: t.CodeActionOptions(
        code_action_kinds=[t.CodeActionKind.QuickFix, t.CodeActionKind.RefactorRewrite]
    ),
    t.TEXT_DOCUMENT_CODE_LENS: t.CodeLensOptions(resolve_provider=False),
    t.TEXT_DOCUMENT_INLAY_HINT: t.InlayHintOptions(resolve_provider=False),
    t.TEXT_DOCUMENT_COMPLETION: t.CompletionOptions(resolve_provider=False),
    t.TEXT_DOCUMENT_DIAGNOSTIC: t.DiagnosticOptions(
        identifier="tried", inter_file_dependencies=False, workspace_diagnostics=True
    ),
}

SUBSCRIBERS = (
    diagnostics.subscribe,
    settings_problems.subscribe,
    related.subscribe,
    status.subscribe,
    notices.subscribe,
    consents.subscribe,
    hits.subscribe,
    lens_refresh.subscribe,
    calibration.subscribe,
    traces.subscribe,
)


def register_features(server: TriedServer, session: Session) -> None:
    """Makes the session answer for the server."""
    for method, handler in HANDLERS.items():
        _register(server, session, method, handler)
    for name, command in COMMANDS.items():
        server.command(name)(_command(session, command))
    for method, params in CUSTOM_PARAMS.items():
        server.protocol.register_custom(method, params)
    for subscribe in SUBSCRIBERS:
        subscribe(session)

    @server.feature(t.INITIALIZE)
    def initialize(params: t.InitializeParams) -> None:
        lifecycle.initialize(session, params)
        if session.client.features.pulls_diagnostics:
            for method, handler in PULL_HANDLERS.items():
                _register(server, session, method, handler)


def _register(server: TriedServer, session: Session, method: str, handler: Callable[[Session, Any], Any]) -> None:
    server.feature(method, OPTIONS.get(method))(functools.partial(handler, session))


def _command(session: Session, command: Callable[[Session, Any], Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """Commands take one table of arguments, or none."""

    async def run(*arguments: Any) -> Any:
        return await command(session, arguments[0] if arguments else {})

    return run
