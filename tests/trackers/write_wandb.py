"""Lets W&B itself write runs of all kinds below the working folder, offline. Run by the trackers' interpreter."""

from __future__ import annotations

import importlib
import math
import os
import signal
import subprocess
import sys
import time
from typing import Any

wandb: Any = importlib.import_module("wandb")

LONG = "x" * 6000


def begin(run_id: str, **arguments: Any) -> Any:
    return wandb.init(project="denoise", id=run_id, dir=".", **arguments)


def several() -> None:
    run = begin(
        "finished",
        name="wider ✓ 网络",
        notes="more channels\nhelp at this depth",
        tags=["baseline", "works"],
        group="ablation",
        job_type="train",
        config={
            "lr": 1e-3,
            "model": {"width": 64, "block": {"act": "gelu"}},
            "layers": [1, 2],
            "flag": True,
            "nothing": None,
            "prompt": LONG,
            "path": "naïve/文件",
        },
    )
    run.define_metric("val_loss", summary="min")
    run.config.update({"late": 7})
    for step in range(4):
        run.log({"val_loss": 1.0 - step / 10, "eval": {"f1": step / 4}, "train/loss": 2.0 - step})
    run.log({"histogram": wandb.Histogram([1, 2, 3]), "text": "done"})
    run.summary["best/epoch"] = 3
    run.notes = "edited afterwards"
    run.finish()

    run = begin("diverged", config={"lr": 0.5})
    for step in range(600):  # a log of several blocks
        run.log({"val_loss": 1.0 if step < 400 else math.nan, "scale": math.inf})
    run.finish()

    for part in range(2):
        run = begin("resumed", resume="allow", config={"lr": 0.1, "part": part}, settings=wandb.Settings(silent=True))
        run.log({"val_loss": 0.5 - part / 10})
        run.finish(exit_code=1 if part == 0 else 0)
        time.sleep(1.1)  # folders of one second have one name


def sweep() -> None:
    for number in range(3):
        run = begin(f"member{number}", name=f"member {number}", config={"lr": 10.0**-number})
        run.log({"val_loss": number / 10})
        run.finish()


def crash(how: str) -> None:
    run = begin(how, config={"lr": 0.2})
    run.log({"val_loss": 0.75})
    if how == "exception":
        raise ValueError("shape mismatch: (3, 4) and (4, 3) ✗")
    if how == "exit":
        sys.exit(1)
    if how == "interrupt":
        raise KeyboardInterrupt
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    if len(sys.argv) > 1:
        {"several": several, "sweep": sweep}.get(sys.argv[1], lambda: crash(sys.argv[1]))()
        return
    codes = {"several": 0, "sweep": 0, "exception": 1, "exit": 1, "interrupt": None, "killed": -signal.SIGKILL}
    children = {
        mode: subprocess.Popen(
            [sys.executable, __file__, mode],
            env={**os.environ, **({"WANDB_SWEEP_ID": "sw9"} if mode == "sweep" else {})},
        )
        for mode in codes
    }
    for mode, child in children.items():
        code = child.wait(120)
        if codes[mode] is not None and code != codes[mode]:
            raise SystemExit(f"{mode} ended with {code}")


if __name__ == "__main__":
    main()
