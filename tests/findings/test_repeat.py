from __future__ import annotations

from datetime import UTC, datetime

import pytest
from findings_pool import BASE, crashed, dead, findings_in, record, squiggles, told, worked, yaml_of

from tried.pool.record import ExperimentRecord


def test_a_repeated_dead_end_is_warned_of_where_the_experiment_is_named() -> None:
    text = "name: deeper\n" + yaml_of(BASE)
    finding = findings_in(text, [dead("a:1", BASE, "no better than the baseline")])[0]
    assert (finding.code, finding.evidence, finding.severity) == ("repeat", "repeat", "warning")
    assert finding.span.of(text) == "deeper"
    assert finding.message == "ran before: dead end, “no better than the baseline” (a:1)"
    assert finding.records == ("a:1",)


def test_without_a_name_it_stands_on_the_first_compared_key() -> None:
    text = yaml_of(BASE)
    (finding,) = findings_in(text, [dead("a:1", BASE)])
    assert finding.span.of(text) == "0.01"
    assert finding.blamed == ("lr",)


def test_it_stands_on_the_records_own_change_if_that_is_in_the_draft() -> None:
    text = "name: deeper\n" + yaml_of(BASE)
    (finding,) = findings_in(text, [dead("a:1", BASE, changes={"depth": (2, 4)})])
    assert (finding.evidence, finding.blamed, finding.span.of(text)) == ("repeat", ("depth",), "4")


def test_two_compared_keys_repeat_nothing() -> None:
    params = {"lr": 0.01, "depth": 4}
    assert findings_in(params, [dead("a:1", params)]) == []


def test_a_draft_without_parameters_repeats_nothing() -> None:
    assert findings_in("# only a comment\n", [dead("a:1", BASE), dead("a:2", {})]) == []


def test_many_equal_failures_are_one_finding_with_a_count() -> None:
    (finding,) = findings_in(BASE, [dead(f"a:{i}", {**BASE, "seed": i}, f"failed {i}") for i in range(21)])
    assert finding.message == "ran before: dead end, “failed 20” (a:20, 21 runs)"
    assert len(finding.records) == 21


def test_a_repeat_that_once_worked_is_for_the_hover() -> None:
    findings = findings_in(BASE, [dead("a:1", BASE), worked("a:2", BASE)])
    assert told(findings) == [("repeat", "hover", "a:1")]
    assert findings[0].contradicted_by == ("a:2",)
    assert findings[0].message == "ran 2 times; 1 ended badly (dead end, “worse by far”, a:1)"


def test_an_inconclusive_or_running_repeat_is_no_warning() -> None:
    for open_run in ({"verdict": "inconclusive"}, {"conclusion": {"outcome": "running"}}):
        findings = findings_in(BASE, [dead("a:1", BASE), record("a:2", BASE, **open_run)])
        assert told(findings) == [("repeat", "hover", "a:1")]


def test_what_worked_is_said_in_the_hover_with_mean_and_deviation() -> None:
    runs = [worked(f"a:{i}", {**BASE, "seed": i}, metrics={"accuracy": v}) for i, v in enumerate((0.90, 0.92, 0.94))]
    (finding,) = findings_in(BASE, runs)
    assert (finding.severity, finding.message) == ("hover", "ran 3 times: accuracy 0.92 ± 0.02 (a:2)")


@pytest.mark.parametrize(
    "spelled",
    [
        {"lr": "1e-2", "depth": "4", "width": "128.0", "dropout": "1.0E-1"},
        {"LR": 0.01, "Depth": 4, "WIDTH": 128, "DropOut": 0.1},
    ],
)
def test_values_and_keys_compare_however_they_are_spelled(spelled: dict[str, object]) -> None:
    assert squiggles(findings_in(BASE, [dead("a:1", spelled)])) == [("repeat", "warning", "a:1")]


