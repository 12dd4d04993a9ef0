"""Derivations from recorded parents, ancestors and descendants, and what differs between two."""

from typing import Any

import pytest
from pool_records import record
from test_pool_merging import Telling, ids, pool_of

from tried.pool.difference import changes_of_architecture, difference_of, side_of
from tried.pool.lineage import MOST_STEPS, derivation_of, lineage_of, with_derivation
from tried.pool.outcome import importance, improved, is_dead_end
from tried.pool.pool import Pool
from tried.pool.record import ExperimentRecord

PARENT = record(
    "p",
    params={"lr": 0.01, "depth": 8, "optimizer": "adam", "seed": 1, "output_dir": "/a"},
    metrics={"val_f1": 0.90, "epoch": 3},
    conclusion={"outcome": "completed", "derived": True},
    git={"sha": "aaaaaaa1"},
)


def child(record_id: str = "c", **fields: Any) -> ExperimentRecord:
    params = {"lr": "1e-2", "depth": 12, "warmup": 100, "seed": 2, "output_dir": "/b"}
    return record(
        record_id,
        **{
            "parent": "p",
            "params": params,
            "metrics": {"val_f1": 0.88, "epoch": 5},
            "conclusion": {"outcome": "completed", "derived": True},
            "generated_headline": "finished, val_f1 0.88",
            "git": {"commit": "bbbbbbb2"},
            **fields,
        },
    )


def changes(run: ExperimentRecord) -> list[dict[str, Any]]:
    assert run.derivation is not None
    return [change.model_dump(by_alias=True, exclude_unset=True) for change in run.derivation.changes]


def test_what_changed_from_the_parent_and_what_it_did() -> None:
    derivation = derivation_of(PARENT, child())
    assert (derivation.from_, derivation.to, derivation.computed) == ("p", "c", True)
    assert [change.model_dump(by_alias=True, exclude_unset=True) for change in derivation.changes] == [
        {"change": "ParamChanged", "key": "depth", "from": 8, "to": 12},
        {"change": "ParamAdded", "key": "warmup", "value": 100},
        {"change": "ParamRemoved", "key": "optimizer", "value": "adam"},
        {"change": "CodeChanged", "from_sha": "aaaaaaa1", "to_sha": "bbbbbbb2"},
    ]
    delta = derivation.metric_delta["val_f1"]
    assert (delta.before, delta.after) == (0.90, 0.88)
    assert delta.delta == pytest.approx(-0.02)
    assert list(derivation.metric_delta) == ["val_f1"], "an epoch is no result"
    assert derivation.summary == (
        "depth 8 → 12, warmup 100 (new), optimizer adam (removed), and 1 more; val_f1 0.9 → 0.88 (worse)"
    )


def test_the_generated_headline_says_where_it_stands() -> None:
    assert with_derivation(PARENT, child()).headline == "finished, val_f1 0.88, 0.02 below its parent"
    better = child(metrics={"val_f1": 0.95}, generated_headline="finished, val_f1 0.95")
    assert with_derivation(PARENT, better).headline == "finished, val_f1 0.95, 0.05 above its parent"
    same = child(metrics={"val_f1": 0.9}, generated_headline="finished, val_f1 0.9")
    assert with_derivation(PARENT, same).headline == "finished, val_f1 0.9, as its parent"
    assert (
        with_derivation(PARENT, child(conclusion={"headline": "bad idea", "outcome": "completed"})).headline
        == "bad idea"
    )


@pytest.mark.parametrize(
    ("outcome", "headline"),
    [
        ("completed", "diverged: train_loss is NaN at step 1"),
        ("failed", "failed after 0 s"),
        ("completed", "finished, val_acc 0.7"),
        ("completed", "finished"),
    ],
)
def test_no_comparison_follows_what_does_not_name_the_compared_metric(outcome: str, headline: str) -> None:
    run = child(conclusion={"outcome": outcome, "derived": True}, generated_headline=headline)
    derived = with_derivation(PARENT, run)
    assert derived.headline == headline
    assert derived.derivation is not None
    assert list(derived.derivation.metric_delta) == ["val_f1"], "the comparison itself is kept"


def test_what_somebody_stated_stays_and_the_rest_is_filled_in() -> None:
    stated = child(derivation={"from": "p", "changes": ["bigger net"], "summary": "bigger"})
    run = with_derivation(PARENT, stated)
    assert changes(run) == [{"change": "Unspecified", "reason": "bigger net"}]
    assert run.derivation is not None
    assert (run.derivation.summary, list(run.derivation.metric_delta)) == ("bigger", ["val_f1"])
    complete = child(derivation={"changes": ["x"], "metric_delta": {"val_f1": 0.1}})
    assert with_derivation(PARENT, complete) is complete


