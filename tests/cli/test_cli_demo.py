"""`tried demo` with its real server, and the demo workspace that it shows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from cli_runner import Runner

FIXTURE = Path(__file__).parents[2] / "fixtures" / "demo"


def test_the_demo_shows_diagnostics_a_hover_and_an_edit(tried: Runner) -> None:
    command = [sys.executable, "-m", "tried", "demo", "ships"]
    done = subprocess.run(command, cwd=tried.folder, capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    at = lines.index('   7 │ optimizer = {"name": "adamw", "lr": 1e-2, "weight_decay": 0.05, "warmup_steps": 0}')
    assert lines[at + 1] == "     │                                     ~~~~"
    assert lines[at + 2].startswith("     │ warning repeat: ran before: diverged")
    assert lines[at + 2].endswith("(HYD-005)")
    assert [line.split()[:4] for line in lines[lines.index("What was tried lies where it was written:") + 2 :][:4]] == [
        [".tried/pool.jsonl", "journal", "25", "runs,"],
        ["mlruns", "mlflow", "5", "runs,"],
        ["multirun", "hydra", "3", "runs,"],
        ["autoresearch/results.tsv", "results-table", "7", "runs,"],
    ]
    assert "nothing to say" in lines[lines.index("configs/transformer.yaml") + 1]
    assert any("Loss became NaN at step 910" in line for line in lines)
    assert any(line.startswith("     │  score ") for line in lines)
    assert 'Changing "lr": 1e-2 to "lr": 3e-3: the finding is gone' in done.stdout
    assert (tried.folder / "ships" / "configs" / "hot_start.py").is_file()


def test_each_kind_of_evidence_has_its_example(tried: Runner) -> None:
    shutil.copytree(FIXTURE, tried.folder / "demo")

    report = tried("check", "demo", "--json").json

    loud = {
        (file["path"], finding["evidence"], finding["severity"], tuple(finding["blamed"]))
        for file in report["files"]
        for finding in file["findings"]
        if finding["severity"] != "hover"
    }
    assert loud == {
        ("demo/configs/fast_conformer.toml", "repeat", "warning", ("precision",)),
        ("demo/configs/wide_conformer.yaml", "near", "information", ("model.width",)),
        ("demo/configs/hot_start.py", "repeat", "warning", ("optimizer.lr",)),
        ("demo/configs/bigger_batch.yaml", "near", "information", ("batch_size",)),
        ("demo/configs/focal.json", "knob", "information", ("loss.focal_gamma",)),
        ("demo/autoresearch/train.py", "move", "information", ("LR",)),
    }


def test_the_invented_pool_is_read_without_a_complaint(tried: Runner) -> None:
    report = tried("pool", FIXTURE, "--json").json

    assert [(Path(s["path"]).name, s["records"], s["skipped"]) for s in report["sources"]] == [
        ("pool.jsonl", 25, []),
        ("mlruns", 5, []),
        ("multirun", 3, []),
        ("results.tsv", 7, []),
    ]
    records = [json.loads(line) for line in (FIXTURE / ".tried" / "pool.jsonl").read_text().splitlines()]
    causes = {record.get("cause") for record in records}
    assert {"out_of_memory", "diverged", "code_error", "infrastructure"} <= causes
