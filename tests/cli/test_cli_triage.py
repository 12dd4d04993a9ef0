"""`tried triage`: a session of a person, over a real terminal and as plain text; nothing is written without a yes."""

from __future__ import annotations

import io
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

WORKED = [
    {"id": f"ok{i}", "params": {"lr": lr, "batch_size": 32}, "conclusion": {"outcome": "completed", "derived": True}}
    for i, lr in enumerate([0.001, 0.002, 0.003] * 4)
]


def failed(record_id: str, lr: float, size: int, cause: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": record_id,
        "params": {"lr": lr, "batch_size": size},
        "conclusion": {"outcome": "failed", "derived": True},
        "cause": cause,
        **fields,
    }


HOT = [failed(f"hot{i}", lr, 32, "diverged") for i, lr in enumerate((0.01, 0.1, 0.5))]
BIG = [failed(f"big{i}", 0.001, size, "out_of_memory") for i, size in enumerate((64, 128))]
BROKEN = failed("broken", 0.001, 32, "code_error", error="KeyError: 'val'")
DIVERGES = "diverges at lr >= 0.01 (3 runs; 0.003 works)"
MEMORY = "out of memory at batch_size >= 64 (2 runs; 32 fits)"
CODE = "fails in the code: KeyError: 'val'"


@pytest.fixture
def pool(tried: Runner) -> Path:
    return tried.journal(*WORKED, *HOT, *BIG, BROKEN)


def written(journal: Path) -> list[tuple[str, str, str | None, str | None]]:
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return [
        (line["amends"], line["conclusion"]["headline"], line.get("verdict"), line.get("cause"))
        for line in lines
        if line.get("kind") == "amendment"
    ]


def session(tried: Runner, patch: pytest.MonkeyPatch, text: str, *arguments: str) -> list[str]:
    patch.setattr("sys.stdin", io.StringIO(text))
    done = tried("triage", *arguments)
    assert (done.status, done.err) == (0, "")
    return done.lines