def test_seeds_names_folders_and_hardware_are_not_compared() -> None:
    theirs = {**BASE, "seed": 1, "output_dir": "/tmp/one", "run_name": "first", "gpus": 8}
    ours = {**BASE, "seed": 2, "output_dir": "/tmp/two", "run_name": "second", "gpus": 1}
    assert squiggles(findings_in(ours, [dead("a:1", theirs)])) == [("repeat", "warning", "a:1")]


def test_a_name_inside_a_dataset_is_compared() -> None:
    text = yaml_of(BASE) + "dataset:\n  name: cifar100\n"
    assert findings_in(text, [dead("a:1", {**BASE, "dataset.name": "cifar10"})]) == []
    assert squiggles(findings_in(text, [dead("a:1", {**BASE, "dataset.name": "cifar100"})])) != []


def test_a_budget_may_differ_and_is_then_named_and_softer() -> None:
    theirs = {**BASE, "max_epochs": 50}
    (finding,) = findings_in({**BASE, "max_epochs": 90}, [dead("a:1", theirs, "worse")])
    assert finding.severity == "information"
    assert finding.message == "ran before with max_epochs 50: dead end, “worse” (a:1)"


def test_a_run_under_a_tenth_of_the_budget_is_evidence_for_nothing() -> None:
    assert findings_in({**BASE, "epochs": 100}, [dead("a:1", {**BASE, "epochs": 9})]) == []
    assert findings_in({**BASE, "epochs": 100}, [dead("a:1", {**BASE, "epochs": 10})]) != []


def test_a_short_run_that_ran_out_of_memory_is_evidence() -> None:
    short = crashed("a:1", {**BASE, "epochs": 1}, "CUDA out of memory")
    assert squiggles(findings_in({**BASE, "epochs": 100}, [short])) == [("repeat", "information", "a:1")]


def test_a_marked_debug_run_counts_only_where_its_budget_says_otherwise() -> None:
    assert findings_in(BASE, [dead("a:1", BASE, tags=["debug"])]) == []
    same_budget = {**BASE, "epochs": 10}
    assert findings_in(same_budget, [dead("a:1", same_budget, tags=["debug"])]) != []


def test_what_a_record_changed_itself_and_the_draft_lacks_makes_it_no_repeat() -> None:
    run = dead("a:1", {**BASE, "mixup": 0.2}, changes={"mixup": (None, 0.2)})
    siblings = [dead(f"b:{i}", {**BASE, "lr": i + 1, "mixup": 0.2}) for i in range(20)]
    assert [f for f in findings_in(BASE, [run, *siblings]) if f.evidence == "repeat"] == []


def test_a_key_that_few_siblings_log_makes_it_no_repeat() -> None:
    siblings = [worked(f"b:{i}", {"lr": i + 1, "depth": 9, "width": 9, "dropout": 0.9}) for i in range(9)]
    assert squiggles(findings_in(BASE, [dead("a:1", {**BASE, "ema": 0.99}), *siblings])) == []


def test_a_default_that_nearly_all_siblings_log_does_not_matter() -> None:
    siblings = [worked(f"b:{i}", {**BASE, "lr": i + 1, "ema": 0.99}) for i in range(9)]
    found = findings_in(BASE, [dead("a:1", {**BASE, "ema": 0.99}), *siblings])
    assert squiggles(found) == [("repeat", "warning", "a:1")]


def test_an_unusual_value_of_a_common_key_does() -> None:
    siblings = [worked(f"b:{i}", {**BASE, "lr": i + 1, "ema": 0.99}) for i in range(9)]
    assert squiggles(findings_in(BASE, [dead("a:1", {**BASE, "ema": 0.5}), *siblings])) == []


def test_a_new_knob_is_no_repeat() -> None:
    assert findings_in({**BASE, "label_smoothing": 0.1}, [dead("a:1", BASE)]) == []


def test_a_key_that_is_set_to_null_is_not_set() -> None:
    text = yaml_of(BASE) + "label_smoothing:\nema: null\n"
    assert squiggles(findings_in(text, [dead("a:1", BASE)])) == [("repeat", "warning", "a:1")]


