"""The JSON of related experiments, and of why one is not among them: contracts like those in `reports`.

Invariant: every text is one plain line, cut to what a view can bear; ids are cut, and otherwise as they are.
Invariant: every number is finite: those of results are by how they are made, and so are scores.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from tried.findings.finding import Difference
from tried.record_names import short_id
from tried.related.absence import Absence
from tried.related.differences import Differences
from tried.related.experiment import Experiment
from tried.related.experiments import Experiments
from tried.related.facets import Facet, Facets
from tried.render.escape import shortened
from tried.render.explanations import ANSWER_LENGTH, breakdown_json
from tried.render.record_reports import age_of, identifier, line, result_json, source_of, web_address
from tried.render.reports import rfc3339

EXPERIMENTS_SCHEMA: Final = "tried.experiments/v1"
ABSENCE_SCHEMA: Final = "tried.absence/v1"

MOST_RECORDS: Final = 50
MOST_TAGS: Final = 20
_SHORT: Final = 80


def experiments_report(
    experiments: Experiments,
    facets: Facets,
    now: datetime,
    *,
    records: int,
    is_partial: bool = False,
    text: str = "",
    research_line: str | None = None,
) -> dict[str, Any]:
    """``tried.experiments/v1`` without its document. `records` are in the pool, of which `is_partial` says that more
    will come; `text` is what is looked for, `research_line` the draft's own."""
    return {
        "schema": EXPERIMENTS_SCHEMA,
        "now": rfc3339(now),
        "pool": {"records": records, "is_partial": is_partial},
        "total": experiments.total,
        "query": {"text": line(text), "research_line": line(research_line) if research_line is not None else None},
        "facets": {
            "research_lines": _facets(facets.research_lines),
            "tags": _facets(facets.tags),
            "sources": _facets(facets.sources),
        },
        "experiments": [_experiment(each, now) for each in experiments.rows],
    }


def absence_report(absence: Absence) -> dict[str, Any]:
    """``tried.absence/v1``"""
    scored = absence.scored
    return {
        "schema": ABSENCE_SCHEMA,
        "record": identifier(absence.record) if absence.record is not None else None,
        "answer": shortened(absence.answer, ANSWER_LENGTH),
        "rank": absence.rank,
        "score": scored.score if scored is not None else None,
        "terms": breakdown_json(scored.terms) if scored is not None else None,
        "dropped_by": absence.dropped_by,
    }


def _experiment(each: Experiment, now: datetime) -> dict[str, Any]:
    record = each.scored.record
    differences = each.differences or Differences()
    return {
        "record": identifier(record.id),
        "short": short_id(line(record.id)),
        "records": [identifier(record_id) for record_id in each.records[:MOST_RECORDS]],
        "runs": len(each.records),
        "name": line(record.name),
        "rank": each.rank,
        "closeness": each.closeness,
        "score": each.scored.score,
        "terms": breakdown_json(each.scored.terms),
        "outcome": each.outcome,
        "cause": each.cause,
        "time": rfc3339(each.time) if each.time is not None else None,
        "age": age_of(each.time, now),
        "result": result_json(each.result) if each.result is not None else None,
        "why": line(each.why),
        "why_kind": each.why_kind,
        "differences": [_difference(one) for one in differences.shown],
        "differences_total": differences.total,
        "is_compared": each.differences is not None,
        "tags": [_line(tag) for tag in record.tags[:MOST_TAGS]],
        "research_line": _line(record.research_line) if record.research_line is not None else None,
        "source": source_of(record),
        "url": web_address(record),
    }


def _difference(one: Difference) -> dict[str, Any]:
    return {
        "key": _line(one.key),
        "draft": _line(one.draft) if one.draft is not None else None,
        "record": _line(one.record) if one.record is not None else None,
    }


def _line(text: str) -> str:
    """Names, values and tags are few and come again and again."""
    return _short_line(text) if len(text) <= _SHORT else line(text)


@lru_cache(maxsize=8_192)
def _short_line(text: str) -> str:
    return line(text)


def _facets(facets: Iterable[Facet]) -> list[dict[str, Any]]:
    return [{"name": line(facet.name), "count": facet.count} for facet in facets]
