"""Each condition of each rule from both sides: with it there is a finding, without it none, or a softer one."""

from __future__ import annotations

from typing import Any

import pytest
from findings_pool import BASE, crashed, dead, findings_in, record, squiggles, told, unrelated, worked, yaml_of

from tried.pool.record import ExperimentRecord

HOME = worked("home", {"warmup": 10})
"""Makes `vision` a known line in which nothing is like the draft, so that another line must be similar."""


def of(evidence: str, findings: list[Any]) -> list[tuple[str, str, str]]:
    return [each for each in told(findings) if each[0] == evidence]


def moved(record_id: str, params: dict[str, Any], **more: Any) -> ExperimentRecord:
    return dead(record_id, params, changes={"lr": (0.01, 0.5)}, **more)


# --- where evidence holds -------------------------------------------------------------------------------------------


def test_elsewhere_three_parameters_are_equal_and_three_in_ten_of_the_union() -> None:
    """Equal: lr, a, b. Union with the draft's and the run's others: exactly ten, then eleven."""
    theirs = {"lr": 0.5, "a": 1, "b": 2}
    seven = {f"x{i}": i for i in range(7)}
    eight = {**seven, "x7": 7}
    run = moved("s:1", theirs, line="speech")
    others = [worked(f"s:{i + 2}", {**theirs, "lr": 9, f"x{i}": 99}, line="speech") for i in range(8)]
    assert of("move", findings_in({**theirs, **seven}, [run, *others, HOME])) == [("move", "hover", "s:1")]
    assert of("move", findings_in({**theirs, **eight}, [run, *others, HOME])) == []


def test_elsewhere_what_no_record_ever_set_counts_against_similarity() -> None:
    run = moved("s:1", {"lr": 0.5, "a": 1, "b": 2}, line="speech")
    new = {f"new{i}": i for i in range(8)}
    assert of("repeat", findings_in({"lr": 0.5, "a": 1, "b": 2}, [run, HOME])) == [("repeat", "warning", "s:1")]
    assert of("move", findings_in({"lr": 0.5, "a": 1, "b": 2, "new": 0}, [run, HOME])) == [("move", "warning", "s:1")]
    assert findings_in({"lr": 0.5, "a": 1, "b": 2, **new}, [run, HOME]) == []


def test_two_equal_parameters_are_too_few_elsewhere() -> None:
    run = moved("s:1", {"lr": 0.5, "a": 1}, line="speech")
    assert findings_in({"lr": 0.5, "a": 1}, [run, HOME]) == []


def test_elsewhere_the_keys_of_the_run_count_in_the_union_too() -> None:
    """Three equal of three and seven more, or eight more: 3 in 10, or 3 in 11."""
    draft = {"lr": 0.5, "a": 1, "b": 2}
    for more, expected in ((7, [("move", "hover", "s:1")]), (8, [])):
        run = moved("s:1", {**draft, **{f"x{i}": i for i in range(more)}}, line="speech")
        assert of("move", findings_in(draft, [run, HOME])) == expected


def test_elsewhere_it_is_the_run_that_must_be_similar_and_not_its_line() -> None:
    draft = {"lr": 0.5, "a": 1, "b": 2}
    run = moved("s:1", {"lr": 0.5, "a": 1, "b": 9}, line="speech")
    other = worked("s:2", {"lr": 9, "a": 9, "b": 2}, line="speech")
    assert findings_in(draft, [run, other, HOME]) == []


def test_a_code_error_of_a_debug_run_is_still_told() -> None:
    short = crashed("a:1", {**BASE, "epochs": 1}, "KeyError: 'x'")
    assert of("repeat", findings_in({**BASE, "epochs": 100}, [short])) == [("repeat", "hover", "a:1")]
    assert findings_in({**BASE, "epochs": 100}, [crashed("a:1", {**BASE, "epochs": 1}, "NCCL timeout")]) == []


