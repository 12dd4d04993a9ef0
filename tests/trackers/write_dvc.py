"""Lets DVC and DVCLive write experiments below the present folder: `python write_dvc.py [queue]`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

TRAIN = """
import yaml
from dvclive import Live

params = yaml.safe_load(open("params.yaml"))
with Live(save_dvc_exp=False, report=None) as live:
    live.log_params(params)
    if params["lr"] > 0.4:
        raise RuntimeError("CUDA out of memory. Tried to allocate 3.00 GiB")
    for step in range(3):
        live.log_metric("train/loss", float("nan") if params["lr"] > 0.2 else params["lr"] / (step + 1))
        live.next_step()
    live.summary["best"] = 1 - params["lr"]
"""
PIPELINE = """
stages:
  train:
    cmd: "{python} train.py"
    deps: [train.py]
    params: [lr, model, note]
    metrics:
      - dvclive/metrics.json: {{cache: false}}
"""
PARAMS = "lr: 0.1\nmodel:\n  depth: 3\n  betas: [0.9, 0.95]\nnote: {note}\n"


def run(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    dvc = (sys.executable, "-m", "dvc")
    run("git", "init", "-q", "-b", "main")
    # DVC starts a git of its own that reads no environment.
    run("git", "config", "user.name", "Somebody")
    run("git", "config", "user.email", "somebody@example.org")
    Path(".gitignore").write_text(".home\n")
    run(*dvc, "init", "-q")
    Path("train.py").write_text(TRAIN)
    Path("dvc.yaml").write_text(PIPELINE.format(python=sys.executable))
    Path("params.yaml").write_text(PARAMS.format(note="x" * 6_000))
    run("git", "add", "-A")
    run("git", "commit", "-q", "-m", "first")
    run(*dvc, "exp", "run", "-q", "-n", "fine", "-m", "größer wagen ✓")
    run(*dvc, "exp", "run", "-q", "-n", "diverging", "-S", "lr=0.3", "-S", "model.depth=5")
    run(*dvc, "exp", "run", "-q", "-n", "failing", "-S", "lr=0.5", check=False)
    run("git", "checkout", "-q", "-f", ".")
    # What was good is committed, and the next starts from there.
    run(sys.executable, "train.py")
    run("git", "add", "-A")
    run("git", "commit", "-q", "-m", "Keep what was fine")
    Path("params.yaml").write_text(PARAMS.format(note="y").replace("0.1", "0.02"))
    run(sys.executable, "train.py")
    run(*dvc, "exp", "save", "-q", "-n", "saved", "-m", "By hand\n\nTried: dead-end too slow")
    run("git", "checkout", "-q", "-f", ".")
    if "queue" in sys.argv:
        run(*dvc, "exp", "run", "-q", "--queue", "-n", "queued-bad", "-S", "lr=0.6")
        run(*dvc, "queue", "start", "-q", "-j", "1")
        for _ in range(300):
            # The worker writes how a process ended, then what that makes of the experiment.
            if any('"status": 4' in path.read_text() for path in Path(".dvc/tmp/exps/run").glob("*/*.run")):
                break
            time.sleep(0.1)


main()