def test_a_wrapping_container_is_found_and_what_stands_outside_is_bookkeeping() -> None:
    text = "batch: r3\npatches: [a, b]\nslot: D7\nenv:\n" + "".join(f"  {k.upper()}: '{v}'\n" for k, v in BASE.items())
    assert squiggles(findings_in(text, [dead("a:1", BASE)])) == [("repeat", "warning", "a:1")]


def test_a_new_knob_inside_the_container_is_no_bookkeeping() -> None:
    text = "batch: r3\nenv:\n  EMA: 0.9\n" + "".join(f"  {k}: {v}\n" for k, v in BASE.items())
    assert findings_in(text, [dead("a:1", BASE)]) == []


def test_a_truncated_value_is_unknown_not_different() -> None:
    long = "x" * 250
    theirs = {**BASE, "filters": long}
    assert squiggles(findings_in({**BASE, "filters": long + "yz"}, [dead("a:1", theirs)])) == [
        ("repeat", "warning", "a:1")
    ]


SAVED = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SEEDED = {**BASE, "seed": 1}


def test_a_file_is_not_told_about_the_run_that_it_started() -> None:
    run = crashed("a:1", SEEDED, "CUDA out of memory", timestamp="2026-03-01T12:01:00Z")
    assert findings_in(SEEDED, [run], saved_at=SAVED) == []
    assert squiggles(findings_in(SEEDED, [run])) == [("repeat", "warning", "a:1")]


@pytest.mark.parametrize(
    ("why", "config", "params", "time"),
    [
        ("an earlier run", SEEDED, SEEDED, "2026-03-01T11:59:00Z"),
        ("another seed", {**BASE, "seed": 2}, SEEDED, "2026-03-01T12:01:00Z"),
        ("nothing that tells it from another's run", BASE, BASE, "2026-03-01T12:01:00Z"),
        ("a run of unknown time", SEEDED, SEEDED, None),
    ],
)
def test_it_is_told_about(why: str, config: dict[str, object], params: dict[str, object], time: str | None) -> None:
    run = crashed("a:1", params, "CUDA out of memory", timestamp=time)
    assert squiggles(findings_in(config, [run], saved_at=SAVED)) == [("repeat", "warning", "a:1")], why


def test_it_is_told_about_a_later_run_that_was_another_experiment() -> None:
    run = dead("a:1", {**SEEDED, "lr": 0.5}, changes={"lr": (0.01, 0.5)}, timestamp="2026-03-01T12:01:00Z")
    found = findings_in({**SEEDED, "lr": 0.5, "dropout": 0.3}, [run], saved_at=SAVED)
    assert squiggles(found) == [("move", "warning", "a:1")]


def test_a_repeat_of_a_run_that_changed_code_too_is_softer() -> None:
    run = dead("a:1", BASE, changes={"depth": (2, 4), "forward pass": ("plain", "with a highway")})
    assert squiggles(findings_in(BASE, [run])) == [("repeat", "information", "a:1")]
    plain = dead("a:2", {**BASE, "seed": 2}, changes={"depth": (2, 4)})
    assert squiggles(findings_in(BASE, [run, plain])) == [("repeat", "warning", "a:2")]


def test_a_config_in_parts_repeats_what_was_logged_flat() -> None:
    flat = {"model": "resnet18", "optimizer": "adamw", "lr": 0.01}
    text = "model:\n  name: resnet18\noptimizer:\n  name: adamw\n  lr: 0.01\n"
    (finding,) = findings_in(text, [worked("a:1", flat)])
    assert (finding.evidence, finding.severity, finding.differences) == ("repeat", "hover", ())
    (finding,) = findings_in(text, [dead("a:1", flat)])
    assert (finding.evidence, finding.severity) == ("repeat", "warning")
    assert findings_in(text.replace("adamw", "sgd"), [dead("a:1", flat)]) == []


MEMORY = {"lr": 0.1, "depth": 4, "batch_size": 1024, "dropout": 0.1}
"""`lr` is the first compared key: where a repeat stands if nobody can tell what is to blame."""


