"""Lets Hydra run jobs. Run by the trackers' interpreter; its arguments are Hydra's own.

What `end` says is how a job ends: well, diverged, raised, logged (an exception that is logged, then raised), caught,
killed.
"""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
from pathlib import Path
from typing import Any

hydra: Any = importlib.import_module("hydra")
core: Any = importlib.import_module("hydra.core.config_store")
settings: Any = importlib.import_module("hydra.core.hydra_config")

log = logging.getLogger(__name__)

CONFIG = {
    "end": "well",
    "lr": 0.1,
    "warmup": "${lr}",
    "model": {"_target_": "torch.nn.Linear", "widths": [64, 32], "bias": True, "dropout": None},
    "title": "Größe 模型 🚀",
    "long": "x" * 6_000,
}


def job(cfg: Any) -> float:
    folder = Path(settings.HydraConfig.get().runtime.output_dir)
    log.info("epoch 1: loss 2.0")
    if cfg.end == "caught":
        try:
            raise OSError("sample 17 is broken")
        except OSError:
            log.exception("skipping a sample")
        log.info("epoch 2: loss 1.5")
    if cfg.end == "logged":
        try:
            raise ValueError("shapes (3,4) and (5,6) not aligned")
        except ValueError:
            log.exception("")
            raise
        finally:
            log.info("Output dir: %s", folder)
    if cfg.end == "raised":
        raise ValueError("nobody logs this")
    if cfg.end == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    loss = float("nan") if cfg.end == "diverged" else 0.5
    (folder / "metrics.json").write_text(json.dumps({"val_loss": loss, "epoch": 2}))
    return loss


core.ConfigStore.instance().store(name="config", node=CONFIG)
hydra.main(version_base=None, config_path=None, config_name="config")(job)()
