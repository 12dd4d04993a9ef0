"""A record that is a dead end, and a config that repeats it."""

from __future__ import annotations

from typing import Any

PARAMS = {"lr": 0.1, "depth": 4, "width": 64, "dropout": 0.0}
CONFIG = "lr: 0.9\ndepth: 4\nwidth: 64\ndropout: 0.0\n"


def record(record_id: str, lr: float, **fields: Any) -> dict[str, Any]:
    return {"id": record_id, "name": record_id, "params": {**PARAMS, "lr": lr}, **fields}


HOT = record(
    "hot", 0.9, conclusion={"headline": "the loss [bold]exploded[/bold]"}, verdict="dead_end", cause="diverged"
)
