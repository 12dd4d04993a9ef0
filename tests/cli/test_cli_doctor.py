"""`tried pool doctor` and `tried pool --where`: what is missing is told with its count and with what to do."""

from __future__ import annotations

from typing import Any

import pytest
from cli_runner import Runner


def run(record_id: str, outcome: str = "completed", **fields: Any) -> dict[str, Any]:
    return {
        "id": record_id,
        "params": {"lr": 0.1, "depth": 4, "width": 64},
        "metrics": {"val_loss": 1.0},
        "conclusion": {"outcome": outcome, "derived": True},
        "timestamp": "2026-03-01T00:00:00Z",
        "parent": "a",
        "research_line": "vision",
        **fields,
    }


def says(tried: Runner, *records: dict[str, Any]) -> dict[str, tuple[str, int, int]]:
    tried.journal(*records)
    report = tried("pool", "doctor", "--json").json
    assert list(report) == ["schema", "records", "advice", "off"]
    assert (report["schema"], report["records"], report["off"]) == ("tried.doctor/v1", len(records), [])
    assert all(one["how"] for one in report["advice"])
    return {one["code"]: (one["says"], one["count"], one["of"]) for one in report["advice"]}


def written(record_id: str, outcome: str = "completed", **fields: Any) -> dict[str, Any]:
    return run(record_id, **{"conclusion": {"outcome": outcome, "headline": "as said"}, **fields})


def test_a_pool_in_which_nothing_is_missing(tried: Runner) -> None:
    assert says(tried, written("a"), written("b", "failed")) == {}
    assert tried("pool", "doctor").lines == ["2 records: nothing is missing that would help"]


def test_dead_ends_without_a_reason(tried: Runner) -> None:
    records = [written("a"), run("b", "failed"), run("c", "failed"), written("d", "failed")]
    assert says(tried, *records, run("e", "failed"))["no-conclusions"] == (
        "1 of 4 runs that ended badly say why they ended",
        3,
        4,
    )
    assert tried("pool", "doctor").lines[:3] == [
        "! 1 of 4 runs that ended badly say why they ended",
        "    `tried triage` proposes a sentence for each group of them: a minute's work",
        '    journal: `tried conclude ID "why"`',
    ]


@pytest.mark.parametrize(
    ("code", "fields", "said", "count"),
    [
        ("few-parameters", {"params": {"lr": 1}}, "4 of 4 runs log fewer than 3 parameters", 4),
        ("no-directions", {"metrics": {"zeal": 1}}, "which way is better is not known for zeal, by which 4 runs", 4),
        ("all-nan", {"metrics": {"val_loss": "nan"}}, "val_loss is NaN in all of 4 runs", 4),
        (
            "truncated",
            {"params": {"a": 1, "b": 2, "text": "x" * 500}},
            "4 of 4 runs have values that the tracker cut",
            4,
        ),
        ("no-times", {"timestamp": None}, "4 of 4 records have no time", 4),
        ("no-parents", {"parent": None}, "0 of 4 records say what they came from", 4),
    ],
)
def test_what_all_runs_lack(tried: Runner, code: str, fields: dict[str, Any], said: str, count: int) -> None:
    found = says(tried, *(written(name, **fields) for name in "abcd"))
    assert set(found) == {code}
    assert found[code][0].startswith(said)
    assert found[code][1:] == (count, 4)


def test_parents_that_no_source_has(tried: Runner) -> None:
    records = [
        written("mlflow:7f3a", name="baseline", parent=None),
        written("mlflow:81c0", name="baseline", parent=None),
    ]
    records += [written(f"c{i}", parent="baseline") for i in range(2)]
    records += [written("d", parent="7f3a"), written("e", parent="gone"), written("f", parent="mlflow:7f3a")]
    assert says(tried, *records)["unknown-parents"] == (
        "4 records name parents that no source has: baseline, 7f3a, gone",
        4,
        5,
    )
    assert tried("pool", "doctor").lines == [
        "! 4 records name parents that no source has: baseline, 7f3a, gone",
        "    baseline is the name of mlflow:7f3a and 1 more: write the whole id",
        "    7f3a is the end of the id of mlflow:7f3a: write the whole id",
        "    a parent is the id of a run as `tried pool --where` lists it; `tried lineage ID` shows what came of it",
        "    if its source is not read, name that in tried.toml ([pool] sources)",
    ]


def test_some_runs_without_a_line(tried: Runner) -> None:
    found = says(tried, written("a"), written("b", research_line=None), written("c", research_line=None))
    assert found["no-research-line"][1:] == (2, 3)


def test_conclusions_about_nothing_and_lines_that_are_broken(tried: Runner) -> None:
    tried.journal(written("a"), {"id": "n", "kind": "amendment", "amends": "gone", "verdict": "works"})
    with (tried.folder / ".tried/pool.jsonl").open("a") as file:
        file.write("{broken\n")
    report = tried("pool", "doctor", "--json").json
    assert [(one["code"], one["count"]) for one in report["advice"]] == [("skipped", 1), ("waiting", 1)]


def test_what_is_switched_off_is_told(tried: Runner) -> None:
    path = tried.journal(written("a"), name="elsewhere.jsonl")
    tried.write("tried.toml", '[pool]\ndiscover = false\nsources = ["elsewhere.jsonl"]\ndisable = ["mlflow"]\n')
    assert path.exists()
    done = tried("pool", "doctor")
    assert [line for line in done.lines if line.startswith("·")] == [
        "· pools are not looked for (pool.discover is off): only what settings name is read",
        "· switched off in the settings (pool.disable): mlflow",
    ]


def test_a_folder_can_be_given_and_one_may_be_called_doctor(tried: Runner) -> None:
    tried.journal(written("a"), name="doctor/.tried/pool.jsonl")
    tried.journal(written("b"), written("c"), name="other/.tried/pool.jsonl")
    assert tried("pool", "doctor", "doctor", "--json").json["records"] == 1
    assert tried("pool", "doctor", "other", "--json").json["records"] == 2
    assert tried("pool", "./doctor", "--json").json["totals"]["records"] == 1
    assert tried("pool", "other", "--json").json["totals"]["records"] == 2
    assert "give one folder" in tried("pool", "other", "doctor").err
    assert "there is no such folder" in tried("pool", "doctor", "nothing").err


def test_an_empty_pool(tried: Runner) -> None:
    done = tried("pool", "doctor")
    assert (done.status, done.out) == (0, "")
    assert "no past experiments found" in done.err
    assert tried("pool", "doctor", "--json").json["advice"] == []


def test_runs_of_a_condition(tried: Runner) -> None:
    tried.journal(run("a"), run("b", params={"lr": 0.5}), run("c", "failed", params={"lr": 0.9}))
    assert tried("pool", "--where", "lr >= 0.5").lines == ["  ✓ b  2026-03-01", "  ✗ c  2026-03-01", "2 runs of 3"]
    report = tried("pool", "--where", "ending = dead_end", "--json").json
    assert report == {
        "schema": "tried.runs/v1",
        "where": "ending = dead_end",
        "runs": [
            {
                "id": "c",
                "name": "",
                "ending": "dead_end",
                "cause": "unknown",
                "headline": None,
                "timestamp": "2026-03-01T00:00:00Z",
            }
        ],
    }
    assert "leave out --where" in tried("pool", "doctor", "--where", "lr > 1").err
