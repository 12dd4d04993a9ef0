"""What a run changed, one line a change, in the words of the record's format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tried.draft.parameters import shown_value
from tried.pool.record import Change

VALUE_LENGTH: Final = 200
_COMMIT_LENGTH: Final = 10


def change_line(change: Change) -> str:
    """Such as "lr: 0.01 → 0.05", "warmup: 100 (new)", "+ step:Dropout", "code 3f2a91c → 8be01dd"; of a kind that we do
    not know all that it says."""
    more: Mapping[str, Any] = change.model_extra or {}
    match change.change:
        case "ParamChanged":
            return f"{change.key}: {_value(change.from_)} → {_value(change.to)}"
        case "ParamAdded":
            return f"{change.key}: {_value(change.value if change.value is not None else change.to)} (new)"
        case "ParamRemoved":
            return f"{change.key}: {_value(change.value if change.value is not None else change.from_)} (removed)"
        case "NodeAdded" | "NodeRemoved":
            return f"{'+' if change.change == 'NodeAdded' else '−'} {_text(more.get('filter') or change.node)}"
        case "NodeReplaced":
            return f"{_text(change.from_)} → {_text(change.to)}"
        case "NodeReconfigured":
            return f"{_text(change.node)} reconfigured"
        case "EdgeAdded" | "EdgeRemoved":
            sign = "+" if change.change == "EdgeAdded" else "−"
            return f"{sign} {_text(more.get('source'))} → {_text(more.get('target'))}"
        case "CodeChanged":
            before, after = (_text(more.get(name))[:_COMMIT_LENGTH] for name in ("from_sha", "to_sha"))
            return f"code {before} → {after}" if before or after else "code changed"
        case "SearchSpaceChanged":
            parts = [
                f"{sign} {_value(more[name])}" for sign, name in (("+", "added"), ("−", "removed")) if more.get(name)
            ]
            return f"search space: {', '.join(parts)}" if parts else "search space changed"
        case "Unspecified":
            return _text(change.reason)
    told = (change.key, change.node, change.from_, change.to, change.value, change.reason, *more.values())
    return " ".join([f"{_text(change.change)}:", *(_value(each) for each in told if each is not None)])


def _value(value: Any) -> str:
    return shown_value(value, VALUE_LENGTH)


def _text(value: Any) -> str:
    return "" if value is None else shown_value(value, VALUE_LENGTH)
