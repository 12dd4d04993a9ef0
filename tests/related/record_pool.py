"""A pool of invented records, read from a journal as the server reads it, and drafts from YAML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tried.draft.draft import ExperimentDraft, drafts_of
from tried.draft.syntax import parse
from tried.pool.snapshot import PoolSnapshot
from tried.workspace import Workspace

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def pool(folder: Path, *records: Mapping[str, Any]) -> PoolSnapshot:
    journal = folder / ".tried" / "pool.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return Workspace(folder).refresh()


def run(
    record_id: str, params: Mapping[str, Any], score: float | str | None = None, /, **fields: Any
) -> dict[str, Any]:
    """A completed run of the line "vision", judged by `val_acc` (better high) if it has a score."""
    record: dict[str, Any] = {
        "id": record_id,
        "params": dict(params),
        "research_line": "vision",
        "conclusion": {"outcome": "completed", "derived": True},
    }
    if score is not None:
        record |= {"metrics": {"val_acc": score}, "objective": "val_acc"}
    return record | fields


def crash(record_id: str, params: Mapping[str, Any], /, **fields: Any) -> dict[str, Any]:
    return run(record_id, params, **{"conclusion": {"outcome": "crashed", "derived": True}, **fields})


def drafts(text: str) -> tuple[ExperimentDraft, ...]:
    return drafts_of(parse(text, "yaml"), text)
