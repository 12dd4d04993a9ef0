"""Parameters side by side: whatever both sides hold, every one is in one row, and rows say what findings compare."""

from __future__ import annotations

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tried.draft.alignment import align
from tried.draft.draft import ExperimentDraft, drafts_of
from tried.draft.syntax import parse
from tried.findings.comparison import compare
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord
from tried.related.parameter_rows import ORDER, ParameterRow, parameter_rows

KEYS = [
    "lr",
    "depth",
    "width",
    "dropout",
    "dataset",
    "epochs",
    "seed",
    "output_dir",
    "gpu",
    "optimizer.name",
    "model.lr",
]
VALUES: list[Any] = [0.1, 1, 2, "adam", "wiki", True, None, "x" * 250, "${other}", [1, 2]]
PARAMS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=8)


def draft_of(params: dict[str, Any]) -> ExperimentDraft:
    text = yaml.safe_dump(params) if params else ""
    return drafts_of(parse(text, "yaml"), text)[0]


def rows_of(theirs: dict[str, Any], ours: dict[str, Any], *others: dict[str, Any]) -> tuple[list[ParameterRow], Scope]:
    records = [
        ExperimentRecord(id=f"r{number}", params=params, research_line="vision")
        for number, params in enumerate((theirs, *others))
    ]
    history = ParameterHistory.empty().updated((), records)
    line = history.lines["vision"]
    draft = draft_of(ours)
    scope = Scope(line, True, align(draft.parameters, line.keys, line.keys_by_suffix), FindingSettings())
    return list(parameter_rows(records[0], history.run("r0"), draft, scope)), scope


@given(PARAMS, PARAMS, st.lists(PARAMS, max_size=3))
def test_every_parameter_of_either_side_is_in_one_row(
    theirs: dict[str, Any], ours: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    rows, _ = rows_of(theirs, ours, *others)
    assert sum(row.record is not None for row in rows) == sum(value is not None for value in theirs.values())
    parameters = [row.parameter.key for row in rows if row.parameter is not None]
    assert len(parameters) == len(set(parameters))
    stated = {p.key for p in draft_of(ours).parameters if p.value is not None}
    assert stated <= set(parameters)
    assert [ORDER.index(row.status) for row in rows] == sorted(ORDER.index(row.status) for row in rows)
    for row in rows:
        assert (row.record is None) >= (row.status == "only_draft")
        assert (row.draft is None) >= (row.status == "only_record")
        assert row.status not in ("differs", "equal") or (row.record is not None and row.draft is not None)


@given(PARAMS, PARAMS, st.lists(PARAMS, max_size=3))
def test_what_is_equal_and_what_differs_is_what_findings_compare(
    theirs: dict[str, Any], ours: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    rows, scope = rows_of(theirs, ours, *others)
    if not scope.draft.values:
        return
    run = scope.line.runs["r0"]
    compared = compare(scope.draft, run)
    equal = {row.name for row in rows if row.status == "equal"}
    assert equal == {*compared.equal, *compared.equal_budget}
    differing = {row.name for row in rows if row.status == "differs"}
    nulls = {key for key in scope.draft.nulls if key in run.in_force}
    assert differing == {*compared.differing, *compared.budget, *nulls}


def test_a_null_of_the_draft_differs_under_whatever_key() -> None:
    rows, _ = rows_of({"config/optim/lr": 0.1, "config/optim/depth": 4}, {"optim": {"lr": None, "depth": 4}})
    assert [(row.key, row.record, row.draft, row.status) for row in rows] == [
        ("config/optim/lr", "0.1", "null", "differs"),
        ("optim.depth", "4", "4", "equal"),
    ]


def test_what_nobody_can_read_is_a_question_mark() -> None:
    text = "lr = compute()\ndepth = 4\n"
    (draft,) = drafts_of(parse(text, "python"), text)
    record = ExperimentRecord(id="r0", params={"lr": 0.1, "depth": 4})
    history = ParameterHistory.empty().updated((), [record])
    line = history.lines[None]
    scope = Scope(line, True, align(draft.parameters, line.keys, line.keys_by_suffix), FindingSettings())
    rows = parameter_rows(record, history.run("r0"), draft, scope)
    assert [(row.key, row.record, row.draft, row.status) for row in rows] == [
        ("depth", "4", "4", "equal"),
        ("lr", "0.1", "?", "not_compared"),
    ]
