"""Mistakes in tried.toml and pyproject.toml, shown on those files whether they are open or not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types as t

from tried.lsp.documentation import SETTINGS, page_of
from tried.lsp.folders import Folder
from tried.lsp.result_ids import digest
from tried.lsp.session import Session
from tried.lsp.uris import uri_of
from tried.settings import SettingsProblem

HOLD_SECONDS = 60.0
"""A workspace pull with nothing new is answered so late; the client asks again at once."""


def subscribe(session: Session) -> None:
    session.folder_listeners.append(lambda folder: _update(session, folder))


def diagnostics_of(session: Session, path: Path | None) -> list[t.Diagnostic]:
    """The mistakes in a file; empty for every other file."""
    return _all(session).get(path, []) if path is not None else []


async def pull_workspace(session: Session, params: t.WorkspaceDiagnosticParams) -> t.WorkspaceDiagnosticReport:
    """The files of settings with mistakes. Answered when something is new, as the protocol suggests."""
    known = {previous.uri: previous.value for previous in params.previous_result_ids}
    try:
        async with asyncio.timeout(HOLD_SECONDS):
            while not (reports := _reports(session, known)):
                session.problems_changed.clear()
                await session.problems_changed.wait()
    except TimeoutError:
        reports = []
    return t.WorkspaceDiagnosticReport(items=reports)


def _reports(session: Session, known: Mapping[str, str]) -> list[t.WorkspaceDocumentDiagnosticReport]:
    now = {uri_of(path): items for path, items in _all(session).items()}
    for uri in known:
        now.setdefault(uri, [])
    return [
        t.WorkspaceFullDocumentDiagnosticReport(uri=uri, items=items, result_id=identifier)
        for uri, items in now.items()
        if (identifier := digest(items)) != known.get(uri)
    ]


def _all(session: Session) -> Mapping[Path, list[t.Diagnostic]]:
    found: dict[Path, list[t.Diagnostic]] = {}
    for folder in session.known_folders:
        for problem in folder.workspace.settings_problems if folder.workspace else ():
            if problem.path is not None:
                items = found.setdefault(problem.path, [])
                diagnostic = _to_diagnostic(problem)
                if diagnostic not in items:
                    items.append(diagnostic)
    return found


def _to_diagnostic(problem: SettingsProblem) -> t.Diagnostic:
    line = max(0, problem.line - 1)
    return t.Diagnostic(
        range=t.Range(t.Position(line, 0), t.Position(line + 1, 0)),
        message=problem.message,
        severity=t.DiagnosticSeverity.Warning,
        code=SETTINGS,
        code_description=page_of(SETTINGS),
        source="tried",
    )


def _update(session: Session, folder: Folder) -> None:
    """Tells the client of mistakes that came or went; those of the editor's own settings go to its log."""
    is_known = folder in session.known_folders
    problems = folder.workspace.settings_problems if folder.workspace and is_known else ()
    for problem in problems:
        if problem.path is None and problem.message not in folder.told_problems:
            folder.told_problems.add(problem.message)
            session.client.log(problem.message, t.MessageType.Warning)
    session.problems_changed.set()
    if session.client.features.pulls_diagnostics:
        return
    now = {problem.path for problem in problems if problem.path is not None}
    opened = {document.path: document.uri for document in session.documents.values() if document.path is not None}
    for path in sorted(now | folder.files_with_problems):
        session.client.publish(opened.get(path, uri_of(path)), None, diagnostics_of(session, path))
    folder.files_with_problems = now
