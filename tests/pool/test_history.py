from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tried.pool.history import LineHistory, ParameterHistory
from tried.pool.postings import Postings
from tried.pool.record import ExperimentRecord


def record(record_id: str, params: dict[str, Any], **fields: Any) -> ExperimentRecord:
    return ExperimentRecord.model_validate({"id": record_id, "params": params, "research_line": "a", **fields})


def content(postings: Postings) -> dict[Any, set[str]]:
    return {term: set(postings[term]) for term in postings}


def facts(history: ParameterHistory) -> dict[Any, Any]:
    def of_line(line: LineHistory) -> tuple[Any, ...]:
        parts = (line.by_key, line.by_item, line.changed_to, line.changed_from)
        endings = {ending: count for ending, count in line.endings.items() if count}
        changes = {run.id: run.changes for run in line.runs.values()}
        return (set(line.runs), endings, changes, *(content(part) for part in parts))

    return {name: of_line(line) for name, line in history.lines.items()}


IDS = st.sampled_from([f"r:{i}" for i in range(6)])
PARAMS = st.dictionaries(st.sampled_from(["lr", "depth", "seed"]), st.sampled_from([1, 2, "x", None]), max_size=3)
RECORDS = st.builds(
    lambda record_id, params, line, parent, verdict: ExperimentRecord.model_validate(
        {"id": record_id, "params": params, "research_line": line, "parent": parent, "verdict": verdict}
    ),
    IDS,
    PARAMS,
    st.sampled_from(["a", "b", None]),
    st.none() | IDS,
    st.sampled_from(["dead_end", "works", None]),
)
DELTAS = st.lists(st.tuples(st.lists(IDS, max_size=2), st.lists(RECORDS, max_size=4)), max_size=6)


@given(DELTAS)
def test_after_any_deltas_a_history_is_that_of_what_is_left(
    deltas: list[tuple[list[str], list[ExperimentRecord]]],
) -> None:
    history = ParameterHistory.empty()
    left: dict[str, ExperimentRecord] = {}
    for removed, upserts in deltas:
        unique = {each.id: each for each in upserts}
        gone = [each for each in removed if each not in unique]
        history = history.updated(gone, unique.values())
        for each in gone:
            left.pop(each, None)
        left.update(unique)
    assert facts(history) == facts(ParameterHistory.empty().updated((), left.values()))


def test_a_history_that_somebody_holds_does_not_change() -> None:
    first = ParameterHistory.empty().updated((), [record("r:1", {"lr": 1})])
    before = facts(first)
    first.updated(["r:1"], [record("r:2", {"lr": 1}), record("r:3", {"lr": 2})])
    assert facts(first) == before


def test_lines_that_a_delta_does_not_touch_are_shared() -> None:
    first = ParameterHistory.empty().updated(
        (), [record("r:1", {"lr": 1}), record("r:2", {"lr": 1}, research_line="b")]
    )
    second = first.updated((), [record("r:3", {"lr": 1})])
    assert second.lines["b"] is first.lines["b"]
    assert second.lines["a"] is not first.lines["a"]


def test_changes_are_derived_from_a_parent_whenever_it_arrives() -> None:
    child = record("r:2", {"lr": 2, "depth": 4}, parent="r:1")
    history = ParameterHistory.empty().updated((), [child])
    assert history.lines["a"].runs["r:2"].changes == ()
    history = history.updated((), [record("r:1", {"lr": 1, "depth": 4, "dropout": 0.1})])
    changes = {c.key: (c.before, c.after) for c in history.lines["a"].runs["r:2"].changes}
    assert changes == {"lr": (1, 2), "dropout": (0.1, None)}


def test_recorded_changes_win_over_derived_ones() -> None:
    derivation = {"changes": [{"change": "ParamAdded", "key": "lr", "value": "2"}]}
    child = record("r:2", {"lr": 2, "depth": 9}, parent="r:1", derivation=derivation)
    history = ParameterHistory.empty().updated((), [record("r:1", {"depth": 4}), child])
    changes = history.lines["a"].runs["r:2"].changes
    assert [(c.key, c.before, c.after, c.text) for c in changes] == [("lr", None, 2, "2")]


def test_a_run_is_after_another_by_time_and_else_by_place() -> None:
    history = ParameterHistory.empty().updated(
        (),
        [
            record("late", {}, timestamp="2026-02-02"),
            record("early", {}, timestamp="2026-02-01T10:00:00Z"),
            record("undated", {}),
        ],
    )
    runs = history.lines["a"].runs
    assert runs["late"].is_after(runs["early"])
    assert not runs["early"].is_after(runs["late"])
    assert runs["undated"].is_after(runs["late"])


def test_the_usual_value_of_a_key_is_the_most_frequent_and_the_first_of_equals() -> None:
    values = [3, 1, 1, 2, 2]
    history = ParameterHistory.empty().updated((), [record(f"r:{i}", {"lr": v}) for i, v in enumerate(values)])
    assert history.lines["a"].usual_value("lr") == 1
    assert history.lines["a"].usual_value("depth") is None


def test_a_parent_of_another_line_tells_no_changes() -> None:
    parent = record("r:1", {"lr": 1, "depth": 4}, research_line="b")
    child = record("r:2", {"lr": 2, "depth": 4}, parent="r:1")
    assert ParameterHistory.empty().updated((), [parent, child]).lines["a"].runs["r:2"].changes == ()


def test_at_most_three_differences_from_a_parent_are_its_changes() -> None:
    parent = record("r:1", {"a": 1, "b": 1, "c": 1, "d": 1})
    three = record("r:2", {"a": 2, "b": 2, "c": 2, "d": 1}, parent="r:1")
    four = record("r:3", {"a": 2, "b": 2, "c": 2, "d": 2}, parent="r:1")
    runs = ParameterHistory.empty().updated((), [parent, three, four]).lines["a"].runs
    assert len(runs["r:2"].changes) == 3
    assert runs["r:3"].changes == ()


def test_a_record_that_comes_again_keeps_its_place() -> None:
    history = ParameterHistory.empty().updated((), [record("r:1", {"lr": 1}), record("r:2", {"lr": 1})])
    history = history.updated((), [record("r:1", {"lr": 3})])
    runs = history.lines["a"].runs
    assert runs["r:1"].order < runs["r:2"].order


def test_replicates_have_the_same_signature_and_runs_without_parameters_their_own() -> None:
    history = ParameterHistory.empty().updated(
        (),
        [
            record("r:1", {"lr": 1, "seed": 1}),
            record("r:2", {"lr": "1.0", "seed": 2}),
            record("r:3", {"lr": 2}),
            record("r:4", {}),
            record("r:5", {}),
        ],
    )
    groups = sorted(len(group) for group in history.lines["a"].replicates.values())
    assert groups == [1, 1, 1, 2]
