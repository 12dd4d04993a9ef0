"""Findings, keys, components and breakdowns for people to read: Markdown for editors, plain text for terminals.

Invariant: text of records and configs is escaped here and nowhere else (`document`'s writers do it).
Invariant: pure: no I/O, no clock; `now` is a parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from tried.draft.draft import Component
from tried.findings.finding import Finding
from tried.findings.key_history import KeyHistory
from tried.pool.pool import PoolSnapshot
from tried.ranking.breakdown import ScoredRecord, Term
from tried.render.document import to_markdown, to_plain
from tried.render.escape import escape_markdown, plain
from tried.render.hover import (
    breakdown_block,
    component_blocks,
    finding_blocks,
    key_blocks,
    related_line,
    run_link,
    untried_key_blocks,
)

__all__ = [
    "breakdown_block",
    "breakdown_table",
    "component_blocks",
    "component_markdown",
    "escape_markdown",
    "finding_blocks",
    "finding_markdown",
    "key_blocks",
    "key_markdown",
    "plain",
    "related_line",
    "run_link",
    "to_markdown",
    "to_plain",
    "untried_key_blocks",
]


def finding_markdown(
    finding: Finding,
    snapshot: PoolSnapshot,
    ranked: ScoredRecord | None = None,
    *,
    now: datetime | None = None,
    folder: Path | None = None,
) -> str:
    """The hover on a finding; see `finding_blocks`."""
    return to_markdown(finding_blocks(finding, snapshot, ranked, now=now, folder=folder))


def key_markdown(history: KeyHistory) -> str:
    """The hover on a key."""
    return to_markdown(key_blocks(history))


def component_markdown(
    component: Component, snapshot: PoolSnapshot, ranking: Iterable[ScoredRecord] = (), *, now: datetime | None = None
) -> str:
    """The hover on a component of the architecture."""
    return to_markdown(component_blocks(component, snapshot, ranking, now=now))


def breakdown_table(terms: Sequence[Term], score: float) -> str:
    """The terms of a score as a Markdown table with bars."""
    return to_markdown([breakdown_block(terms, score)])
