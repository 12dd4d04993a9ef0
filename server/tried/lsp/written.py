"""Answers that are JSON text already: a long one is written in a worker thread, piece by piece, and not at one stroke
on the event loop, where all others would wait for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Written:
    """`text` is plain ASCII."""

    text: str


def written(report: Mapping[str, Any], **more: Any) -> Written:
    """A report, and `more` fields of it. Lists are written item by item: between two of them other threads run."""
    fields = (f"{json.dumps(name)}: {_text(value)}" for name, value in {**report, **more}.items())
    return Written("{" + ", ".join(fields) + "}")


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join([json.dumps(item, allow_nan=False) for item in value]) + "]"
    return json.dumps(value, allow_nan=False)
