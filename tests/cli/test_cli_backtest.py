"""`tried backtest`: the pool of a user replayed, and what `tried check` makes of it where findings are calibrated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from cli_runner import Runner

BASE = {"lr": 0.01, "depth": 4, "width": 128, "warmup": 100}


def run(number: int, verdict: str | None, line: str | None = "a", **changed: Any) -> dict[str, Any]:
    return {
        "id": f"{line}:{number:03}",
        "params": {**BASE, **changed},
        "timestamp": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z",
        "research_line": line,
        "verdict": verdict,
    }


def repeats(right: int, wrong: int) -> Iterator[dict[str, Any]]:
    """So many runs that repeat a dead end and end badly, then so many that do and work: each repeats another one, so
    that no evidence is contradicted by the repetition before it."""
    for number in range(right + wrong):
        depth = 10 + number
        yield run(2 * number, "dead_end", depth=depth)
        yield run(2 * number + 1, "dead_end" if number < right else "works", depth=depth, seed=2)


def test_it_says_what_has_earned_trust(tried: Runner) -> None:
    """Of the 24 runs the first has nothing before it; 12 repeat a dead end, of which 9 end badly."""
    tried.journal(*repeats(9, 3))

    result = tried("backtest", "--json")

    assert (result.status, result.err) == (0, "")
    found = result.json
    assert found["schema"] == "tried.backtest/v1"
    assert (found["lines"], found["left_out"]) == (1, 0)
    assert (found["drafts"]["drafts"], found["drafts"]["ended_badly"]) == (23, 20)
    repeat = found["evidence"]["repeat"]
    assert (repeat["squiggles"]["drafts"], repeat["squiggles"]["ended_badly"]) == (12, 9)
    assert repeat["squiggles"]["precision"] == 0.75
    assert (repeat["trust"], repeat["quiet_if_calibrated"]) == ("lacking", True)
    assert len([one for one in found["wrong"] if "ran before" in one["message"]]) == 3


def test_it_says_so_in_words(tried: Runner) -> None:
    tried.journal(*repeats(9, 3))

    told = tried("backtest")

    assert told.status == 0
    assert "repeat: right 9 of 12 times, under 0.8: has not earned trust" in told.out
    assert "with [findings] calibrate = true, `repeat` would speak only in the hover" in told.out
    assert "base rate 0.870" in told.out  # 20 of 23


def test_few_cases_are_said_to_be_few(tried: Runner) -> None:
    tried.journal(*repeats(0, 6))

    told = tried("backtest")

    assert "repeat: right 0 of 6 times, too few to judge it by (it takes 10)" in told.out
    assert "calibrate" not in told.out
    assert "near: never underlined anything" in told.out


def test_runs_are_replayed_in_the_order_of_time(tried: Runner) -> None:
    """Trackers keep runs in whatever order; here the file has the newest first."""
    records = list(repeats(9, 3))
    tried.journal(*reversed(records))

    assert tried("backtest", "--json").json["evidence"]["repeat"]["squiggles"]["drafts"] == 12


def test_only_what_was_judged_can_be_replayed(tried: Runner) -> None:
    """A status counts as a known end; a verdict is somebody's."""
    crashed = [
        {**run(50 + n, None, depth=100 + n), "conclusion": {"outcome": "failed", "headline": "boom"}} for n in range(3)
    ]
    tried.journal(*repeats(9, 3), *crashed)

    assert tried("backtest", "--json").json["drafts"]["drafts"] == 26
    assert tried("backtest", "--all", "--json").json["drafts"]["drafts"] == 26
    assert tried("backtest", "--judged", "--json").json["drafts"]["drafts"] == 23


def test_one_line_alone(tried: Runner) -> None:
    tried.journal(*repeats(9, 3), *(run(n, "works", "b", depth=100 + n) for n in range(10)))

    assert tried("backtest", "--json").json["lines"] == 2
    only = tried("backtest", "--research-line", "B", "--json").json
    assert (only["lines"], only["drafts"]["drafts"]) == (1, 9)
    near = tried("backtest", "--research-line", "bb")
    assert (near.status, near.out) == (2, "")
    assert "--research-line bb: no run has it; did you mean b?" in near.err


@pytest.mark.parametrize(
    ("records", "arguments", "said"),
    [
        ([], (), "no past experiments found"),
        ([run(n, "works") for n in range(4)], (), "a research line of at least 10 runs, and the longest has 4"),
        ([run(n, None) for n in range(12)], (), "it is known how it ended"),
        (
            [{**run(n, None), "conclusion": {"outcome": "failed"}} for n in range(12)],
            ("--judged",),
            "carries a verdict; without --judged there are 11 runs whose end is known",
        ),
        ([{**run(n, "works"), "params": {}} for n in range(12)], (), "of no run with parameters"),
    ],
)
def test_what_is_needed_is_said(
    tried: Runner, records: list[dict[str, Any]], arguments: tuple[str, ...], said: str
) -> None:
    tried.journal(*records)

    result = tried("backtest", *arguments)

    assert (result.status, result.out) == (0, "")
    assert said in result.err
    as_json = tried("backtest", *arguments, "--json").json
    assert as_json["drafts"] == {"drafts": 0, "ended_badly": 0, "precision": None, "interval": None}


def test_a_check_is_calibrated_at_once(tried: Runner) -> None:
    """The evidence for a repeat was right 3 of 12 times here: it is for the hover, which says so."""
    tried.journal(*repeats(3, 9), run(40, "dead_end", depth=77))
    tried.write("tried.toml", "")
    config = tried.write("next.yaml", "research_line: a\nlr: 0.01\ndepth: 77\nwidth: 128\nwarmup: 100\n")
    loud = tried("check", config)
    tried.write("tried.toml", "[findings]\ncalibrate = true\n")

    quiet = tried("check", config)

    assert (loud.status, quiet.status) == (1, 0)
    assert "warning repeat: ran before" in loud.out
    assert "0 warnings" in quiet.out
    assert "only for the hover, as this pool bears out too little of it: repeat (right 3 of 12)" in quiet.out
    (finding,) = [f for f in tried("check", config, "--json").json["files"][0]["findings"] if f["evidence"] == "repeat"]
    assert finding["severity"] == "hover"
    assert "[findings] calibrate is on: `repeat` speaks only in the hover" in tried("backtest").out
