"""A project in which several values of a few keys were tried, and clients that can show what was."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from lsp_workspace import make_workspace
from raw_client import VSCODE_LIKE, Message, RawClient

PARAMS: dict[str, Any] = {"optimizer.lr": 0.1, "optimizer.name": "adamw", "batch_size": 32, "depth": 12, "warmup": 100}


def tried(name: str, accuracy: float | None, verdict: str = "works", **changed: Any) -> dict[str, Any]:
    """A run; two underscores stand for a full stop in a key."""
    changes = {key.replace("__", "."): value for key, value in changed.items()}
    return {
        "id": name,
        "name": name,
        "params": {**PARAMS, **changes},
        "metrics": {} if accuracy is None else {"val_acc": accuracy},
        "timestamp": f"2026-10-{int(name.split('-')[1]):02}T00:00:00Z",
        "research_line": "tiny",
        "verdict": verdict,
    }


RECORDS = (
    tried("EXP-1", 0.70),
    tried("EXP-2", 0.90, optimizer__lr=0.01),
    tried("EXP-3", 0.88, optimizer__lr=0.01, seed=2),
    tried("EXP-4", 0.80, optimizer__lr=0.03, optimizer__name="lion"),
    tried("EXP-5", 0.20, "dead_end", optimizer__lr=0.5),
    tried("EXP-6", 0.10, "dead_end", optimizer__name="sgd"),
    tried("EXP-7", 0.60, optimizer__name="0x1F"),
)
"""Learning rates: 0.01 is the best (0.90), then 0.03 (0.80), 0.1 (0.70); 0.5 ended badly. Optimizers: adamw is the best
(0.90), then lion (0.80), then 0x1F, which YAML would read as a number (0.60); sgd ended badly."""

CONFIG = "optimizer:\n  lr: 0.1\n  name: adamw\nbatch_size: 64\ndepth: 12\nwarmup: 100\nseed: 3\n"
"""Differs from EXP-1 in the batch size alone, on line 3, which nobody tried."""

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}


def capabilities() -> Message:
    """What VS Code can do with lenses, hints and completion."""
    wide = copy.deepcopy(VSCODE_LIKE)
    wide["workspace"]["codeLens"] = {"refreshSupport": True}
    wide["workspace"]["inlayHint"] = {"refreshSupport": True}
    wide["textDocument"]["codeLens"] = {"dynamicRegistration": True}
    wide["textDocument"]["completion"] = {
        "completionItem": {
            "deprecatedSupport": True,
            "tagSupport": {"valueSet": [1]},
            "documentationFormat": ["markdown", "plaintext"],
            "labelDetailsSupport": True,
        }
    }
    return wide


def started(folder: Path, can: Message | None = None, **options: Any) -> RawClient:
    make_workspace(folder, *RECORDS)
    client = RawClient()
    client.answers["workspace/codeLens/refresh"] = lambda params: None
    client.answers["workspace/inlayHint/refresh"] = lambda params: None
    client.initialize(capabilities() if can is None else can, [folder], options={**FAST, **options})
    return client


def finished(client: RawClient) -> None:
    assert client.finish() == 0
    assert client.leftovers() == []
    assert client.stderr == ""


def applied(text: str, edit: Message) -> str:
    """The text after an edit within one line; columns in UTF-16, which are code points here."""
    start, end = edit["range"]["start"], edit["range"]["end"]
    assert start["line"] == end["line"]
    lines = text.split("\n")
    line = lines[start["line"]]
    lines[start["line"]] = line[: start["character"]] + edit["newText"] + line[end["character"] :]
    return "\n".join(lines)
