"""`tried rank --trace`, `[trace] enabled` and `tried replay`; some by processes that share nothing but the trace."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner
from filelock import FileLock

from tried.ranking.policy import DEFAULT_POLICY, STEADY, policy_json
from tried.render.trace_seal import sealed_id
from tried.storage.traces import trace_files

NOW = "2026-11-30T00:00:00Z"
CONFIG = "# Zugspitze: warm up longer\nlr: 0.1\nbatch_size: 32\noptimizer: adamw\n"


def records(count: int = 6) -> list[dict[str, Any]]:
    return [
        {
            "id": f"EXP-{number}",
            "name": "warm start" if number % 2 else "adamw",
            "params": {"lr": 0.1 * number, "batch_size": 32},
            "timestamp": f"2026-{11 - number:02}-15T00:00:00Z",
            "conclusion": {"headline": "ümlaut → fine", "outcome": "failed" if number == 3 else "completed"},
        }
        for number in range(count)
    ]


@pytest.fixture
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder / "tried" / "traces"


@pytest.fixture
def own_settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Writes the user's own tried.toml: what no project may ask for."""

    def write(text: str) -> None:
        home = tmp_path_factory.mktemp("settings")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
        (home / "tried").mkdir()
        (home / "tried" / "tried.toml").write_text(text)

    return write


def traced(tried: Runner, *options: object, name: str = "t.jsonl") -> Path:
    """A trace of a config beside six records, in a file of its own."""
    tried.journal(*records())
    config = tried.write("config.yaml", CONFIG)
    path = tried.folder / name
    done = tried("rank", config, "--now", NOW, "--trace", path, *options)
    assert (done.status, done.err) == (0, "")
    return path


def change(path: Path, *, is_sealed: bool = False, **fields: Any) -> None:
    """Edits the only trace of a file; `is_sealed`: as another version of tried would have made it."""
    data = {**json.loads(path.read_bytes()), **fields}
    data["id"] = sealed_id(data) if is_sealed else data["id"]
    path.write_text(json.dumps(data) + "\n", encoding="ascii")


