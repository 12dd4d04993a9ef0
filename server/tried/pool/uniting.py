"""One record out of what several sources say of one run.

The first has the id and the last word. The others' ids become aliases; aliases, tags and places unite, notes that
differ are joined, empty fields are filled, parameters and metrics unite. A parameter that the first has only cut short
is taken from another that has it whole. So is a name that its tracker made up, and a research line that is no more than
the tracker's group: whoever was told a line (by a key of a config, a label, settings) knows better.

How it ended is told by the one who saw most of it: a conclusion that a person drew before one that was derived, and of
derived ones a failure before a stop, before pruned, finished, running, unknown: a crash that is in the log of the job
was reported as finished, and a run whose process died was never reported as anything. Cause, error and generated
headline come with it, and metrics where the first saw the run only while it was running.

Invariant: a pure function of the records and their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tried.draft.parameters import RecordedValue, flatten, is_known
from tried.pool.outcome import BROKEN_OUTCOMES, WELL_OUTCOMES, has_conclusion
from tried.pool.record import ExperimentRecord, as_number, parse_time

_OWN: Final = frozenset({"id", "kind", "schema_version", "source", "amends"})
_UNITED: Final = ("tags", "places")
_FILLED: Final = ("directions", "git")
"""Objects that are filled member by member."""

_OF_ENDING: Final = ("cause", "error", "generated_headline")

_MAKE_UP_NAMES: Final = ("mlflow:", "wandb:")
_MADE_UP = re.compile(r"[a-z]+-[a-z]+-\d+\Z")
"""`trusting-sow-140` of MLflow, `dainty-sunset-12` of W&B."""


def united(records: Sequence[ExperimentRecord]) -> ExperimentRecord:
    """The record of a run; at least one record, in the order of their sources."""
    if len(records) == 1:
        return records[0]
    dumped = [record.model_dump(by_alias=True, exclude_unset=True) for record in records]
    ending = max(range(len(records)), key=lambda place: (_told_of_ending(records[place]), -place))
    data = dict(dumped[0])
    for name in _OF_ENDING:
        told = dumped[ending].get(name)
        if told and (_is_empty(data.get(name)) or not has_conclusion(records[0].conclusion)):
            data[name] = told
    for other in dumped[1:]:
        for name, value in other.items():
            if name in _FILLED and isinstance(value, dict) and isinstance(data.get(name), dict):
                data[name] = {**value, **{key: item for key, item in data[name].items() if not _is_empty(item)}}
            elif name not in _OWN and _is_empty(data.get(name)) and not _is_empty(value):
                data[name] = value
    for name in _UNITED:
        if together := list(dict.fromkeys(item for each in dumped for item in each.get(name, ()))):
            data[name] = together
    names = dict.fromkeys(name for record in records for name in (record.id, *record.aliases))
    data["aliases"] = [name for name in names if name != records[0].id]
    if notes := _notes(records):
        data["notes"] = notes
    if name := next((record.name for record in records if _is_telling(record)), ""):
        data["name"] = name
    if line := _research_line(records):
        data["research_line"] = line
    data["params"] = _parameters(records)
    data["metrics"] = _metrics(records, ending)
    if conclusion := _conclusion(dumped, ending):
        data["conclusion"] = conclusion
    if (role := next((record.role for record in records if record.role != "experiment"), None)) is not None:
        data["role"] = role
    written = [record.last_written for record in records if parse_time(record.last_written) is not None]
    if written:
        data["last_written"] = max(written, key=lambda text: (parse_time(text), text))
    return ExperimentRecord.model_validate(data)


def _told_of_ending(record: ExperimentRecord) -> int:
    outcome = (record.outcome or "").strip().lower()
    if has_conclusion(record.conclusion) and outcome and outcome != "running":
        return 6
    if outcome in BROKEN_OUTCOMES:
        return 5
    places = {"stopped": 4, "pruned": 3, "running": 1}
    return places.get(outcome, 2 if outcome in WELL_OUTCOMES else 1 if outcome else 0)


def _conclusion(dumped: Sequence[Mapping[str, Any]], ending: int) -> dict[str, Any]:
    """The outcome of the one that saw the end; headline and facts of the first who has them."""
    told = [each["conclusion"] for each in dumped if isinstance(each.get("conclusion"), dict)]
    if not told:
        return {}
    data: dict[str, Any] = {}
    for conclusion in sorted(told, key=lambda each: bool(each.get("derived"))):
        for name, value in conclusion.items():
            if name != "derived" and _is_empty(data.get(name)):
                data[name] = value
    last = dumped[ending].get("conclusion")
    if isinstance(last, dict) and last.get("outcome"):
        data["outcome"] = last["outcome"]
    if all(conclusion.get("derived") for conclusion in told):
        data["derived"] = True
    return data


def _notes(records: Iterable[ExperimentRecord]) -> str:
    found: list[str] = []
    for record in records:
        note = (record.notes or "").strip()
        if note and not any(note in other for other in found):
            found.append(note)
    return "\n\n".join(found)


def _is_telling(record: ExperimentRecord) -> bool:
    name = record.name.strip()
    if not name or name in (record.id, record.run_id, record.id.partition(":")[2]):
        return False
    return not (record.id.startswith(_MAKE_UP_NAMES) and _MADE_UP.match(name))


def _research_line(records: Sequence[ExperimentRecord]) -> str | None:
    """That of the first; if it only repeats the group in the tracker, that of the first who says another than its own
    group."""
    lines = [(record.research_line, record.experiment) for record in records if record.research_line]
    first = lines[0] if lines else (None, None)
    if first[0] != first[1]:
        return first[0]
    return next((line for line, group in lines if group and line != group), first[0])


def _parameters(records: Sequence[ExperimentRecord]) -> dict[str, Any]:
    """Keys are the same in any spelling, and where one is the inner end of the other and the values are equal."""
    params = dict(records[0].params)
    known = flatten(params)
    for record in records[1:]:
        if not record.params:
            continue
        ends = {(key.rpartition(".")[2], value.value): key for key, value in known.items()}
        for key, value in flatten(record.params).items():
            mine = known.get(key)
            if mine is not None:
                if not is_known(mine.value) and is_known(value.value) and mine.shown in params:
                    params[mine.shown] = value.recorded
                continue
            near = ends.get((key.rpartition(".")[2], value.value))
            if near is not None and (near.endswith(f".{key}") or key.endswith(f".{near}")):
                continue
            params[value.shown] = value.recorded
            known[key] = RecordedValue(value.shown, value.recorded, value.value, value.kind)
    return params


def _metrics(records: Sequence[ExperimentRecord], ending: int) -> dict[str, Any]:
    order = list(range(len(records)))
    if ending and (records[0].outcome or "").strip().lower() == "running":
        order = [ending, *(place for place in order if place != ending)]
    found: dict[str, Any] = {}
    for place in order:
        for name, value in records[place].metrics.items():
            if name not in found or (as_number(found[name]) is None and as_number(value) is not None):
                found[name] = value
    return found


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, list | dict) and not value)
