"""Parts of JSON that others wrote, each as what it should be or as nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tried.pool.record import parse_time


def mapping_in(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def text_in(value: Any) -> str | None:
    """None for an empty text, too."""
    return value if isinstance(value, str) and value.strip() else None


def own_labels(params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """(parameters without `tried`, what `tried: {conclusion: …}` or `tried.conclusion: …` among them says of a run)."""
    labels: dict[str, str] = {}
    kept: dict[str, Any] = {}
    for key, value in params.items():
        if key == "tried" and isinstance(value, Mapping):
            labels |= {
                f"tried.{name}": str(said) for name, said in value.items() if isinstance(said, str | int | float)
            }
        elif key.startswith("tried.") and isinstance(value, str | int | float):
            labels[key] = str(value)
        else:
            kept[key] = value
    return kept, labels


def time_in(value: Any) -> datetime | None:
    """A time in text; one without a zone is UTC."""
    return parse_time(value) if isinstance(value, str) else None
