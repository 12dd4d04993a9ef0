"""What is said once and never again: that a folder has no pool, that a file is left alone."""

from __future__ import annotations

from lsprotocol import types as t

from tried.lsp.open_document import Document
from tried.lsp.session import Session
from tried.pool.sources.registry import COMMITS


def subscribe(session: Session) -> None:
    session.listeners.append(lambda document: _no_pool(session, document))
    session.listeners.append(lambda document: _left_alone(session, document))


def _no_pool(session: Session, document: Document) -> None:
    """Only where a config is open: whoever edits other YAML files has not asked."""
    known, folder = document.current, document.folder
    if known is None or known.analysis is None or known.is_partial or folder is None or folder.workspace is None:
        return
    if not known.analysis.is_config or folder.told_of_missing_pool:
        return
    # Every repository has commits, and those tell of runs that others have.
    if any(source.kind != COMMITS.name for source in folder.workspace.snapshot.sources):
        return
    folder.told_of_missing_pool = True
    session.client.show(
        f"tried found no past experiments in {folder.path}. It reads what MLflow, W&B, Hydra, Optuna, DVC, Sacred and"
        " Lightning write, .tried/pool.jsonl and results.tsv; name other places in tried.toml: [pool] sources = [...].",
        t.MessageType.Info,
    )


def _left_alone(session: Session, document: Document) -> None:
    known = document.current
    if known is None or known.analysis is None or document.told_left_alone:
        return
    if known.analysis.language is not None and (why := known.analysis.passed_over):
        document.told_left_alone = True
        session.client.log(f"{document.path or document.uri} is left alone: {why}")
