"""`tried conclude` for many runs at once: which are meant, what is shown, that one yes writes all or nothing."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Result, Runner


def run(record_id: str, lr: float, **fields: Any) -> dict[str, Any]:
    params = {"lr": lr, "depth": 4, "width": 64, "dataset": "cifar"}
    return {"id": record_id, "params": params, "conclusion": {"outcome": "failed", "derived": True}, **fields}


@pytest.fixture
def pool(tried: Runner) -> Path:
    return tried.journal(
        run("a", 0.1, sweep="optuna:night", timestamp="2026-03-01T00:00:00Z"),
        run("b", 0.5, sweep="optuna:night", timestamp="2026-03-03T00:00:00Z", run_dir="outputs/b"),
        run("c", 0.9, timestamp="2026-03-02T00:00:00Z", run_dir="outputs/c", name="\x1b[31mred"),
    )


def amendments(journal: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return [line for line in lines if line.get("kind") == "amendment"]


def answering(patch: pytest.MonkeyPatch, text: str) -> None:
    patch.setattr("sys.stdin", io.StringIO(text))


def test_a_condition_is_shown_and_asked_about_once(tried: Runner, pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answering(monkeypatch, "y\n")
    done = tried("conclude", "--where", "lr >= 0.5", "the rate is too high", "--dead-end")
    assert done.status == 0
    assert done.lines == [
        "2 runs, a dead end: the rate is too high",
        "  ✗ b  2026-03-03",
        "  ✗ c  [31mred  2026-03-02",
        f"write this down for 2 runs? [y/N] noted in {pool}: 2 runs",
    ]
    assert [(one["amends"], one["verdict"], one["conclusion"]["headline"]) for one in amendments(pool)] == [
        ("b", "dead_end", "the rate is too high"),
        ("c", "dead_end", "the rate is too high"),
    ]


@pytest.mark.parametrize("answer", ["n\n", "\n", "", "what\n"])
def test_without_a_yes_nothing_is_written(
    tried: Runner, pool: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    before = pool.read_bytes()
    answering(monkeypatch, answer)
    done = tried("conclude", "--where", "lr > 0", "why not")
    assert done.status == 2
    assert "nothing was written" in done.err
    assert pool.read_bytes() == before


def test_json_of_many(tried: Runner, pool: Path) -> None:
    report = tried("conclude", "--sweep", "night", "a search without end", "--inconclusive", "--yes", "--json").json
    assert list(report) == ["schema", "path", "conclusions"]
    assert report["schema"] == "tried.conclusions/v1"
    assert report["path"] == str(pool)
    assert [list(one) for one in report["conclusions"]] == [["id", "amends", "verdict", "headline", "timestamp"]] * 2
    assert [one["amends"] for one in report["conclusions"]] == ["a", "b"]
    assert [one["id"] for one in report["conclusions"]] == [one["id"] for one in amendments(pool)]


def test_a_condition_within_a_sweep(tried: Runner, pool: Path) -> None:
    assert tried("conclude", "--sweep", "optuna:night", "--where", "lr < 0.2", "slow", "--yes").status == 0
    assert [one["amends"] for one in amendments(pool)] == ["a"]


def amended(pool: Path, result: Result) -> str:
    assert result.status == 0, result.err
    (one,) = amendments(pool)
    return str(one["amends"])


def test_the_last_run_is_the_newest(tried: Runner, pool: Path) -> None:
    assert amended(pool, tried("conclude", "last", "too hot")) == "b"


def test_what_has_no_time_may_be_later_than_the_last(tried: Runner) -> None:
    timed = {"timestamp": "2026-03-01T00:00:00Z"}
    rows = run("results-table:r.tsv:1", 0.1, **timed), run("results-table:r.tsv:2", 0.1)
    pool = tried.journal(*rows, run("m:1", 0.1, timestamp="2026-02-01T00:00:00Z"))
    assert amended(pool, tried("conclude", "last", "too hot")) == "results-table:r.tsv:2"
    tried.journal(run("t:1", 0.1), run("m:1", 0.1, **timed))
    done = tried("conclude", "last", "too hot")
    assert amended(pool, done) == "m:1"
    assert "`last` goes by time, and t:1 has none: name it if you mean it" in done.err


def test_a_line_of_a_journal_without_a_time_is_not_the_last_and_that_is_told(tried: Runner) -> None:
    pool = tried.journal(run("PEAT-01", 0.1, timestamp="2026-03-01T00:00:00Z"), run("PEAT-02", 0.1))
    done = tried("conclude", "last", "too hot")
    assert amended(pool, done) == "PEAT-01"
    assert done.err == "tried: `last` goes by time, and PEAT-02 has none: name it if you mean it\n"


def test_a_folder_is_the_run_that_wrote_it(tried: Runner, pool: Path) -> None:
    tried.write("outputs/c/log.txt", "x")
    assert amended(pool, tried("conclude", "outputs/c", "too hot")) == "c"


def test_a_file_in_a_folder_is_of_its_run(tried: Runner, pool: Path) -> None:
    tried.write("outputs/c/config.yaml", "a: 1\n")
    assert amended(pool, tried("conclude", "outputs/c/config.yaml", "too hot")) == "c"


def test_a_config_is_the_runs_that_it_repeats(tried: Runner, pool: Path) -> None:
    tried.write("hot.yaml", "lr: 5e-1\ndepth: 4\nwidth: 64\ndataset: cifar\n")
    assert amended(pool, tried("conclude", "hot.yaml", "too hot")) == "b"


def test_a_folder_of_many_runs_is_asked_about(tried: Runner, pool: Path) -> None:
    tried.write("outputs/c/log.txt", "x")
    assert tried("conclude", "outputs", "all of it was wrong", "--yes").status == 0
    assert [one["amends"] for one in amendments(pool)] == ["b", "c"]


def test_that_a_conclusion_is_replaced_is_said(tried: Runner) -> None:
    tried.journal(run("a", 0.1, verdict="works"), run("b", 0.2))
    done = tried("conclude", "--where", "lr > 0", "no", "--yes")
    assert "1 of these has a conclusion, which this replaces: a\n" in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["conclude"], "say which run and why"),
        (["conclude", "a"], "say why"),
        (["conclude", "a", "why", "--where", "lr > 0"], "not both"),
        (["conclude", "--where", "lr > 7", "why"], "no run is like that"),
        (["conclude", "--where", "lr >", "why"], "expected a value after >"),
        (["conclude", "--where", "rate > 1", "why"], "no run has a parameter or metric rate"),
        (["conclude", "--sweep", "day", "why"], "no run is a member of it; there are optuna:night"),
        (["conclude", "nothing.yaml", "why"], "no record nothing.yaml"),
        (["conclude", "other.yaml", "why"], "no run was made with exactly these parameters"),
        (["conclude", "empty", "why"], "no run of the pool has this folder"),
        (["conclude", "notes.txt", "why"], "no language of configs"),
        (["conclude", "a", "--dead-end", "--from-comments", "x.yaml"], "give it alone"),
    ],
)
def test_mistakes_write_nothing(tried: Runner, pool: Path, arguments: list[str], said: str) -> None:
    tried.write("other.yaml", "lr: 0.7\ndepth: 4\nwidth: 64\ndataset: cifar\n")
    tried.write("notes.txt", "x")
    (tried.folder / "empty").mkdir()
    before = pool.read_bytes()
    done = tried(*arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert pool.read_bytes() == before


def test_a_mistake_in_a_condition_is_shown_at_its_place(tried: Runner, pool: Path) -> None:
    done = tried("conclude", "--where", "lr > 0 and rate > 1", "why")
    assert done.err.splitlines() == [
        "tried: --where: no run has a parameter or metric rate",
        "  lr > 0 and rate > 1",
        "             ^",
    ]


@pytest.mark.parametrize("arguments", [["last", "why"], ["--where", "lr > 0", "why"], ["a", "why"]])
def test_an_empty_pool_says_what_to_do(tried: Runner, arguments: list[str]) -> None:
    done = tried("conclude", *arguments)
    assert done.status == 2
    assert "no past experiments found" in done.err
    assert not (tried.folder / ".tried").exists()


def test_comments_of_a_config_become_conclusions(tried: Runner, pool: Path) -> None:
    tried.write("next.yaml", "lr: 5e-1  # dead end: too hot for this depth\ndepth: 4  # works: no\nwidth: 64\n")
    done = tried("conclude", "--from-comments", "next.yaml", "--yes")
    assert done.status == 0, done.err
    assert done.lines[0] == "1 run, a dead end: too hot for this depth"
    assert [(one["amends"], one["verdict"]) for one in amendments(pool)] == [("b", "dead_end")]
    assert done.err == (
        "tried: next.yaml:2: “no” is about no run: none without a conclusion had depth 4 and ended so\n"
    )
    again = tried("conclude", "--from-comments", "next.yaml", "--yes")
    assert again.status == 2
    assert "no run without a conclusion had these values" in again.err


def test_a_comment_whose_runs_are_taken_is_told(tried: Runner, pool: Path) -> None:
    tried.write("next.yaml", "lr: 5e-1  # dead end: too hot\ndepth: 4\nwidth: 64  # dead end: too wide\n")
    tried.journal(run("b", 0.5))
    done = tried("conclude", "--from-comments", "next.yaml", "--yes")
    assert [one["conclusion"]["headline"] for one in amendments(pool)] == ["too hot"]
    assert "next.yaml:3: “too wide” is about runs that the comments before it conclude already" in done.err


def test_a_config_without_such_comments_is_told(tried: Runner, pool: Path) -> None:
    tried.write("next.yaml", "lr: 0.5  # too hot\n")
    done = tried("conclude", "--from-comments", "next.yaml")
    assert done.status == 2
    assert "no comment such as" in done.err
