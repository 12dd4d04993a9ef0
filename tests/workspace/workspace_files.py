"""A small workspace on disk: a research line with a baseline that worked and a learning rate that diverged."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

PARAMS = {"lr": 0.1, "depth": 4, "width": 64, "dropout": 0.0, "optimizer": "sgd"}
"""What the baseline ran with."""


def record(record_id: str, lr: float = 0.1, **fields: Any) -> dict[str, Any]:
    return {
        "id": record_id,
        "name": record_id,
        "research_line": "line",
        "timestamp": "2026-11-01T00:00:00Z",
        "params": {**PARAMS, "lr": lr},
        **fields,
    }


def diverged(record_id: str, lr: float = 0.9, **fields: Any) -> dict[str, Any]:
    return record(
        record_id,
        lr,
        **{
            "parent": "base",
            "derivation": {"from": "base", "changes": [{"change": "ParamChanged", "key": "lr", "from": 0.1, "to": lr}]},
            "conclusion": {"outcome": "failed", "headline": "the loss became NaN"},
            "cause": "diverged",
            "verdict": "dead_end",
            **fields,
        },
    )


def worked(record_id: str, lr: float = 0.1, **fields: Any) -> dict[str, Any]:
    return record(record_id, lr, **{"conclusion": {"outcome": "completed"}, "metrics": {"accuracy": 0.9}, **fields})


def write_journal(folder: Path, *records: dict[str, Any], name: str = ".tried/pool.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path


def config(lr: object = 0.9, **more: object) -> str:
    return "".join(f"{key}: {value}\n" for key, value in {**PARAMS, "lr": lr, **more}.items())
