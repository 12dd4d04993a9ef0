"""Lets MLflow write runs. Run by the trackers' interpreter: `write_mlflow.py database|files|more|compare`.

Prints the ids of the runs by name, as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
mlflow: Any = importlib.import_module("mlflow")


DATABASE = f"sqlite:///{Path('mlflow.db').absolute()}"
FILES = f"file://{Path('mlruns').absolute()}"
IDS: dict[str, str] = {}
NESTED: dict[str, Any] = {
    "optimizer": {"name": "adamw", "lr": 1e-3, "betas": [0.9, 0.999]},
    "layers": [{"units": 64, "bias": True}, {"units": 32, "bias": None}],
}


def write() -> None:
    mlflow.set_experiment("images")
    with mlflow.start_run(run_name="finished", description="Warmup did not help.\nNext: smaller steps.") as run:
        IDS["finished"] = run.info.run_id
        mlflow.log_params({"model": NESTED, "batch_size": 32, "bias": True, "dropout": None, "opt/lr": 0.01})
        for step in range(3):
            mlflow.log_metric("val/acc", 0.5 + step / 10, step=step)
        mlflow.set_tags({"team": "vision", "tried.verdict": "dead-end", "hydra_output_dir": "outputs/a"})
    Path("outputs/a").mkdir(parents=True)
    with mlflow.start_run(run_name="diverged") as run:
        IDS["diverged"] = run.info.run_id
        mlflow.log_param("lr", 3)
        for step, value in enumerate((1.0, 2.0, float("nan"), float("nan"))):
            mlflow.log_metric("train_loss", value, step=10 * step)
        mlflow.log_metric("grad_norm", float("inf"), step=7)
        mlflow.log_metric("floor", float("-inf"), step=7)
    try:
        with mlflow.start_run(run_name="failed") as run:
            IDS["failed"] = run.info.run_id
            mlflow.log_param("lr", 0.1)
            raise RuntimeError("shape mismatch")
    except RuntimeError:
        pass
    with mlflow.start_run(run_name="Größe 模型 🚀") as run:
        IDS["unicode"] = run.info.run_id
        mlflow.log_param("größe", "zwölf\nZeilen")
        mlflow.log_param("long", "x" * 6_000)
        mlflow.log_param("longest_mapping", {f"key_{i}": i for i in range(300)})
    child = subprocess.Popen([sys.executable, __file__, "killed"], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    IDS["killed"] = child.stdout.readline().strip()
    child.kill()
    child.wait()
    terminated = subprocess.Popen([sys.executable, __file__, "terminated"], stdout=subprocess.PIPE, text=True)
    assert terminated.stdout is not None
    IDS["terminated"] = terminated.stdout.readline().strip()
    terminated.wait()
    with mlflow.start_run(run_name="sweep") as parent:
        IDS["sweep"] = parent.info.run_id
        for number, rate in enumerate((0.1, 0.01, 0.001)):
            with mlflow.start_run(run_name=f"member {number}", nested=True) as run:
                IDS[f"member {number}"] = run.info.run_id
                mlflow.log_params({"lr": rate, "seed": number})
                mlflow.log_metric("val_acc", 0.7 + number / 100)
        mlflow.log_metric("best_val_acc", 0.72)
    with mlflow.start_run(run_name="folds") as parent:
        IDS["folds"] = parent.info.run_id
        mlflow.log_param("depth", 3)
        for fold in range(2):
            with mlflow.start_run(run_name=f"fold {fold}", nested=True) as run:
                IDS[f"fold {fold}"] = run.info.run_id
                mlflow.log_params({"depth": 3, "fold": fold})
                mlflow.log_metric("auc", 0.8 + fold / 10)
        mlflow.log_metric("auc", 0.85)
    with mlflow.start_run(run_name="deleted") as run:
        IDS["deleted"] = run.info.run_id
    mlflow.delete_run(IDS["deleted"])


def more() -> None:
    """An edited note, a new tag, a metric more of a finished run, a run that is deleted, one that is new."""
    client = mlflow.MlflowClient()
    for run in client.search_runs([client.get_experiment_by_name("images").experiment_id]):
        IDS[run.info.run_name] = run.info.run_id
    client.set_tag(IDS["finished"], "mlflow.note.content", "It was the schedule.")
    client.log_metric(IDS["finished"], "val/acc", 0.9, step=3)
    client.delete_tag(IDS["finished"], "team")
    client.delete_run(IDS["failed"])
    with mlflow.start_run(run_name="new", experiment_id=client.get_experiment_by_name("images").experiment_id) as run:
        IDS["new"] = run.info.run_id


def interrupted(how: str) -> None:
    mlflow.set_experiment("images")
    run = mlflow.start_run(run_name=how)
    mlflow.log_metric("train_loss", 0.5, step=1)
    print(run.info.run_id, flush=True)
    if how == "killed":
        signal.pause()
    mlflow.end_run("KILLED")


if __name__ == "__main__":
    task = sys.argv[1]
    if task == "files":
        os.environ["MLFLOW_TRACKING_URI"] = FILES
    os.environ.setdefault("MLFLOW_TRACKING_URI", DATABASE)
    if task in ("killed", "terminated"):
        interrupted(task)
    elif task in ("more", "more-files"):
        if task == "more-files":
            os.environ["MLFLOW_TRACKING_URI"] = FILES
        more()
        print(json.dumps(IDS))
    else:
        write()
        print(json.dumps(IDS))
