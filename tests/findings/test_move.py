from __future__ import annotations

from findings_pool import BASE, crashed, dead, findings_in, record, squiggles, told, worked, yaml_of

OTHERWISE = {**BASE, "dropout": 0.3}
"""A draft that differs from `BASE` in one knob, so that what follows are moves and no repeats."""


def test_the_change_that_made_a_dead_end_is_warned_of_on_its_value() -> None:
    text = yaml_of({**OTHERWISE, "lr": 0.5})
    (finding,) = findings_in(text, [dead("a:1", {**BASE, "lr": 0.5}, "diverges at once", changes={"lr": (0.01, 0.5)})])
    assert (finding.code, finding.evidence, finding.severity) == ("dead-end", "move", "warning")
    assert (finding.span.of(text), finding.blamed) == ("0.5", ("lr",))
    assert finding.message == "lr 0.5: diverged, “diverges at once” (a:1)"
    assert finding.why[0] == "diverges at once"


def test_a_value_that_worked_elsewhere_is_told_in_the_hover_only() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)})
    findings = findings_in({**OTHERWISE, "lr": 0.5}, [run, worked("a:2", {**BASE, "lr": 0.5, "depth": 2})])
    assert [f for f in told(findings) if f[0] == "move"] == [("move", "hover", "a:1")]
    assert findings[0].contradicted_by == ("a:2",)


def test_a_value_that_another_run_came_from_was_in_use() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)})
    later = record("a:2", {**BASE, "lr": 0.9}, changes={"lr": (0.5, 0.9)})
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [run, later])) == []


def test_a_value_that_only_a_failed_parent_had_was_not_in_use() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)})
    later = dead("a:2", {**BASE, "lr": 0.9}, changes={"lr": (0.5, 0.9)}, parent="a:1")
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [run, later])) == [("move", "warning", "a:1")]


def test_all_that_the_record_changed_must_stand_in_the_draft() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5, "depth": 9}, changes={"lr": (0.01, 0.5), "depth": (4, 9)})
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [run])) == []
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5, "depth": 9}, [run])) == [("move", "warning", "a:1")]


def test_without_recorded_changes_the_recorded_parent_tells_them() -> None:
    parent = worked("a:0", BASE)
    child = dead("a:1", {**BASE, "lr": 0.5}, parent="a:0")
    for order in ([parent, child], [child, parent]):
        assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, order)) == [("move", "warning", "a:1")]


def test_a_child_that_differs_in_many_things_has_no_single_change() -> None:
    parent = worked("a:0", {"lr": 1, "depth": 1, "width": 1, "dropout": 0})
    child = dead("a:1", {**BASE, "lr": 0.5}, parent="a:0")
    assert [f for f in findings_in({**OTHERWISE, "lr": 0.5}, [parent, child]) if f.evidence == "move"] == []


def test_a_record_that_logged_no_parameters_is_softer() -> None:
    run = dead("a:1", {}, changes={"learning rate": (0.01, 0.5)})
    found = findings_in({**BASE, "LEARNING_RATE": 0.5}, [run])
    assert squiggles(found) == [("move", "information", "a:1")]


def test_a_setting_that_differs_in_most_is_for_the_hover() -> None:
    theirs = {"lr": 0.5, "depth": 1, "width": 1, "dropout": 0.9}
    found = findings_in({**BASE, "lr": 0.5}, [dead("a:1", theirs, changes={"lr": (0.01, 0.5)})])
    assert told(found) == [("move", "hover", "a:1")]


def test_another_research_line_needs_a_similar_setting() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)}, line="speech")
    far = dead("a:2", {"lr": 0.5, "beams": 4}, changes={"lr": (0.01, 0.5)}, line="speech")
    home = worked("home", {"warmup": 10})
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [run, home])) == [("move", "warning", "a:1")]
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [far, home])) == []


def test_a_context_that_both_state_must_be_equal() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5, "dataset": "imagenet"}, changes={"lr": (0.01, 0.5)})
    assert findings_in({**OTHERWISE, "lr": 0.5, "dataset": "cifar"}, [run]) == []
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5, "dataset": "ImageNet"}, [run])) != []
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [run])) != []


def test_out_of_memory_says_how_long_it_took_and_is_a_warning_without_a_verdict() -> None:
    run = crashed(
        "sacred:31",
        {**BASE, "batch_size": 32},
        "ResourceExhaustedError: OOM when allocating tensor",
        changes={"batch_size": (8, 32)},
        duration={"secs": 19, "nanos": 0},
    )
    (finding,) = findings_in({**OTHERWISE, "batch_size": 32}, [run])
    assert (finding.severity, finding.cause) == ("warning", "out_of_memory")
    assert finding.message == "batch_size 32: out of memory after 19 s (sacred:31)"


