"""`tried evaluate` on judgements of a user's own: what it says, what it refuses, and the gate."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

FIXTURE = Path(__file__).parents[2] / "fixtures" / "judgements"
BASE = {"lr": 0.01, "depth": 4, "width": 128, "warmup": 100, "dropout": 0.1}


def run(record_id: str, day: int, verdict: str = "works", **changed: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": record_id,
        "params": {**BASE, **changed},
        "timestamp": f"2026-06-{day:02}T00:00:00Z",
        "research_line": "a",
        "verdict": verdict,
    }
    if verdict == "dead_end":
        changes = [{"change": "ParamChanged", "key": key, "from": BASE[key], "to": new} for key, new in changed.items()]
        record["derivation"] = {"from": "a1", "changes": changes}
    return record


RUNS = (run("a1", 1), run("a2", 2, "dead_end", lr=0.5), run("a3", 3, depth=8), run("a4", 4, depth=6))
CONFIG = "lr: 0.5\ndepth: 5\nwidth: 128\nwarmup: 100\ndropout: 0.1\n"


def judgement(query: str = "q1", **more: Any) -> dict[str, Any]:
    relevant = [{"id": "a2", "grade": 3, "why": "diverged"}, {"id": "a1", "grade": 2}]
    return {"query": query, "config": "hot.yaml", "research_line": "a", "expect": "warn", "relevant": relevant, **more}


def judged(tried: Runner, *lines: object) -> Path:
    """A folder with a pool, a config and these judgements; text is written as it is."""
    tried.write("judged/hot.yaml", CONFIG)
    tried.journal(*RUNS, name="judged/pool.jsonl")
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    return tried.write("judged/judgements.jsonl", text)


def test_it_says_what_comes_of_each_query(tried: Runner) -> None:
    """All runs name the same five keys, so words (8/15 of the weight, as nothing has an architecture) tell them not
    apart. a2 is two days older than a4, which costs it 0.2 · (1 − 2^(−2/30)) = 0.009; its derivation makes it more
    important by 0.1, which gives it 4/15 · 0.1 = 0.027. So a2 is first: one of two that should be seen, and the one of
    the highest grade."""
    path = judged(tried, judgement(), judgement("q2", relevant=[], expect="silent"))

    result = tried("evaluate", path, "--k", 1, "--json")

    assert (result.status, result.err) == (0, "")
    found = result.json
    assert {key: found[key] for key in ("schema", "now", "records", "k", "gate", "not_used")} == {
        "schema": "tried.evaluation/v1",
        "now": "2026-06-04T00:00:00Z",  # of the newest record
        "records": 4,
        "k": 1,
        "gate": [],
        "not_used": [],
    }
    assert [one["name"] for one in found["policies"]] == ["default"]
    own = found["own_line"]
    assert own["findings"] == {
        "squiggles": 1,
        "right": 1,
        "judged": 1,
        "finding_precision": 1.0,
        "finding_precision_strict": 1.0,
        "answered": 1,
        "coverage": 1.0,
        "too_loud": 1,
        "silent_queries": 1,
        "false_alarms": 1,
    }
    first, silent = own["queries"]
    assert first["ranking"]["default"] == {"ids": ["a2"], "recall@1": 0.5, "ndcg@1": 1.0}
    (finding,) = first["findings"]
    assert (finding["severity"], finding["record"], finding["judged"], finding["too_loud"]) == (
        "warning",
        "a2",
        "right",
        False,
    )
    assert silent["ranking"]["default"]["recall@1"] is None
    assert silent["findings"][0]["too_loud"] is True


def test_two_policies_are_set_against_each_other(tried: Runner) -> None:
    """Of words alone nothing matches, so ids decide: a1 first. By time alone a4 is first."""
    tried.write(
        "judged/tried.toml",
        "[policies.newest]\nweights = {lexical = 0, structural = 0, recency = 1, importance = 0}\n"
        "[policies.named]\nweights = {lexical = 1, structural = 0, recency = 0, importance = 0}\n",
    )
    path = judged(tried, judgement(), judgement("q2", relevant=[{"id": "a4", "grade": 2}]))

    result = tried("evaluate", path, "--policy", "newest", "--policy", "named", "--k", 1, "--json")

    assert result.status == 0, result.err
    change = result.json["own_line"]["difference"]["recall@1"]
    assert change == {"mean": -0.25, "better": 1, "worse": 1, "equal": 0, "queries": {"q1": 0.5, "q2": -1.0}}
    told = tried("evaluate", path, "--policy", "newest", "--policy", "named", "--k", 1).out
    assert "queries under named: recall 1 better, 1 worse, 0 equal; nDCG 1 better, 1 worse, 0 equal" in told
    assert "0.000 → 0.500" in told


def test_the_gate_says_what_falls_short_and_by_how_much(tried: Runner) -> None:
    """a2 is listed first, which is the best for the one query and nothing for the other."""
    path = judged(tried, judgement(), judgement("q2", relevant=[{"id": "a1", "grade": 2}]))

    passes = tried("evaluate", path, "--min", "recall@4=1", "--min", "coverage=0.5", "--min", "whole_pool.ndcg@1=.5")
    fails = tried("evaluate", path, "--k", 4, "--min", "recall@4=1", "--min", "ndcg@1=0.9", "--policy", "steady")
    as_json = tried("evaluate", path, "--min", "whole_pool.ndcg@1=0.75", "--min", "coverage=0.6", "--json")

    assert (passes.status, passes.err) == (0, "")
    assert (fails.status, fails.err) == (1, "tried: ndcg@1 (policy steady): 0.5000, 0.4000 short of 0.9\n")
    assert as_json.status == 1
    assert as_json.json["gate"] == [
        {
            "scope": "whole_pool",
            "measure": "ndcg@1",
            "policy": "default",
            "least": 0.75,
            "most": None,
            "value": 0.5,
            "short_by": 0.25,
            "over_by": 0.0,
            "holds": False,
        },
        {
            "scope": "own_line",
            "measure": "coverage",
            "policy": None,
            "least": 0.6,
            "most": None,
            "value": 0.5,
            "short_by": pytest.approx(0.1),
            "over_by": 0.0,
            "holds": False,
        },
    ]


def test_the_gate_sees_false_alarms(tried: Runner) -> None:
    """The warning that is right for the first is a false alarm on the second."""
    path = judged(tried, judgement(), judgement("q2", relevant=[], expect="silent"))

    passes = tried("evaluate", path, "--min", "finding_precision=1", "--max", "false_alarms=1")
    fails = tried("evaluate", path, "--max", "false_alarms=0", "--max", "whole_pool.too_loud=0", "--json")
    blind = tried("evaluate", judged(tried, judgement()), "--max", "false_alarms=0")

    assert (passes.status, passes.err) == (0, "")
    assert fails.status == 1
    assert fails.err.splitlines() == [
        "tried: false_alarms: 1, at most 0 asked for",
        "tried: whole_pool.too_loud: 1, at most 0 asked for",
    ]
    assert fails.json["gate"][0] == {
        "scope": "own_line",
        "measure": "false_alarms",
        "policy": None,
        "least": None,
        "most": 0,
        "value": 1,
        "short_by": 0.0,
        "over_by": 1,
        "holds": False,
    }
    assert (blind.status, blind.err) == (1, "tried: false_alarms: nothing to measure it by, at most 0 asked for\n")


@pytest.mark.parametrize(
    ("settings", "squiggles"),
    [
        ("", 1),
        ("[findings]\nenable = false\n", 0),
        ('[[silence]]\nkey = "lr"\n', 0),
        ('[[silence]]\nid = "a2"\n', 0),
        ('[[silence]]\npath = "judged/*.yaml"\n', 0),
        ('[[silence]]\npath = "other/*.yaml"\n', 1),
        ("[findings.severity]\nmove = 'hover'\nrepeat = 'hover'\nknob = 'hover'\nnear = 'hover'\n", 0),
    ],
)
def test_only_what_users_get_is_judged(tried: Runner, settings: str, squiggles: int) -> None:
    path = judged(tried, judgement())
    tried.write("tried.toml", settings)

    found = tried("evaluate", path, "--json").json

    for scope in ("own_line", "whole_pool"):
        assert found[scope]["findings"]["squiggles"] == found[scope]["findings"]["right"] == squiggles
    assert sum(one["severity"] != "hover" for one in found["own_line"]["queries"][0]["findings"]) == squiggles
    assert tried("check", path.parent / "hot.yaml", "--pool", path.parent / "pool.jsonl").status == squiggles


def test_a_retry_may_name_its_record_by_an_alias(tried: Runner) -> None:
    path = judged(tried, judgement())
    tried.journal(*RUNS[:1], {**RUNS[1], "aliases": ["old-name"]}, *RUNS[2:], name="judged/pool.jsonl")
    loud = tried("evaluate", path, "--json").json
    tried.write("judged/hot.yaml", f"# tried: retry old-name\n{CONFIG}")

    quiet = tried("evaluate", path, "--json").json

    assert [each["own_line"]["findings"]["squiggles"] for each in (loud, quiet)] == [1, 0]


def test_findings_are_judged_as_loud_as_calibration_has_them(tried: Runner) -> None:
    """Twelve times the same depth ran again after a dead end of it, and worked: a repeat is no bad sign here."""
    pairs = [
        {**run(f"r{number}-{again}", 1, "works" if again else "dead_end", depth=100 + number), "timestamp": None}
        for number in range(12)
        for again in (0, 1)
    ]
    last = {**run("r99", 1, "dead_end", depth=77), "timestamp": None}
    path = judged(tried, judgement(relevant=[{"id": "r99", "grade": 3}]))
    tried.journal(*pairs, last, name="judged/pool.jsonl")
    tried.write("judged/hot.yaml", "lr: 0.01\ndepth: 77\nwidth: 128\nwarmup: 100\ndropout: 0.1\n")
    loud = tried("evaluate", path, "--json").json["own_line"]["findings"]
    tried.write("tried.toml", "[findings]\ncalibrate = true\n")

    quiet = tried("evaluate", path, "--json").json["own_line"]["findings"]

    assert (loud["squiggles"], loud["coverage"]) == (1, 1.0)
    assert (quiet["squiggles"], quiet["coverage"]) == (0, 1.0)


def test_bad_lines_are_told_and_the_others_evaluated(tried: Runner) -> None:
    lines = (
        judgement(),
        "{no json",
        judgement("q3", config="gone.yaml"),
        judgement("q4", relevant=[{"id": "a9", "grade": 3}]),
        judgement("q5", relevant=[{"id": "a1", "grade": 5}]),
        judgement("q1"),
        judgement("q7", reserch_line="a"),
        judgement("q8", research_line="aa"),
        judgement("q9", config="notes.txt"),
        judgement("q10", config="."),
        judgement("q11", config="bin.yaml"),
        judgement("q12", config="a\0b.yaml"),
    )
    path = judged(tried, *lines)
    tried.write("judged/notes.txt", "hello")
    (path.parent / "bin.yaml").write_bytes(b"\0\1\2")

    result = tried("evaluate", path, "--min", "recall@4=0")

    assert result.status == 2
    said = result.err.splitlines()
    assert [line.split(": ")[1] for line in said[:-1]] == [f"{path}:{number}" for number in range(2, 13)]
    for line, why in zip(
        said,
        (
            "no JSON (",
            "there is no such file",
            'no record of the pool has the id "a9"',
            "expected 3 (must be seen), 2 (should) or 1 (may), got 5",
            'query: "q1" stands in line 1 already',
            "did you mean research_line?",
            'research_line: no record of the pool has "aa"; did you mean the line "a"?',
            "of no language that is read",
            "config: ",
            "binary data",
            "is no path of a file",
            "11 judgements of 12 not used (see above)",
        ),
        strict=True,
    ):
        assert why in line
    assert result.out.startswith("1 judged config, 4 records")
    assert tried("evaluate", path, "--min", "recall@4=0", "--lenient").status == 0
    assert tried("evaluate", path, "--min", "ndcg@2=1", "--lenient").status == 1
    assert len(tried("evaluate", path, "--json").json["not_used"]) == 11


def test_what_a_bad_line_holds_is_cut(tried: Runner) -> None:
    long = "x" * 5000
    bad = (
        judgement(config=f"{long}.yaml"),
        judgement("q2", config=f"{long}/a.yaml"),
        judgement("q3", research_line=long),
        judgement("q4", self_id=long),
        judgement("q5", config=f"{'x' * 200}.yaml"),
        judgement("q6", relevant=[{"id": f"r{number}", "grade": 3} for number in range(1000)]),
        judgement("q7", relevant=[{"id": "a1", "grade": 3}] * 1000),
    )
    path = judged(tried, judgement("q0"), *bad)

    result = tried("evaluate", path)

    said = result.err.splitlines()
    assert len(said) == len(bad) + 1
    for line in said:
        assert "x" * 60 not in line
        assert len(line) < 2 * len(str(path)) + 300
    assert "x…: there is no such file" in said[4]
    assert said[5].endswith('no record of the pool has the id "r4"; and 995 more mistakes')
    assert said[6].endswith("; and 994 more mistakes")  # 999 of 1,000 are graded again


def test_a_file_of_something_else_is_told_briefly(tried: Runner) -> None:
    path = judged(tried, *({**run("a1", 1), "id": f"r{number}"} for number in range(150)))

    result = tried("evaluate", path)

    assert (result.status, result.out) == (2, "")
    said = result.err.splitlines()
    assert len(said) == 102
    assert said[100].endswith("… and 50 more lines that cannot be used")
    assert "no line of it can be used" in said[101]


@pytest.mark.parametrize(
    ("text", "said"), [("", "holds no judgement"), ("\n\n", "holds no judgement"), ("{\n", "no line of it can be used")]
)
def test_nothing_to_evaluate_is_an_error_even_if_lenient(tried: Runner, text: str, said: str) -> None:
    path = judged(tried)
    path.write_text(text, encoding="utf-8")

    result = tried("evaluate", path, "--lenient")

    assert (result.status, result.out) == (2, "")
    assert f"{said}; docs/evaluation.md shows" in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--min", "recal@10=1"), "--min recal@10: no measure; did you mean recall@10?"),
        (("--min", "coverage=2"), "expected a number from 0 to 1, got 2"),
        (("--max", "coverage=1"), "--max coverage: the more the better; --min coverage=1 holds it"),
        (("--k", "0"), "--k"),
        (("--now", "tomorrow"), "--now tomorrow: expected a time"),
        (("--policy", "stedy"), "did you mean steady?"),
        (("--policy", "steady", "--policy", "steady"), "--policy steady: is given twice"),
        (("--policy", "default", "--policy", "steady", "--policy", "x"), "two policies can be compared, no more"),
        (("--pool", "gone.jsonl"), "--pool gone.jsonl: there is no such file"),
    ],
)
def test_a_mistake_is_one_line(tried: Runner, arguments: tuple[str, ...], said: str) -> None:
    result = tried("evaluate", judged(tried, judgement()), *arguments)

    assert (result.status, result.out) == (2, "")
    assert said in result.err
    assert len(result.err.splitlines()) == 1


def test_what_is_no_file_is_told(tried: Runner) -> None:
    os.mkfifo(tried.folder / "pipe")
    (tried.folder / "folder").mkdir()
    for name, said in (("gone.jsonl", "there is no such file"), ("pipe", "is a pipe"), ("folder", "cannot be read")):
        result = tried("evaluate", tried.folder / name)
        assert (result.status, len(result.err.splitlines())) == (2, 1)
        assert said in result.err


def test_without_a_pool_beside_it_that_of_the_workspace_is_taken(tried: Runner) -> None:
    path = judged(tried, judgement())
    (path.parent / "pool.jsonl").unlink()
    nothing = tried("evaluate", path)
    tried.write("tried.toml", "")
    tried.journal(*RUNS)

    assert nothing.status == 2
    assert "no past experiments" in nothing.err
    assert tried("evaluate", path, "--json").json["records"] == 4
    given = tried("evaluate", path, "--pool", tried.journal(*RUNS[:3], name="other.jsonl"), "--json")
    assert given.json["records"] == 3


def test_judgements_of_hostile_text_are_shown_as_text(tried: Runner) -> None:
    path = judged(tried, judgement("\x1b[31m[red]q" + "x" * 5000), judgement("\u202eq", config="\x1b[31mgone.yaml"))

    result = tried("evaluate", path)

    assert not any(mark in result.out + result.err for mark in ("\x1b", "\u202e"))
    assert max(map(len, result.lines)) < 200


def test_the_invented_judgements_pass_their_gate(tried: Runner) -> None:
    """As continuous integration runs it; each config is of a language of its own kind."""
    shutil.copytree(FIXTURE, tried.folder / "judgements")
    makefile = (FIXTURE.parents[1] / "Makefile").read_text(encoding="utf-8")
    (gate,) = re.findall(r"tried evaluate fixtures/(judgements/judgements.jsonl(?:.*\\\n)*.*)", makefile)

    result = tried("evaluate", *gate.replace("\\\n", " ").split(), "--json")

    assert (result.status, result.err) == (0, "")
    assert {"finding_precision", "false_alarms"} <= {one["measure"] for one in result.json["gate"]}
    queries = {query["query"]: query for query in result.json["own_line"]["queries"]}
    assert len(queries) == 10
    assert {Path(query["config"]).suffix for query in queries.values()} == {
        ".yaml",
        ".json",
        ".toml",
        ".py",
        ".env",
        ".sh",
    }
    assert queries["signs-steady"]["findings"] == []
    (hot, *_) = [one for one in queries["greenhouse-hot"]["findings"] if one["severity"] == "warning"]
    assert (hot["record"], hot["judged"]) == ("GH-04", "right")
    assert "GH-20" not in queries["greenhouse-mild"]["ranking"]["default"]["ids"]  # its own run
