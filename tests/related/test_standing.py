"""Where a draft stands: how often it ran, what is nearest, which dead ends are around; and the sentence about it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

import pytest
from related_pool import snapshot_of
from tried_pool import BASE, bad, draft_of, ended, good

from tried.findings.settings import FindingSettings
from tried.pool.record import ExperimentRecord
from tried.related.standing import Standing, standing_of
from tried.render.standing import standing_line


def standing(config: Mapping[str, Any] | str, *records: ExperimentRecord, line: str | None = None) -> Standing | None:
    return standing_of(draft_of(config), snapshot_of(*records), FindingSettings(research_line=line))


def said(config: Mapping[str, Any] | str, *records: ExperimentRecord, line: str | None = None) -> str:
    found = standing(config, *records, line=line)
    assert found is not None
    return standing_line(found)


# What ran


def test_replicates_are_told_with_mean_and_spread() -> None:
    scores = [0.908, 0.912, 0.916]
    runs = [good(f"a:{n}", {**BASE, "seed": n}, score) for n, score in enumerate(scores)]
    assert statistics.stdev(scores) == pytest.approx(0.004)
    assert said({**BASE, "seed": 7}, *runs) == "ran 3 times: val_acc 0.912 ± 0.004"


def test_once() -> None:
    assert said(BASE, good("a:1", BASE, 0.5)) == "ran once: val_acc 0.5"
    assert said(BASE, good("a:1", BASE)) == "ran once"


def test_what_ended_badly_is_counted_apart_and_has_no_part_in_the_result() -> None:
    runs = [good("a:1", {**BASE, "seed": 1}, 0.5), bad("a:2", {**BASE, "seed": 2}, 0.1)]
    assert said(BASE, *runs) == "ran 2 times: val_acc 0.5 · 1 dead end"


def test_nothing_but_dead_ends_is_told_by_what_happened_last() -> None:
    crash = {"outcome": "crashed", "headline": "CUDA out of memory"}
    first = ended("a:1", {**BASE, "seed": 1}, conclusion=crash, timestamp="2026-10-01T00:00:00Z")
    last = bad("a:2", {**BASE, "seed": 2}, conclusion={"headline": "overfits"}, timestamp="2026-10-02T00:00:00Z")
    assert said(BASE, first) == "ran once: out of memory"
    assert said(BASE, last, first) == "ran 2 times: both dead ends, last dead end, “overfits”"


def test_the_lens_leads_to_the_latest_of_the_runs() -> None:
    late = good("a:1", {**BASE, "seed": 1}, timestamp="2026-10-02T00:00:00Z")
    early = good("a:2", {**BASE, "seed": 2}, timestamp="2026-10-01T00:00:00Z")
    found = standing(BASE, late, early)
    assert found is not None
    assert found.ran is not None
    assert [run.id for run in found.ran.runs] == ["a:2", "a:1"]


def test_what_is_running_has_not_run() -> None:
    running = ended("a:1", BASE, conclusion={"outcome": "running"})
    assert said(BASE, running) == "is running"


def test_what_ran_in_several_lines_is_told_of_all_where_none_is_the_own() -> None:
    text = {"research_line": "text", "timestamp": "2026-10-01T00:00:00Z"}
    runs = [bad("a:1", BASE, 0.1), good("b:1", BASE, 0.7, **text)]
    assert said(BASE, *runs) == "ran 2 times: val_acc 0.7 · 1 dead end"
    assert said(BASE, *runs, line="vision") == "ran once: dead end"
    assert said(BASE, *runs, line="text") == "ran once: val_acc 0.7"
    assert said(BASE, good("a:1", BASE, 0.5), runs[1]) == "ran 2 times"  # two lines have no mean in common


def test_a_value_that_nobody_can_read_is_not_said_to_be_the_same() -> None:
    runs = [good("a:1", {**BASE, "seed": 1}, 0.5), good("a:2", {**BASE, "seed": 2}, 0.7)]
    assert said({**BASE, "lr": "${rate}"}, *runs) == "ran 2 times if lr is the same: val_acc 0.60 ± 0.14"
    other = good("a:3", {**BASE, "lr": 0.5}, 0.9)
    assert (
        said({**BASE, "lr": "${rate}"}, *runs, other) == "ran 3 times if lr is the same"
    )  # no mean of two experiments
    wide = {**BASE, "momentum": 0.9}
    draft = {**wide, "lr": "${rate}", "depth": "${d}"}
    assert said(draft, good("a:1", wide, 0.5)) == "ran once if lr, depth are the same: val_acc 0.5"


def test_what_both_write_alike_is_the_same() -> None:
    long = {**BASE, "classes": "x" * 9000}
    assert said(long, good("a:1", long, 0.5)) == "ran once: val_acc 0.5"
    other = good("a:2", {**long, "classes": "x" * 8999 + "y"}, 0.5)
    assert said(long, other) == "ran once if classes is the same: val_acc 0.5"


def test_a_run_of_which_a_value_cannot_be_read_is_none_of_those_that_ran() -> None:
    unreadable = good("a:2", {**BASE, "lr": "${rate}"}, 0.1)
    assert said(BASE, good("a:1", BASE, 0.5), unreadable) == "ran once: val_acc 0.5"
    assert said(BASE, unreadable) == "ran once if lr is the same: val_acc 0.1"


def test_what_another_commit_came_to_is_no_result_of_the_nearest() -> None:
    near = {**BASE, "lr": 0.02}
    runs = [
        good("a:1", near, 0.5, git="a1b2c3d", timestamp="2026-10-01T00:00:00Z"),
        good("a:2", near, 0.9, git="d4e5f6a", timestamp="2026-10-02T00:00:00Z"),
    ]
    assert said(BASE, *runs) == "never run · nearest: a:2 (val_acc 0.9), differs in lr"


def test_a_run_of_another_line_is_told_with_its_line() -> None:
    mine = good("a:1", {**BASE, "lr": 0.5})
    other = good("b:1", BASE, 0.5, research_line="audio")
    assert said(BASE, mine, other, line="vision") == "ran once in audio: val_acc 0.5"


# What is nearest


def test_the_nearest_differs_in_fewest_parameters() -> None:
    one_off = good("EXP-1", {**BASE, "lr": 0.02}, 0.8)
    two_off = good("EXP-2", {**BASE, "lr": 0.02, "depth": 8}, 0.9)
    assert said(BASE, two_off, one_off) == "never run · nearest: EXP-1 (val_acc 0.8), differs in lr"


def test_of_two_as_near_the_later_one_is_told_then_the_one_with_the_smaller_id() -> None:
    def near(name: str, depth: int, time: str | None) -> ExperimentRecord:
        return good(name, {**BASE, "depth": depth}, timestamp=time)

    old, new = near("EXP-1", 5, "2026-10-01T00:00:00Z"), near("EXP-2", 6, "2026-10-02T00:00:00Z")
    assert said(BASE, new, old, near("EXP-0", 7, None)) == "never run · nearest: EXP-2, differs in depth"
    same = near("EXP-3", 8, "2026-10-02T00:00:00Z")
    assert said(BASE, same, new, old) == "never run · nearest: EXP-2, differs in depth"


def test_replicates_of_the_nearest_are_one_experiment() -> None:
    runs = [good(f"EXP-{n}", {**BASE, "lr": 0.02, "seed": n}, score) for n, score in enumerate([0.908, 0.912, 0.916])]
    # Mean 0.912; the squared distances are 16, 0 and 16 millionths, so the spread is √(32e-6 / 2) = 0.004.
    found = standing(BASE, *runs)
    assert found is not None
    assert found.nearest is not None
    assert found.nearest.runs == 3
    assert standing_line(found) == "never run · nearest: EXP-2 (val_acc 0.912 ± 0.004), differs in lr"


def test_a_run_whose_id_is_made_up_is_called_as_lists_call_it() -> None:
    made_up = "mlflow:0123456789abcdef0123456789abcdef"
    named = good(made_up, {**BASE, "lr": 0.3}, 0.5)
    named.name = "quiet-finch-226"
    assert said(BASE, named) == "never run · nearest: quiet-finch-226 (val_acc 0.5), differs in lr"
    named.name = "\u200b\u202e"  # which shows as nothing
    assert said(BASE, named) == "never run · nearest: mlflow:01234567 (val_acc 0.5), differs in lr"


def test_three_names_and_how_many_more() -> None:
    params = {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}
    other = {"a": 1, "b": 1, "c": 2, "d": 2, "e": 2, "f": 2, "g": 2}
    assert said(params, good("EXP-1", other)) == "never run · nearest: EXP-1, differs in c, d, e +2"


def test_a_budget_and_a_key_that_only_one_of_them_sets_are_differences() -> None:
    config = {**BASE, "epochs": 100, "mixup": 0.2}
    longer = good("EXP-1", {**BASE, "epochs": 300, "mixup": 0.2})
    assert said(config, longer) == "never run · nearest: EXP-1, differs in epochs"
    lacking = good("EXP-2", {**BASE, "epochs": 100})
    assert said(config, lacking, good("EXP-3", {"mixup": 0.2})) == "never run · nearest: EXP-2, differs in mixup"
    more = good("EXP-4", {**config, "ema": True})
    assert said(config, more) == "never run · nearest: EXP-4, differs in ema"


def test_a_default_that_the_draft_leaves_out_is_no_difference() -> None:
    others = [good(f"other-{n}", {**BASE, "depth": 50 + n, "width": 7, "ema": True}) for n in range(9)]
    logged = good("EXP-1", {**BASE, "lr": 0.02, "ema": True})
    assert said(BASE, *others, logged) == "never run · nearest: EXP-1, differs in lr"


def test_another_dataset_is_no_evidence() -> None:
    elsewhere = [good(f"EXP-{n}", {**BASE, "dataset": "cifar"}, 0.9) for n in range(3)]
    here = good("EXP-9", {"lr": 0.5, "depth": 8, "width": 64, "dropout": 0.1, "dataset": "imagenet"}, 0.2)
    expected = "never run · nearest: EXP-9 (val_acc 0.2), differs in lr, depth, width"
    assert said({**BASE, "dataset": "imagenet"}, *elsewhere, here) == expected
    assert said({**BASE, "dataset": "imagenet"}, *elsewhere) == "never run · nothing comparable among 3 runs"


def test_what_is_near_in_the_own_line_goes_before_what_is_nearer_in_another() -> None:
    other = good("b:1", {**BASE, "lr": 0.02}, research_line="audio")
    mine = good("a:1", {**BASE, "lr": 0.5, "depth": 8})
    strange = good("a:2", {"alpha": 1, "beta": 2})
    assert said(BASE, mine, other, line="vision") == "never run · nearest: a:1, differs in lr, depth"
    assert said(BASE, strange, other, line="vision") == "never run · nearest: b:1 in audio, differs in lr"
    assert said(BASE, mine, other) == "never run · nearest: b:1, differs in lr"


def test_a_dead_end_that_is_nearest_is_said_to_be_one() -> None:
    assert (
        said(BASE, bad("EXP-1", {**BASE, "lr": 0.5}, 0.1))
        == "never run · nearest: EXP-1 (val_acc 0.1, dead end), differs in lr · 1 dead end nearby"
    )


# Dead ends around


def around(*records: ExperimentRecord) -> int:
    found = standing(BASE, good("EXP-0", {**BASE, "lr": 0.011}), *records)
    assert found is not None
    return found.dead_ends


def test_dead_ends_within_two_steps_are_nearby() -> None:
    one = bad("d:1", {**BASE, "lr": 0.5})
    two = bad("d:2", {**BASE, "lr": 0.5, "depth": 8})
    three = bad("d:3", {**BASE, "lr": 0.5, "depth": 8, "width": 64})
    # With two of four parameters otherwise only two are equal: too few to speak of the same experiment.
    assert around(one, two, three) == 1
    wide = {**BASE, "warmup": 100}
    found = standing(
        wide, *(bad(f"d:{n}", {**wide, **change}) for n, change in enumerate([{"lr": 1}, {"lr": 1, "depth": 9}]))
    )
    assert found is not None
    assert found.dead_ends == 2


def test_replicates_of_a_dead_end_are_one() -> None:
    assert around(*(bad(f"d:{n}", {**BASE, "lr": 0.5, "seed": n}) for n in range(3))) == 1


def test_what_worked_in_another_replicate_is_no_dead_end() -> None:
    assert around(bad("d:1", {**BASE, "lr": 0.5, "seed": 1}), good("d:2", {**BASE, "lr": 0.5, "seed": 2})) == 0


@pytest.mark.parametrize("error", ["KeyError: 'classes'", "NCCL timeout", "KeyboardInterrupt"])
def test_what_no_parameter_is_to_blame_for_is_not_counted(error: str) -> None:
    assert around(ended("d:1", {**BASE, "lr": 0.5}, conclusion={"outcome": "crashed", "headline": error})) == 0


def test_a_dead_end_of_code_alone_is_not_counted() -> None:
    change = {"change": "CodeChanged", "from_sha": "aaaaaaa", "to_sha": "bbbbbbb"}
    made: dict[str, Any] = {"derivation": {"changes": [change]}}
    assert around(bad("d:1", {**BASE, "lr": 0.5}, **made)) == 0


def test_a_dead_end_by_a_change_that_the_draft_has_not_is_one_step_farther() -> None:
    change = {"change": "ParamChanged", "key": "ema", "from": None, "to": True}
    made: dict[str, Any] = {"derivation": {"changes": [change]}}
    assert around(bad("d:1", {**BASE, "lr": 0.5, "ema": True}, **made)) == 1
    wide = {**BASE, "warmup": 100}
    both = bad("d:1", {**wide, "lr": 0.5, "depth": 9, "ema": True}, **made)
    found = standing(wide, both)
    assert found is not None
    assert found.dead_ends == 0


def test_a_dead_end_with_parameters_that_the_draft_has_not_is_as_much_farther() -> None:
    assert around(bad("d:1", {**BASE, "lr": 0.5, "ema": 0.9})) == 1
    assert around(bad("d:1", {**BASE, "lr": 0.5, "ema": 0.9, "clip": 1})) == 0


def test_what_nearly_all_runs_log_at_their_usual_value_makes_no_dead_end_farther() -> None:
    usual = {"ema": 0.9, "clip": 1, "warmup": 10}
    others = [good(f"a:{n}", {**BASE, **usual, "depth": 10 + n, "width": 10 + n}) for n in range(8)]
    found = standing(BASE, bad("d:1", {**BASE, **usual, "lr": 0.5}), *others)
    assert found is not None
    assert found.dead_ends == 1


# Silence


def test_nothing_is_said_of_an_empty_pool() -> None:
    assert standing(BASE) is None


def test_nothing_is_said_of_a_draft_that_can_hardly_be_told_from_another() -> None:
    assert standing({"lr": 0.01, "depth": 4, "seed": 1, "output_dir": "x"}, good("a:1", BASE)) is None
    assert standing("lr: ${oc.env:LR}\ndepth: 4\nwidth: 8\n", good("a:1", BASE)) is None


def test_where_nothing_can_be_compared_that_is_said() -> None:
    runs = [good(f"a:{n}", {"alpha": n, "beta": 2, "gamma": 3}) for n in range(2)]
    assert said(BASE, *runs) == "never run · nothing comparable among 2 runs"


def test_hostile_names_are_short_plain_text() -> None:
    key = "a" * 300
    run = good("x\x1b[31m\n" + "y" * 300, {key: 1, "b": 2, "c": 3, "d": 4}, metrics={"m\x1b[0m" + "e" * 300: 1.0})
    line = said({key: 2, "b": 2, "c": 3, "d": 4}, run)
    assert len(line) < 200
    assert line.isprintable()