def test_out_of_memory_is_contradicted_by_something_as_large_that_fitted() -> None:
    run = crashed("a:1", {**BASE, "batch_size": 32}, "CUDA out of memory", changes={"batch_size": (8, 32)})
    fitted = worked("a:2", {**BASE, "batch_size": 64, "lr": 0.3})
    found = findings_in({**OTHERWISE, "batch_size": 32}, [run, fitted])
    assert [(f.severity, f.contradicted_by) for f in found if f.evidence == "move"] == [("hover", ("a:2",))]
    narrower = worked("a:2", {**BASE, "batch_size": 64, "width": 32})
    found = findings_in({**OTHERWISE, "batch_size": 32}, [run, narrower])
    assert [(f.severity, f.contradicted_by) for f in found if f.evidence == "move"] == [("warning", ())]


def test_worse_than_its_parent_is_information_and_only_beyond_the_noise_of_replicates() -> None:
    def lost(delta: float) -> list[tuple[str, str, str]]:
        run = record(
            "a:1",
            {**BASE, "lr": 0.5},
            metrics={"val_loss": 1.0 + delta},
            conclusion={"outcome": "completed"},
            derivation={"metric_delta": {"val_loss": {"before": 1.0, "after": 1.0 + delta, "delta": delta}}},
            changes={"lr": (0.01, 0.5)},
        )
        # Two replicates at 1.00 and 1.02: their sample standard deviation is 0.01·√2 ≈ 0.0141.
        same = [worked(f"r:{i}", {**BASE, "seed": i}, metrics={"val_loss": 1.0 + 0.02 * i}) for i in range(2)]
        return [each for each in squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [run, *same])) if each[0] == "move"]

    assert lost(0.05) == [("move", "information", "a:1")]
    assert lost(0.02) == []


def test_a_change_of_the_code_cannot_stand_in_a_config_and_makes_the_rest_softer() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5), "forward pass": ("plain", "with a highway")})
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [run])) == [("move", "information", "a:1")]


def test_a_changed_value_that_the_record_did_not_log_counts_as_set() -> None:
    run = dead("a:1", BASE, changes={"mixup": (None, 0.2)})
    logged_elsewhere = worked("a:2", {**BASE, "depth": 99, "mixup": 0.7})
    assert squiggles(findings_in(BASE, [run, logged_elsewhere])) == []
    found = squiggles(findings_in({**BASE, "mixup": 0.2}, [run, logged_elsewhere]))
    assert found == [("repeat", "warning", "a:1")]


def test_a_description_that_was_understood_in_part_makes_the_change_softer() -> None:
    changes = [
        {"change": "ParamChanged", "key": "lr", "from": 0.01, "to": 0.5},
        {"change": "Unspecified", "reason": "and a new head"},
    ]
    run = dead("a:1", {**BASE, "lr": 0.5}, derivation={"changes": changes})
    assert squiggles(findings_in({**OTHERWISE, "lr": 0.5}, [run])) == [("move", "information", "a:1")]


def test_a_description_says_less_than_what_the_metric_did() -> None:
    """A table with one column of text has the same words as name and as headline."""
    delta = {"metric_delta": {"val_bpb": {"before": 0.9731, "after": 0.9738, "delta": 0.0007}}}
    run = dead("a:1", {}, "softcap 15 to 20", name="softcap 15 to 20", changes={"softcap": (15, 20)}, derivation=delta)
    (finding,) = findings_in({**BASE, "SOFTCAP": 20}, [run])
    assert finding.message == "SOFTCAP 20: dead end, val_bpb 0.9731 → 0.9738 (a:1)"
    assert finding.why[:2] == ("softcap 15 to 20", "val_bpb 0.9731 → 0.9738, compared with what it came from.")
    assert finding.differences == ()


def test_what_was_in_use_is_named_by_the_run_that_used_it() -> None:
    run = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)})
    origin = record("a:2", {**BASE, "lr": 0.5, "depth": 2}, verdict="inconclusive")
    later = dead("a:3", {**BASE, "lr": 0.9, "depth": 2}, changes={"lr": (0.5, 0.9)}, parent="a:2")
    found = [f for f in findings_in({**OTHERWISE, "lr": 0.5}, [run, origin, later]) if f.record == "a:1"]
    assert [f.contradicted_by for f in found] == [("a:2",)]
