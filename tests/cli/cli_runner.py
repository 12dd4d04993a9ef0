"""Runs the command line in this process, in a folder, and gives back what it said."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tried.cli import run


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


class Runner:
    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._capture = capture
        patch.chdir(folder)

    def __call__(self, *arguments: object) -> Result:
        self._capture.readouterr()
        status = run([str(argument) for argument in arguments])
        captured = self._capture.readouterr()
        return Result(status, captured.out, captured.err)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def journal(self, *records: dict[str, Any], name: str = ".tried/pool.jsonl") -> Path:
        return self.write(name, "".join(json.dumps(record) + "\n" for record in records))
