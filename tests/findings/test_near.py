from __future__ import annotations

from findings_pool import BASE, crashed, dead, findings_in, squiggles, told, worked

from tried.pool.record import ExperimentRecord


def near(lr: float, records: list[ExperimentRecord]) -> list[tuple[str, str, str]]:
    return [each for each in squiggles(findings_in({**BASE, "lr": lr}, records)) if each[0] == "near"]


def test_the_same_knob_turned_again_is_information_that_names_both_values() -> None:
    (finding,) = findings_in({**BASE, "lr": 0.6}, [dead("a:1", {**BASE, "lr": 0.5})])
    assert (finding.evidence, finding.severity) == ("near", "information")
    assert finding.message == "close to lr 0.5: dead end, “worse by far” (a:1)"
    assert [(d.key, d.draft, d.record) for d in finding.differences] == [("lr", "0.6", "0.5")]


def test_two_knobs_turned_are_another_experiment() -> None:
    assert squiggles(findings_in({**BASE, "lr": 0.6, "depth": 5}, [dead("a:1", {**BASE, "lr": 0.5})])) == []


def test_a_run_that_worked_at_between_or_nearer_speaks_against_it() -> None:
    bad = dead("a:1", {**BASE, "lr": 0.5})
    assert near(0.6, [bad]) == [("near", "information", "a:1")]
    for good in (0.6, 0.55, 0.65):  # at, between, nearer
        assert near(0.6, [bad, worked("a:2", {**BASE, "lr": good, "depth": 3})]) == []
    assert near(0.6, [bad, worked("a:2", {**BASE, "lr": 0.01, "depth": 3})]) == [("near", "information", "a:1")]


def test_where_the_knob_stood_before_it_was_turned_counts_as_worked() -> None:
    bad = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.62, 0.5)})
    assert near(0.6, [bad]) == []


def test_only_numbers_have_a_near() -> None:
    found = findings_in({**BASE, "optimizer": "lion"}, [dead("a:1", {**BASE, "optimizer": "sgd"})])
    assert squiggles(found) == []


def test_out_of_memory_is_said_at_or_above_what_failed_and_shown_below_it() -> None:
    failed = crashed("a:1", {**BASE, "batch_size": 32}, "CUDA out of memory")
    above = findings_in({**BASE, "batch_size": 64}, [failed])
    below = findings_in({**BASE, "batch_size": 16}, [failed])
    assert told(above) == [("near", "information", "a:1")]
    assert told(below) == [("near", "hover", "a:1")]


def test_between_two_that_failed_the_smaller_is_told() -> None:
    records = [crashed(f"a:{size}", {**BASE, "batch_size": size}, "CUDA out of memory") for size in (32, 96)]
    findings = findings_in({**BASE, "batch_size": 64}, records)
    assert told(findings) == [("near", "information", "a:32")]


def test_what_is_known_to_fit_is_named() -> None:
    failed = crashed("a:1", {**BASE, "batch_size": 32}, "CUDA out of memory", duration={"secs": 19})
    fits = worked("a:2", {**BASE, "batch_size": 8, "depth": 2})
    (finding,) = [f for f in findings_in({**BASE, "batch_size": 64}, [failed, fits]) if f.severity == "information"]
    assert finding.message == "above batch_size 32: out of memory after 19 s (a:1); 8 fits"


def test_below_what_failed_or_by_another_knob_than_a_size_it_is_merely_close() -> None:
    failed = crashed("a:1", {**BASE, "batch_size": 32}, "CUDA out of memory")
    (finding,) = findings_in({**BASE, "batch_size": 24}, [failed])
    assert finding.message == "close to batch_size 32: out of memory (a:1)"
    (finding,) = findings_in({**BASE, "batch_size": 32, "lr": 0.02}, [failed])
    assert finding.message == "close to lr 0.01: out of memory (a:1)"


def test_of_several_sizes_it_is_said_that_some_are_the_same() -> None:
    changes = {"batch_size": (8, 32), "depth": (4, 12)}
    failed = crashed("a:1", {**BASE, "batch_size": 32, "depth": 12}, "OOM", changes=changes)
    (finding,) = findings_in({**BASE, "batch_size": 64, "depth": 12}, [failed])
    assert finding.message == "at or above batch_size 32, depth 12: out of memory (a:1)"


def test_a_crash_of_unknown_cause_is_for_the_hover() -> None:
    assert told(findings_in({**BASE, "lr": 0.6}, [crashed("a:1", {**BASE, "lr": 0.5})])) == [("near", "hover", "a:1")]