def test_a_computed_improvement_adds_no_importance() -> None:
    better = with_derivation(PARENT, child(metrics={"val_f1": 0.95}))
    assert improved(better)
    assert importance(better) == pytest.approx(0.3 + 0.1), "for the derivation alone"


def test_a_replicate_of_its_parent_moved_nothing() -> None:
    again = child(params={**PARENT.params, "seed": 7}, git=None, metrics={"val_f1": 0.7})
    assert with_derivation(PARENT, again) is again
    assert not is_dead_end(again)
    other = with_derivation(PARENT, child(params={**PARENT.params, "depth": 9}, metrics={"val_f1": 0.7}))
    assert is_dead_end(other)


def test_who_logged_no_parameters_removed_none() -> None:
    run = with_derivation(PARENT, child(params={}, git=None))
    assert changes(run) == []
    assert run.derivation is not None
    assert list(run.derivation.metric_delta) == ["val_f1"]


@pytest.mark.parametrize(
    ("parent", "fields"),
    [
        ({}, {"research_line": "other"}),
        ({"role": "sweep"}, {}),
        ({"role": "launcher"}, {}),
        ({}, {"role": "step"}),
        ({}, {"sweep": "p"}),
    ],
)
def test_a_sweep_a_launcher_or_another_line_is_no_parent(parent: dict[str, Any], fields: dict[str, Any]) -> None:
    run = child(**fields)
    assert with_derivation(PARENT.model_copy(update=parent), run) is run


@pytest.mark.parametrize("outcome", ["running", "stopped", "pruned"])
def test_what_is_still_running_or_was_broken_off_is_no_worse_than_its_parent(outcome: str) -> None:
    live = child(conclusion={"outcome": outcome, "derived": True}, metrics={"val_f1": 0.1})
    assert not is_dead_end(with_derivation(PARENT, live))
    assert derivation_of(PARENT, live).metric_delta == {}
    assert derivation_of(live, child("d")).metric_delta == {}
    assert len(derivation_of(PARENT, live).changes) == 4


def test_nodes_and_edges_in_the_words_of_the_format() -> None:
    def architecture(nodes: dict[str, str], edges: list[tuple[str, str]], config: dict[str, str]) -> dict[str, Any]:
        return {"nodes": nodes, "edges": [{"source": a, "target": b} for a, b in edges], "node_config": config}

    before = record(
        "p", architecture=architecture({"a": "filter:A", "b": "filter:B", "d": "step:D"}, [("a", "b")], {"d": "1"})
    )
    after = record(
        "c", architecture=architecture({"a": "filter:X", "c": "filter:C", "d": "step:D"}, [("a", "c")], {"d": "2"})
    )
    found = changes_of_architecture(before.architecture, after.architecture)
    assert [change.model_dump(by_alias=True, exclude_unset=True) for change in found] == [
        {"change": "NodeReplaced", "node": "a", "from": "filter:A", "to": "filter:X"},
        {"change": "NodeAdded", "node": "c", "filter": "filter:C"},
        {"change": "NodeReconfigured", "node": "d", "from_hash": "1", "to_hash": "2"},
        {"change": "NodeRemoved", "node": "b", "filter": "filter:B"},
        {"change": "EdgeAdded", "source": "a", "target": "c"},
        {"change": "EdgeRemoved", "source": "a", "target": "b"},
    ]
    assert changes_of_architecture(None, after.architecture) == ()


def test_a_difference_tells_knobs_from_seeds_and_what_cannot_be_known() -> None:
    left = record("l", params={"lr": 1, "seed": 1, "prompt": "x" * 499 + "...", "same": "A"}, metrics={"loss": 1.0})
    right = record("r", params={"lr": 2, "seed": 2, "prompt": "y", "same": "a"}, metrics={"loss": 2.0, "acc": 0.5})
    found = difference_of(side_of(left), side_of(right))
    assert [(each.key, each.is_compared) for each in found.parameters] == [("lr", True), ("seed", False)]
    assert (found.equal, found.unknown) == (1, ("prompt",))
    assert [(each.name, each.delta, each.better) for each in found.metrics] == [
        ("loss", 1.0, False),
        ("acc", None, None),
    ]
    assert not found.is_empty
    assert difference_of(side_of(left), side_of(left)).is_empty


def test_one_commit_written_long_and_short_is_one() -> None:
    long, short = record("l", git={"sha": "abcdef1234567890"}), record("r", git="abcdef1")
    assert difference_of(side_of(long), side_of(short)).code is None
    assert difference_of(side_of(long), side_of(record("x", git="fff"))).code == ("abcdef1234567890", "fff")


