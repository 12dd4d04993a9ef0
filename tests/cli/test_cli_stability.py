from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

from tried.cli import stability as command
from tried.ranking.policy import DEFAULT_POLICY, STEADY

DEMO = Path(__file__).parents[2] / "fixtures" / "demo"
FOCAL = {"id": "b", "name": "focal"}
DICE = {"id": "a", "name": "dice"}
NEWEST = {"id": "z", "name": "other", "timestamp": "2026-11-29T00:00:00Z"}
NOW = ("--now", "2026-11-30T00:00:00Z")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a process says of the demo workspace."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    shutil.copytree(DEMO, folder)
    arguments = [sys.executable, "-m", "tried", "stability", "--json", *NOW]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def changes(run: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["change"]: each for each in run["changes"]}


def test_the_configs_of_a_workspace_are_edited_under_two_policies(demo: dict[str, Any]) -> None:
    assert demo["schema"] == "tried.stability/v1"
    assert demo["drafts"]["are"] == "configs"
    assert {Path(name).name for name in demo["drafts"]["names"]} == {
        path.name for path in (*DEMO.glob("configs/*"), DEMO / "autoresearch" / "train.py")
    }
    assert [(run["policy"], run["policy_id"], run["opened"]) for run in demo["runs"]] == [
        ("default", DEFAULT_POLICY.policy_id, 0),
        ("steady", STEADY.policy_id, 0),
        ("steady", STEADY.policy_id, 5),
    ]


def test_what_was_measured_adds_up(demo: dict[str, Any]) -> None:
    for run in demo["runs"]:
        overall = run["overall"]
        assert overall["steps"] == sum(each["steps"] for each in run["changes"])
        assert overall["moved"] == sum(each["moved"] for each in run["changes"])
        mean = sum(each["positional_churn"] for each in run["drafts"]) / len(run["drafts"])
        assert overall["positional_churn"] == pytest.approx(mean)
        assert all(0 <= each["set_churn"] <= each["positional_churn"] <= 1 for each in run["changes"])
    first, *others = demo["runs"]
    assert first["against_first"] is None
    before = {each["draft"]: each["positional_churn"] for each in first["drafts"]}
    for run in others:
        after = {each["draft"]: each["positional_churn"] for each in run["drafts"]}
        told = run["against_first"]
        assert told["lower"] == sum(after[name] < before[name] - 1e-9 for name in before)
        assert told["higher"] == sum(after[name] > before[name] + 1e-9 for name in before)
        assert told["lower"] + told["equal"] + told["higher"] == len(before)


def test_without_hits_neither_a_value_nor_nothing_moves_a_list(demo: dict[str, Any]) -> None:
    for run in demo["runs"]:
        if not run["opened"]:
            assert changes(run)["nothing changed"]["moved"] == 0
            assert changes(run)["value nudged"]["moved"] == 0
            assert changes(run)["value nudged"]["steps"] > 0


def test_a_small_pool_by_hand(tried: Runner) -> None:
    tried.journal(FOCAL, DICE, NEWEST)
    tried.write("run.yaml", "name: focal\n")
    report = tried("stability", "run.yaml", "--policy", "default", "--k", 2, *NOW, "--json").json
    (run,) = report["runs"]
    found = {
        name: (each["steps"], each["moved"], each["positional_churn"], each["set_churn"], each["retention"])
        for name, each in changes(run).items()
    }
    # The newest record comes later, so the first list is b (its word), a.
    # Half a line is `name:`, which asks for nothing: both score alike, a stands before b.
    assert found["half a line typed"] == (1, 1, 1.0, 0.0, 1.0)
    # With z the list is b, z (the only one with recency), a.
    assert found["pool grown by 1 %"] == (1, 1, 0.5, 0.5, 1.0)
    assert found["a day later"] == (1, 0, 0.0, 0.0, 1.0)
    assert found["nothing changed"] == (1, 0, 0.0, 0.0, 1.0)
    assert found["noisy vectors"][0] == 8
    assert set(found) == {"half a line typed", "pool grown by 1 %", "a day later", "nothing changed", "noisy vectors"}
    assert (report["k"], report["top"], report["records"]) == (2, 3, 3)


@pytest.mark.parametrize("now", ["9999-12-31T12:00:00Z", "9999-12-31T23:59:59.999999Z"])
def test_no_day_follows_the_last_one(tried: Runner, now: str) -> None:
    tried.journal(FOCAL, DICE, {**NEWEST, "timestamp": now})
    tried.write("run.yaml", "name: focal\n")
    done = tried("stability", "run.yaml", "--now", now, "--json")
    assert (done.status, done.err) == (0, "")
    for run in done.json["runs"]:
        assert {"half a line typed", "nothing changed"} < set(changes(run))
        assert "a day later" not in changes(run)


