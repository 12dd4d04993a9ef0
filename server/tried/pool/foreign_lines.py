"""Lines of other people's experiment logs in JSON: the same facts as in a record, under other names.

A line without an `id` is taken for an experiment if it has another name for one (`run_id`, `experiment_id`, `exp_id`;
`version` if it also has a `parent`, which then is another's version) and says anything of an experiment. What it says
otherwise stays in the record as it is.

Invariant: nothing here raises, and a line that has an `id` is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tried.pool.metric_names import direction_by_name, is_bookkeeping_metric, names_a_result

IDS: Final = ("run_id", "experiment_id", "exp_id")
SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = {
    "timestamp": ("created_at", "started_at", "start_time", "datetime", "date", "time"),
    "params": ("config", "hyperparameters", "hparams", "parameters"),
    "metrics": ("results", "scores"),
    "duration": ("runtime_sec", "runtime_seconds", "duration_sec", "duration_seconds", "duration_s", "seconds"),
    "git": ("git_sha", "git_commit", "commit", "commit_hash"),
    "tags": ("labels",),
    "notes": ("comment", "comments"),
    "name": ("title", "description"),
}
"""Field of a record → what else it is called; the first that is there."""

_OTHERS: Final = ("parent_", "baseline_", "predicted_", "expected_", "target_", "best_so_far_")
"""Numbers that so begin are another run's, or a hope."""


def as_record(data: Mapping[str, Any]) -> dict[str, Any] | None:
    """The same as a record's fields; None for a line that is none."""
    found = _id_of(data)
    if found is None:
        return None
    record: dict[str, Any] = {"id": found, **data}
    for field, synonyms in SYNONYMS.items():
        value = next((data[name] for name in synonyms if data.get(name) not in (None, "", {}, [])), None)
        if record.get(field) in (None, "", {}, []) and value is not None:
            record[field] = value
    for field in ("params", "metrics"):
        if not isinstance(record.get(field, {}), dict):
            record.pop(field)
    if isinstance(notes := record.get("notes"), list):
        record["notes"] = "\n".join(str(note) for note in notes) or None
    if isinstance(record.get("git"), str):
        record["git"] = {"commit": record["git"]}
    numbers = _numbers(data)
    metrics = {**numbers, **record.get("metrics", {})}
    if metrics:
        record["metrics"] = metrics
    if not (metrics or record.get("params") or record.get("hypothesis") or record.get("conclusion")):
        return None
    record.setdefault("name", found)
    if directions := _directions(data, metrics):
        record["directions"] = {**directions, **_mapping(record.get("directions"))}
    if "derivation" not in record and (derivation := _derivation(data, numbers)):
        record["derivation"] = derivation
        deltas = derivation.get("metric_delta", {})
        if len(deltas) == 1:
            record.setdefault("objective", next(iter(deltas)))
    return record


def _id_of(data: Mapping[str, Any]) -> str | None:
    names = (*IDS, *(("version",) if "parent" in data else ()))
    if data.get("id") is not None or "amends" in data:
        return None
    for name in names:
        value = data.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return None


def _numbers(data: Mapping[str, Any]) -> dict[str, float]:
    """The numbers beside the other fields that are results of this run."""
    return {
        name: value
        for name, value in data.items()
        if isinstance(value, int | float)
        and not isinstance(value, bool)
        and not name.startswith(_OTHERS)
        and (names_a_result(name) or direction_by_name(name) is not None)
        and not is_bookkeeping_metric(name)
        and not name.endswith("_delta")
    }


def _directions(data: Mapping[str, Any], metrics: Mapping[str, Any]) -> dict[str, str]:
    """`greater_is_better` is said of the metric that is named, and of what is only called a score."""
    greater = data.get("greater_is_better", data.get("higher_is_better"))
    if not isinstance(greater, bool):
        return {}
    named = data.get("metric_name") or data.get("metric")
    way = "max" if greater else "min"
    return {name: way for name in metrics if name == named or "score" in name.lower().split("_")}


def _derivation(data: Mapping[str, Any], numbers: Mapping[str, float]) -> dict[str, Any]:
    """`parent_X` beside `X` is the parent's; lists whose names end in `changes` say in words what was changed."""
    found: dict[str, Any] = {}
    changes: list[dict[str, Any]] = []
    for name, value in data.items():
        if not name.endswith("changes"):
            continue
        if isinstance(value, dict):
            changes += [{"change": "ParamChanged", "key": str(key), "to": item} for key, item in value.items()]
        elif isinstance(value, list):
            changes += [{"change": "Unspecified", "reason": item} for item in value if isinstance(item, str)]
    if changes:
        found["changes"] = changes
    deltas = {}
    for name, after in numbers.items():
        before = data.get(f"parent_{name}")
        if isinstance(before, int | float) and not isinstance(before, bool):
            deltas[name] = {"before": before, "after": after, "delta": after - before}
    if deltas:
        found["metric_delta"] = deltas
    if found and isinstance(data.get("parent"), str):
        found["from"] = data["parent"]
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
