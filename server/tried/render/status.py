"""What a pool rests on, source by source, as JSON data for `tried pool --json` and for `tried/status`.

Invariant: what comes out is plain JSON data; there are no credentials in it.
Invariant: what a source says of itself is one line of at most LONGEST characters, whatever it holds.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tried.pool.pool import Coverage, SourceReport
from tried.pool.sources.source import Skipped
from tried.render.escape import shortened
from tried.render.reports import rfc3339

if TYPE_CHECKING:
    from tried.workspace import Workspace

LONGEST = 500


def status_report(workspace: Workspace | None) -> dict[str, Any]:
    """Sources, notes, consents that are needed, totals; all empty for a folder that was not read."""
    if workspace is None:
        return {"sources": [], "notes": [], "consents": [], "totals": None}
    snapshot = workspace.snapshot
    totals = snapshot.totals
    return {
        "sources": [
            _source(source, workspace.folder, workspace.remotes.get(source.path)) for source in snapshot.sources
        ],
        "notes": _skipped((*workspace.notes, *snapshot.notes)),
        "consents": [{"path": needed.path, "named_by": needed.named_by} for needed in workspace.consents_needed],
        "totals": {
            "records": totals.records,
            "dead_ends": totals.dead_ends,
            "coverage": _coverage(totals.coverage),
        },
    }


def fetched_at(path: Path) -> datetime | None:
    """When something was last fetched into a cache."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return None


def source_name(source: SourceReport, folder: Path | None, address: str | None) -> str:
    """What a person calls a source: the address of its server, else its path, relative to the folder it lies in."""
    path = Path(source.path)
    inside = folder is not None and path != folder and path.is_relative_to(folder)
    return address or (path.relative_to(folder).as_posix() if folder is not None and inside else str(path))


def _source(source: SourceReport, folder: Path | None, address: str | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "path": source.path,
        "name": shortened(source_name(source, folder, address), LONGEST),
        "kind": source.kind,
        "records": source.records,
        "dead_ends": source.dead_ends,
        "merged": source.merged,
        "amendments": source.amendments,
        "roles": dict(source.roles),
        "research_line": shortened(source.research_line, LONGEST) if source.research_line is not None else None,
        "skipped": _skipped((*source.skipped, *source.remarks)),
        "coverage": _coverage(source.coverage),
        "newest": rfc3339(source.newest) if source.newest is not None else None,
        "seconds": round(source.seconds, 3),
        "expected": source.total,
    }
    if address is not None:
        fetched = fetched_at(Path(source.path))
        data |= {"address": address, "fetched": rfc3339(fetched) if fetched is not None else None}
    return data


def _skipped(skipped: tuple[Skipped, ...]) -> list[dict[str, str]]:
    return [{"where": shortened(one.where, LONGEST), "why": shortened(one.why, LONGEST)} for one in skipped]


def _coverage(coverage: Coverage) -> dict[str, float]:
    return {
        "conclusion": coverage.conclusion,
        "lineage": coverage.lineage,
        "architecture": coverage.architecture,
        "timestamp": coverage.timestamp,
    }