def test_the_smallest_share_of_a_budget_makes_a_debug_run() -> None:
    draft = {**BASE, "epochs": 10, "max_steps": 1000}
    assert findings_in(draft, [dead("a:1", {**BASE, "epochs": 10, "max_steps": 50})]) == []
    assert findings_in(draft, [dead("a:1", {**BASE, "epochs": 10, "max_steps": 100})]) != []


def test_intervals_make_no_debug_run() -> None:
    assert findings_in({**BASE, "eval_steps": 1000}, [dead("a:1", {**BASE, "eval_steps": 10})]) != []


# --- noise and judgement --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("delta", "severity"), [(0.0282, "hover"), (0.0284, "information")])
def test_the_noise_is_twice_the_deviation_of_replicates(delta: float, severity: str) -> None:
    """Replicates at 1.00 and 1.02: deviation √(2·0.01²) = 0.014142; twice that is 0.028284."""
    run = record(
        "a:1",
        {**BASE, "lr": 0.5},
        metrics={"val_loss": 1.0 + delta},
        conclusion={"outcome": "completed"},
        derivation={"metric_delta": {"val_loss": {"before": 1.0, "after": 1.0 + delta, "delta": delta}}},
    )
    same = [worked(f"r:{i}", {**BASE, "seed": i}, metrics={"val_loss": 1.0 + 0.02 * i}) for i in range(2)]
    assert of("repeat", findings_in({**BASE, "lr": 0.5}, [run, *same])) == [("repeat", severity, "a:1")]


def test_what_a_person_judged_is_no_noise() -> None:
    run = record(
        "a:1",
        {**BASE, "lr": 0.5},
        metrics={"val_loss": 1.001},
        verdict="dead_end",
        conclusion={"outcome": "completed"},
        derivation={"metric_delta": {"val_loss": {"before": 1.0, "after": 1.001, "delta": 0.001}}},
    )
    same = [worked(f"r:{i}", {**BASE, "seed": i}, metrics={"val_loss": 1.0 + 0.02 * i}) for i in range(2)]
    assert of("repeat", findings_in({**BASE, "lr": 0.5}, [run, *same])) == [("repeat", "warning", "a:1")]


def test_notes_are_words_too() -> None:
    run = crashed("a:1", BASE, verdict="dead_end", notes="too slow to be of use")
    assert told(findings_in(BASE, [run])) == [("repeat", "warning", "a:1")]


# --- kinds of keys, on either side ----------------------------------------------------------------------------------


def test_a_parameter_and_a_commit_changed_together_leave_the_parameter_to_blame() -> None:
    changes = [
        {"change": "ParamChanged", "key": "lr", "from": 0.01, "to": 0.5},
        {"change": "CodeChanged", "from_sha": "a", "to_sha": "b"},
    ]
    run = dead("a:1", {**BASE, "lr": 0.5}, derivation={"changes": changes})
    assert squiggles(findings_in({**BASE, "lr": 0.5, "dropout": 0.3}, [run])) == [("move", "warning", "a:1")]


def test_a_wrapped_key_has_the_kind_that_either_side_gives_it() -> None:
    text = yaml_of(BASE) + "trainer:\n  steps: 9\n"
    run = dead("a:1", {**BASE, "trainer.steps": 5})
    assert of("repeat", findings_in(text, [run])) == [("repeat", "information", "a:1")]
    data = yaml_of(BASE) + "data:\n  name: imagenet\n"
    assert findings_in(data, [dead("a:1", {**BASE, "data.name": "cifar"})]) == []


def test_a_context_that_only_the_record_states_does_not_matter() -> None:
    assert squiggles(findings_in(BASE, [dead("a:1", {**BASE, "dataset": "cifar"})])) == [("repeat", "warning", "a:1")]


def test_an_endless_number_is_compared_and_never_near() -> None:
    assert squiggles(findings_in({**BASE, "clip": ".inf"}, [dead("a:1", {**BASE, "clip": "inf"})])) != []
    assert squiggles(findings_in({**BASE, "clip": 3}, [dead("a:1", {**BASE, "clip": float("inf")})])) == []


# --- repeat ---------------------------------------------------------------------------------------------------------