def test_a_record_of_the_last_day_is_a_draft_like_others(tried: Runner) -> None:
    tried.journal({"id": "z", "timestamp": "9999-12-31T00:00:00Z", "params": {"lr": 0.1}}, FOCAL)
    done = tried("stability", *NOW, "--json")
    assert (done.status, done.err) == (0, "")
    assert done.json["drafts"]["names"] == ["z"]
    assert "a day later" not in changes(done.json["runs"][0])


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00Z", "0001-01-01", "9999-12-31T23:59:59.999999Z"])
@pytest.mark.parametrize("command", [("stability",), ("rank",), ("explain",), ("rank", "--policy", "steady")])
def test_the_ends_of_time_are_times(tried: Runner, now: str, command: tuple[str, ...]) -> None:
    last = "9999-12-31T23:59:59.999999Z"
    tried.journal(*({**each, "timestamp": time} for each, time in ((FOCAL, "0001-01-01"), (DICE, last))), NEWEST)
    config = tried.write("run.yaml", "name: focal\nlr: 0.1\n")
    record = ["b"] if command[0] == "explain" else []
    done = tried(command[0], config, *record, *command[1:], "--now", now, "--json")
    assert (done.status, done.err) == (0, "")
    traced = tried("rank", config, "--now", now, "--policy", "steady", "--trace", "t.jsonl")
    assert (traced.status, traced.err) == (0, "")
    assert tried("replay", "t.jsonl").status == 0
    assert tried("replay", "t.jsonl", "--set", "decay_penalty.tau_days=1e-300").status == 0


def test_a_file_that_is_named_twice_counts_once(tried: Runner) -> None:
    tried.journal(FOCAL, DICE, NEWEST)
    config = tried.write("configs/run.yaml", "name: focal\n")
    (tried.folder / "link.yaml").symlink_to(config)
    once = tried("stability", config, *NOW, "--json").json
    names = (config, "configs/run.yaml", "configs/../configs/run.yaml", "link.yaml", "configs")
    again = tried("stability", *names, *NOW, "--json").json
    assert again == once
    assert (once["drafts"]["names"], once["drafts"]["found"]) == ([str(config)], 1)
    folder_first = tried("stability", "configs", config, *NOW, "--json").json
    assert folder_first["runs"] == once["runs"]


def test_records_stand_in_for_configs_that_there_are_not(tried: Runner) -> None:
    records = [
        {"id": f"r:{day}", "timestamp": f"2026-11-{day:02}T00:00:00Z", "params": {"optimizer": name, "lr": 0.1}}
        for day, name in ((1, "adam"), (2, "lion"), (3, "muon"))
    ]
    tried.journal(*records, {"id": "bare", "name": "without parameters"})
    report = tried("stability", *NOW, "--json").json
    assert report["drafts"] == {"are": "records", "names": ["r:3", "r:2", "r:1"], "found": 4}
    steps = {each["draft"] for each in report["runs"][0]["drafts"]}
    assert steps == {"r:1", "r:2", "r:3"}
    # The last one has nobody after it; the others see one more record come.
    assert changes(report["runs"][0])["pool grown by 1 %"]["steps"] == 2
    said = tried("stability", *NOW)
    assert said.lines[0].startswith("3 records as drafts of 4, 4 past runs; the first 10 places")
    assert "against default" in said.out


def test_a_large_pool_is_measured_without_vectors(tried: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "MOST_WITH_VECTORS", 2)
    tried.journal(FOCAL, DICE, NEWEST)
    tried.write("run.yaml", "name: focal\n")
    said = tried("stability", "run.yaml", *NOW)
    assert said.status == 0
    assert "no noisy vectors: the pool has more than 2 records" in said.lines
    assert "  noisy vectors" not in said.out
    report = tried("stability", "run.yaml", *NOW, "--json").json
    assert report["notes"] == ["no noisy vectors: the pool has more than 2 records"]


def test_mistakes_are_told_in_one_line(tried: Runner) -> None:
    def told(*arguments: object) -> str:
        said = tried("stability", *arguments)
        assert (said.status, said.out) == (2, "")
        (line,) = said.err.splitlines()
        return line

    assert "no past experiments found" in told()
    tried.journal(FOCAL)
    assert told() == "tried: no config here, and no record with parameters to make one of; give a config FILE"
    assert "did you mean steady?" in told("--policy", "stedy")
    assert "--policy steady: is given twice" in told("--policy", "steady", "--policy", "steady")
    assert "missing.yaml: there is no such file" in told("missing.yaml")
    tried.write("notes.txt", "words")
    assert "notes.txt: no language of configs; give a config file" in told("notes.txt")
    (tried.folder / "empty").mkdir()
    assert "empty: holds no config" in told("empty")
    tried.write("binary.yaml", "a: \0")
    assert "binary.yaml: binary data" in told("binary.yaml")
    assert "--k" in told("--k", "0")


def test_a_pool_of_one_has_nothing_to_move(tried: Runner) -> None:
    tried.journal(FOCAL)
    tried.write("run.yaml", "name: focal\n")
    report = tried("stability", "run.yaml", "--policy", "default", *NOW, "--json").json
    assert report["runs"][0]["overall"]["moved"] == 0
    assert "pool grown by 1 %" not in changes(report["runs"][0])