def test_the_pool_fills_in_derivations_wherever_the_parent_stands_and_follows_it() -> None:
    source = Telling("a").says(child(), PARENT)
    pool = Pool([source])
    first = pool.refresh()
    assert len(changes(first.records["c"])) == 4
    assert first.totals.dead_ends == 1
    source.says(PARENT.model_copy(update={"metrics": {"val_f1": 0.8}}))
    second = pool.refresh()
    assert second.records["c"].headline == "finished, val_f1 0.88, 0.08 above its parent"
    assert second.totals.dead_ends == 0
    source.says(removed=["p"])
    third = pool.refresh()
    assert third.records["c"].derivation is None
    assert third.records["c"].headline == "finished, val_f1 0.88"
    assert first.records["c"].headline == "finished, val_f1 0.88, 0.02 below its parent"


def test_a_parent_may_be_named_by_an_alias_that_comes_later() -> None:
    ours, theirs = Telling("ours").says(child()), Telling("theirs")
    pool = Pool([ours, theirs])
    assert pool.refresh().records["c"].derivation is None
    theirs.says(PARENT.model_copy(update={"id": "mlflow:9", "aliases": ["p"]}))
    snapshot = pool.refresh()
    assert len(changes(snapshot.records["c"])) == 4
    assert snapshot.children_of("mlflow:9") == ("c",)


def test_a_derivation_with_many_changes_blames_none_of_them() -> None:
    many = child(params={f"knob_{number}": number for number in range(5)}, git=None)
    run = pool_of([PARENT, many]).history.run("c")
    assert run is not None
    assert run.ending == "dead_end"
    assert run.changes == ()
    few = pool_of([PARENT, child()]).history.run("c")
    assert few is not None
    assert [change.key for change in few.changes] == ["depth", "warmup", "optimizer"]


def test_ancestors_and_descendants() -> None:
    snapshot = pool_of(
        [PARENT, child(), child("d", parent="c", metrics={"val_f1": 0.95}), child("e"), record("x", parent="gone")]
    )
    lineage = lineage_of(snapshot, "c")
    assert lineage is not None
    assert [(step.record.id, step.depth) for step in lineage.ancestors] == [("p", -1)]
    assert [(step.record.id, step.depth) for step in lineage.descendants] == [("d", 1)]
    assert lineage.record.derivation is not None
    assert (lineage.missing, lineage.circular, lineage.cut) == (None, False, False)
    top = lineage_of(snapshot, "p")
    assert top is not None
    assert [(step.record.id, step.depth) for step in top.descendants] == [("c", 1), ("d", 2), ("e", 1)]
    orphan = lineage_of(snapshot, "x")
    assert orphan is not None
    assert orphan.missing == "gone"
    assert lineage_of(snapshot, "nobody") is None


def test_circles_end() -> None:
    snapshot = pool_of(
        [record("a", parent="b"), record("b", parent="c"), record("c", parent="a"), record("s", parent="s")]
    )
    lineage = lineage_of(snapshot, "a")
    assert lineage is not None
    assert ids(snapshot) == ["a", "b", "c", "s"]
    assert ([step.record.id for step in lineage.ancestors], lineage.circular) == (["b", "c"], True)
    assert [step.record.id for step in lineage.descendants] == ["c", "b"]
    alone = lineage_of(snapshot, "s")
    assert alone is not None
    assert (alone.ancestors, alone.descendants, alone.circular) == ((), (), True)


def test_a_very_long_line_is_cut() -> None:
    count = MOST_STEPS + 10
    chain = [record(f"r{number}", parent=f"r{number - 1}" if number else None) for number in range(count)]
    lineage = lineage_of(pool_of(chain), f"r{count - 1}")
    assert lineage is not None
    assert (len(lineage.ancestors), lineage.cut) == (MOST_STEPS, True)


def test_a_parameter_that_names_the_parent_is_no_change() -> None:
    first = record("mlflow:04df11", params={"lr": 0.1})
    second = record("mlflow:9a0b22", params={"lr": 0.2, "base_run": "04df11"}, parent="mlflow:04df11")
    third = record("mlflow:77cc33", params={"lr": 0.2, "base_run": "mlflow:9a0b22"}, parent="mlflow:9a0b22")
    assert [each.key for each in difference_of(side_of(first), side_of(second)).parameters] == ["lr"]
    assert difference_of(side_of(second), side_of(third)).is_empty
    numbered = record("3", params={"depth": 3}, parent="3")
    assert list(side_of(numbered).parameters) == ["depth"], "a short number may be the value of anything"
