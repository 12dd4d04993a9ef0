"""What was tried for keys: counts and best results worked out by hand, and all keys at once against each alone."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tried_pool import BASE, bad, draft_of, ended, good, history_of

from tried.draft.draft import ExperimentDraft
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord
from tried.related.tried_values import MOST_VALUES, Best, TriedKey, TriedValue, tried_for_key, tried_of_draft
from tried.render.document import to_markdown, to_plain
from tried.render.standing import tried_blocks, tried_line, use_title

SETTINGS = FindingSettings()


def key_of(
    config: Mapping[str, Any] | str, key: str, *records: ExperimentRecord, line: str | None = None
) -> TriedKey | None:
    draft = draft_of(config)
    (parameter,) = [parameter for parameter in draft.parameters if parameter.shown == key]
    return tried_for_key(draft, parameter, history_of(*records), FindingSettings(research_line=line))


def values_of(config: Mapping[str, Any] | str, key: str, *records: ExperimentRecord) -> list[object]:
    found = key_of(config, key, *records)
    return [tried.value for tried in found.values] if found is not None else []


def own_values(config: Mapping[str, Any], *records: ExperimentRecord) -> dict[str, TriedValue]:
    found = tried_of_draft(draft_of(config), history_of(*records), SETTINGS)
    return {parameter.shown: tried for parameter, tried in found}


def lr(name: str, value: Any, accuracy: float | None = None, make: Any = good, **more: Any) -> ExperimentRecord:
    record: ExperimentRecord = make(name, {**BASE, "lr": value}, accuracy, **more)
    return record


POOL = (
    lr("a:1", 0.01, 0.5, timestamp="2026-10-01T00:00:00Z"),
    lr("a:2", 0.01, 0.7, timestamp="2026-10-03T00:00:00Z"),
    lr("a:3", "1e-2", 0.6, timestamp="2026-10-02T00:00:00Z"),
    lr("a:4", 0.01, 0.99, bad, timestamp="2026-10-04T00:00:00Z"),
    lr("a:5", 0.02, 0.8),
    lr("a:6", 0.5, 0.1, bad),
    lr("a:7", 0.03),
    lr("a:8", 0.04, make=ended, conclusion={}),
)


def test_the_value_of_the_draft() -> None:
    found = own_values(BASE, *POOL)
    assert found == {
        "lr": TriedValue(
            text="0.01",
            value=None,
            runs=4,
            worked=3,
            dead_ends=1,
            best=Best("val_acc", 0.7, "a:2"),  # not 0.99: that is a dead end
            records=("a:4", "a:2", "a:3"),
            dead_records=("a:4",),
        )
    }


def test_all_values_the_best_first_and_dead_ends_last() -> None:
    found = key_of(BASE, "lr", *POOL)
    assert found is not None
    assert (found.key, found.research_line, found.own, found.is_evidence, found.runs) == ("lr", "vision", True, True, 8)
    told = [(tried.value, tried.runs, tried.worked, tried.dead_ends) for tried in found.values]
    assert told == [(0.02, 1, 1, 0), (0.01, 4, 3, 1), (0.03, 1, 1, 0), (0.04, 1, 0, 0), (0.5, 1, 0, 1)]
    assert [tried.is_dead_end for tried in found.values] == [False, False, False, False, True]


def test_where_less_is_better_the_least_comes_first() -> None:
    runs = [lr(f"a:{n}", value, metrics={"val_loss": loss}) for n, (value, loss) in enumerate([(1, 0.9), (2, 0.4)])]
    assert values_of(BASE, "lr", *runs) == [2, 1]


def test_a_metric_of_which_nobody_knows_the_direction_is_no_result() -> None:
    runs = [lr(f"a:{n}", n, metrics={"zorbness": n}) for n in range(1, 3)]
    found = key_of(BASE, "lr", *runs)
    assert found is not None
    assert [tried.best for tried in found.values] == [None, None]


def test_results_are_compared_by_the_metric_that_most_runs_have() -> None:
    runs = [lr("a:1", 1, 0.5), lr("a:2", 1, 0.6), lr("a:3", 2, metrics={"val_f1": 0.9})]
    found = key_of(BASE, "lr", *runs)
    assert found is not None
    assert [(tried.value, tried.best) for tried in found.values] == [(1, Best("val_acc", 0.6, "a:2")), (2, None)]


def test_a_key_that_runs_spelled_in_several_ways_is_one_key() -> None:
    """Trackers write `optimizer.lr`, `optimizer/lr` or `optimizer__lr`."""
    rest = {"depth": 4, "width": 128, "dropout": 0.1}
    runs = [
        good("a:1", {**rest, "optimizer.lr": 0.1}, 0.5),
        bad("a:2", {**rest, "optimizer/lr": "0.1"}),
        good("a:3", {**rest, "optimizer__lr": 0.1}, 0.7),
        good("a:4", {**rest, "optimizer/lr": 0.2}, 0.6),
    ]
    found = key_of("optimizer: {lr: 0.2}\ndepth: 4\nwidth: 128\ndropout: 0.1\n", "optimizer.lr", *runs)
    assert found is not None
    told = [(tried.value, tried.runs, tried.worked, tried.dead_ends, tried.best) for tried in found.values]
    assert told == [(0.1, 3, 2, 1, Best("val_acc", 0.7, "a:3")), (0.2, 1, 1, 0, Best("val_acc", 0.6, "a:4"))]
    hopeless = [bad("a:1", {**rest, "lr": 0.1}), bad("a:2", {**rest, "lr": "0.10"}), good("a:3", {**rest, "lr": 0.2})]
    found = key_of(BASE, "lr", *hopeless)
    assert found is not None
    assert [(tried.value, tried.is_dead_end) for tried in found.values] == [(0.2, False), (0.1, True)]


def test_a_trial_of_the_machinery_gives_no_result() -> None:
    runs = [lr("a:1", 0.01, 0.5), lr("a:2", 0.01, 0.9, tags=["debug"]), lr("a:3", 0.2, 0.3)]
    assert own_values(BASE, *runs)["lr"].best == Best("val_acc", 0.5, "a:1")


def test_the_value_that_is_being_typed_does_not_matter() -> None:
    for half in ("lr: 0.\n", "lr:\n", "lr: 77\n", "lr: what\n"):
        text = half + "depth: 4\nwidth: 128\ndropout: 0.1\n"
        assert values_of(text, "lr", *POOL) == [0.02, 0.01, 0.03, 0.04, 0.5]


def test_another_dataset_counts_for_nothing_unless_it_is_the_dataset_that_is_typed() -> None:
    runs = [
        good("a:1", {**BASE, "lr": 0.1, "dataset": "mnist"}, 0.9),
        good("a:2", {**BASE, "lr": 0.2, "dataset": "svhn"}, 0.8),
    ]
    config = {**BASE, "dataset": "svhn"}
    assert values_of(config, "lr", *runs) == [0.2]
    assert own_values({**config, "lr": 0.1}, *runs) == {}
    assert values_of(config, "dataset", *runs) == ["mnist", "svhn"]


def test_where_the_context_has_nothing_but_dead_ends_the_others_are_told_too() -> None:
    runs = [
        good("a:1", {**BASE, "lr": 0.1, "precision": "bf16"}, 0.9),
        bad("a:2", {**BASE, "lr": 0.2, "precision": "fp16"}),
    ]
    found = key_of({**BASE, "precision": "fp16"}, "lr", *runs)
    assert found is not None
    assert ([tried.value for tried in found.values], found.is_evidence) == ([0.1, 0.2], False)


def test_another_line_is_asked_where_the_own_one_does_not_know_the_key() -> None:
    other = [good(f"b:{n}", {"warmup": n, "alpha": 5}, research_line="audio") for n in range(2)]
    found = key_of({**BASE, "warmup": 7}, "warmup", *POOL, *other, line="vision")
    assert found is not None
    assert (found.research_line, found.own, found.is_evidence) == ("audio", False, False)
    assert {tried.value for tried in found.values} == {0, 1}


def test_only_what_is_compared_is_told() -> None:
    runs = [good(f"a:{n}", {**BASE, "seed": n, "gpu": "A100", "epochs": n}) for n in range(3)]
    config = {**BASE, "seed": 1, "gpu": "A100", "epochs": 1}
    assert key_of(config, "seed", *runs) is None
    assert key_of(config, "gpu", *runs) is None
    assert len(values_of(config, "epochs", *runs)) == 3


def test_a_value_that_all_share_or_that_nobody_tried_has_no_hint() -> None:
    assert own_values({**BASE, "depth": 4, "lr": 77}, *POOL) == {}


def test_members_of_a_search_that_runs_are_no_dead_ends_yet() -> None:
    runs = [
        lr("a:1", 0.1, make=bad, sweep="s"),
        lr("a:2", 0.2, make=ended, conclusion={"outcome": "running"}, sweep="s"),
    ]
    found = key_of(BASE, "lr", *runs)
    assert found is not None
    assert [tried.dead_ends for tried in found.values] == [0, 0]


def test_no_more_than_so_many_the_best_ones() -> None:
    runs = [lr(f"a:{n:03}", n, n / 1000) for n in range(1, MOST_VALUES + 30)]
    found = key_of(BASE, "lr", *runs)
    assert found is not None
    assert found.runs == MOST_VALUES + 29
    assert [tried.value for tried in found.values] == list(range(MOST_VALUES + 29, 29, -1))


# All at once against one after another


@given(seed=st.integers(0, 10_000))
def test_the_draft_at_once_agrees_with_each_key(seed: int) -> None:
    history, draft = invented(random.Random(seed))
    at_once = {parameter.key: tried for parameter, tried in tried_of_draft(draft, history, SETTINGS)}
    for parameter in draft.parameters:
        counted = by_hand(parameter.key, parameter.value, history)
        tried = at_once.get(parameter.key)
        if tried is None:
            assert counted[0] in (0, counted[3])
        else:
            best = tried.best.value if tried.best else None
            assert (tried.runs, tried.worked, tried.dead_ends, best) == (*counted[:3], counted[4])
            assert 0 < counted[0] < counted[3]


def by_hand(key: str, value: object, history: ParameterHistory) -> tuple[int, int, int, int, float | None]:
    """Runs, how many worked, dead ends, runs with any value, the best result: run by run."""
    (line,) = history.lines.values()
    setting = [run for run in line.runs.values() if key in run.in_force]
    having = [run for run in setting if run.in_force[key].value == value]
    results = [run.objective[1] for run in having if run.objective and run.ending != "dead_end"]
    worked = sum(run.ending == "worked" for run in having)
    dead_ends = sum(run.ending == "dead_end" for run in having)
    return len(having), worked, dead_ends, len(setting), max(results, default=None)


def invented(draw: random.Random) -> tuple[ParameterHistory, ExperimentDraft]:
    def params() -> dict[str, Any]:
        found: dict[str, Any] = {
            "lr": draw.choice([0.1, "1e-1", 0.2, 0.3]),
            "depth": draw.choice([1, 2]),
            "act": "relu",
        }
        if draw.random() < 0.5:
            found["width"] = draw.choice([64, "64", 128])
        return found

    makers = (good, bad, ended)
    runs = [
        draw.choice(makers)(f"a:{n}", params(), round(draw.random(), 3) if draw.random() < 0.8 else None)
        for n in range(draw.randrange(1, 30))
    ]
    return history_of(*runs), draft_of({"lr": 0.1, "depth": draw.choice([1, 2, 3]), "act": "relu", "width": 64})


# In words


def tried(runs: int, dead_ends: int = 0, best: float | None = None, worked: int = 0) -> TriedValue:
    result = Best("val_f1", best, "a:1") if best is not None else None
    return TriedValue("0.01", 0.01, runs, worked, dead_ends, result, ("a:1", "a:2"), ("a:2",) if dead_ends else ())


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (tried(4, 1, 0.912), "4 runs · best 0.912 · 1 dead end"),
        (tried(1, 0, 0.912), "1 run · 0.912"),
        (tried(3), "3 runs"),
        (tried(1, 1), "1 run, a dead end"),
        (tried(2, 2), "2 runs, all dead ends"),
        (tried(1200, 2, 123456.0), "1,200 runs · best 1.235e+05 · 2 dead ends"),
    ],
)
def test_one_line(value: TriedValue, line: str) -> None:
    assert tried_line(value, with_metric=False) == line


def test_with_the_metric() -> None:
    assert tried_line(tried(4, 1, 0.912), with_metric=True) == "4 runs · best val_f1 0.912 · 1 dead end"
    assert use_title(tried(4, 0, 0.912)) == "Use 0.01: best of 4 runs (val_f1 0.912)"
    assert use_title(tried(4, 1, 0.912)) == "Use 0.01: best of 4 runs (val_f1 0.912), 1 dead end"
    assert use_title(tried(1, 0, 0.912)) == "Use 0.01: 1 run (val_f1 0.912)"


def test_the_tooltip() -> None:
    assert to_plain(tried_blocks("optimizer.lr", tried(4, 1, 0.912, worked=3))).split("\n\n") == [
        "optimizer.lr 0.01 · 4 runs",
        "Best: val_f1 0.912 in a:1",
        "3 worked, 1 dead end: a:2",
        "Latest: a:1, a:2",
    ]


def test_hostile_text_stays_text() -> None:
    evil = TriedValue("<b>[x](command:y)</b>\n# z", None, 1, 0, 0, Best("`m`<i>", 1.0, "a:1"), ("a`:1",), ())
    markdown = to_markdown(tried_blocks("k`ey<script>", evil))
    assert "``k`ey<script>``" in markdown
    assert "\n# z" not in markdown
    assert len(tried_line(evil, with_metric=True)) < 80
