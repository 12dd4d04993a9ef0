"""An open document and what is known of it. Changed by session.py; features keep here what they have shown.

Invariant: `Analysed` belongs to exactly one version of a text, one pool generation and one revision of the settings.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tried.draft.entries import Problem
from tried.findings.finding import Finding
from tried.lsp.documents import Text
from tried.lsp.folders import Folder
from tried.pool.pool import PoolSnapshot
from tried.settings import Settings
from tried.workspace import Workspace

if TYPE_CHECKING:
    from tried.analysis import Analysis

log = logging.getLogger("tried.lsp")


@dataclass(frozen=True)
class Analysed:
    """What is known of one version of a document, and the pool and settings that this rests on.

    `analysis` is None where it failed. `is_partial`: the pool was still being read.
    """

    text: Text
    revision: int
    now: datetime
    snapshot: PoolSnapshot
    settings: Settings
    analysis: Analysis | None
    is_partial: bool = False

    @property
    def is_too_large(self) -> bool:
        """True for a text of more characters than a file that is looked at may have bytes."""
        return len(self.text.content) > self.settings.editor.max_file_bytes


@dataclass(eq=False)
class Document:
    """An open document. `text` is None where it is too large to be looked at; `folder` where nobody knows its place."""

    uri: str
    language_id: str
    path: Path | None
    text: Text | None
    folder: Folder | None = None
    is_placed: bool = False
    analysed: Analysed | None = None
    task: asyncio.Task[None] | None = None
    due: float = 0.0
    typed: range = range(0)
    typed_at: float = 0.0
    is_open: bool = True
    shown: tuple[Finding, ...] = ()
    mistakes: tuple[Problem, ...] = ()
    pulled: str | None = None
    pause: asyncio.TimerHandle | None = None
    told_left_alone: bool = False
    told_of_many: bool = False
    announced: Analysed | None = None
    hurried: asyncio.Event = field(default_factory=asyncio.Event)
    """Somebody waits for an answer, even from a pool that is still being read."""

    changed: asyncio.Event = field(default_factory=asyncio.Event)
    nudge: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_nowhere(self) -> bool:
        """True for what belongs to no folder, such as the old side of a comparison."""
        return self.is_placed and self.folder is None

    @property
    def current(self) -> Analysed | None:
        """The analysis of what stands in the editor now; None while there is none."""
        known, folder = self.analysed, self.folder
        if known is None or folder is None or known.text is not self.text or known.revision != folder.revision:
            return None
        return known

    @property
    def so_far(self) -> Analysed | None:
        """The analysis of what stands in the editor now, even if more of the pool has been read since; None while there
        is none, or the pool is read as a whole."""
        known, folder = self.analysed, self.folder
        if known is None or folder is None or known.text is not self.text or folder.loaded.is_set():
            return None
        return known


def analysed_text(
    document: Document, text: Text, workspace: Workspace, revision: int, now: datetime, is_partial: bool = False
) -> Analysed:
    """Runs in a worker thread, and reads only what does not change."""
    snapshot, settings = workspace.snapshot, workspace.settings
    analysis: Analysis | None = None
    try:
        analysis = workspace.analyse(text.content, document.path, document.language_id, now, snapshot=snapshot)
    except Exception:
        log.exception("%s could not be analysed", document.uri)
    return Analysed(text, revision, now, snapshot, settings, analysis, is_partial)
