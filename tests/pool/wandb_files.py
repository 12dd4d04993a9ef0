"""Folders and logs as W&B writes them, made by a writer of our own that shares nothing with the reader."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BLOCK = 32 * 1024
HEADER = b":W&B\xe1\xbe\x00"


def varint(value: int) -> bytes:
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def item(key: str | Sequence[str], value: Any) -> bytes:
    """A ConfigItem, SummaryItem or HistoryItem; a key that is a sequence is a nested one."""
    name = field(1, key) if isinstance(key, str) else b"".join(field(2, part) for part in key)
    return field(1, name + field(16, json.dumps(value)))


def items(values: Mapping[str, Any]) -> bytes:
    return b"".join(item(key, value) for key, value in values.items())


def run_record(run_id: str, config: Mapping[str, Any], **texts: str | Sequence[str]) -> bytes:
    numbers = {"entity": 2, "project": 3, "group": 6, "job_type": 7, "name": 8, "notes": 9, "tags": 10, "sweep": 12}
    body = field(1, run_id) + field(4, items(config))
    for name, text in texts.items():
        for each in [text] if isinstance(text, str) else text:
            body += field(numbers[name], each)
    return field(1, 1) + field(17, body)


def started_record(run_id: str, seconds: int) -> bytes:
    return field(17, field(1, run_id) + field(17, field(1, seconds) + field(2, 500_000_000)))


def config_record(config: Mapping[str, Any]) -> bytes:
    return field(5, items(config))


def summary_record(summary: Mapping[str, Any]) -> bytes:
    return field(3, items(summary))


def history_record(step: int, values: Mapping[str, Any]) -> bytes:
    return field(2, items(values) + field(2, field(1, step)))


def metric_record(name: str, goal: int = 0, *kept: int) -> bytes:
    body = field(1, name) + (field(8, goal) if goal else b"")
    return field(12, body + (field(7, b"".join(field(number, 1) for number in kept)) if kept else b""))


def exit_record(code: int) -> bytes:
    return field(18, field(1, code) if code else b"")


def framed(records: Sequence[bytes]) -> bytes:
    """A LevelDB log; the checksums, which nobody needs, are zero."""
    out = bytearray(HEADER)
    for record in records:
        rest, kind = record, 0
        while True:
            left = BLOCK - len(out) % BLOCK
            if left < 7:
                out += bytes(left)
                left = BLOCK
            part, rest = rest[: left - 7], rest[left - 7 :]
            kind = (2 if rest else 1) if kind == 0 else (3 if rest else 4)
            out += struct.pack("<IHB", 0, len(part), kind) + part
            if not rest:
                break
    return bytes(out)


def online_run(
    store: Path,
    run_id: str,
    config: str | None = None,
    summary: str | None = None,
    *,
    started: str = "20260301_101500",
    metadata: Mapping[str, Any] | None = None,
    output: str | None = None,
    log: Sequence[bytes] | None = None,
    prefix: str = "run",
) -> Path:
    """A run's folder; what is None is not there."""
    folder = store / f"{prefix}-{started}-{run_id}"
    (folder / "files").mkdir(parents=True)
    texts = {
        "config.yaml": config,
        "wandb-summary.json": summary,
        "wandb-metadata.json": None if metadata is None else json.dumps(metadata),
        "output.log": output,
    }
    for name, text in texts.items():
        if text is not None:
            (folder / "files" / name).write_text(text, encoding="utf-8")
    if log is not None:
        (folder / f"run-{run_id}.wandb").write_bytes(framed(log))
    return folder
