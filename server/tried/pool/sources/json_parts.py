"""Parts of JSON that others wrote, each as what it should be or as nothing."""

from __future__ import annotations

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


def time_in(value: Any) -> datetime | None:
    """A time in text; one without a zone is UTC."""
    return parse_time(value) if isinstance(value, str) else None