def place_of(text: str, records: list[ExperimentRecord]) -> tuple[str, tuple[str, ...]]:
    (finding,) = [f for f in findings_in(text, records) if f.evidence == "repeat"]
    return finding.span.of(text), finding.blamed


def test_a_repeat_stands_on_the_knob_in_which_alone_a_run_that_worked_differs() -> None:
    failed, text = crashed("a:1", MEMORY, "CUDA out of memory"), yaml_of(MEMORY)
    assert place_of(text, [failed]) == ("0.1", ("lr",))
    fits = [worked(f"b:{size}", {**MEMORY, "batch_size": size}) for size in (128, 512, 256)]
    assert place_of(text, [failed, *fits]) == ("1024", ("batch_size",))
    (finding,) = findings_in("name: big\n" + text, [failed, *fits])
    assert (finding.severity, finding.blamed) == ("warning", ("batch_size",)), "before the name"
    assert finding.message == "ran before: out of memory (a:1)"
    assert finding.why == ("CUDA out of memory", "Worked with one knob otherwise: batch_size 512.")


def test_out_of_memory_blames_only_a_size_of_which_less_worked() -> None:
    failed, text = crashed("a:1", MEMORY, "CUDA out of memory"), yaml_of(MEMORY)
    others = [worked("b:1", {**MEMORY, "lr": 0.2}), worked("b:2", {**MEMORY, "batch_size": 2048})]
    assert place_of(text, [failed, *others]) == ("0.1", ("lr",))
    diverged = crashed("a:1", MEMORY, "loss is NaN")
    assert place_of(text, [diverged, others[1]]) == ("1024", ("batch_size",))


def test_two_knobs_otherwise_or_what_the_draft_leaves_open_tell_nothing() -> None:
    failed, text = crashed("a:1", {**MEMORY, "ema": 0.9}, "loss is NaN"), yaml_of(MEMORY)
    usual = [worked(f"u:{i}", {**MEMORY, "lr": 5 + i, "depth": 10 + i, "ema": 0.9}) for i in range(9)]
    both = worked("b:1", {**MEMORY, "depth": 8, "ema": 0.5})
    assert place_of(text, [failed, *usual, both]) == ("0.1", ("lr",))
    one = worked("b:2", {**MEMORY, "depth": 8, "ema": 0.9})
    assert place_of(text, [failed, *usual, both, one]) == ("4", ("depth",))


def test_of_several_knobs_that_with_most_runs_is_first_and_four_are_too_many() -> None:
    failed, text = crashed("a:1", MEMORY, "loss is NaN"), yaml_of(MEMORY)
    depth = worked("b:1", {**MEMORY, "depth": 8})
    dropout = [worked(f"c:{i}", {**MEMORY, "dropout": 0.2 + i}) for i in range(2)]
    assert place_of(text, [failed, depth, *dropout]) == ("0.1", ("dropout", "depth"))
    (finding,) = [f for f in findings_in(text, [failed, depth, *dropout]) if f.evidence == "repeat"]
    assert finding.span.start == text.index("0.1", text.index("dropout"))
    more = [worked("d:1", {**MEMORY, "lr": 0.2}), worked("d:2", {**MEMORY, "batch_size": 8})]
    assert place_of(text, [failed, depth, *dropout, *more]) == ("0.1", ("lr",))


def test_the_change_that_a_record_states_is_blamed_before_any_sibling() -> None:
    failed = crashed("a:1", MEMORY, "CUDA out of memory", changes={"depth": (2, 4)})
    fits = worked("b:1", {**MEMORY, "batch_size": 512})
    assert place_of(yaml_of(MEMORY), [failed, fits]) == ("4", ("depth",))


def test_what_the_machine_broke_or_somebody_stopped_blames_no_knob() -> None:
    failed = crashed("a:1", MEMORY, "NCCL timeout")
    assert place_of(yaml_of(MEMORY), [failed, worked("b:1", {**MEMORY, "depth": 8})]) == ("0.1", ("lr",))
