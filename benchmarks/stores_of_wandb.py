"""Stores of W&B for measurements: online run folders, and offline logs by a tiny writer of their format."""

from __future__ import annotations

import json
import struct
import time
from pathlib import Path
from typing import Any

BLOCK = 32 * 1024


def make_wandb_folders(path: Path, runs: int, params: int, with_logs: bool = True) -> Path:
    """`path/wandb` with `runs` online run folders (configuration, summary, metadata, log, output)."""
    store = path / "wandb"
    for number in range(runs):
        folder, run_id = _folder(store, "run", number)
        files = folder / "files"
        files.mkdir(parents=True)
        config = _config(number, params)
        (files / "config.yaml").write_text(
            "wandb_version: 1\n"
            + "".join(f"{key}:\n  desc: null\n  value: {json.dumps(value)}\n" for key, value in config.items())
        )
        (files / "wandb-summary.json").write_text(json.dumps(_summary(number)))
        (files / "wandb-metadata.json").write_text(
            json.dumps({"startedAt": _started(number), "program": "train.py", "git": {"commit": f"{number:040x}"}})
        )
        (files / "output.log").write_text("".join(f"epoch {e}: val_loss {1 / (e + 1):.4f}\n" for e in range(20)))
        if with_logs:
            (folder / f"run-{run_id}.wandb").write_bytes(_log(run_id, number, config, steps=20))
    return store


def make_wandb_logs(path: Path, runs: int, params: int, steps: int = 50) -> Path:
    """`path/wandb` with `runs` offline run folders, each a log and an output."""
    store = path / "wandb"
    for number in range(runs):
        folder, run_id = _folder(store, "offline-run", number)
        (folder / "files").mkdir(parents=True)
        (folder / "files" / "output.log").write_text(
            "".join(f"epoch {e}: val_loss {1 / (e + 1):.4f}\n" for e in range(20))
        )
        (folder / f"run-{run_id}.wandb").write_bytes(_log(run_id, number, _config(number, params), steps))
    return store


def _folder(store: Path, prefix: str, number: int) -> tuple[Path, str]:
    run_id = f"{number:08x}"
    return (
        store / f"{prefix}-{time.strftime('%Y%m%d_%H%M%S', time.gmtime(1_750_000_000 + 60 * number))}-{run_id}",
        run_id,
    )


def _started(number: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(1_750_000_000 + 60 * number))


def _config(number: int, params: int) -> dict[str, Any]:
    config: dict[str, Any] = {
        "lr": 10 ** -(1 + number % 5),
        "batch_size": 2 ** (3 + number % 6),
        "optimizer": ("adam", "sgd", "lion")[number % 3],
    }
    config |= {f"model.layer_{at}.width": 32 * (1 + (number + at) % 7) for at in range(max(0, params - 3))}
    return config


def _summary(number: int) -> dict[str, Any]:
    return {
        "val_loss": float("nan") if number % 10 == 0 else 0.3 + number % 7 / 10,
        "val_f1": 0.5 + number % 50 / 100,
        "_runtime": 60.0 + number % 100,
        "_step": 1000,
        "_timestamp": 1_750_000_000 + 60 * number + 60.0,
        "_wandb": {"runtime": 60},
    }


def _varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes((value & 0x7F | 0x80,))
        value >>= 7
    return out + bytes((value,))


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value & 0xFFFF_FFFF_FFFF_FFFF)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def item(key: str, value: Any) -> bytes:
    return field(1, field(1, key) + field(16, json.dumps(value)))


def framed(records: list[bytes]) -> bytes:
    """The LevelDB log of these records, with W&B's header; checksums are zero."""
    out = bytearray(b":W&B\xe1\xbe\x00")
    for record in records:
        at, first = 0, True
        while first or at < len(record):
            left = BLOCK - len(out) % BLOCK
            if left < 7:
                out += bytes(left)
                left = BLOCK
            part = record[at : at + left - 7]
            at += len(part)
            last = at >= len(record)
            kind = (1 if last else 2) if first else (4 if last else 3)
            out += struct.pack("<IHB", 0, len(part), kind) + part
            first = False
    return bytes(out)


def _log(run_id: str, number: int, config: dict[str, Any], steps: int) -> bytes:
    summary = _summary(number)
    run = field(1, run_id) + field(3, "bench") + field(8, f"run {number}") + field(9, "a note") + field(10, "baseline")
    run += field(4, b"".join(item(key, value) for key, value in config.items()))
    records = [field(1, 1) + field(17, run)]
    for step in range(steps):
        loss = float("nan") if summary["val_loss"] != summary["val_loss"] and step >= steps // 2 else 1 / (step + 1)
        history = item("train_loss", loss) + item("val_loss", loss) + item("_step", step) + field(2, field(1, step))
        records.append(field(1, 2 + 2 * step) + field(2, history))
        records.append(field(3, item("train_loss", loss) + item("_step", step)))
    records.append(field(3, b"".join(item(key, value) for key, value in summary.items())))
    records.append(field(18, field(1, 0) + field(2, 60)))
    return framed(records)
