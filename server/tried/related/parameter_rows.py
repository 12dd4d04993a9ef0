"""The parameters of a record beside those of a draft, row by row.

Invariant: every parameter of either side stands in exactly one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tried.draft.alignment import AlignedDraft
from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import COMPARED_KINDS, Parameter, RecordedValue, flatten, is_known, shown_value
from tried.findings.scope import Scope
from tried.pool.history.run import Run
from tried.pool.record import ExperimentRecord

VALUE_LENGTH: Final = 500
"""Characters of a value: what is longer is prose or a file's content."""

Status = Literal["differs", "only_record", "only_draft", "equal", "not_compared"]
ORDER: Final[tuple[Status, ...]] = ("differs", "only_record", "only_draft", "equal", "not_compared")


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """`name` is the pool's key, `key` how people wrote it, the draft's people first. Values as they were written, None
    where a side does not set it. `not_compared`: what makes no other experiment, what stands outside of the
    experiment's parameters, and what cannot be read or was cut off. `parameter` is the draft's, where it has it."""

    name: str
    key: str
    record: str | None
    draft: str | None
    status: Status
    parameter: Parameter | None = None


def parameter_rows(
    record: ExperimentRecord, run: Run | None, draft: ExperimentDraft | None, scope: Scope | None
) -> tuple[ParameterRow, ...]:
    """In the order of ORDER; of one status as the record has them, then as the draft does.

    `scope` is the draft beside the record's research line; without one, or where it aligns nothing, keys are compared
    as they are. What a record changed without logging it is among its parameters.
    """
    theirs: dict[str, RecordedValue] = dict(flatten(record.params))
    for key, recorded in (run.in_force if run is not None else {}).items():
        theirs.setdefault(key, recorded)
    theirs = {key: recorded for key, recorded in theirs.items() if recorded.value is not None}
    parameters = draft.parameters if draft is not None else ()
    aligned = scope.draft if scope is not None and scope.draft.values else _as_they_are(parameters)
    logs = bool(run.values) if run is not None else bool(theirs)
    by_name = {parameter.key: parameter for parameter in parameters}
    listed: set[int] = set()
    rows: list[ParameterRow] = []
    for key, recorded in theirs.items():
        parameter = aligned.values.get(key)
        if parameter is None and (key in aligned.nulls or recorded.kind not in COMPARED_KINDS):
            parameter = by_name.get(key)
        if parameter is not None:
            listed.add(id(parameter.entry))
        rows.append(_row_of(key, recorded, parameter, aligned, draft is not None))
    inside = {id(p.entry): (key, p) for key, p in aligned.values.items()} | {
        id(p.entry): (p.key, p) for p in aligned.new
    }
    for parameter in parameters:
        if id(parameter.entry) in listed or parameter.value is None:
            continue
        name, _ = inside.get(id(parameter.entry), (parameter.key, parameter))
        status: Status = "only_draft" if id(parameter.entry) in inside and logs else "not_compared"
        if parameter.kind not in COMPARED_KINDS:
            status = "not_compared"
        rows.append(ParameterRow(name, parameter.shown, None, _written(parameter), status, parameter))
    return tuple(sorted(rows, key=lambda row: ORDER.index(row.status)))


def _as_they_are(parameters: tuple[Parameter, ...]) -> AlignedDraft:
    """By normalised keys alone, without bookkeeping."""
    compared = [parameter for parameter in parameters if parameter.kind in COMPARED_KINDS]
    return AlignedDraft(
        values={parameter.key: parameter for parameter in compared if parameter.value is not None},
        nulls=frozenset(parameter.key for parameter in compared if parameter.value is None),
    )


def _row_of(
    key: str, recorded: RecordedValue, parameter: Parameter | None, aligned: AlignedDraft, has_draft: bool
) -> ParameterRow:
    value = shown_value(recorded.recorded, VALUE_LENGTH)
    shown = parameter.shown if parameter is not None else recorded.shown
    if key in aligned.nulls and recorded.kind in COMPARED_KINDS:
        return ParameterRow(key, shown, value, "null", "differs", parameter)
    if parameter is None:
        is_compared = has_draft and recorded.kind in COMPARED_KINDS and key not in aligned.ambiguous
        return ParameterRow(key, shown, value, None, "only_record" if is_compared else "not_compared")
    status: Status = "differs"
    if (
        recorded.kind not in COMPARED_KINDS
        or parameter.kind not in COMPARED_KINDS
        or not is_known(recorded.value)
        or not is_known(parameter.value)
    ):
        status = "not_compared"
    elif recorded.value == parameter.value:
        status = "equal"
    return ParameterRow(key, shown, value, _written(parameter), status, parameter)


def _written(parameter: Parameter) -> str:
    if not is_known(parameter.value) and not isinstance(parameter.entry.value, str):
        return "?"  # an expression that only running it would tell
    return shown_value(parameter.entry.value, VALUE_LENGTH)
