"""`tried hits`, what the other commands count, and what a policy makes of it."""

from __future__ import annotations

import io
import json
import math
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

from tried.storage.hits import hits_file, hits_of, record_hit

PARAMS = {"lr": 0.1, "batch_size": 32, "depth": 12}
NAMES = ("base", "hot", "deep")
RUNS: tuple[dict[str, Any], ...] = (
    {"id": "exp-1", "name": "base", "params": PARAMS, "aliases": ["mlflow:11aa22bb"]},
    {"id": "exp-2", "name": "hot", "params": {**PARAMS, "lr": 0.5}, "conclusion": {"outcome": "failed"}},
    {"id": "lab:exp-3", "name": "deep", "params": {**PARAMS, "depth": 48}, "conclusion": {"outcome": "crashed"}},
)
BROKEN = {
    "id": "exp-4",
    "params": PARAMS,
    "cause": "code_error",
    "error": "KeyError: 'val'",
    "conclusion": {"outcome": "failed", "derived": True},
}
"""A run of which a triage knows what to say."""

CONFIG = "lr: 0.1\nbatch_size: 32\ndepth: 48\n"


@pytest.fixture(autouse=True)
def state(tried: Runner, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three runs, and a state folder that is as new."""
    tried.journal(*RUNS)
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    return state


def ways(tried: Runner) -> dict[str, dict[str, int]]:
    listed = tried("hits", "--json")
    assert (listed.status, listed.err) == (0, "")
    return {one["record"]: one["ways"] for one in listed.json["records"]}


def test_what_a_person_does_with_a_record_counts(tried: Runner) -> None:
    config = tried.write("next.yaml", CONFIG)
    tried("diff", "exp-1", "exp-2")
    tried("diff", "exp-1", config, "--json")
    tried("diff", "exp-1", "exp-1")
    assert ways(tried) == {"exp-1": {"compared": 3}, "exp-2": {"compared": 1}}
    tried("conclude", "exp-2", "too hot", "--dead-end")
    tried("conclude", "--where", "lr = 0.1", "fits", "--yes", "--json")
    assert ways(tried) == {
        "exp-1": {"compared": 3, "concluded": 1},
        "exp-2": {"compared": 1, "concluded": 1},
        "lab:exp-3": {"concluded": 1},
    }


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize(
    ("arguments", "counted"),
    [
        (("diff", "exp-1", "exp-2"), {"exp-1": {"compared": 1}, "exp-2": {"compared": 1}}),
        (("diff", "exp-1", "exp-2", "--json"), {"exp-1": {"compared": 1}, "exp-2": {"compared": 1}}),
        (("conclude", "exp-2", "too hot", "--dead-end"), {"exp-2": {"concluded": 1}}),
        (("triage", "--yes", "--json"), {"exp-4": {"concluded": 1}}),
    ],
)
def test_whoever_reads_no_further_has_done_it_all_the_same(
    tried: Runner, arguments: tuple[str, ...], counted: dict[str, dict[str, int]]
) -> None:
    tried.journal(*RUNS, BROKEN)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "tried", *arguments]
    subprocess.run(command, cwd=tried.folder, stdout=writing, stderr=subprocess.DEVNULL, timeout=60, check=False)
    os.close(writing)
    assert ways(tried) == counted


def test_what_is_agreed_to_in_a_triage_counts_and_what_is_listed_does_not(tried: Runner) -> None:
    tried.journal(*RUNS, BROKEN)
    tried("triage", "--list")
    tried("triage", "--json")
    assert ways(tried) == {}
    assert tried("triage", "--yes", "--json").json["written"] == 1
    assert ways(tried) == {"exp-4": {"concluded": 1}}


def test_answers_in_a_triage_count(tried: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("e\nthe machine was full\ns\n"))
    done = tried("triage")
    assert "2 runs" in done.lines[-1]
    assert ways(tried) == {"exp-2": {"concluded": 1}, "lab:exp-3": {"concluded": 1}}


def test_a_run_that_is_written_down_with_a_conclusion_counts(tried: Runner) -> None:
    config = tried.write("next.yaml", CONFIG)
    tried("record", config, "--outcome", "failed")
    assert ways(tried) == {}
    made = tried("record", config, "--verdict", "works", "--json").json["record"]["id"]
    assert ways(tried) == {made: {"concluded": 1}}


@pytest.mark.parametrize(
    "command",
    [
        ["rank", "next.yaml"],
        ["rank", "next.yaml", "--json"],
        ["explain", "next.yaml", "exp-2"],
        ["check", "next.yaml"],
        ["lineage", "exp-1"],
        ["pool", "--where", "lr = 0.1"],
        ["audit"],
        ["hits"],
        ["conclude", "exp-9", "there is none"],
        ["diff", "exp-1", "exp-9"],
        ["conclude", "--where", "lr = 0.1", "nobody agrees"],
    ],
    ids=" ".join,
)
def test_what_is_shown_or_fails_does_not_count(
    tried: Runner, command: list[str], state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried.write("next.yaml", CONFIG)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    tried(*command)
    assert [path for path in state.rglob("*") if path.is_file()] == []


def test_the_list_has_most_hits_first_and_names(tried: Runner) -> None:
    now = datetime.now(UTC)
    record_hit(tried.folder, ["exp-2", "gone", "gone"], "opened", now - timedelta(days=3))
    record_hit(tried.folder, ["exp-1"], "used", now - timedelta(days=2))
    for _ in range(10):
        record_hit(tried.folder, ["lab:exp-3"], "compared", now - timedelta(hours=5))
    record_hit(tried.folder, ["mlflow:11aa22bb"], "opened", now - timedelta(minutes=3, seconds=5))
    assert tried("hits").lines == [
        "10  lab:exp-3  deep  compared 10  5 h ago",
        " 2  exp-1  base  opened 1, used 1  3 min ago",
        " 2  gone  opened 2  3 days ago  not in the pool",
        " 1  exp-2  hot  opened 1  3 days ago",
    ]
    assert tried("hits", "exp-3", "exp-2").lines == [
        "10  lab:exp-3  deep  compared 10  5 h ago",
        " 1  exp-2  hot  opened 1  3 days ago",
    ]
    assert tried("hits", "gone").lines == ["2  gone  opened 2  3 days ago  not in the pool"]
    unknown = tried("hits", "exp-7")
    assert (unknown.status, unknown.out) == (2, "")
    assert unknown.err.startswith("tried: no record exp-7 in the pool; did you mean")
    assert unknown.err.endswith("`tried hits` lists all that were hit\n")


def test_of_records_without_a_hit_it_is_said_that_there_is_none_on_them(tried: Runner) -> None:
    record_hit(tried.folder, ["exp-2"], "opened", datetime.now(UTC))
    assert tried("hits", "exp-1").lines == ["none on exp-1"]
    assert tried("hits", "exp-3", "exp-2", "exp-1", "exp-3").lines == [
        "1  exp-2  hot  opened 1  just now",
        "none on lab:exp-3, exp-1",
    ]
    assert tried("hits", "exp-1", "--json").json["records"] == []


@pytest.mark.parametrize("arguments", [[], ["--json"], ["--clear", "--yes"]])
def test_without_any_hit_no_pool_is_read(tried: Runner, monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    """To look for pools below a large folder may take minutes."""

    def refuse(*_: object) -> None:
        raise AssertionError("the pool was asked for")

    monkeypatch.setattr("tried.cli.hits.open_workspace", refuse)
    assert (tried("hits", *arguments).status, tried("hits", *arguments).err) == (0, "")


@pytest.mark.parametrize("is_hit", [False, True])
@pytest.mark.parametrize("clear", [[], ["--json"], ["--clear", "--yes"]])
def test_what_there_is_not_is_told_whether_anything_was_hit_or_not(
    tried: Runner, clear: list[str], is_hit: bool
) -> None:
    if is_hit:
        record_hit(tried.folder, ["exp-2"], "opened", datetime.now(UTC))
    unknown = tried("hits", "nonsense", *clear)
    assert (unknown.status, unknown.out) == (2, "")
    assert unknown.err.startswith("tried: no record nonsense in the pool")
    for records in ([], ["exp-1"]):
        missing = tried("hits", *records, "--pool", "/nope.jsonl", *clear)
        assert (missing.status, missing.out) == (2, "")
        assert missing.err.startswith("tried: --pool /nope.jsonl: there is no such file or folder")
    assert set(ways(tried)) == ({"exp-2"} if is_hit else set())


def test_in_a_folder_without_hits_a_record_has_none(tried: Runner) -> None:
    assert tried("hits", "exp-1", "11aa22bb").lines == ["none on exp-1"]
    assert tried("hits", "exp-1", "--clear").lines == ["forgot the hits on 0 records"]


def test_a_pool_that_is_named_has_hits_of_its_own(tried: Runner, tmp_path: Path) -> None:
    """Here and there is an exp-1, which have nothing to do with each other."""
    theirs = [{"id": "exp-1", "name": "base hot deep", "params": PARAMS}, {"id": "exp-2", "params": PARAMS}]
    other = tried.journal(*theirs, name="theirs.jsonl")
    third = tried.journal({"id": "exp-5", "params": PARAMS}, name="third.jsonl")
    (tried.folder / "link.jsonl").symlink_to(other)
    record_hit(tried.folder, ["exp-1"], "opened", datetime(2020, 1, 15, tzinfo=UTC))
    here = terms(tried, "--policy", "steady")
    assert here["exp-1"]["hit_boost"] > 0
    assert terms(tried, "--policy", "steady", "--pool", str(other))["exp-1"]["hit_boost"] == 0
    tried("diff", "exp-1", "exp-2", "--pool", "theirs.jsonl")
    tried("diff", "exp-1", "exp-5", "--pool", third, "--pool", "link.jsonl")
    assert terms(tried, "--policy", "steady") == here
    assert tried("hits", "--pool", "link.jsonl").lines == [
        "1  exp-1  base hot deep  compared 1  just now",
        "1  exp-2  compared 1  just now",
    ]
    assert {name: dict(hit.ways) for name, hit in hits_of((other, third)).hits.items()} == {
        "exp-1": {"compared": 1},
        "exp-5": {"compared": 1},
    }
    path = hits_file((third, other, third))
    assert path is not None
    assert json.loads(path.read_text().splitlines()[0]) == {
        "schema": "tried.hits/v1",
        "pools": [str(other.resolve()), str(third.resolve())],
    }
    tried("hits", "--pool", other, "--clear", "--yes")
    assert tried("hits", "--pool", other, "--json").json["records"] == []
    assert ways(tried) == {"exp-1": {"opened": 1}}
    assert set(hits_of((other, third)).hits) == {"exp-1", "exp-5"}


def test_what_is_concluded_of_many_runs_at_once_is_no_hit_on_any(tried: Runner) -> None:
    """A sweep that is given up says nothing of how much each of its runs is worth looking at again."""
    tried.journal(*({"id": f"run-{number}", "params": {**PARAMS, "seed": number}} for number in range(21)))
    tried("conclude", "--where", "seed >= 0", "too hot", "--dead-end", "--yes")
    assert ways(tried) == {}
    tried("conclude", "--where", "seed >= 1", "too hot", "--dead-end", "--yes")
    assert ways(tried) == {f"run-{number}": {"concluded": 1} for number in range(1, 21)}


def test_the_list_for_programs(tried: Runner) -> None:
    last = datetime(2020, 3, 1, 12, 30, tzinfo=UTC)
    record_hit(tried.folder, ["exp-2"], "concluded", last)
    assert tried("hits", "--json").json == {
        "schema": "tried.hitlist/v1",
        "workspace": str(tried.folder),
        "file": str(hits_file(tried.folder)),
        "records": [
            {
                "record": "exp-2",
                "name": "hot",
                "in_pool": True,
                "hits": 1,
                "last": "2020-03-01T12:30:00Z",
                "ways": {"concluded": 1},
            }
        ],
        "unread": 0,
        "problem": None,
    }


def test_long_lists_are_cut_and_hostile_ids_are_harmless(tried: Runner) -> None:
    record_hit(tried.folder, ["\x1b[31mred\n\u202eid"], "opened", datetime.now(UTC))
    record_hit(tried.folder, [f"run-{number}" for number in range(59)], "opened", datetime.now(UTC) - timedelta(days=1))
    listed = tried("hits")
    assert len(listed.lines) == 51
    assert listed.lines[-1] == "… and 10 more; --json lists all"
    assert "\x1b" not in listed.out
    assert "\u202e" not in listed.out
    assert len(tried("hits", "--json").json["records"]) == 60


def test_they_are_cleared_after_asking(tried: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("exp-1", "exp-2", "lab:exp-3"):
        record_hit(tried.folder, [name], "opened", datetime.now(UTC))

    def answered(answer: str, *arguments: str) -> Any:
        monkeypatch.setattr("sys.stdin", io.StringIO(answer))
        return tried("hits", "--clear", *arguments)

    refused = answered("n\n")
    assert (refused.status, refused.out) == (2, "forget the hits on 3 records? [y/N] ")
    assert answered("").status == 2
    assert len(ways(tried)) == 3
    assert answered("y\n", "exp-3").lines == [
        "forget the hits on 1 record? [y/N] forgot the hits on 1 record",
    ]
    assert set(ways(tried)) == {"exp-1", "exp-2"}
    assert answered("", "exp-3").lines == ["forgot the hits on 0 records"]
    cleared = answered("", "--yes", "--json")
    assert (cleared.json["cleared"], cleared.json["records"]) == (2, [])
    assert ways(tried) == {}
    path = hits_file(tried.folder)
    assert path is not None
    assert not path.exists()
    assert tried("hits").lines == ["no hits: nobody opened, compared with, used or concluded a record here"]


def test_an_alias_is_cleared_with_its_record(tried: Runner) -> None:
    record_hit(tried.folder, ["mlflow:11aa22bb", "exp-1", "exp-2"], "opened", datetime.now(UTC))
    assert ways(tried) == {"exp-1": {"opened": 2}, "exp-2": {"opened": 1}}
    tried("hits", "--clear", "exp-1", "--yes")
    assert set(hits_of(tried.folder).hits) == {"exp-2"}


def test_what_is_damaged_is_told_and_the_rest_counts(tried: Runner) -> None:
    record_hit(tried.folder, ["exp-1"], "opened", datetime.now(UTC))
    path = hits_file(tried.folder)
    assert path is not None
    path.write_bytes(b'\xff\xfe{"rec\n' + path.read_bytes() + b'{"record": "exp-1", "hits": -1}\n{"rec')
    listed = tried("hits")
    assert listed.lines == ["1  exp-1  base  opened 1  just now"]
    assert listed.err == f"tried: {path}: 3 lines are no hit that can be read, and not counted\n"
    assert tried("hits", "--json").json["unread"] == 3
    told = f"tried: {path}: 3 lines are no hit that can be read, and not counted\n"
    ranked = ("--text", "base", "--json")
    assert tried("rank", *ranked).err == ""
    assert tried("rank", *ranked, "--policy", "steady").err == told
    config = tried.write("next.yaml", CONFIG)
    assert tried("explain", config, "exp-1", "--policy", "steady").err == told
    assert tried("explain", config, "exp-1").err == ""
    cleared = tried("hits", "exp-1", "--clear", "--yes", "--json")
    assert {name: cleared.json[name] for name in ("cleared", "unread", "problem")} == {
        "cleared": 1,
        "unread": 0,
        "problem": None,
    }


def test_ways_of_a_later_version_are_shown_as_others(tried: Runner) -> None:
    record_hit(tried.folder, ["exp-1"], "opened", datetime.now(UTC))
    path = hits_file(tried.folder)
    assert path is not None
    made = path.read_text()
    path.write_text(made + made.splitlines()[1].replace("opened", "starred") + "\n")
    assert tried("hits").lines == ["2  exp-1  base  opened 1, other 1  just now"]
    assert ways(tried) == {"exp-1": {"opened": 1, "other": 1}}


def test_a_file_of_another_version_is_told_and_can_be_cleared(tried: Runner) -> None:
    record_hit(tried.folder, ["exp-1"], "opened", datetime.now(UTC))
    path = hits_file(tried.folder)
    assert path is not None
    path.write_text('{"schema": "tried.hits/v9"}\n{"record": "exp-1", "hits": 3}\n')
    done = tried("diff", "exp-1", "exp-2")
    assert done.status == 0
    assert "tried: this is not counted as a hit: " in done.err
    assert "'tried.hits/v9', not tried.hits/v1" in done.err
    assert done.lines[-1] == "  2 parameters are equal"
    assert "another version of tried" in tried("hits").err
    assert tried("hits", "--clear", "exp-1", "--yes").lines == ["forgot the hits on 0 records"]
    assert path.read_text().startswith('{"schema": "tried.hits/v9"}')
    cleared = tried("hits", "--clear", "--yes", "--json")
    assert (cleared.status, cleared.err) == (0, "")
    assert (cleared.json["unread"], cleared.json["problem"]) == (0, None)
    assert not path.exists()


def test_where_nothing_can_be_kept_the_work_is_done_all_the_same(
    tried: Runner, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (state / "tried").touch()
    concluded = tried("conclude", "exp-2", "too hot", "--dead-end", "--json")
    assert (concluded.status, concluded.json["amends"]) == (0, "exp-2")
    assert concluded.err.startswith(
        f"tried: this is not counted as a hit: {state}/tried/hits: the folder cannot be made"
    )
    assert concluded.err.count("\n") == 1
    listed = tried("hits")
    told = (
        f"{state}/tried: hits cannot be kept: a file stands where a folder must be; move it away, or set XDG_STATE_HOME"
    )
    assert (listed.status, listed.err) == (0, f"tried: {told}\n")
    assert tried("hits", "--json").json["problem"] == told
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert "set HOME or XDG_STATE_HOME" in tried("hits").err
    assert tried("diff", "exp-1", "exp-2").status == 0


def terms(tried: Runner, *arguments: str) -> dict[str, dict[str, float]]:
    ranked = tried("rank", "--text", "base hot deep", "--now", "2020-01-29T00:00:00Z", "--json", *arguments)
    assert (ranked.status, ranked.err) == (0, "")
    return {
        result["id"]: {term["name"]: term["value"] for term in result["terms"]} for result in ranked.json["results"]
    }


def test_a_policy_counts_them_and_the_default_does_not(tried: Runner) -> None:
    before = tried("rank", "--text", "base hot deep", "--now", "2020-01-29T00:00:00Z", "--json").out
    record_hit(tried.folder, ["lab:exp-3"], "opened", datetime(2020, 1, 14, tzinfo=UTC))
    record_hit(tried.folder, ["lab:exp-3", "mlflow:11aa22bb"], "used", datetime(2020, 1, 15, tzinfo=UTC))
    after = tried("rank", "--text", "base hot deep", "--now", "2020-01-29T00:00:00Z", "--json").out
    assert after == before
    steady = terms(tried, "--policy", "steady")
    # 0.05 · h / (h + 8) · exp(−14 / 14)
    assert steady["lab:exp-3"]["hit_boost"] == pytest.approx(0.05 * 2 / 10 * math.exp(-1), rel=1e-12)
    assert steady["exp-1"]["hit_boost"] == pytest.approx(0.05 * 1 / 9 * math.exp(-1), rel=1e-12)
    assert steady["exp-2"]["hit_boost"] == 0
    tried.write("tried.toml", '[ranking]\npolicy = "steady"\n')
    assert terms(tried) == steady
    tried("hits", "--clear", "--yes")
    assert {each["hit_boost"] for each in terms(tried).values()} == {0}
