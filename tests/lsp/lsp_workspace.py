"""A small invented project for the tests of the server: what was tried, and a config that repeats one dead end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BASELINE: dict[str, Any] = {
    "id": "exp-1",
    "name": "baseline",
    "params": {"optimizer.lr": 0.1, "batch_size": 32, "model.depth": 12, "warmup_steps": 100},
    "metrics": {"val_loss": 2.1},
    "timestamp": "2026-10-01T00:00:00Z",
    "research_line": "tiny",
}
DIVERGED: dict[str, Any] = {
    "id": "exp-2",
    "name": "higher learning rate",
    "parent": "exp-1",
    "params": {"optimizer.lr": 0.5, "batch_size": 32, "model.depth": 12, "warmup_steps": 100},
    "metrics": {"val_loss": "nan"},
    "timestamp": "2026-10-02T00:00:00Z",
    "research_line": "tiny",
    "verdict": "dead_end",
    "url": "https://example.org/runs/2",
    "conclusion": {"headline": "diverged after 200 steps", "outcome": "failed"},
    "derivation": {
        "from": "exp-1",
        "changes": [{"change": "ParamChanged", "key": "optimizer.lr", "from": 0.1, "to": 0.5}],
    },
}
TOO_DEEP: dict[str, Any] = {
    "id": "exp-3",
    "name": "deeper",
    "parent": "exp-1",
    "params": {"optimizer.lr": 0.1, "batch_size": 32, "model.depth": 48, "warmup_steps": 100},
    "timestamp": "2026-10-03T00:00:00Z",
    "research_line": "tiny",
    "verdict": "dead_end",
    "conclusion": {"headline": "out of memory after 19 s", "outcome": "crashed"},
    "derivation": {
        "from": "exp-1",
        "changes": [{"change": "ParamChanged", "key": "model.depth", "from": 12, "to": 48}],
    },
}

CONFIG = "name: next\noptimizer:\n  lr: 0.5\nbatch_size: 64\nmodel:\n  depth: 12\nwarmup_steps: 100\n"
"""Only `optimizer.lr`, on line 2 (from 0), columns 6 to 9, repeats a dead end (exp-2)."""

HARMLESS = CONFIG.replace("0.5", "0.1")


def journal_line(record: dict[str, Any]) -> str:
    return json.dumps(record) + "\n"


def make_workspace(folder: Path, *records: dict[str, Any]) -> Path:
    """The folder with a journal of these records; of the baseline and the divergence if there are none."""
    journal = folder / ".tried" / "pool.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    put_whole(journal, "".join(map(journal_line, records or (BASELINE, DIVERGED))).encode())
    return journal


def edit(line: int, start: int, end: int, text: str) -> dict[str, Any]:
    """A change of part of one line, as an editor sends it."""
    place = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
    return {"range": place, "text": text}


def put_whole(path: Path, content: bytes) -> None:
    """Puts a file in the place of another at one stroke, so that a server which polls it sees no half of it."""
    beside = path.with_name(f"{path.name}.new")
    beside.write_bytes(content)
    beside.replace(path)
