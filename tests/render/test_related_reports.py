"""The JSON of related experiments: its shape to the letter, and what hostile records can do to it: nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tried.analysis import analyse
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.index import RankingIndex
from tried.ranking.policy import DEFAULT_POLICY
from tried.related.absence import absence_of
from tried.related.experiments import RelatedExperiments
from tried.related.facets import facets_of
from tried.render.related_reports import absence_report, experiments_report
from tried.settings import Settings

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
CONFIG = "research_line: vision\nlr: 0.05\ndepth: 4\nwidth: 128\n"


def run(name: str, seed: int, accuracy: float | str, **fields: Any) -> dict[str, Any]:
    return {
        "id": name,
        "name": "longer warmup",
        "params": {"lr": 0.01, "depth": 4, "width": 128, "seed": seed},
        "metrics": {"val_acc": accuracy},
        "research_line": "vision",
        "timestamp": f"2026-11-{9 + seed:02}T08:00:00Z",
        "tags": ["night"],
        "source": "mlflow",
        "url": "https://example.org/7",
        "conclusion": {"headline": "Longer warmup helps.", "outcome": "completed"},
        **fields,
    }


def related(*records: dict[str, Any], config: str = CONFIG) -> RelatedExperiments:
    made = [ExperimentRecord.model_validate(each) for each in records]
    snapshot = PoolSnapshot(
        records={each.id: each for each in made},
        history=ParameterHistory.empty().updated((), made),
        index=RankingIndex.of(made),
    )
    analysis = analyse(config, Path("config.yaml"), "yaml", NOW, snapshot=snapshot, settings=Settings())
    return RelatedExperiments(analysis, snapshot, FindingSettings(), DEFAULT_POLICY, NOW)


def report(*records: dict[str, Any], config: str = CONFIG) -> dict[str, Any]:
    found = related(*records, config=config)
    snapshot, text = found.snapshot, found.query.text if found.query else ""
    return experiments_report(
        found.listed(20), facets_of(snapshot), NOW, records=len(snapshot), text=text, research_line=found.own_line
    )


def test_a_row_to_the_letter() -> None:
    found = report(run("mlflow:one", 1, 0.916), run("mlflow:two", 2, 0.908))
    (row,) = found.pop("experiments")
    terms = row.pop("terms")
    assert [(term["name"], set(term)) for term in terms] == [
        ("lexical", {"name", "value", "signal", "weight"}),
        ("structural", {"name", "value", "signal", "weight", "note"}),
        ("recency", {"name", "value", "signal", "weight"}),
        ("importance", {"name", "value", "signal", "weight"}),
    ]
    score = 0.0
    for term in terms:
        score += term["value"]
    assert row.pop("score") == score
    result = row.pop("result")
    assert result.pop("mean") == pytest.approx(0.912)
    assert result.pop("spread") == pytest.approx(0.0056568542)  # 0.008 / √2
    assert result == {"metric": "val_acc", "direction": "max", "count": 2, "text": "0.912 ± 0.006"}
    assert row == {
        "record": "mlflow:two",
        "short": "mlflow:two",
        "records": ["mlflow:two", "mlflow:one"],
        "runs": 2,
        "name": "longer warmup",
        "rank": 1,
        "closeness": "nearest",
        "outcome": "works",
        "cause": None,
        "time": "2026-11-11T08:00:00Z",
        "age": "2 weeks ago",
        "why": "Longer warmup helps.",
        "why_kind": "written",
        "differences": [{"key": "lr", "draft": "0.05", "record": "0.01"}],
        "differences_total": 1,
        "is_compared": True,
        "tags": ["night"],
        "research_line": "vision",
        "source": {"kind": "mlflow", "name": "mlflow"},
        "url": "https://example.org/7",
    }
    assert found == {
        "schema": "tried.experiments/v1",
        "now": "2026-11-30T12:00:00Z",
        "pool": {"records": 2, "is_partial": False},
        "total": 1,
        "query": {"text": "lr depth width", "research_line": "vision"},
        "facets": {
            "research_lines": [{"name": "vision", "count": 2}],
            "tags": [{"name": "night", "count": 2}],
            "sources": [{"name": "mlflow", "count": 2}],
        },
    }


def test_a_record_that_says_nothing() -> None:
    (row,) = report({"id": "bare"})["experiments"]
    del row["terms"], row["score"]
    assert row == {
        "record": "bare",
        "short": "bare",
        "records": ["bare"],
        "runs": 1,
        "name": "",
        "rank": 1,
        "closeness": None,
        "outcome": "unknown",
        "cause": None,
        "time": None,
        "age": "",
        "result": None,
        "why": "",
        "why_kind": "none",
        "differences": [],
        "differences_total": 0,
        "is_compared": False,
        "tags": [],
        "research_line": None,
        "source": {"kind": "journal", "name": "journal"},
        "url": None,
    }


@pytest.mark.parametrize(
    ("timestamp", "age"),
    [
        ("2026-11-30T11:15:00Z", "45 min ago"),
        ("2026-11-30", "today"),
        ("2026-11-29", "yesterday"),
        ("2027-01-02T00:00:00Z", "2027-01-02"),
        ("soon", ""),
    ],
)
def test_ages(timestamp: str, age: str) -> None:
    (row,) = report(run("r", 1, 0.5, timestamp=timestamp))["experiments"]
    assert row["age"] == age


@pytest.mark.parametrize(
    "url",
    ["command:workbench.action.quit", "javascript:alert(1)", "file:///etc/passwd", "https://" + "x" * 9000],
)
def test_only_web_pages_are_linked(url: str) -> None:
    (row,) = report(run("r", 1, 0.5, url=url))["experiments"]
    assert row["url"] is None


HOSTILE = "\u202e<script>alert(1)</script>\x1b[31m[x](command:y)\x00\r\n\t\u2028" * 2_500
"""More than 100 KB."""

INVISIBLE = (*range(32), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
CONTROL = set(map(chr, INVISIBLE))


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def hostile(name: str, **fields: Any) -> dict[str, Any]:
    keys = {HOSTILE + str(number): HOSTILE for number in range(2)} | {f"key{n}": HOSTILE for n in range(20)}
    return {
        "id": name,
        "name": HOSTILE,
        "hypothesis": HOSTILE,
        "notes": HOSTILE,
        "error": HOSTILE,
        "params": {
            "lr": HOSTILE,
            "depth": 4,
            "width": 128,
            **keys,
            **{f"key{number}": HOSTILE for number in range(90)},
        },
        "metrics": {"val_acc": "nan", HOSTILE: 0.5, "zeal": "inf"},
        "research_line": "vision",
        "tags": [HOSTILE + str(number) for number in range(60)],
        "timestamp": HOSTILE,
        "source": HOSTILE,
        "url": "https://example.org/" + HOSTILE,
        "git": HOSTILE,
        "generated_headline": HOSTILE,
        "conclusion": {"headline": HOSTILE, "outcome": "completed"},
        "experiment": HOSTILE,
        **fields,
    }


def test_hostile_records_are_cut_and_plain() -> None:
    """The ids apart, which are there to ask by: they are cut."""
    records = [hostile("h0"), hostile("h1", params={"lr": 0.2, "depth": 4, "width": 128})]
    records.append(hostile(HOSTILE, research_line=HOSTILE, params={}, objective=HOSTILE, role="sweep"))
    records.append(run("plain", 1, 0.5))
    found = report(*records)
    written = json.dumps(found, allow_nan=False)
    assert json.loads(written) == found
    assert len(written) < 400_000
    rows = found["experiments"]
    assert {row["record"] for row in rows} >= {"plain", HOSTILE[:499] + "…"}
    ids = [row.pop("record") for row in rows] + [each for row in rows for each in row.pop("records")]
    assert max(map(len, ids)) == 500
    for text in texts(found):
        assert len(text) <= 500
        assert not CONTROL & set(text), text
    assert max(len(row["tags"]) for row in rows) == 20
    assert max(len(row["differences"]) for row in rows) == 20
    assert max(row["differences_total"] for row in rows) > 20
    assert len(found["facets"]["tags"]) == 50


def test_a_hostile_config_and_a_hostile_name() -> None:
    config = CONFIG + "notes: |\n  " + HOSTILE.replace("\0", "").replace("\r", "").replace("\n", " ") + "\n"
    found = report(run("r", 1, 0.5), config=config)
    assert all(len(text) <= 500 and not CONTROL & set(text) for text in texts(found))
    answer = absence_report(absence_of(HOSTILE, related(run("r", 1, 0.5)), 20))
    assert (answer["record"], answer["dropped_by"]) == (None, "unknown")
    assert len(answer["answer"]) <= 1_000
    assert not CONTROL & set(answer["answer"])


def test_why_one_is_not_listed_to_the_letter() -> None:
    found = related(run("r", 1, 0.5))
    listed = absence_report(absence_of("r", found, 20))
    assert [term["name"] for term in listed.pop("terms")] == ["lexical", "structural", "recency", "importance"]
    assert listed.pop("score") == found.listed(20).rows[0].scored.score
    assert listed == {
        "schema": "tried.absence/v1",
        "record": "r",
        "answer": "It is in the list, as number 1.",
        "rank": 1,
        "dropped_by": None,
    }
    assert absence_report(absence_of("nobody", found, 20)) == {
        "schema": "tried.absence/v1",
        "record": None,
        "answer": "No record nobody in the pool.",
        "rank": None,
        "score": None,
        "terms": None,
        "dropped_by": "unknown",
    }
