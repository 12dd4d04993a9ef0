from __future__ import annotations

from typing import Any

import pytest
from findings_pool import BASE, crashed, dead, findings_in, record, squiggles, told, worked, yaml_of
from hypothesis import given
from hypothesis import strategies as st

from tried.findings.settings import DEFAULT_SEVERITY


@pytest.mark.parametrize(
    ("headline", "severity"),
    [
        ("CUDA out of memory", "warning"),
        ("loss is NaN at step 400", "warning"),
        ("KeyError: 'classes'", "hover"),
        ("NCCL timeout", "hover"),
        ("KeyboardInterrupt", "hover"),
        ("", "hover"),
    ],
)
def test_how_loud_a_crash_is_follows_from_its_cause(headline: str, severity: str) -> None:
    assert told(findings_in(BASE, [crashed("a:1", BASE, headline)])) == [("repeat", severity, "a:1")]


def test_a_judged_crash_is_loud_only_if_somebody_said_why() -> None:
    assert told(findings_in(BASE, [crashed("a:1", BASE, verdict="dead_end")])) == [("repeat", "hover", "a:1")]
    said = crashed("a:1", BASE, "too slow to be of use", verdict="dead_end")
    assert told(findings_in(BASE, [said])) == [("repeat", "warning", "a:1")]


def test_a_code_error_stays_quiet_although_a_person_called_it_a_dead_end() -> None:
    run = crashed("a:1", BASE, "TypeError: forward() got an unexpected keyword", verdict="dead_end")
    assert told(findings_in(BASE, [run])) == [("repeat", "hover", "a:1")]


@pytest.mark.parametrize(
    ("override", "severity"),
    [
        ({"repeat/judged": "information"}, "information"),
        ({"repeat": "hover"}, "hover"),
        ({"repeat": "hover", "repeat/judged": "warning"}, "warning"),
        ({"dead-end": "off"}, "warning"),
    ],
)
def test_severity_is_a_setting_by_code_evidence_and_reason(override: dict[str, Any], severity: str) -> None:
    assert told(findings_in(BASE, [dead("a:1", BASE)], severity=override)) == [("repeat", severity, "a:1")]


def test_off_is_not_made_at_all() -> None:
    assert findings_in(BASE, [dead("a:1", BASE)], severity={"repeat": "off"}) == []


def test_what_is_off_does_not_keep_another_rule_from_telling() -> None:
    run = dead("a:1", BASE, changes={"lr": (0.5, 0.01)})  # a repeat and a move
    assert told(findings_in(BASE, [run], severity={"repeat": "off"})) == [("move", "warning", "a:1")]


def test_every_evidence_has_a_severity_for_every_reason() -> None:
    evidences = {name.split("/")[0] for name in DEFAULT_SEVERITY}
    reasons = {name.split("/")[1] for name in DEFAULT_SEVERITY}
    assert len(DEFAULT_SEVERITY) == len(evidences) * len(reasons) == 4 * 8


def test_one_record_gives_one_finding() -> None:
    run = dead("a:1", BASE, changes={"lr": (0.5, 0.01)})  # a repeat and a move
    assert told(findings_in(BASE, [run])) == [("repeat", "warning", "a:1")]


def test_findings_with_the_same_place_and_evidence_are_one_with_a_count() -> None:
    a = dead("a:1", {**BASE, "lr": 0.5, "depth": 4}, "first", changes={"lr": (0.01, 0.5)})
    b = dead("a:2", {**BASE, "lr": 0.5, "depth": 9}, "second", changes={"lr": (0.01, 0.5), "depth": (4, 9)})
    (finding,) = findings_in({**BASE, "lr": 0.5, "depth": 9, "dropout": 0.3}, [a, b])
    assert set(finding.records) == {"a:1", "a:2"}
    assert finding.message.endswith("; 1 more like it")


def test_at_one_place_only_the_loudest_is_a_squiggle() -> None:
    move = dead("a:1", {**BASE, "lr": 0.5, "depth": 3, "width": 64}, changes={"lr": (0.01, 0.5)})
    close = dead("a:2", {**BASE, "lr": 0.49})
    found = findings_in({**BASE, "lr": 0.5}, [move, close])
    assert told(found) == [("move", "warning", "a:1"), ("near", "hover", "a:2")]


def test_findings_come_in_the_order_of_the_text() -> None:
    a = dead("a:1", {**BASE, "depth": 9}, changes={"depth": (4, 9)})
    b = dead("a:2", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)})
    text = yaml_of({**BASE, "lr": 0.5, "depth": 9, "dropout": 0.3})
    assert [f.span.of(text) for f in findings_in(text, [a, b])] == ["0.5", "9"]


