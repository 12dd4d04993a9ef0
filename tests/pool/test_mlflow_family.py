"""Which of MLflow's runs are experiments, by families written down by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tried.pool.sources.mlflow.family import ALONE, Families, Member, Place, member_of

SWEEP_OF_P = Place("experiment", "mlflow:p")


def _places(runs: Mapping[str, Member]) -> dict[str, Place]:
    families = Families()
    families.take(runs)
    return {run_id: families.place_of(run_id) for run_id in runs}


def _run(
    parent: str | None = "p",
    params: Mapping[str, Any] | None = None,
    metrics: tuple[str, ...] = (),
    part: str | None = None,
    project: str = "file:///home/x/genre",
) -> Member:
    tags = {"mlflow.parentRunId": parent} if parent else {}
    if part is not None:
        tags |= {"mlflow.source.type": "PROJECT", "mlflow.source.name": f"{project}#{part}" if part else project}
    return member_of(params or {}, metrics, tags)


def test_children_that_differ_are_a_search_whatever_the_parent_logged() -> None:
    members = {f"c{i}": _run(params={"lr": str(i), "seed": "1"}, metrics=("acc",)) for i in range(3)}
    for parent in (_run(None), _run(None, {"lr": "0"}, ("best_acc",))):
        places = _places({"p": parent, **members})
        assert places == {"p": Place("sweep"), **dict.fromkeys(members, SWEEP_OF_P)}


def test_a_member_that_failed_before_it_measured_anything_is_a_member() -> None:
    places = _places(
        {"p": _run(None), "a": _run(params={"lr": "1"}, metrics=("acc",)), "b": _run(params={"lr": "2"}), "c": _run()}
    )
    assert places == {"p": Place("sweep"), "a": SWEEP_OF_P, "b": SWEEP_OF_P, "c": SWEEP_OF_P}


def test_a_conditional_search_space_makes_no_steps() -> None:
    places = _places(
        {
            "p": _run(None),
            "a": _run(params={"optimizer": "sgd", "lr": "1", "momentum": "0.9"}),
            "b": _run(params={"optimizer": "adam", "lr": "1", "beta": "0.9"}),
        }
    )
    assert places == {"p": Place("sweep"), "a": SWEEP_OF_P, "b": SWEEP_OF_P}


def test_folds_are_steps_of_the_run_that_has_their_mean() -> None:
    folds = {f"f{i}": _run(params={"depth": "3", "fold": str(i)}, metrics=("auc",)) for i in range(5)}
    with_mean = _places({"p": _run(None, {"depth": "3"}, ("auc",)), **folds})
    assert with_mean == {"p": ALONE, **dict.fromkeys(folds, Place("step"))}
    without = _places({"p": _run(None), **folds})
    assert without == {"p": Place("sweep"), **dict.fromkeys(folds, SWEEP_OF_P)}
    bare = {f"f{i}": _run(metrics=("auc",)) for i in range(5)}
    assert _places({"p": _run(None, {"depth": "3"}), **bare}) == {"p": ALONE, **dict.fromkeys(bare, Place("step"))}


def test_steps_of_a_pipeline_and_the_one_that_measures() -> None:
    places = _places(
        {
            "p": _run(None, {"config": "a.yaml"}),
            "load": _run(params={"url": "x"}),
            "clean": _run(params={"low": "1", "high": "2"}),
            "train": _run(params={"lr": "0.1", "depth": "3"}, metrics=("acc",)),
        }
    )
    assert places == {"p": Place("launcher"), "load": Place("step"), "clean": Place("step"), "train": ALONE}


def test_parts_of_a_project_under_one_parent_are_steps_even_with_the_same_parameters() -> None:
    places = _places(
        {
            "p": _run(None, part=""),
            "a": _run(params={"data": "x"}, part="load"),
            "b": _run(params={"data": "x"}, part="clean"),
        }
    )
    assert places == {"p": Place("launcher"), "a": Place("step"), "b": Place("step")}


def test_trials_that_run_the_same_part_of_a_project_are_a_search() -> None:
    places = _places({"p": _run(None), **{i: _run(params={"lr": i}, part="train") for i in ("1", "2")}})
    assert places == {"p": Place("sweep"), "1": SWEEP_OF_P, "2": SWEEP_OF_P}


def test_a_single_child_is_an_experiment_that_a_launcher_may_have_started() -> None:
    assert _places({"p": _run(None), "c": _run(params={"lr": "1"})}) == {"p": Place("launcher"), "c": ALONE}
    measured = _places({"p": _run(None, {"lr": "1"}, ("acc",)), "c": _run(params={"lr": "1"}, metrics=("acc",))})
    assert measured == {"p": ALONE, "c": ALONE}


def test_projects_without_parents() -> None:
    whole, part = _run(None, {"options": "x"}, part=""), _run(None, {"url": "x"}, part="load")
    assert _places({"w": whole, "a": part}) == {"w": Place("launcher"), "a": Place("step")}
    assert _places({"a": part, "b": part}) == {"a": ALONE, "b": ALONE}, "parts that nothing launched are runs"
    assert _places({"w": whole}) == {"w": ALONE}, "a project without parts is a run like others"
    measured = _run(None, {"url": "x"}, ("acc",), part="load")
    assert _places({"w": whole, "a": measured})["a"] == ALONE
    measures_itself = _run(None, {"url": "x"}, ("acc",), part="")
    assert _places({"w": measures_itself, "v": whole, "a": part}) == dict.fromkeys("wva", ALONE)


def test_a_missing_parent_is_still_a_search() -> None:
    places = _places({i: _run(params={"lr": i}) for i in ("1", "2")})
    assert places == {"1": SWEEP_OF_P, "2": SWEEP_OF_P}


def test_a_member_that_is_a_parent_itself() -> None:
    inner = {f"f{i}": _run("a", {"lr": "1", "fold": str(i)}, ("acc",)) for i in range(2)}
    places = _places(
        {"p": _run(None), "a": _run(params={"lr": "1"}, metrics=("acc",)), "b": _run(params={"lr": "2"}), **inner}
    )
    assert places["a"] == SWEEP_OF_P
    assert {places["f0"], places["f1"]} == {Place("step")}


def test_a_run_that_is_its_own_parent_or_in_a_circle_has_a_place() -> None:
    assert _places({"p": _run("p", {"lr": "1"})}).keys() == {"p"}
    assert _places({"a": _run("b"), "b": _run("a")}).keys() == {"a", "b"}


_MEMBERS = st.builds(
    _run,
    parent=st.sampled_from([None, "a", "b", "z"]),
    params=st.dictionaries(st.sampled_from(["lr", "depth", "seed", "url"]), st.sampled_from(["1", "2"]), max_size=3),
    metrics=st.sampled_from([(), ("acc",), ("epoch",)]),
    part=st.sampled_from([None, None, "", "load", "train"]),
)


@given(st.dictionaries(st.sampled_from("abcdef"), _MEMBERS, max_size=6), st.randoms(use_true_random=False), st.data())
def test_a_place_follows_from_the_family_whatever_the_order(
    members: dict[str, Member], random: Any, data: st.DataObject
) -> None:
    at_once = _places(members)
    order = list(members)
    random.shuffle(order)
    families = Families()
    places: dict[str, Place] = {}
    gone = data.draw(st.sampled_from([None, "a", "b"]))
    for run_id in order:
        for changed in families.take({run_id: members[run_id]}) | {run_id}:
            places[changed] = families.place_of(changed)
    assert {run_id: places[run_id] for run_id in members} == at_once
    if gone is not None:
        for changed in families.take({gone: None}):
            places[changed] = families.place_of(changed)
        rest = {run_id: member for run_id, member in members.items() if run_id != gone}
        assert {run_id: places[run_id] for run_id in rest} == _places(rest)
