"""The JSON of one record in full: a contract like those in `reports`.

Invariant: every text is cut to what a view can bear, and plain: on one line, or on lines without control characters.
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tried.pool.headline import error_line
from tried.pool.record import ExperimentRecord, finite, sources_of
from tried.record_names import short_id
from tried.related.plots import Plot
from tried.related.record_view import RecordView, Relative, Replicates
from tried.related.result import Result
from tried.render.escape import plain, safe_url, shortened
from tried.render.explanations import breakdown_json
from tried.render.reports import rfc3339
from tried.render.words import moment_ago

RECORD_VIEW_SCHEMA: Final = "tried.record-view/v1"

LINE_LENGTH: Final = 500
PROSE_LENGTH: Final = 20_000
"""Characters of notes, hypothesis and error."""

MOST_PARAMETERS: Final = 500
MOST_TAGS: Final = 50
MOST_ALIASES: Final = 50
URL_LENGTH: Final = 2_000
CATEGORY_LENGTH: Final = 60

_BLANK_LINES: Final = re.compile(r"\n{3,}")


def record_view_report(
    view: RecordView,
    now: datetime,
    *,
    run_dir: Path | None = None,
    document: str | None = None,
    version: int | None = None,
) -> dict[str, Any]:
    """``tried.record-view/v1``. `run_dir` is where the run's files are, if that may be shown; `document` and `version`
    name what it stands beside."""
    record = view.record
    time = record.time
    seconds = record.duration.secs + record.duration.nanos / 1e9 if record.duration is not None else None
    report = {
        "schema": RECORD_VIEW_SCHEMA,
        "id": identifier(record.id),
        "short": short_id(line(record.id)),
        "aliases": [line(alias) for alias in record.aliases[:MOST_ALIASES]],
        "name": line(record.name),
        "headline": {"text": line(view.headline), "kind": view.headline_kind},
        "outcome": view.outcome,
        "verdict": record.verdict,
        "cause": view.cause,
        "error": prose_end(record.error),
        "hypothesis": prose(record.hypothesis),
        "notes": prose(record.notes),
        "tags": [line(tag) for tag in record.tags[:MOST_TAGS]],
        "research_line": line(record.research_line) if record.research_line is not None else None,
        "time": rfc3339(time) if time is not None else None,
        "age": age_of(time, now),
        "duration_seconds": seconds,
        "url": web_address(record),
        "source": source_of(record),
        "run_dir": run_dir.as_uri() if run_dir is not None else None,
        "document": document,
        "version": version,
        "replicates": _replicates(view.replicates),
        "parameters": [
            {
                "key": line(row.key),
                "record": line(row.record) if row.record is not None else None,
                "draft": line(row.draft) if row.draft is not None else None,
                "status": row.status,
            }
            for row in view.parameters[:MOST_PARAMETERS]
        ],
        "parameters_total": len(view.parameters),
        "metrics": [
            {
                "name": line(row.name),
                "value": row.value,
                "before": row.before,
                "delta": row.delta,
                "direction": row.direction,
                "is_objective": row.is_objective,
                "is_better": row.is_better,
            }
            for row in view.metrics
        ],
        "change": {
            "summary": line(view.change_summary) if view.change_summary else None,
            "changes": [line(change) for change in view.changes],
        },
        "lineage": {
            "ancestors": [_relative(each) for each in view.ancestors],
            "children": [_relative(each) for each in view.children],
            "children_total": view.children_total,
        },
        "breakdown": {
            "score": view.scored.score,
            "rank": view.rank,
            "terms": breakdown_json(view.scored.terms),
        }
        if view.scored is not None
        else None,
        "conclusion": {"prefill": line(view.prefill), "verdict": view.proposed},
    }
    names: dict[str, str] = {}
    data: dict[str, Any] = {**finite(report), "plots": [_plot(plot, names) for plot in view.plots]}
    return data


def age_of(time: datetime | None, now: datetime) -> str:
    """What lies at midnight sharp was given as a date: of that nobody knows the hours."""
    if time is None:
        return ""
    return moment_ago(time, now, has_hours=(time.hour, time.minute, time.second, time.microsecond) != (0, 0, 0, 0))


def line(text: str) -> str:
    """One line, plain, cut."""
    return shortened(text, LINE_LENGTH)


def identifier(record_id: str) -> str:
    """An id as it is, for it is sent back to us; only one that nobody could want is cut."""
    return record_id if len(record_id) <= LINE_LENGTH else record_id[: LINE_LENGTH - 1] + "…"


def prose(text: str | None, limit: int = PROSE_LENGTH) -> str | None:
    """Plain lines, cut behind so many characters; None for nothing."""
    if not text:
        return None
    lines = [_plain_line(each) for each in text[: 2 * limit].splitlines()]
    said = _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")
    return (said if len(said) <= limit else f"{said[: limit - 1]}…") or None


def prose_end(text: str | None, limit: int = PROSE_LENGTH) -> str | None:
    """The same, of which the end is kept: of a traceback that tells what it was."""
    if not text or len(text) <= limit:
        return prose(text, limit)
    kept = prose(text[-limit:], limit - 1)
    return f"…{kept}" if kept else line(error_line(text)) or None


def _plain_line(text: str) -> str:
    """Without control characters, with its indentation."""
    indent = len(text) - len(text.lstrip(" \t"))
    return " " * min(indent, 40) + plain(text)


def web_address(record: ExperimentRecord) -> str | None:
    """The run's page, if its address is one that may be opened in a browser."""
    url = record.url
    if not url or len(url) > URL_LENGTH or not url.strip().lower().startswith(("http://", "https://")):
        return None
    return safe_url(url)


def source_of(record: ExperimentRecord) -> dict[str, str]:
    """`kind`, such as mlflow, and the `name` of all that it was merged from."""
    kinds = sources_of(record)
    return {"kind": line(kinds[0]), "name": line(", ".join(kinds))}


def _replicates(replicates: Replicates) -> dict[str, Any]:
    return {
        "runs": replicates.runs,
        "result": result_json(replicates.result) if replicates.result is not None else None,
        "records": [
            {
                "id": identifier(each.id),
                "time": rfc3339(each.time) if each.time is not None else None,
                "value": each.value,
            }
            for each in replicates.records
        ],
    }


def result_json(result: Result) -> dict[str, Any]:
    return {
        "metric": line(result.metric),
        "direction": result.direction,
        "mean": result.mean,
        "spread": result.spread,
        "count": result.count,
        "text": str(result),
    }


def _relative(each: Relative) -> dict[str, Any]:
    return {
        "id": identifier(each.id),
        "short": short_id(line(each.id)),
        "outcome": each.outcome,
        "headline": line(each.headline),
    }


def _plot(plot: Plot, names: dict[str, str]) -> dict[str, Any]:
    """Finite as it is. `names` remembers short ids, since plots show the same records."""
    for point in plot.points:
        if point.record not in names:
            names[point.record] = short_id(line(point.record))
    return {
        "key": line(plot.key),
        "metric": line(plot.metric),
        "direction": plot.direction,
        "scale": plot.scale,
        "categories": [shortened(text, CATEGORY_LENGTH) for text in plot.categories]
        if plot.categories is not None
        else None,
        "draft": plot.draft,
        "draft_text": shortened(plot.draft_text, CATEGORY_LENGTH) if plot.draft_text is not None else None,
        "record": plot.record,
        "points": [
            {
                "record": identifier(point.record),
                "short": names[point.record],
                "x": point.x,
                "y": point.y,
                "outcome": point.outcome,
                "is_this": point.is_this,
            }
            for point in plot.points
        ],
    }
