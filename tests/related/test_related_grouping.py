"""Which records are one experiment: rules one by one, and that none is ever lost."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from related_pool import BASE, record, snapshot_of

from tried.pool.record import ExperimentRecord
from tried.related.grouping import Grouping

ARCHITECTURE = {"digest": "d1", "nodes": {"a": "filter:Conv"}}


def groups(*records: ExperimentRecord) -> list[list[str]]:
    """The ids of each experiment, in the order of their first records."""
    grouping = Grouping(snapshot_of(*records))
    found: dict[object, list[str]] = {}
    for each in records:
        found.setdefault(grouping.kind_of(each.id), []).append(each.id)
    assert grouping.count == len(found) == grouping.count_among([each.id for each in records])
    for ids in found.values():
        for record_id in ids:
            assert [run.id for run in grouping.replicates_of(record_id)] in (ids, [])
    return list(found.values())


def test_runs_that_differ_in_what_is_volatile_are_one() -> None:
    seeds = [record(f"s{seed}", {**BASE, "seed": seed, "output_dir": f"/runs/{seed}"}) for seed in range(4)]
    assert groups(*seeds, record("other", {**BASE, "lr": 0.02})) == [["s0", "s1", "s2", "s3"], ["other"]]


@pytest.mark.parametrize(
    "otherwise",
    [
        {"params": {**BASE, "lr": 0.02}},
        {"params": {**BASE, "momentum": 0.9}},
        {"research_line": "text"},
        {"git": {"commit": "d4e5f6a"}},
        {"git": None},
        {"architecture": {**ARCHITECTURE, "digest": "d2"}},
        {"architecture": {"digest": "d1", "nodes": {"a": "filter:ReLU"}}},
        {"architecture": None},
        {"derivation": {"changes": [{"change": "ParamChanged", "key": "lr", "from": 0.1, "to": 0.01}]}},
    ],
)
def test_what_makes_another_experiment(otherwise: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"git": {"commit": "a1b2c3d"}, "architecture": ARCHITECTURE}
    one, two = record("one", **fields), record("two", **fields)
    assert groups(one, two) == [["one", "two"]]
    assert groups(one, record("two", **{**fields, **otherwise})) == [["one"], ["two"]]


def test_what_makes_none() -> None:
    """Outcomes, tags, words and times do not."""
    two = record("two", {**BASE, "lr": "1e-2"}, tags=["x"], name="again", verdict="works", timestamp="2026-01-01")
    assert groups(record("one"), two) == [["one", "two"]]


@pytest.mark.parametrize("logged", [{"seed": 3}, {"run_name": "again"}, {"gpu": "A100"}, {"num_workers": 4}])
def test_what_only_one_of_them_logs_of_seeds_names_and_machines_makes_none(logged: dict[str, Any]) -> None:
    assert groups(record("one", BASE), record("two", {**BASE, **logged})) == [["one", "two"]]


def test_the_order_in_which_a_tracker_lists_parameters_makes_none() -> None:
    assert groups(record("one", BASE), record("two", dict(reversed(list(BASE.items()))))) == [["one", "two"]]


def test_what_cannot_be_read_is_equal_only_where_it_is_written_alike() -> None:
    runs = [
        record(name, {**BASE, "lr": written}) for name, written in zip("abc", ("${x}", "${y}", "${x}"), strict=True)
    ]
    assert groups(*runs, record("known", BASE)) == [["a", "c"], ["b"], ["known"]]


def test_each_of_several_values_that_cannot_be_read_counts() -> None:
    pairs = [("${x}", "${y}"), ("${y}", "${x}"), ("${x}", "${x}"), ("${x}", "${y}")]
    runs = [record(f"r{place}", {**BASE, "lr": lr, "depth": depth}) for place, (lr, depth) in enumerate(pairs)]
    assert groups(*runs) == [["r0", "r3"], ["r1"], ["r2"]]


def test_what_logs_no_parameters_is_the_replicate_of_none() -> None:
    changed = {"changes": [{"change": "ParamChanged", "key": "lr", "from": 0.1, "to": 0.01}]}
    runs = [record(f"r{place}", {}, derivation=changed) for place in range(2)]
    assert groups(*runs, record("r2", {}), record("r3", {"seed": 1}), record("r4", {"seed": 1})) == [
        ["r0"],
        ["r1"],
        ["r2"],
        ["r3"],
        ["r4"],
    ]


def test_what_is_no_experiment_stands_alone() -> None:
    searches = [record(f"search-{place}", role="sweep") for place in range(2)]
    assert groups(*searches, record("one")) == [["search-0"], ["search-1"], ["one"]]


def test_an_empty_pool() -> None:
    grouping = Grouping(snapshot_of())
    assert (grouping.count, grouping.count_among([]), grouping.replicates_of("nobody")) == (0, 0, [])


@st.composite
def small_records(draw: st.DrawFn) -> ExperimentRecord:
    data: dict[str, Any] = {
        "id": draw(st.text("abcdef", min_size=1, max_size=3)),
        "params": draw(st.dictionaries(st.sampled_from(["lr", "depth", "seed"]), st.integers(0, 1), max_size=3)),
        "research_line": draw(st.sampled_from([None, "vision"])),
        "git": draw(st.sampled_from([None, "a1b2c3d", "d4e5f6a"])),
        "role": draw(st.sampled_from(["experiment", "experiment", "experiment", "sweep"])),
        "architecture": draw(st.sampled_from([None, ARCHITECTURE])),
    }
    return ExperimentRecord.model_validate(data)


def alike(one: ExperimentRecord, other: ExperimentRecord) -> bool:
    """The rule once more, written apart from the product."""

    def facts(each: ExperimentRecord) -> tuple[object, ...]:
        logged = {key: value for key, value in each.params.items() if key != "seed"}
        return logged, each.research_line, each.git, each.architecture, each.role

    logged = [key for key in one.params if key != "seed"]
    return bool(logged) and one.role == "experiment" and facts(one) == facts(other)


@settings(max_examples=100, deadline=None)
@given(st.lists(small_records(), max_size=12, unique_by=lambda each: each.id))
def test_each_record_is_in_one_experiment_with_all_that_are_alike(records: Sequence[ExperimentRecord]) -> None:
    found = groups(*records) if records else []
    assert sorted(each for ids in found for each in ids) == sorted(each.id for each in records)
    together = {frozenset(pair) for ids in found for pair in combinations(ids, 2)}
    expected = {frozenset((one.id, two.id)) for one, two in combinations(records, 2) if alike(one, two)}
    assert together == expected
