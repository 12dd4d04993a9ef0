from __future__ import annotations

import json
from pathlib import Path

from tried.evaluation.judgements import pool_before, read_judgements
from tried.findings.finding import Finding
from tried.pool.record import ExperimentRecord
from tried.text import Span

LINE = {
    "query": "q1",
    "config": "queries/a.yaml",
    "language": "yaml",
    "research_line": "vision",
    "expect": "inform",
    "self_id": "v:2",
    "relevant": [{"id": "v:1", "grade": 3, "why": "failed"}, {"id": "v:0", "grade": 1, "why": "related"}],
    "do_not_warn": ["v:9"],
}


def finding(severity: str, *records: str) -> Finding:
    return Finding("repeat", "repeat", severity, Span(0, 1), "", records[0], records, ("lr",))  # type: ignore[arg-type]


def test_a_judgement_is_read_and_weighs_findings(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    path.write_text(json.dumps(LINE) + "\n\n", encoding="utf-8")
    (judgement,) = read_judgements(path)
    assert judgement.relevant == {"v:1"}
    assert judgement.is_right(finding("hover", "v:5", "v:1"))
    assert not judgement.is_right(finding("warning", "v:0"))
    assert judgement.is_judged(finding("warning", "v:0"))
    assert judgement.is_judged(finding("warning", "v:9"))
    assert not judgement.is_judged(finding("warning", "v:7"))
    assert judgement.is_too_loud(finding("warning", "v:1"))
    assert not judgement.is_too_loud(finding("information", "v:1"))


def test_the_pool_before_a_config_lacks_its_own_record_and_what_stands_below_in_its_line(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    path.write_text(json.dumps(LINE), encoding="utf-8")
    (judgement,) = read_judgements(path)
    ids = [("v:1", "vision"), ("s:1", "speech"), ("v:2", "vision"), ("v:3", "vision"), ("s:2", "speech")]
    records = [ExperimentRecord(id=each, research_line=line) for each, line in ids]
    assert [record.id for record in pool_before(judgement, records)] == ["v:1", "s:1", "s:2"]
