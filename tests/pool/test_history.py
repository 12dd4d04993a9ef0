from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.history.parameter_history import LineHistory, ParameterHistory
from tried.pool.history.run import Run
from tried.pool.record import ExperimentRecord


def record(record_id: str, params: dict[str, Any], **fields: Any) -> ExperimentRecord:
    return ExperimentRecord.model_validate({"id": record_id, "params": params, "research_line": "a", **fields})


def facts(history: ParameterHistory) -> dict[Any, Any]:
    """All that can be asked of a history, but for the numbers by which it holds it."""

    def of_run(run: Run) -> tuple[Any, ...]:
        said = (
            run.ending,
            run.cause,
            run.judged,
            run.debug,
            run.running,
            run.objective,
            run.moved,
            run.sweep,
            run.origin,
        )
        logged, in_force = (
            [(key, each.shown, each.text, each.value, each.kind) for key, each in values.items()]
            for values in (run.values, run.in_force)
        )
        return (logged, in_force, run.changes, run.record.to_json(), repr((*said, run.sweep, run.origin)))

    def of_line(line: LineHistory) -> tuple[Any, ...]:
        items = {item for run in line.runs.values() for item in run.items()}
        counts = {item: line.count(*item) for item in items}
        usual = {key: line.usual_value(key) for key in line.keys}
        logged = {key: line.columns.logged_count(key) for key in line.keys}
        replicates = [
            sorted(a.id for a in line.runs.values() if a.signature == b.signature) for b in line.runs.values()
        ]
        runs = [(run.id, of_run(run)) for run in line.runs.values()]
        return (runs, dict(line.endings), line.keys, counts, usual, logged, replicates, line.logging)

    lines = {name: of_line(line) for name, line in history.lines.items()}
    return {"lines": lines, "line_of": dict(history.line_of), "open sweeps": history.open_sweeps}


IDS = st.sampled_from([f"r:{i}" for i in range(6)])
PARAMS = st.dictionaries(
    st.sampled_from(["lr", "optimizer/lr", "depth", "seed", "gpu", "net"]),
    st.sampled_from([1, 2, "1.0", "x", None, "${a}", {"lr": 3}]),
    max_size=4,
)
CHANGES = st.sampled_from(
    [
        [],
        [{"change": "ParamChanged", "key": "lr", "from": 1, "to": 2}],
        [{"change": "ParamAdded", "key": "dropout", "value": 0.1}],
        [{"change": "Unspecified", "reason": "tidied up"}],
    ]
)
RECORDS = st.builds(
    lambda record_id, params, changes, **fields: ExperimentRecord.model_validate(
        {"id": record_id, "params": params, "derivation": {"changes": changes}, **fields}
    ),
    IDS,
    PARAMS,
    CHANGES,
    research_line=st.sampled_from(["a", "b", None]),
    parent=st.none() | IDS,
    verdict=st.sampled_from(["dead_end", "works", None]),
    conclusion=st.sampled_from([None, {"outcome": "running"}, {"outcome": "completed"}]),
    role=st.sampled_from(["experiment", "experiment", "sweep"]),
    sweep=st.sampled_from([None, "r:0", "s"]),
    metrics=st.dictionaries(st.sampled_from(["loss", "acc"]), st.sampled_from([0.5, 1, "nan"])),
)
DELTAS = st.lists(st.tuples(st.lists(IDS, max_size=2), st.lists(RECORDS, max_size=4), st.booleans()), max_size=6)


@given(DELTAS)
def test_after_any_deltas_a_history_is_that_of_what_is_left(
    deltas: list[tuple[list[str], list[ExperimentRecord], bool]],
) -> None:
    history = ParameterHistory.empty()
    left: dict[str, ExperimentRecord] = {}
    for removed, upserts, asked in deltas:
        unique = {each.id: each for each in upserts}
        gone = [each for each in removed if each not in unique]
        history = history.updated(gone, unique.values())
        for each in gone:
            left.pop(each, None)
        for each_id, each_record in unique.items():
            if each_id in left and left[each_id].role != "experiment":
                del left[each_id]  # what was no run before takes its place at the end
            left[each_id] = each_record
        if asked:  # what stands beside the columns is taken in when somebody asks
            facts(history)
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
    assert second.lines["b"].columns is first.lines["b"].columns
    assert second.lines["a"].columns is not first.lines["a"].columns


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
    line = history.lines["a"]
    assert [line.replicates(run.signature) for run in line.runs.values()] == [2, 2, 1, 1, 1]