def elsewhere(folder: Path, *arguments: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Another process, in another folder, with a home, a locale and a hash seed of its own."""
    folder.mkdir(exist_ok=True)
    own = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "LC_", "LANG", "PYTHON"))}
    own |= {"HOME": str(folder), "XDG_STATE_HOME": str(folder / "state"), **environment}
    command = [sys.executable, "-m", "tried", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, timeout=60, check=False)


def test_a_trace_of_another_process_gives_the_same_bytes_without_the_pool(
    tried: Runner, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tried.journal(*records())
    config = tried.write("config.yaml", CONFIG)
    path = tried.folder / "t.jsonl"
    ranked = elsewhere(
        tried.folder, "rank", config, "--now", NOW, "--trace", path, "--json", PYTHONHASHSEED="1", LC_ALL="C"
    )
    assert (ranked.returncode, ranked.stderr) == (0, b"")
    other = tmp_path_factory.mktemp("other")
    moved = Path(shutil.move(path, other / "from-elsewhere.jsonl"))
    shutil.rmtree(tried.folder / ".tried")
    config.unlink()
    answers = set()
    for seed, locale in (("2", "de_DE.UTF-8"), ("3", "C"), ("4", "tr_TR.UTF-8")):
        again = elsewhere(other, "replay", moved, "--json", PYTHONHASHSEED=seed, LC_ALL=locale, TZ="Asia/Kolkata")
        assert (again.returncode, again.stderr) == (0, b"")
        answers.add(again.stdout)
    assert len(answers) == 1
    report = json.loads(answers.pop())
    assert report["identical"] is True
    # the bytes of the results as they stand in the trace
    results = json.dumps(report["results"], separators=(",", ":")).encode()
    assert b'"result":' + results + b"}\n" == moved.read_bytes()[-len(results) - 11 :]
    # and, but for the inputs, those of the answer that was given then
    for result in report["results"]:
        for term in result["terms"]:
            term.pop("inputs", None)
    assert report["results"] == json.loads(ranked.stdout)["results"]


def test_what_a_replay_under_another_policy_says_is_what_the_pool_says(tried: Runner) -> None:
    path = traced(tried, "--policy", "default")
    options = ("--policy", "steady", "--set", "half_life_days=7", "--set", "weights.lexical=0.1")
    replayed = tried("replay", path, *options, "--json")
    assert (replayed.status, replayed.err) == (0, "")
    ranked = tried("rank", "config.yaml", "--now", NOW, *options, "--json").json
    report = replayed.json
    assert report["policy_id"] == ranked["policy_id"]
    assert report["traced_policy_id"] == DEFAULT_POLICY.policy_id
    for result in report["results"]:
        for term in result["terms"]:
            term.pop("inputs", None)
    assert report["results"] == ranked["results"]
    before = [each["id"] for each in tried("rank", "config.yaml", "--now", NOW, "--json").json["results"]]
    for move in report["moves"]:
        assert before[move["was"] - 1] == move["id"]
        assert move["moved"] == move["was"] - move["rank"]
        assert "recency" in move["changed"]


def test_what_nobody_can_want_is_remarked_upon(tried: Runner) -> None:
    path = traced(tried)
    names = ("lexical", "structural", "recency", "importance")
    zero = [part for name in names for part in ("--set", f"weights.{name}=0")]
    assert tried("replay", path, *zero, "--json").err == (
        "tried: policy default: all weights are 0: every score is 0, and records are ordered by their ids\n"
    )
    idle = tried("replay", path, "--policy", "default", "--set", "hit_boost.weight=0.2")
    assert idle.err == (
        "tried: policy default: hit_boost.weight is set, but hit_boost is off: hit_boost.enabled=true turns it on\n"
    )
    assert tried("replay", path, "--policy", "steady", "--set", "hit_boost.weight=0.2").err == ""


def test_the_keys_of_the_answer(tried: Runner) -> None:
    path = traced(tried)
    report = tried("replay", path, "--json").json
    keys = [
        "schema", "trace", "now", "version", "generation", "limit", "total", "candidates", "complete", "policy_id",
        "policy", "traced_policy_id", "identical", "results",
    ]  # fmt: skip
    assert list(report) == keys
    assert report["schema"] == "tried.replay/v1"
    assert report["trace"] == json.loads(path.read_bytes())["id"]
    assert (report["now"], report["limit"], report["total"], report["candidates"]) == (NOW, 20, 6, 6)
    assert report["policy"] == policy_json(DEFAULT_POLICY)
    other = tried("replay", path, "--policy", "steady", "--json").json
    assert list(other) == [*keys, "moves"]
    assert (other["identical"], other["complete"]) == (None, True)
    assert list(other["moves"][0]) == [
        "id", "rank", "was", "moved", "listed", "score", "was_score", "changed", "breakdown", "was_breakdown",
    ]  # fmt: skip


def test_a_file_may_hold_a_policy(tried: Runner) -> None:
    path = traced(tried)
    tried.write("other.json", json.dumps(policy_json(STEADY)))
    tried.write("other.toml", "half_life_days = 7\n[lexical_bonus]\nenabled = true\n")
    assert tried("replay", path, "--policy", "other.json", "--json").json["policy_id"] == STEADY.policy_id
    policy = tried("replay", path, "--policy", "other.toml", "--json").json["policy"]
    assert (policy["half_life_days"], policy["lexical_bonus"]["enabled"]) == (7.0, True)
    tried.write("tried.toml", "[policies.mine]\nhalf_life_days = 3\n")
    assert tried("replay", path, "--policy", "mine", "--json").json["policy"]["half_life_days"] == 3.0


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("p.toml", "half_life_days = ", "--policy p.toml: no TOML: "),
        ("p.json", "{", "--policy p.json: no JSON: "),
        ("p.json", "[1]", "--policy p.json: a policy is a table of knobs, not [1]"),
        ("p.json", '{"half_life_days": NaN}', "--policy p.json: half_life_days: expected a finite number"),
        ("p.json", '{"weights": {"lexcal": 1}}', "did you mean weights.lexical?"),
        ("p.toml", "ttl_days = 10", "ttl_days: the trace holds the candidates of any age"),
        ("p.json", "[" * 100_000, "--policy p.json: it nests too deeply"),
    ],
)
def test_a_file_that_is_no_policy(tried: Runner, name: str, content: str, told: str) -> None:
    path = traced(tried)
    tried.write(name, content)
    done = tried("replay", path, "--policy", name)
    assert (done.status, done.out) == (2, "")
    assert told in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--policy", "steddy"), "--policy steddy: policy 'steddy': there is none of that name; did you mean steady?"),
        (("--policy", "none.toml"), "--policy none.toml: cannot be read: no such file"),
        (("--set", "half_life=3"), "--set: half_life: no knob of a policy; did you mean half_life_days?"),
        (("--set", "half_life_days"), "--set: half_life_days: expected KNOB=VALUE"),
        (("--set", "half_life_days=nan"), "--set: half_life_days: expected a finite number"),
        (("--set", "ttl_days=30"), "--set ttl_days=none"),
        (("--set", "research_line=vision"), "passed its filters"),
        (("--set", "filters.tags=a"), "passed its filters"),
        (("--number", "2"), "--number 2: "),
        (("--id", "zz"), "--id zz: "),
        (("--id", "a", "--number", "1"), "give one of them"),
    ],
)
def test_what_a_trace_cannot_tell(tried: Runner, options: tuple[str, ...], told: str) -> None:
    path = traced(tried)
    done = tried("replay", path, *options)
    assert (done.status, done.out) == (2, "")
    assert told in done.err
    assert len(done.err.splitlines()) == 1


def test_a_cut_trace_says_that_others_may_rank_there(tried: Runner, own_settings: Callable[[str], None]) -> None:
    own_settings("[trace]\ncandidates = 3\n")
    path = traced(tried, "--limit", 2)
    same = tried("replay", path)
    assert same.status == 0
    assert "3 of 6 candidates" in same.out
    assert "identical: the results of the trace, byte for byte" in same.out
    other = tried("replay", path, "--policy", "steady")
    assert other.status == 0
    assert "not complete: others than the candidates that were kept may rank among these" in other.out
    assert tried("replay", path, "--policy", "steady", "--json").json["complete"] is False


def test_places_before_and_after_stand_beside_each_other(tried: Runner) -> None:
    """Without structure the weights are 0.4, 0.15 and 0.2 of 0.75; both have an importance of 0.3; thirty days halve
    recency."""
    old = {"id": "old", "name": "warm", "timestamp": "2026-10-31T00:00:00Z"}
    new = {"id": "new", "name": "cold", "timestamp": NOW}
    tried.journal(old, new)
    path = tried.folder / "t.jsonl"
    assert tried("rank", "--text", "warm", "--now", NOW, "--limit", 1, "--trace", path).status == 0
    done = tried("replay", path, "--set", "weights.lexical=0", "--set", "weights.importance=0")
    assert done.status == 0
    assert done.lines[2:] == [
        "  1  1.000  · new  cold  was 2, 0.280",
        "              recency 0.200 → 1.000, importance 0.080 → 0.000",
        "no longer among the first 1:",
        "  2  0.500  · old  warm  was 1, 0.713",
        "              lexical 0.533 → 0.000, recency 0.100 → 0.500, importance 0.080 → 0.000",
    ]


def test_results_that_do_not_come_out_again_are_status_1(tried: Runner) -> None:
    path = traced(tried)
    result = json.loads(path.read_bytes())["result"]
    result[1]["score"] = 0.123
    change(path, result=result, is_sealed=True)
    done = tried("replay", path)
    assert done.status == 1
    assert "not identical: rank 2 of the trace is " in done.out
    assert "0.123" in done.out
    assert tried("replay", path, "--json").json["identical"] is False
    assert tried("replay", path, "--policy", "steady").status == 0


@pytest.mark.parametrize(
    "fields", [{"total": 60, "complete": False}, {"generation": 99}, {"version": "9.9.9"}, {"filters": {"tags": ["a"]}}]
)
def test_one_that_was_edited_is_refused_under_any_policy(tried: Runner, fields: dict[str, Any]) -> None:
    path = traced(tried)
    told = json.loads(path.read_bytes())["id"]
    change(path, **fields)
    for options in ((), ("--policy", "steady"), ("--json",)):
        done = tried("replay", path, *options)
        assert (done.status, done.out) == (2, "")
        assert f'{path}: line 1: id: "{told}" is not the hash of the rest (' in done.err
        assert done.err.endswith("): the trace was edited after it was made\n")
    listed = tried("replay", "--list", path)
    assert (listed.status, listed.err) == (0, "")
    assert "was edited after it was made" in listed.out


def test_a_newer_trace_and_one_by_hand_are_refused_by_line_and_field(tried: Runner) -> None:
    path = traced(tried)
    good = path.read_bytes()
    candidates = json.loads(good)["candidates"]
    candidates[2]["features"]["bm25"] = float("nan")
    change(path, candidates=candidates)
    bad = path.read_bytes()
    newer = good.replace(b"tried.trace/v1", b"tried.trace/v2")
    path.write_bytes(good + bad + newer)
    done = tried("replay", path)
    assert (done.status, done.out) == (2, "")
    assert f"{path}: line 3: schema: tried.trace/v2 is of a newer tried; this one reads tried.trace/v1" in done.err
    assert "the 2 other traces can be used" in done.err
    done = tried("replay", path, "--number", 2)
    assert done.status == 2
    assert f"{path}: line 2: candidates[2].features.bm25: should be a finite number, got NaN" in done.err
    assert tried("replay", path, "--number", 1).status == 0
    listed = tried("replay", "--list", path)
    assert listed.status == 0
    assert "line 2: candidates[2].features.bm25" in listed.out
    assert "line 3: schema: tried.trace/v2" in listed.out


def test_torn_lines_are_passed_over_with_a_note(tried: Runner) -> None:
    path = traced(tried)
    line = path.read_bytes()
    for end in (1, len(line) // 2, len(line) - 2):
        path.write_bytes(line + line[:end])
        done = tried("replay", path)
        assert done.status == 0
        assert f"{path}: line 2: not a whole trace ({end:,} bytes of it); passed over" in done.err
        assert "identical" in done.out
    path.write_bytes(line + line[:-1])  # whole, but for its end
    assert tried("replay", path, "--number", 2).err == ""
    path.write_bytes(line[:100] + b"\n" + line)
    assert tried("replay", path, "--number", 1).status == 0
    path.write_bytes(line[:100])
    done = tried("replay", path)
    assert done.status == 2
    assert "there is no trace in it; see above" in done.err


def test_the_last_one_is_replayed_and_others_by_number_or_id(tried: Runner) -> None:
    path = traced(tried)
    traced(tried, "--policy", "steady")
    ids = [json.loads(line)["id"] for line in path.read_bytes().splitlines()]
    assert tried("replay", path).lines[0].startswith(f"trace {ids[1]}, the last of 2: {NOW}, policy steady ")
    assert tried("replay", path, "--number", 1).lines[0].startswith(f"trace {ids[0]}: {NOW}, policy default ")
    assert tried("replay", path, "--id", ids[0][:6]).lines[0].startswith(f"trace {ids[0]}: ")
    listed = tried("replay", path, "--list", "--json").json
    assert listed["schema"] == "tried.traces/v1"
    assert [(each["number"], each["line"], each["id"], each["policy_name"]) for each in listed["traces"]] == [
        (1, 1, ids[0], "default"),
        (2, 2, ids[1], "steady"),
    ]
    assert {(each["candidates"], each["complete"], each["problem"]) for each in listed["traces"]} == {(6, True, None)}


def test_nothing_is_traced_unless_it_is_asked_for(tried: Runner, state: Path) -> None:
    tried.journal(*records())
    config = tried.write("config.yaml", CONFIG)
    assert tried("rank", config).status == 0
    assert not state.exists()
    done = tried("replay")
    assert done.status == 2
    assert "no trace is kept: turn them on ([trace] enabled = true in tried.toml)" in done.err


def test_settings_turn_it_on(tried: Runner, state: Path) -> None:
    tried.journal(*records())
    tried.write(
        "tried.toml", "[trace]\nenabled = true\n[policies.mine]\nhalf_life_days = 3\n[ranking]\npolicy = 'mine'\n"
    )
    config = tried.write("config.yaml", CONFIG)
    before = {path for path in tried.folder.rglob("*") if path.is_file()}
    assert tried("rank", config, "--now", NOW).err == ""
    assert tried("rank", config, "--now", NOW, "--set", "half_life_days=4").err == ""
    assert {path for path in tried.folder.rglob("*") if path.is_file()} == before
    (path,) = trace_files(state)
    kept = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [each["policy_name"] for each in kept] == ["mine", None]
    assert [each["policy"]["half_life_days"] for each in kept] == [3.0, 4.0]
    assert b"Zugspitze" not in path.read_bytes()
    assert tried("replay").lines[0].startswith(f"trace {kept[1]['id']}, the last of 2: ")
    assert len(tried("replay", "--list").lines) == 3


@pytest.mark.parametrize("how", ["setting", "option"])
def test_the_text_is_kept_where_it_is_asked_for(tried: Runner, how: str, own_settings: Callable[[str], None]) -> None:
    if how == "setting":
        own_settings("[trace]\ninclude_text = true\n")
    path = traced(tried, *(["--trace-text"] if how == "option" else []))
    assert "Zugspitze: warm up longer" in json.loads(path.read_bytes())["query"]["text"]


def test_a_state_folder_that_cannot_be_written_changes_no_answer(
    tried: Runner, state: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried.journal(*records())
    config = tried.write("config.yaml", CONFIG)
    expected = tried("rank", config, "--now", NOW, "--json")
    tried.write("tried.toml", "[trace]\nenabled = true\n")
    state.parent.mkdir(parents=True)
    state.write_text("in the way", encoding="ascii")
    done = tried("rank", config, "--now", NOW, "--json")
    assert (done.status, done.out) == (0, expected.out)
    assert "the ranking was not traced: " in done.err
    assert "the folder cannot be made" in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("config.yaml", "it holds something else than traces"),
        (".", "it is a folder"),
        ("no/t.jsonl", "there is no folder"),
    ],
)
def test_a_file_that_cannot_take_a_trace_is_an_error_behind_the_answer(tried: Runner, name: str, told: str) -> None:
    tried.journal(*records())
    config = tried.write("config.yaml", CONFIG)
    expected = tried("rank", config, "--now", NOW)
    done = tried("rank", config, "--now", NOW, "--trace", name)
    assert (done.status, done.out) == (2, expected.out)
    assert told in done.err
    assert config.read_text(encoding="utf-8") == CONFIG


def test_there_is_nothing(tried: Runner) -> None:
    done = tried("replay", "none.jsonl")
    assert (done.status, done.out) == (2, "")
    assert "none.jsonl: there is no such file or folder" in done.err
    tried.write("empty.jsonl", "")
    assert "there is no trace in it" in tried("replay", "empty.jsonl").err
    tried.write("config.yaml", CONFIG)
    done = tried("replay", "config.yaml")
    assert done.status == 2
    assert "config.yaml: line 1: not a whole trace" in done.err


def test_an_empty_pool_has_a_trace_too(tried: Runner) -> None:
    tried.journal()
    path = tried.folder / "t.jsonl"
    tried("rank", "--text", "warm", "--now", NOW, "--trace", path)
    done = tried("replay", path)
    assert done.status == 0
    assert "0 candidates" in done.out
    assert "identical" in done.out
    assert tried("replay", path, "--policy", "steady").status == 0


def test_names_that_would_command_the_terminal_are_harmless(tried: Runner) -> None:
    tried.journal({"id": "a\x1b[31m", "name": "red\x1b[2J\r\nrow", "params": {"lr": 1}})
    path = tried.folder / "t.jsonl"
    assert tried("rank", "--text", "red", "--now", NOW, "--trace", path).status == 0
    for options in ((), ("--policy", "steady"), ("--list",)):
        done = tried("replay", path, *options)
        assert done.status == 0
        assert "\x1b" not in done.out
        assert "\r" not in done.out


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("options", [(), ("--json",)])
@pytest.mark.parametrize("count", [6, 3000])
def test_whoever_reads_no_further_has_a_trace_all_the_same(
    tried: Runner, state: Path, options: tuple[str, ...], count: int
) -> None:
    """Of few records all fits into one write, of many not; both end as they do without a trace."""
    tried.journal(*({"id": f"r{number}", "params": {"lr": number}} for number in range(count)))
    tried.write("tried.toml", "[trace]\nenabled = true\n")
    config = tried.write("config.yaml", CONFIG)
    statuses = []
    for traced in ((), ("--trace", "t.jsonl")):
        reading, writing = os.pipe()
        os.close(reading)
        command = [sys.executable, "-m", "tried", "rank", str(config), "--limit", str(count), *options, *traced]
        done = subprocess.run(
            command, cwd=tried.folder, stdout=writing, stderr=subprocess.PIPE, timeout=60, check=False
        )
        os.close(writing)
        assert done.stderr == b""
        statuses.append(done.returncode)
    assert statuses[0] == statuses[1]
    assert tried("replay", "t.jsonl").status == 0
    assert [len(path.read_bytes().splitlines()) for path in trace_files(state)] == [2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_an_answer_that_cannot_be_written_is_traced(tried: Runner) -> None:
    tried.journal(*records())
    config = tried.write("config.yaml", CONFIG)
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "tried", "rank", str(config), "--json", "--trace", "t.jsonl"]
        done = subprocess.run(command, cwd=tried.folder, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode != 0
    assert b"No space left" in done.stderr
    assert tried("replay", "t.jsonl").status == 0


def test_a_folder_that_somebody_holds_is_told_soon_and_by_its_name(tried: Runner, state: Path) -> None:
    tried.journal(*records())
    tried.write("tried.toml", "[trace]\nenabled = true\n")
    config = tried.write("config.yaml", CONFIG)
    state.mkdir(parents=True)
    began = time.monotonic()
    with FileLock(state / ".traces.lock"):
        done = tried("rank", config, "--now", NOW)
    assert time.monotonic() - began < 5
    assert done.status == 0
    assert done.err.startswith(f"tried: the ranking was not traced: {state}: another process has held the lock ")


def test_nothing_is_left_beside_the_file(tried: Runner) -> None:
    path = traced(tried)
    assert tried("rank", "config.yaml", "--trace", "config.yaml").status == 2
    assert {each.name for each in tried.folder.iterdir()} == {".tried", "config.yaml", path.name}
