"""`tried audit`: its lines and its contract, with sums worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from cli_runner import Runner

PARAMS = {"lr": 0.1, "depth": 4, "width": 64}


def run(record_id: str, day: int, hours: float | None = 1, **fields: Any) -> dict[str, Any]:
    data = {
        "id": record_id,
        "params": {**PARAMS, **fields.pop("params", {})},
        "timestamp": f"2026-{fields.pop('month', 3):02}-{day:02}T00:00:00Z",
        "conclusion": {"outcome": "completed", "derived": True},
        "metrics": {"val_loss": 1.0},
        "research_line": "vision",
        **fields,
    }
    return {**data, "duration": hours * 3600} if hours is not None else data


def bad(record_id: str, day: int, cause: str, hours: float | None = 1, **fields: Any) -> dict[str, Any]:
    return run(record_id, day, hours, conclusion={"outcome": "failed", "derived": True}, cause=cause, **fields)


@pytest.fixture
def pool(tried: Runner) -> Runner:
    tried.journal(
        run("a", 1, 10),
        bad("b", 2, "out_of_memory", 20),
        run("c", 3, None),
        run("d", 1, 5, month=4, params={"seed": 1}),
        run("e", 2, 5, month=4, params={"seed": 2}),
        bad("f", 3, "code_error", 2, month=4, params={"lr": 9}),
        run("g", 4, 3, month=4, params={"lr": 9}),
        run("h", 5, 1, month=4, research_line="audio\x1b[31m"),
        run("i", 6, 1, month=4, research_line="audio\x1b[31m", params={"depth": 5}),
    )
    return tried


def test_what_is_said(pool: Runner) -> None:
    done = pool("audit", "--list")
    assert (done.status, done.err) == (0, "")
    assert done.lines == [
        "9 runs: 2 unintended repeats, 20 hours and 1 of unknown length; 1 out of memory",
        "  1 of them repeated a dead end",
        "  not counted: 1 retry of what broke or told nothing, 3.0 hours; 2 replicates (another seed, side by side, or"
        " meant)",
        "  ended badly, repeated or not: 1 code error, 2.0 hours; 1 out of memory, 20 hours",
        "  research line     runs  repeats  time",
        "  vision               7        2  20 hours and 1 of unknown length",
        "  month       runs  repeats  time",
        "  2026-03        3        2  20 hours and 1 of unknown length",
        "  2026-04        6        0  ",
        "  2026-03-02  b (20 hours) repeats a",
        "  2026-03-03  c repeats b, a dead end (out of memory)",
        "  2026-04-04  g (3.0 hours) retries f",
    ]


def test_what_ended_badly_is_what_triage_and_doctor_count(tried: Runner) -> None:
    stopped: dict[str, Any] = {"conclusion": {"outcome": "stopped", "derived": True}}
    tried.journal(
        run("a", 1, params={"lr": 1}),
        bad("b", 2, "unknown", params={"lr": 2}),
        bad("c", 3, "unknown", params={"lr": 3}, notes="the data was broken: a bug"),
        run("d", 4, params={"lr": 4}, **stopped),
        {**run("e", 5, None, **stopped), "params": {"lr": 5}},
        bad("f", 6, "unknown", params={"lr": 6}),
    )
    assert tried("audit").lines == [
        "6 runs: 0 unintended repeats",
        "  not compared: 1 run that logs fewer than three parameters, or changed what is no parameter",
        "  ended badly, repeated or not: 3 of unknown cause, 3.0 hours",
        "  neither well nor badly: 2 stopped, 60 min and 1 of unknown length",
    ]
    assert tried("pool", "doctor").lines[0] == "! 1 of 3 runs that ended badly say why they ended"
    assert tried("triage", "--list").lines[0] == (
        "2 runs ended badly without a written reason, and 2 were stopped: 2 groups"
    )


def test_the_contract(pool: Runner) -> None:
    report = pool("audit", "--json").json
    assert report.pop("list") == [
        {
            "record": "b",
            "repeats": "a",
            "kind": "repeat",
            "research_line": "vision",
            "time": "2026-03-02T00:00:00Z",
            "seconds": 72000.0,
            "ending": "dead_end",
            "cause": "out_of_memory",
            "of_dead_end": False,
        },
        {
            "record": "c",
            "repeats": "b",
            "kind": "repeat",
            "research_line": "vision",
            "time": "2026-03-03T00:00:00Z",
            "seconds": None,
            "ending": "worked",
            "cause": None,
            "of_dead_end": True,
        },
        {
            "record": "g",
            "repeats": "f",
            "kind": "retry",
            "research_line": "vision",
            "time": "2026-04-04T00:00:00Z",
            "seconds": 10800.0,
            "ending": "worked",
            "cause": None,
            "of_dead_end": False,
        },
    ]
    assert report == {
        "schema": "tried.audit/v1",
        "runs": {"count": 9, "seconds": 47 * 3600.0, "unknown": 1},
        "repeats": {"count": 2, "seconds": 72000.0, "unknown": 1},
        "dead_ends_repeated": {"count": 1, "seconds": 0, "unknown": 1},
        "retries": {"count": 1, "seconds": 10800.0, "unknown": 0},
        "replicates": 2,
        "other_code": 0,
        "not_compared": 0,
        "causes": {
            "code_error": {"count": 1, "seconds": 7200.0, "unknown": 0},
            "out_of_memory": {"count": 1, "seconds": 72000.0, "unknown": 0},
        },
        "causes_of_repeats": {"out_of_memory": {"count": 1, "seconds": 72000.0, "unknown": 0}},
        "research_lines": [
            {"research_line": "vision", "runs": 7, "repeats": {"count": 2, "seconds": 72000.0, "unknown": 1}},
            {"research_line": "audio\x1b[31m", "runs": 2, "repeats": {"count": 0, "seconds": 0, "unknown": 0}},
        ],
        "months": [
            {"month": "2026-03", "runs": 3, "repeats": {"count": 2, "seconds": 72000.0, "unknown": 1}},
            {"month": "2026-04", "runs": 6, "repeats": {"count": 0, "seconds": 0, "unknown": 0}},
        ],
    }


def test_a_condition_restricts_it(pool: Runner) -> None:
    assert pool("audit", "--where", "time < 2026-03-03").lines[0].startswith("2 runs: 1 unintended repeat, 20 hours")


def test_pools_without_runs(tried: Runner) -> None:
    empty = tried("audit")
    assert (empty.status, empty.out) == (0, "")
    assert "no past experiments found" in empty.err
    assert tried("audit", "--json").json["runs"]["count"] == 0
    tried.journal({"id": "s", "role": "sweep"}, {"id": "t", "role": "step"}, {"id": "u", "role": "step"})
    said = tried("audit").err
    assert said == "tried: none of the 3 records is an experiment: 2 pipeline steps, 1 search as a whole\n"
