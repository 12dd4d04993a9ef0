"""`tried record` and `tried import`: what is written is what a draft is compared with later."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from cli_runner import Runner

CONFIG = """\
# a wider net, since depth did not help
name: wider
lr: 1e-3
betas: [0.9, 0.99]
model:
  depth: 4
  width: 128
seed: 7
data: ${oc.env:DATA}
"""


def lines(tried: Runner, name: str = ".tried/pool.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (tried.folder / name).read_text().splitlines()]


def test_a_config_is_recorded_as_it_is_read(tried: Runner) -> None:
    tried.write("configs/wide.yaml", CONFIG)
    done = tried(
        *(
            "record",
            "configs/wide.yaml",
            "--outcome",
            "failed",
            "--headline",
            "diverged  at once",
            "--metric",
            "val_loss=nan",
        ),
        *("--metric", "f1=0.5", "--verdict", "dead-end", "--tag", "net", "--note", "on one card", "--seconds", "90.5"),
        *("--time", "2026-03-01T10:00:00Z", "--research-line", "vision"),
    )
    assert done.status == 0
    assert done.err == "tried: configs/wide.yaml: 1 value cannot be read without running it, and left out\n"
    (record,) = lines(tried)
    assert record["id"].startswith("tried:")
    assert len(record.pop("id")) == len("tried:") + 12
    assert record == {
        "kind": "experiment",
        "schema_version": 2,
        "name": "wider",
        "params": {"name": "wider", "lr": 0.001, "betas": [0.9, 0.99], "model.depth": 4, "model.width": 128, "seed": 7},
        "metrics": {"val_loss": "nan", "f1": 0.5},
        "timestamp": "2026-03-01T10:00:00Z",
        "duration": {"secs": 90, "nanos": 500_000_000},
        "research_line": "vision",
        "tags": ["net"],
        "notes": "on one card\n\na wider net, since depth did not help",
        "conclusion": {"headline": "diverged at once", "outcome": "failed"},
        "verdict": "dead_end",
        "source": "tried",
        "config": "configs/wide.yaml",
    }


def test_the_config_is_then_a_repeat(tried: Runner) -> None:
    path = tried.write("wide.yaml", CONFIG)
    tried(
        "record", path, "--outcome", "failed", "--headline", "diverged", "--verdict", "dead_end", "--time", "2026-03-01"
    )
    checked = tried("check", path)
    assert checked.status == 1
    assert "repeat: ran before" in checked.out


def test_a_file_that_is_recorded_again_comes_from_what_it_was(tried: Runner) -> None:
    path = tried.write("wide.yaml", CONFIG)
    other = tried.write("other.yaml", "lr: 1\n")
    days = ["--time", "2026-03-01T00:00:00Z"], ["--time", "2026-03-02T00:00:00Z"], ["--time", "2026-03-03T00:00:00Z"]
    tried("record", path, "--outcome", "completed", *days[1])
    tried("record", path, "--outcome", "completed", *days[0])
    tried("record", other, "--outcome", "completed", *days[2])
    tried("record", path, "--outcome", "completed", *days[2])
    tried("record", other, "--outcome", "failed", "--parent", "none")
    tried("record", other, "--outcome", "failed", "--parent", lines(tried)[0]["id"][-12:])
    made = lines(tried)
    assert [one.get("parent") for one in made] == [
        None,
        made[0]["id"],
        None,
        made[0]["id"],
        None,
        made[0]["id"],
    ]


def test_the_same_content_at_the_same_time_has_the_same_id(tried: Runner) -> None:
    path = tried.write("wide.yaml", CONFIG)
    arguments = ("record", path, "--outcome", "failed", "--time", "2026-03-01T00:00:00Z", "--parent", "none")
    tried(*arguments)
    tried(*arguments)
    tried(*arguments, "--headline", "x")
    ids = [one["id"] for one in lines(tried)]
    assert ids[0] == ids[1] != ids[2]


def test_the_commit_comes_from_the_repository(tried: Runner) -> None:
    path = tried.write("wide.yaml", CONFIG)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-C", str(tried.folder)]
    for arguments in (["init", "-q", "-b", "main"], ["add", "wide.yaml"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *arguments], check=True, capture_output=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    report = tried("record", path, "--outcome", "completed", "--json").json
    assert report["schema"] == "tried.record/v1"
    assert report["record"]["git"] == {"sha": head, "dirty": False, "branch": "main"}
    path.write_text(CONFIG + "x: 1\n")
    assert tried("record", path, "--outcome", "completed", "--json").json["record"]["git"]["dirty"] is True


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["wide.yaml"], "say what came of it"),
        (["nothing.yaml", "--outcome", "failed"], "there is no such file"),
        (["wide.yaml", "--outcome", "great"], "expected one of completed"),
        (["wide.yaml", "--verdict", "great"], "expected one of dead_end"),
        (["wide.yaml", "--metric", "f1"], "expected NAME=NUMBER"),
        (["wide.yaml", "--metric", "f1=good"], "expected NAME=NUMBER"),
        (["wide.yaml", "--outcome", "failed", "--parent", "nobody"], "no record nobody"),
        (["wide.yaml", "--outcome", "failed", "--time", "soon"], "expected a time"),
        (["empty.yaml", "--outcome", "failed"], "holds no parameters"),
        (["notes.txt", "--outcome", "failed"], "no language of configs"),
    ],
)
def test_mistakes_write_nothing(tried: Runner, arguments: list[str], said: str) -> None:
    tried.write("wide.yaml", CONFIG)
    tried.write("empty.yaml", "# nothing\n")
    tried.write("notes.txt", "x")
    done = tried("record", *arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert not (tried.folder / ".tried").exists()


TABLE = (
    "commit\tval_bpb\tmemory_gb\tstatus\tdescription\n"
    "a1b2c3d\t1.2\t40\tkeep\tbaseline\n"
    "b2c3d4e\t0.0\t0\tcrash\tdouble width\n"
)


def test_a_table_is_imported_once(tried: Runner) -> None:
    tried.write("runs/results.tsv", TABLE)
    first = tried("import", "runs/results.tsv", "--json").json
    path = tried.folder / ".tried" / "pool.jsonl"
    assert first == {
        "schema": "tried.import/v1",
        "path": str(path),
        "copied": 2,
        "present": 0,
        "running": 0,
        "gitattributes": None,
    }
    ids = [one["id"] for one in lines(tried)]
    assert ids == [one["id"] for one in lines(tried)]
    assert all(one.startswith("results-table:") for one in ids)
    before = path.read_bytes()
    again = tried("import", "runs/results.tsv")
    assert again.lines[0] == f"0 records copied into {path}; 2 were there already"
    assert path.read_bytes() == before
    tried.write("runs/results.tsv", TABLE + "c3d4e5f\t1.1\t40\tkeep\tlonger\n")
    assert tried("import", "runs/results.tsv", "--json").json["copied"] == 1
    assert tried("pool", "--json").json["totals"]["records"] == 3


def test_amendments_are_copied_into_their_records_and_running_ones_wait(tried: Runner) -> None:
    tried.journal(
        {"id": "a", "params": {"lr": 1}, "x-own": 3},
        {"id": "n", "kind": "amendment", "amends": "a", "verdict": "dead_end"},
        {"id": "r", "conclusion": {"outcome": "running"}},
        name="old.jsonl",
    )
    done = tried("import", "old.jsonl", "--into", "new/pool.jsonl")
    assert done.lines[0].endswith(
        "1 record copied into " + str(tried.folder / "new/pool.jsonl") + "; 1 still runs and is left"
    )
    (record,) = lines(tried, "new/pool.jsonl")
    assert (record["id"], record["verdict"], record["x-own"]) == ("a", "dead_end", 3)


def test_git_attributes_are_written_once(tried: Runner) -> None:
    tried.write("results.tsv", TABLE)
    tried.write(".gitattributes", "*.png binary")
    assert tried("import", "results.tsv").lines[-1] == (
        "if you commit it, put `.tried/pool.jsonl merge=union` into .gitattributes (--gitattributes does)"
    )
    for _ in range(2):
        assert tried("import", "results.tsv", "--gitattributes").status == 0
    assert (tried.folder / ".gitattributes").read_text() == "*.png binary\n.tried/pool.jsonl merge=union\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "there is no such file or folder"),
        (["empty.jsonl"], "no past experiments in empty.jsonl"),
        (["old.jsonl", "--into", "."], "is a folder"),
        (["old.jsonl", "--into", "old.jsonl"], "is the journal itself"),
        (["old.jsonl", "--into", "../elsewhere.jsonl", "--gitattributes"], "lies outside of"),
    ],
)
def test_mistakes_of_imports_write_nothing(tried: Runner, arguments: list[str], said: str) -> None:
    tried.journal({"id": "a"}, name="old.jsonl")
    tried.write("empty.jsonl", "")
    before = sorted(path.name for path in tried.folder.iterdir())
    done = tried("import", *arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert sorted(path.name for path in tried.folder.iterdir()) == before
