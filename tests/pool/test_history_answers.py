"""After any deltas, in whatever order, a history answers as one does that is made at once of what is left."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_history import CHANGES, PARAMS, facts

from tried.draft.parameters import is_known
from tried.pool.history.line_history import LineHistory
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord
from tried.review.runs import last_without_time, newest_in, runs_in

IDS = [f"r:{number}" for number in range(20)]
VALUES: list[Any] = [1, 2, 3, 0.1, "x", True, None]


@dataclass(frozen=True)
class Change:
    """`placed`: the places in the pool that the first few ids have from now on; `asked`: somebody holds what was before
    and asks it everything."""

    removed: tuple[str, ...]
    upserts: tuple[ExperimentRecord, ...]
    placed: tuple[int, ...] | None
    asked: bool


def answers(history: ParameterHistory) -> dict[Any, Any]:
    """What `facts` leaves out: what rules, searches and reviews ask of whole columns."""

    def of_line(line: LineHistory) -> dict[str, Any]:
        columns, ids = line.columns, line.columns.ids
        items = {(key, value) for key in line.keys for value in VALUES}
        of_runs = {(key.rpartition(".")[2], value) for run in line.runs.values() for key, value in run.items()}
        return {
            "masks": {
                name: [ids[row] for row, is_so in enumerate(getattr(line, name)) if is_so]
                for name in ("is_dead", "has_worked", "is_blameless", "is_undecided", "logs_anything")
            },
            "turned": {
                key: {value: [ids[row] for row in rows] for value, rows in found.items()}
                for key, found in line.dead_ends_that_turned.items()
            },
            "names": set(line.names),
            "suffixes": dict(line.keys_by_suffix),
            "meant": [line.may_mean(key, {"lr", "name"}) for key in ("lr", "optimizer.lr", "net.name", "z")],
            "logged": {key for key in (*line.keys, "z") if line.is_logged(key)},
            "spreads": {metric: line.spread(metric) for metric in ("loss", "acc", "none")},
            "holds": {item: columns.holds(*item).tolist() for item in items},
            "holds logged": {item: columns.holds_logged(*item).tolist() for item in items},
            "any": {item: columns.has_any(*item) for item in items},
            "leaves": columns.leaf_hashes,
            "items": columns.item_hashes,
            "common": line.may_have_in_common(of_runs, frozenset(), len(of_runs)),
            "floats": {key: repr(columns.floats(columns.in_force(key)).tolist()) for key in line.keys},
            "times": [run.time for run in line.runs.values()],
            "in time": [run.id for run in line.runs_in_time(line.runs.values())],
            "same changes": [[a.change_set == b.change_set for a in line.runs.values()] for b in line.runs.values()],
            "volatile": [sorted(run.volatile) for run in line.runs.values()],
            "known": [[is_known(value) for _, value in run.items()] for run in line.runs.values()],
            "flags": [int(columns.facts["flags"][row]) for row in range(len(line))],
            "places": {each: columns.place_of(each) for each in IDS},
        }

    last, newest = last_without_time(history), newest_in(history)
    return {
        "lines": {name: of_line(line) for name, line in history.lines.items()},
        "runs": {each: (run := history.run(each)) and run.id for each in IDS},
        "in order": [run.id for run in runs_in(history)],
        "ends": (last and last.id, newest and newest.id),
        **facts(history),
    }


RECORDS = st.builds(
    lambda record_id, params, changes, **fields: ExperimentRecord.model_validate(
        {"id": record_id, "params": params, "derivation": {"changes": changes}, **fields}
    ),
    st.sampled_from(IDS),
    PARAMS | st.dictionaries(st.sampled_from(["rare", "net.name", "lr"]), st.sampled_from(VALUES), max_size=2),
    CHANGES,
    research_line=st.sampled_from(["a", "a", "a", "b", None]),
    parent=st.none() | st.sampled_from(IDS),
    verdict=st.sampled_from(["dead_end", "works", None, None]),
    conclusion=st.sampled_from([None, {"outcome": "running"}, {"outcome": "completed"}, {"outcome": "failed"}]),
    cause=st.sampled_from([None, None, "diverged", "code_error"]),
    role=st.sampled_from(["experiment", "experiment", "experiment", "sweep"]),
    sweep=st.sampled_from([None, "r:0", "s"]),
    metrics=st.dictionaries(st.sampled_from(["loss", "acc"]), st.sampled_from([0.5, 1, 3, "nan"])),
    timestamp=st.sampled_from([None, "2026-01-01", "2026-01-02", "soon"]),
)
SERIES = st.lists(
    st.builds(
        Change,
        st.lists(st.sampled_from(IDS), max_size=3, unique=True).map(tuple),
        st.lists(RECORDS, max_size=8, unique_by=lambda each: each.id).map(tuple),
        st.none() | st.none() | st.permutations(range(6)).map(tuple),
        st.booleans(),
    ),
    max_size=7,
)


def check(series: Sequence[Change]) -> None:
    history = ParameterHistory.empty()
    left: dict[str, ExperimentRecord] = {}
    place = {each: number for number, each in enumerate(IDS)}
    for change in series:
        before = history, answers(history) if change.asked else None
        upserts = {each.id: each for each in change.upserts}
        gone = [each for each in change.removed if each not in upserts]
        history = history.updated(gone, change.upserts, order_of=place.__getitem__)
        left = {key: each for key, each in {**left, **upserts}.items() if key not in gone}
        if change.placed is not None:
            place.update(zip(IDS, change.placed, strict=False))
            history = history.placed(IDS, place.__getitem__)
        if before[1] is not None:
            assert answers(before[0]) == before[1], "who holds the old history sees the old one"
    in_order = [left[each] for each in sorted(left, key=place.__getitem__)]
    assert answers(history) == answers(ParameterHistory.empty().updated((), in_order))


@settings(max_examples=60, deadline=None)
@given(SERIES)
def test_after_any_deltas_every_answer_is_that_of_a_history_made_at_once(series: Sequence[Change]) -> None:
    check(series)


@settings(max_examples=40, deadline=None)
@given(SERIES)
def test_so_it_is_where_few_runs_may_stand_beside_the_columns(series: Sequence[Change]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tried.pool.history.line_history._MOST_PENDING", 2)
        patch.setattr("tried.pool.history.run_columns._SHORT", 4)
        patch.setattr("tried.pool.history.column._SPARSE", 2)
        check(series)
