"""Where on the disk a record stands, so that an editor can open it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tried.pool.record import ExperimentRecord


def place_of_record(files: Iterable[Path], record: ExperimentRecord) -> tuple[Path, int] | None:
    """The file and line (from 0) of a record in one of the pool's files: the last line that is the record itself, else
    the last of a table that holds its native id. None if no file holds it."""
    names = {record.id, *record.aliases}
    native = record.id.split(":", 1)[-1].rsplit("/", 1)[-1]
    for path in files:
        line = _line_in_journal(path, names) if path.suffix == ".jsonl" else _line_in_table(path, native)
        if line is not None:
            return path, line
    return None


def _line_in_journal(path: Path, names: set[str]) -> int | None:
    needles = [json.dumps(name)[1:-1].encode() for name in names]
    needles += [json.dumps(name, ensure_ascii=False)[1:-1].encode("utf-8", "replace") for name in names]
    found = None
    for number, line in _lines(path):
        if not any(needle in line for needle in needles):
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(data, dict) and data.get("id") in names:
            found = number
    return found


def _line_in_table(path: Path, native: str) -> int | None:
    needle = native.encode("utf-8", "replace")
    found = None
    for number, line in _lines(path):
        if needle and needle in line.split(b"\t"):
            found = number
    return found


def _lines(path: Path) -> Iterable[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            yield from enumerate(file)
    except OSError:
        return
