"""Pages about records, written when somebody goes to one; see `storage/record_pages.py` for where."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from tried.lsp.open_document import Analysed, Document
from tried.lsp.pools import FolderPool
from tried.lsp.record import view_of
from tried.lsp.session import Session
from tried.pool.record import ExperimentRecord
from tried.render.document import to_markdown
from tried.render.record_page import record_page
from tried.storage.record_pages import page_path, write_page


async def page_of(
    session: Session,
    pool: FolderPool,
    record: ExperimentRecord,
    document: Document | None = None,
    known: Analysed | None = None,
) -> Path:
    """The file of a record's page; with a document and its analysis what differs from that comes first. Raises
    StorageError."""
    return await session.in_background(
        write_page_of, pool, record, session.now(), workspaces_of(session), document, known
    )


def write_page_of(
    pool: FolderPool,
    record: ExperimentRecord,
    now: datetime,
    workspaces: list[Path],
    document: Document | None = None,
    known: Analysed | None = None,
) -> Path:
    """Runs in a worker thread."""
    view = view_of(pool, record, known, now, with_plots=False)
    beside = None
    if document is not None and known is not None:
        beside = document.path.name if document.path is not None else "the open config"
    text = to_markdown(record_page(view, now, beside=beside)) + "\n"
    about = about_page(pool, document if beside is not None else None)
    return write_page(record.id, text, workspaces, about=about)


def path_of_page(pool: FolderPool, record_id: str, workspaces: list[Path]) -> Path:
    """Where the page of a record is once it is written. Raises StorageError."""
    return page_path(record_id, workspaces, about=about_page(pool))


def about_page(pool: FolderPool, document: Document | None = None) -> str:
    return f"{pool.folder.path}\n{document.uri if document is not None else ''}"


def workspaces_of(session: Session) -> list[Path]:
    return [folder.path for folder in session.known_folders]
