"""Lets Sacred run an experiment with its file observer. Run by the trackers' interpreter; `killed` kills it first."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from typing import Any

sacred: Any = importlib.import_module("sacred")
observers: Any = importlib.import_module("sacred.observers")

experiment: Any = sacred.Experiment("digits", save_git_info=False)
experiment.observers.append(observers.FileStorageObserver("runs"))
experiment.add_config(
    end="well",
    lr=0.1,
    model={"widths": (64, 32), "bias": True, "dropout": None},
    title="Größe 模型 🚀",
    long="x" * 6_000,
    seed=7,
)


def main(_run: Any, end: str) -> float:
    for step, loss in enumerate((2.0, 1.5, float("nan") if end == "nan" else 1.25)):
        _run.log_scalar("val_loss", loss, 10 * step)
    _run.info["best_step"] = 20
    if end == "raised":
        raise ValueError("shapes (3,4) and (5,6) not aligned")
    if end == "interrupted":
        raise KeyboardInterrupt
    if end == "killed":
        _run._emit_heartbeat()
        os.kill(os.getpid(), signal.SIGKILL)
    return 0.5


experiment.main(main)

if sys.argv[1:] == ["killed"]:
    experiment.run(config_updates={"end": "killed"})
for end in ("well", "raised", "interrupted", "nan"):
    with contextlib.suppress(ValueError, KeyboardInterrupt):
        experiment.run(config_updates={"end": end}, options={"--comment": "no warmup this time"})