def test_yes_edit_and_skip(tried: Runner, pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = session(tried, monkeypatch, "y\ne\nthe card has 8 GB\ns\n")
    assert out[0] == "6 runs ended badly without a written reason: 3 groups"
    assert [line for line in out if line.startswith("     →")] == [
        f"     → {DIVERGES}  (a dead end)",
        f"     → {MEMORY}  (a dead end)",
        f"     → {CODE}",
    ]
    assert out[-1].endswith(f"noted in {pool}: 5 runs; 1 left without a reason")
    assert written(pool) == [
        *((f"hot{i}", DIVERGES, "dead_end", "diverged") for i in range(3)),
        *((f"big{i}", "the card has 8 GB", "dead_end", "out_of_memory") for i in range(2)),
    ]
    assert tried("triage", "--list").lines[0] == "1 run ended badly without a written reason: 1 group"


def test_a_code_error_is_no_dead_end_unless_the_person_says_so(
    tried: Runner, pool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(tried, monkeypatch, "s\ns\ny\n")
    assert written(pool) == [("broken", CODE, None, "code_error")]
    pool.write_text("".join(json.dumps(one) + "\n" for one in (*WORKED, BROKEN)))
    session(tried, monkeypatch, "d\n")
    assert written(pool) == [("broken", CODE, "dead_end", "code_error")]


@pytest.mark.parametrize("text", ["q\n", "y\ny\nquit\n", "s\ns\ns\n", "", "a\n", "s\n\n?\nx\n"])
def test_nothing_is_written_that_nobody_agreed_to(
    tried: Runner, pool: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    before = pool.read_bytes()
    assert session(tried, monkeypatch, text)[-1].endswith("nothing was written")
    assert pool.read_bytes() == before


def test_all_the_rest_can_be_skipped(tried: Runner, pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session(tried, monkeypatch, "y\na\n")
    assert [one[0] for one in written(pool)] == ["hot0", "hot1", "hot2"]


def test_a_group_without_a_sentence_needs_one(tried: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = tried.journal(failed("x", 1, 1, "unknown"))
    out = session(tried, monkeypatch, "y\ne\nthe data was broken\n")
    assert "     → nothing in the runs says why" in out
    assert written(pool) == [("x", "the data was broken", None, None)]


def test_what_was_stopped_is_counted_apart_and_offered_no_reason(tried: Runner) -> None:
    stopped = {"id": "s", "conclusion": {"outcome": "stopped", "derived": True}, "cause": "stopped"}
    tried.journal(*WORKED, BROKEN, stopped)
    out = tried("triage", "--list").lines
    assert out[0] == "1 run ended badly without a written reason, and 1 was stopped: 2 groups"
    assert [line for line in out if line.startswith("     →")] == [
        f"     → {CODE}",
        "     → nothing in the runs says why",
    ]
    report = tried("triage", "--json", "--yes").json
    assert [report[key] for key in ("unexplained", "stopped", "written")] == [1, 1, 1]
    assert tried("triage", "--list").lines[0] == "1 run was stopped without a written reason: 1 group"
    assert [one["count"] for one in tried("pool", "doctor", "--json").json["advice"] if "reason" in one["says"]] == []


def test_yes_agrees_to_all(tried: Runner, pool: Path) -> None:
    done = tried("triage", "--yes")
    assert done.lines[-1] == f"noted in {pool}: 6 runs"
    assert [one[:3] for one in written(pool)] == [
        *((f"hot{i}", DIVERGES, "dead_end") for i in range(3)),
        *((f"big{i}", MEMORY, "dead_end") for i in range(2)),
        ("broken", CODE, None),
    ]


def test_a_condition_restricts_it(tried: Runner, pool: Path) -> None:
    report = tried("triage", "--where", "cause = code_error", "--json").json
    assert [group["records"] for group in report["groups"]] == [["broken"]]


def test_json_has_these_keys_and_writes_nothing(tried: Runner, pool: Path) -> None:
    before = pool.read_bytes()
    report = tried("triage", "--json").json
    assert pool.read_bytes() == before
    assert list(report) == ["schema", "unexplained", "stopped", "groups", "written", "path"]
    assert [report[key] for key in ("schema", "unexplained", "stopped", "written", "path")] == [
        "tried.triage/v1",
        6,
        0,
        0,
        None,
    ]
    assert report["groups"][0] == {
        "cause": "diverged",
        "research_lines": [None],
        "error": None,
        "records": ["hot0", "hot1", "hot2"],
        "region": {
            "text": "lr >= 0.01",
            "conditions": [{"key": "lr", "sign": ">=", "value": "0.01"}],
            "covered": 3,
            "worked_inside": 0,
            "worked_outside": 12,
        },
        "change": None,
        "worked": 12,
        "proposal": DIVERGES,
        "verdict": "dead_end",
    }
    both = tried("triage", "--json", "--yes").json
    assert (both["written"], both["path"]) == (6, str(pool))


def test_an_empty_pool_and_one_without_questions(tried: Runner) -> None:
    empty = tried("triage")
    assert (empty.status, empty.out) == (0, "")
    assert "no past experiments found" in empty.err
    assert tried("triage", "--json").json["groups"] == []
    tried.journal(*WORKED)
    assert tried("triage").lines == ["nothing ended badly without a reason that somebody wrote down"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_session_on_a_terminal(tried: Runner, pool: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tried", "triage"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=tried.folder
    )
    os.close(theirs)
    seen = b""

    def until(text: bytes) -> None:
        nonlocal seen
        deadline = time.monotonic() + 30
        while text not in seen:
            assert time.monotonic() < deadline, seen
            if select.select([ours], [], [], 0.2)[0]:
                try:
                    seen += os.read(ours, 65536)
                except OSError:
                    break
        assert text in seen, seen
        seen = seen.split(text, 1)[1]

    try:
        for answer in (b"y\n", b"e\n"):
            until(b"[y/d/e/s/a/q/?]")
            os.write(ours, answer)
        until(b"why:")
        os.write(ours, "die Karte faßt 8 GB\n".encode())
        until(b"[y/d/e/s/a/q/?]")
        os.write(ours, b"a\n")
        until(b"5 runs; 1 left without a reason")
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert {(headline, verdict) for _, headline, verdict, _ in written(pool)} == {
        (DIVERGES, "dead_end"),
        ("die Karte faßt 8 GB", "dead_end"),
    }
