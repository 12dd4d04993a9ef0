"""Runs by their ending and drafts from YAML, for tests of what was tried; `val_acc` is better high."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tried.draft.draft import ExperimentDraft, drafts_of
from tried.draft.syntax import parse
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord

BASE: Mapping[str, Any] = {"lr": 0.01, "depth": 4, "width": 128, "dropout": 0.1}
CHANGED = "ParamChanged"


def ended(name: str, params: Mapping[str, Any], accuracy: float | None = None, **fields: Any) -> ExperimentRecord:
    """A completed run of the line "vision"."""
    data: dict[str, Any] = {"id": name, "params": dict(params), "research_line": "vision", **fields}
    data.setdefault("conclusion", {"outcome": "completed"})
    if accuracy is not None:
        data["metrics"] = {"val_acc": accuracy}
    return ExperimentRecord.model_validate(data)


def good(name: str, params: Mapping[str, Any], accuracy: float | None = None, **fields: Any) -> ExperimentRecord:
    return ended(name, params, accuracy, verdict="works", **fields)


def bad(name: str, params: Mapping[str, Any], accuracy: float | None = None, **fields: Any) -> ExperimentRecord:
    """A run that somebody judged a dead end."""
    return ended(name, params, accuracy, verdict="dead_end", **fields)


def history_of(*records: ExperimentRecord) -> ParameterHistory:
    return ParameterHistory.empty().updated((), records)


def draft_of(values: Mapping[str, Any] | str, language: str = "yaml") -> ExperimentDraft:
    text = values if isinstance(values, str) else "".join(f"{key}: {value}\n" for key, value in values.items())
    (draft,) = drafts_of(parse(text, language), text)
    return draft
