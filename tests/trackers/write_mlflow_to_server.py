"""Lets MLflow itself write runs to the server at the address given. Run by the trackers' interpreter."""

from __future__ import annotations

import importlib
import math
import sys
from typing import Any

mlflow: Any = importlib.import_module("mlflow")


def main(address: str) -> None:
    mlflow.set_tracking_uri(address)
    mlflow.set_experiment("denoise é")
    with mlflow.start_run(run_name="first ✓", description="more channels"):
        mlflow.log_params({"lr": 0.001, "model": {"width": 64}, "prompt": "x" * 5999})
        mlflow.log_metrics({"val_loss": 0.5}, step=1)
        mlflow.log_metrics({"val_loss": 0.25, "scale": math.inf}, step=2)
        mlflow.set_tag("dead-end", "true")
    with mlflow.start_run(run_name="diverged"):
        mlflow.log_param("lr", 0.5)
        mlflow.log_metric("val_loss", math.nan, step=7)
    with mlflow.start_run(run_name="search"):
        for number in range(3):
            with mlflow.start_run(run_name=f"member {number}", nested=True):
                mlflow.log_param("lr", 10.0**-number)
                mlflow.log_metric("val_f1", number / 10)
    mlflow.start_run(run_name="failed")
    mlflow.end_run("FAILED")


if __name__ == "__main__":
    main(sys.argv[1])