@pytest.mark.parametrize("own", ["research_line: speech\n", "project: Speech\n"])
def test_the_line_that_a_draft_names_wins_over_the_settings(own: str) -> None:
    records = [dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)}, line="speech"), worked("b:1", {"x": 1})]
    found = findings_in(own + yaml_of({"lr": 0.5, "beam": 1, "heads": 2}), records)
    assert told(found) == [("move", "hover", "a:1")]
    assert found[0].why[-1:] != ("From another research line",)


def test_a_name_that_no_line_of_the_pool_has_does_not_hide_the_only_one() -> None:
    found = findings_in("project: my-fork\n" + yaml_of(BASE), [dead("a:1", BASE)], research_line=None)
    assert squiggles(found) == [("repeat", "warning", "a:1")]


def test_with_several_lines_and_no_name_a_similar_setting_is_needed() -> None:
    records = [dead("a:1", BASE), worked("b:1", {"x": 1}, line="speech")]
    assert squiggles(findings_in(BASE, records, research_line=None)) == [("repeat", "warning", "a:1")]
    diluted = {**BASE, **{f"extra_{i}": i for i in range(12)}}
    assert squiggles(findings_in(diluted, records, research_line=None)) == []


SILENCED = [
    ("ignore", "lr: 0.5  # tried: ignore\n"),
    ("ignore its code", "lr: 0.5  # tried: ignore[dead-end] warmup is longer now\n"),
    ("ignore on its own line", "# tried: ignore\nlr: 0.5\n"),
    ("retry", "# tried: retry a:1 because the data changed\nlr: 0.5\n"),
    ("the whole file", "# tried: ignore-file\nlr: 0.5\n"),
]


@pytest.mark.parametrize("line", [line for _, line in SILENCED], ids=[name for name, _ in SILENCED])
def test_a_comment_silences(line: str) -> None:
    run = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)})
    rest = "depth: 4\nwidth: 128\ndropout: 0.3\n"
    assert told(findings_in("lr: 0.5\n" + rest, [run])) == [("move", "warning", "a:1")]
    assert findings_in(line + rest, [run]) == []


@pytest.mark.parametrize(
    "line",
    [
        "lr: 0.5  # tried: ignore[repeat]\n",
        "lr: 0.5\n# tried: ignore\n",
        "# tried: retry a:2 because of the data\nlr: 0.5\n",
    ],
)
def test_a_comment_about_something_else_does_not(line: str) -> None:
    run = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)})
    assert told(findings_in(line + "depth: 4\nwidth: 128\ndropout: 0.3\n", [run])) == [("move", "warning", "a:1")]


def test_documents_of_one_file_are_drafts_of_their_own() -> None:
    text = yaml_of({**BASE, "lr": 9}) + "---\n" + yaml_of(BASE)
    (finding,) = [f for f in findings_in(text, [dead("a:1", BASE)]) if f.severity == "warning"]
    assert finding.span.start > text.index("---")


def test_a_headline_of_any_kind_makes_one_short_printable_line() -> None:
    hostile = "a\x1b[31m\n\n# b <script>" + "z" * 5000
    (finding,) = findings_in(BASE, [dead("a:1", BASE, hostile)])
    assert "\n" not in finding.message
    assert "\x1b" not in finding.message
    assert len(finding.message) < 160


VALUES = st.sampled_from([0.01, 0.5, 4, 9, "adam", True, None, "null"])
PARAMS = st.dictionaries(st.sampled_from(["lr", "depth", "width", "dropout", "seed", "epochs", "name"]), VALUES)
RECORDS = st.lists(
    st.tuples(PARAMS, st.sampled_from(["dead_end", "works", None]), st.sampled_from(["vision", "speech", None])),
    max_size=12,
)


@given(PARAMS, RECORDS)
def test_the_same_input_gives_the_same_findings_and_each_record_is_told_once(
    params: dict[str, Any], drawn: list[tuple[dict[str, Any], str | None, str | None]]
) -> None:
    pool = [record(f"r:{i}", p, line=line, verdict=verdict) for i, (p, verdict, line) in enumerate(drawn)]
    text = yaml_of(params)
    found = findings_in(text, pool)
    assert found == findings_in(text, pool)
    told_of = [each for finding in found for each in finding.records]
    assert len(told_of) == len(set(told_of))
    for finding in found:
        assert 0 <= finding.span.start <= finding.span.end <= len(text)
        if finding.severity == "warning":
            assert all(pool[int(each.split(":")[1])].verdict == "dead_end" for each in finding.records)
            assert not finding.contradicted_by