def test_an_old_history_reads_records_as_they_were() -> None:
    first = ParameterHistory.empty().updated((), [record("r:1", {"lr": 1}, name="before"), record("r:2", {"lr": 1})])
    second = first.updated((), [record("r:1", {"lr": 1}, name="after")])
    names = [history.lines["a"].runs["r:1"].record.name for history in (first, second)]
    assert names == ["before", "after"]


def test_records_are_asked_from_the_reader_that_was_given() -> None:
    asked: list[str] = []

    def reader(record_id: str) -> ExperimentRecord:
        asked.append(record_id)
        return record(record_id, {"lr": 1, "seed": 7}, name="from the spool")

    history = ParameterHistory.empty().updated((), [record("r:1", {"lr": 1, "seed": 7})], reader)
    run = history.lines["a"].runs["r:1"]
    assert run.values["lr"].value == 1
    assert asked == []
    assert run.record.name == "from the spool"
    assert run.volatile["seed"].value == 7
    assert set(asked) == {"r:1"}


def test_two_histories_grown_from_one_do_not_mix() -> None:
    base = ParameterHistory.empty().updated((), [record(f"r:{i}", {"lr": i}) for i in range(3)])
    assert len(base.lines["a"]) == 3
    left = base.updated((), [record("x", {"lr": 5}), record("y", {"lr": 6})])
    right = base.updated((), [record("y", {"lr": 7}), record("x", {"lr": 8})])
    values = [[h.lines["a"].runs[i].values["lr"].value for i in ("x", "y")] for h in (left, right)]
    assert values == [[5, 6], [8, 7]]
    assert list(base.lines["a"].runs) == ["r:0", "r:1", "r:2"]


def test_roles_other_than_experiment_are_no_runs() -> None:
    history = ParameterHistory.empty().updated(
        (), [record("r:1", {"lr": 1}), record("l", {"lr": 1}, role="launcher"), record("s", {"lr": 1}, role="step")]
    )
    assert set(history.line_of) == set(history.lines["a"].runs) == {"r:1"}
    assert history.updated((), [record("r:1", {"lr": 1}, role="sweep")]).lines == {}


@pytest.mark.parametrize("outcome", ["stopped", "pruned", "running"])
def test_what_was_stopped_or_pruned_neither_worked_nor_is_a_dead_end(outcome: str) -> None:
    stopped = record("r:1", {"lr": 1}, conclusion={"outcome": outcome}, metrics={"loss": 1.0})
    history = ParameterHistory.empty().updated((), [stopped])
    assert history.lines["a"].runs["r:1"].ending == "open"


def test_a_search_is_open_as_long_as_a_member_or_it_itself_runs() -> None:
    running, done = {"outcome": "running"}, {"outcome": "completed"}
    first = ParameterHistory.empty().updated(
        (),
        [
            record("r:1", {"lr": 1}, sweep="s1", conclusion=running),
            record("r:2", {"lr": 2}, sweep="s1", conclusion={"outcome": "crashed"}),
            record("s2", {}, role="sweep", conclusion=running),
            record("r:3", {"lr": 3}, conclusion=running),
        ],
    )
    assert first.open_sweeps == {"s1", "s2"}
    second = first.updated(["s2"], [record("r:1", {"lr": 1}, sweep="s1", conclusion=done)])
    assert second.open_sweeps == frozenset()


def test_many_rows_at_once_and_one_by_one_are_the_same() -> None:
    records = [
        record(f"r:{i}", {"lr": i % 7 / 100, "depth": i % 3, f"only-{i % 40}": i, "x": f"x {i}"}, metrics={"m": i})
        for i in range(300)
    ]
    one_by_one = ParameterHistory.empty()
    for each in records:
        one_by_one = one_by_one.updated((), [each])
    assert facts(one_by_one) == facts(ParameterHistory.empty().updated((), records))
