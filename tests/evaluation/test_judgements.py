from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tried.evaluation.judgements import judgements_in, pool_before, read_judgements
from tried.findings.finding import Finding
from tried.pool.record import ExperimentRecord
from tried.text import Span

LINE: dict[str, Any] = {
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


def told(line: str) -> list[str]:
    _, bad = judgements_in(line)
    return [each.why for each in bad]


def without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in names}


def test_only_a_name_and_a_config_are_needed() -> None:
    (judgement,), bad = judgements_in('\n{"query": "q", "config": "a.yaml"}')
    assert bad == []
    assert (judgement.expect, judgement.grades, judgement.self_id, judgement.line) == ("show", {}, None, 2)
    assert judgement.expects_silence


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"expext": "warn"}, "expext: no field of a judgement; did you mean expect?"),
        ({"zzzz": 1}, "zzzz: no field of a judgement; there are query, config,"),
        ({"expect": "loud"}, 'expect: expected one of warn, inform, show, silent, got "loud"'),
        ({"query": 7}, "query: expected a valid string, got 7"),
        ({"relevant": [{"id": "v:1", "grade": 4}]}, "relevant.0.grade: expected 3 (must be seen), 2 (should) or 1"),
        ({"relevant": [{"id": "v:1", "grade": 0}]}, "got 0"),
        ({"relevant": [{"id": "v:1", "grade": "3"}]}, 'got "3"'),
        ({"relevant": [{"id": "v:1", "grade": True}]}, "got true"),
        ({"relevant": [{"id": "v:1"}]}, "relevant.0.grade: is missing"),
        (
            {"relevant": [{"id": "v:1", "grade": 3, "hwy": ""}]},
            "relevant.0.hwy: no field of a judgement; did you mean why?",
        ),
        ({"relevant": [{"id": "v:1", "grade": 3}, {"id": "v:1", "grade": 2}]}, 'relevant: "v:1" is graded twice'),
        ({"self_id": "v:1"}, "is the config's own record (self_id)"),
        ({"do_not_warn": ["v:1"]}, 'do_not_warn: "v:1" is graded 3 as well'),
        ({"query": ""}, "query: expected"),
    ],
)
def test_a_mistake_is_told(change: dict[str, Any], said: str) -> None:
    (why,) = told(json.dumps({**LINE, **change}))
    assert said in why


def test_of_many_mistakes_the_first_are_told() -> None:
    (why,) = told(json.dumps({**LINE, **{f"field {number}": 1 for number in range(40)}}))
    assert why.startswith("field 0: no field of a judgement")
    assert why.endswith("; and 35 more mistakes")


def test_what_is_missing_is_told() -> None:
    assert told(json.dumps(without(LINE, "query", "config"))) == ["query: is missing; config: is missing"]


@pytest.mark.parametrize("line", ["{", "nonsense", '{"query": "q"', "[" * 100_000, '"\x00"'])
def test_what_is_no_json_is_told(line: str) -> None:
    (why,) = told(line)
    assert why.startswith("no JSON (")


@pytest.mark.parametrize("line", ["[]", "3", "null", '"text"'])
def test_what_is_no_object_is_told(line: str) -> None:
    (why,) = told(line)
    assert why.startswith("expected an object, got ")


def test_good_lines_are_read_beside_bad_ones() -> None:
    second = {**LINE, "query": "q2"}
    lines = [json.dumps(LINE), "{", json.dumps(second), json.dumps(LINE)]
    found, bad = judgements_in("\n".join(lines))
    assert [(each.query, each.line) for each in found] == [("q1", 1), ("q2", 3)]
    assert [each.line for each in bad] == [2, 4]
    assert bad[1].why == 'query: "q1" stands in line 1 already; name it otherwise'


def test_a_developers_file_may_not_be_bad(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"judgements\.jsonl:1: no JSON"):
        read_judgements(path)