def test_one_knob_and_two_lengths_are_no_experiment() -> None:
    thin = {"lr": 0.01, "epochs": 10, "max_steps": 100}
    assert findings_in(thin, [dead("a:1", thin)]) == []


def test_a_usual_length_that_the_draft_leaves_out_is_a_default() -> None:
    siblings = [worked(f"b:{i}", {**BASE, "depth": 9 + i, "epochs": 30}) for i in range(9)]
    usual = dead("a:1", {**BASE, "epochs": 30})
    assert squiggles(findings_in(BASE, [usual, *siblings])) == [("repeat", "warning", "a:1")]


def test_the_latest_change_is_the_place_of_a_repeat() -> None:
    first = dead("a:1", BASE, changes={"lr": (0.5, 0.01)})
    second = dead("a:2", {**BASE, "seed": 2}, changes={"depth": (2, 4)})
    (finding,) = findings_in(BASE, [first, second])
    assert finding.blamed == ("depth", "lr")


# --- near -----------------------------------------------------------------------------------------------------------


def test_near_wants_the_rest_to_be_known_and_equal() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5})
    assert squiggles(findings_in({**BASE, "lr": 0.6}, [run])) == [("near", "information", "a:1")]
    assert squiggles(findings_in({**BASE, "lr": 0.6, "brand_new": 1}, [run])) == []
    assert squiggles(findings_in("depth: ${x}\nlr: 0.6\nwidth: 128\ndropout: 0.1\n", [run])) == []
    assert squiggles(findings_in({**BASE, "lr": 0.6}, [dead("a:1", {**BASE, "lr": 0.5, "ema": 0.9})])) == []
    assert squiggles(findings_in({**BASE, "lr": 0.6}, [dead("a:1", {**BASE, "lr": 0.5}, tags=["debug"])])) == []


def test_near_wants_three_compared_parameters() -> None:
    two = {"lr": 0.5, "depth": 4}
    assert findings_in({**two, "lr": 0.6}, [dead("a:1", two)]) == []
    three = {**two, "width": 1}
    assert squiggles(findings_in({**three, "lr": 0.6}, [dead("a:1", three)])) == [("near", "information", "a:1")]


def test_a_budget_or_a_context_is_no_knob_to_turn() -> None:
    assert of("near", findings_in({**BASE, "epochs": 12}, [dead("a:1", {**BASE, "epochs": 10})])) == []


def test_of_two_as_near_the_later_is_named() -> None:
    pool = [dead("a:1", {**BASE, "lr": 0.4}), dead("a:2", {**BASE, "lr": 0.6})]
    assert squiggles(findings_in({**BASE, "lr": 0.5}, pool)) == [("near", "information", "a:2")]


def test_one_that_worked_as_near_on_the_other_side_speaks_against_it() -> None:
    pool = [dead("a:1", {**BASE, "depth": 6}), worked("a:2", {**BASE, "depth": 10, "lr": 9})]
    assert squiggles(findings_in({**BASE, "depth": 8}, pool)) == []


def test_the_other_sign_is_far() -> None:
    assert told(findings_in({**BASE, "shift": -1}, [dead("a:1", {**BASE, "shift": 1})])) == [("near", "hover", "a:1")]


# --- knob -----------------------------------------------------------------------------------------------------------


def setters(**more: Any) -> list[ExperimentRecord]:
    return [dead(f"k:{i}", {**BASE, "depth": 10 + i, "mixup": 0.1 * (i + 1)}, **more) for i in range(3)]


DRAFT = {**BASE, "width": 7, "mixup": 0.9}


@pytest.mark.parametrize("headline", ["NCCL timeout", "KeyboardInterrupt"])
def test_the_machine_or_a_person_blames_no_knob(headline: str) -> None:
    stopped = crashed("k:9", {**BASE, "depth": 1, "mixup": 0.5}, headline, verdict="dead_end")
    assert squiggles(findings_in(DRAFT, [*setters(), stopped, *unrelated(5)])) == []


