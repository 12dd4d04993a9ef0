from __future__ import annotations

import json
from typing import Any

import pytest

from tried.evaluation.judgements import Judgement, dated, judgements_in, later_than, pool_before
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


def judgement_in(line: dict[str, Any]) -> Judgement:
    (judgement,), bad = judgements_in(json.dumps(line) + "\n\n")
    assert bad == []
    return judgement


def test_a_judgement_is_read_and_weighs_findings() -> None:
    judgement = judgement_in(LINE)
    assert judgement.relevant == {"v:1"}
    assert judgement.is_right(finding("hover", "v:5", "v:1"))
    assert not judgement.is_right(finding("warning", "v:0"))
    assert judgement.is_judged(finding("warning", "v:0"))
    assert judgement.is_judged(finding("warning", "v:9"))
    assert not judgement.is_judged(finding("warning", "v:7"))
    assert judgement.is_too_loud(finding("warning", "v:1"))
    assert not judgement.is_too_loud(finding("information", "v:1"))


def record(record_id: str, line: str | None, time: str | None = None) -> ExperimentRecord:
    return ExperimentRecord(id=record_id, research_line=line, timestamp=time)


def before(records: list[ExperimentRecord], **changed: object) -> list[str]:
    return [each.id for each in pool_before(judgement_in({**LINE, **changed}), records)]


class TestThePoolBefore:
    """The config ran as v:2."""

    def test_it_lacks_its_own_record_and_what_is_later_in_its_line(self) -> None:
        ids = [("v:1", "vision"), ("s:1", "speech"), ("v:2", "vision"), ("v:3", "vision"), ("s:2", "speech")]
        assert before([record(*each) for each in ids]) == ["v:1", "s:1", "s:2"]

    @pytest.mark.parametrize("line", ["vision", None])
    def test_the_line_is_that_of_its_own_record(self, line: str | None) -> None:
        """A judgement that names no line looks as little into the future as one that does."""
        records = [record("s:1", "speech"), record("v:2", "vision"), record("v:3", "vision"), record("s:2", "speech")]
        assert before(records, research_line=line) == ["s:1", "s:2"]

    def test_without_any_line_all_that_is_later_is_gone(self) -> None:
        records = [record("v:1", "vision"), record("v:2", None), record("v:3", "vision"), record("x", None)]
        assert before(records, research_line=None) == ["v:1"]

    def test_time_decides_and_not_the_place(self) -> None:
        """A journal with the newest first."""
        records = [record(f"v:{day}", "vision", f"2026-05-0{day}") for day in (4, 3, 2, 1)]
        assert before(records) == ["v:1"]

    def test_of_equal_times_the_place_decides(self) -> None:
        records = [record(f"v:{number}", "vision", "2026-05-01") for number in (1, 2, 3)]
        assert before(records) == ["v:1"]

    def test_without_a_time_it_is_later_than_what_stands_above(self) -> None:
        """v:0 is behind v:5 of the seventh, so later than v:2 of the second; v:9 has nothing timed above it."""
        records = [
            record("v:9", "vision"),
            record("v:5", "vision", "2026-05-07"),
            record("v:0", "vision"),
            record("v:2", "vision", "2026-05-02"),
            record("v:1", "vision", "2026-05-01"),
        ]
        assert before(records) == ["v:9", "v:1"]
        assert later_than("v:2", map(dated, records)) == ["v:2", "v:5", "v:0"]

    def test_a_config_that_never_ran_has_all_before_it(self) -> None:
        assert before([record("v:1", "vision"), record("v:3", "vision")]) == ["v:1", "v:3"]
        assert before([record("v:1", "vision")], self_id=None) == ["v:1"]


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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"query": "q", "config": "a", "config": "b"}', "config: is given twice in one object"),
        (
            '{"query": "q", "config": "a", "relevant": [{"id": "x", "grade": 3, "grade": 1}]}',
            "grade: is given twice in one object",
        ),
        ('{"query": "q", "config": "a", "why": ' + "9" * 4000 + ', "why": "w"}', "why: is given twice in one object"),
    ],
)
def test_a_field_given_twice_is_told(line: str, said: str) -> None:
    (why,) = told(line)
    assert why == f"{said}; keep one of them"