def test_a_change_of_code_alone_blames_no_knob() -> None:
    code = setters(derivation={"changes": [{"change": "CodeChanged"}]})
    assert squiggles(findings_in(DRAFT, [*code, *unrelated(5)])) == []


def test_a_knob_of_another_line_is_not_blamed_although_the_setting_is_similar() -> None:
    pool = [
        *setters(line="speech"),
        *[record(r.id + "s", r.params, line="speech", verdict="works") for r in unrelated(6)],
        HOME,
    ]
    assert of("knob", findings_in({**BASE, "mixup": 0.9}, pool)) == []


def test_a_single_value_is_blamed_only_in_a_similar_setting_and_if_nothing_came_from_it() -> None:
    sgd = [dead(f"k:{i}", {**BASE, "depth": 10 + i, "optimizer": "sgd"}) for i in range(3)]
    adam = [worked(f"w:{i}", {**BASE, "depth": 20 + i, "optimizer": "adam"}) for i in range(5)]
    draft = {**BASE, "optimizer": "sgd"}
    assert of("knob", findings_in(draft, [*sgd, *adam])) == [("knob", "information", "k:2")]
    left = record("l", {**BASE, "depth": 77, "optimizer": "lion"}, changes={"optimizer": ("sgd", "lion")})
    assert of("knob", findings_in(draft, [*sgd, *adam, left])) == []
    far = {"lr": 8, "depth": 8, "width": 8, "dropout": 0.8, "optimizer": "sgd"}
    assert of("knob", findings_in(far, [*sgd, *adam])) == []


def test_of_a_knob_whose_runs_were_told_of_otherwise_nothing_is_left() -> None:
    """Two of the three repeat the draft but for the budget; one alone is for the hover."""
    draft = {**BASE, "mixup": 0.5, "epochs": 10}
    pool = [dead(f"k:{i}", {**draft, "epochs": 20 + i}) for i in range(2)]
    pool += [dead("k:2", {**draft, "depth": 50, "width": 3}), *unrelated(5)]
    assert of("knob", findings_in(draft, pool)) == [("knob", "hover", "k:2")]


# --- memory ---------------------------------------------------------------------------------------------------------


def test_of_what_fits_the_largest_below_is_named() -> None:
    failed = crashed("a:1", {**BASE, "batch_size": 32}, "CUDA out of memory")
    fits = [worked(f"w:{b}", {**BASE, "batch_size": b, "depth": 2}) for b in (4, 16, 8)]
    at_it = worked("w:32", {**BASE, "batch_size": 32, "depth": 1})
    (finding,) = [f for f in findings_in({**BASE, "batch_size": 64}, [failed, *fits]) if f.severity == "information"]
    assert finding.message.endswith("; 16 fits")
    found = findings_in({**BASE, "batch_size": 64}, [failed, *fits, at_it])
    assert all("32 fits" not in each.message for each in found)


def test_only_memory_is_monotonic() -> None:
    run = dead("a:1", {}, "worse", changes={"depth": (4, 16)})
    assert findings_in({"depth": 20, "lr": 1, "width": 2}, [run]) == []
    run = crashed("a:1", {}, "OOM", changes={"warmup": (4, 16)})
    assert findings_in({"warmup": 20, "lr": 1, "width": 2}, [run]) == []


# --- move -----------------------------------------------------------------------------------------------------------


def test_a_removal_stands_only_where_the_draft_lacks_the_key() -> None:
    changes = [
        {"change": "ParamChanged", "key": "lr", "from": 0.01, "to": 0.5},
        {"change": "ParamRemoved", "key": "warmup", "value": 10},
    ]
    run = dead("a:1", {**BASE, "lr": 0.5}, derivation={"changes": changes})
    log = worked("w", {**BASE, "depth": 9, "warmup": 10})
    draft = {**BASE, "lr": 0.5, "dropout": 0.3}
    assert of("move", findings_in(draft, [run, log])) == [("move", "warning", "a:1")]
    assert of("move", findings_in({**draft, "warmup": 10}, [run, log])) == []
