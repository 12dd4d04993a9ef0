from __future__ import annotations

from typing import Any

from findings_pool import BASE, at_time, crashed, dead, findings_in, squiggles, unrelated, worked, yaml_of

from tried.pool.record import ExperimentRecord


def setters(count: int = 3) -> list[ExperimentRecord]:
    return [dead(f"k:{i}", {**BASE, "depth": 10 + i, "mixup": 0.1 * (i + 1)}) for i in range(count)]


def test_a_parameter_that_only_dead_ends_set_is_told_of_as_information() -> None:
    text = yaml_of({**BASE, "mixup": 0.9})
    (finding,) = [f for f in findings_in(text, [*setters(), *unrelated(5)]) if f.evidence == "knob"]
    assert (finding.code, finding.severity, finding.span.of(text)) == ("dead-end", "information", "0.9")
    assert finding.message == "mixup: all 3 runs with it ended badly, last dead end, “worse by far” (k:2)"
    assert finding.records == ("k:2", "k:1", "k:0")


def test_the_last_of_them_is_the_latest_by_its_timestamp_not_by_its_place_in_the_pool() -> None:
    times = ("2026-11-03T16:13:05Z", "2026-11-03T16:12:33Z", None)
    runs = [at_time(run, time) for run, time in zip(setters(), times, strict=True)]
    (finding,) = [f for f in findings_in({**BASE, "mixup": 0.9}, [*runs, *unrelated(5)]) if f.evidence == "knob"]
    assert finding.records == ("k:2", "k:0", "k:1"), "what has no timestamp stays behind what stands before it"
    runs[2] = at_time(runs[2], "2026-11-03T16:12:34Z")
    (finding,) = [f for f in findings_in({**BASE, "mixup": 0.9}, [*runs, *unrelated(5)]) if f.evidence == "knob"]
    assert finding.records == ("k:0", "k:2", "k:1")
    assert finding.message == "mixup: all 3 runs with it ended badly, last dead end, “worse by far” (k:0)"


def knobs(records: list[ExperimentRecord], **settings: Any) -> list[tuple[str, str, str]]:
    found = squiggles(findings_in({**BASE, "mixup": 0.9}, records, **settings))
    return [each for each in found if each[0] == "knob"]


def test_two_are_too_few_and_replicates_count_once() -> None:
    assert knobs([*setters(2), *unrelated(5)]) == []
    replicates = [dead(f"k:{i}", {**BASE, "depth": 10, "mixup": 0.1, "seed": i}) for i in range(5)]
    assert knobs([*replicates, *unrelated(5)]) == []


def test_five_runs_must_have_worked_without_it() -> None:
    assert knobs([*setters(), *unrelated(4)]) == []
    assert knobs([*setters(), *unrelated(4)], knob_worked_without=4) != []


def test_one_run_that_worked_with_it_is_enough_against_it() -> None:
    assert knobs([*setters(), *unrelated(5), worked("k:9", {**BASE, "depth": 1, "mixup": 0.5})]) == []


def test_code_errors_do_not_blame_a_knob() -> None:
    broken = crashed("k:9", {**BASE, "depth": 1, "mixup": 0.5}, "KeyError: 'mixup'")
    assert knobs([*setters(), broken, *unrelated(5)]) == []


def test_a_key_that_is_merely_logged_since_the_dead_ends_began_is_not_blamed() -> None:
    assert knobs([*unrelated(5), *setters()]) == []


def test_a_knob_that_is_switched_off_is_not_set() -> None:
    on = [dead(f"k:{i}", {**BASE, "depth": 10 + i, "mixup": True}) for i in range(3)]
    assert squiggles(findings_in({**BASE, "width": 7, "mixup": False}, [*on, *unrelated(5)])) == []
    assert squiggles(findings_in({**BASE, "width": 7, "mixup": True}, [*on, *unrelated(5)])) != []


def test_another_research_line_blames_no_knob() -> None:
    elsewhere = [dead(f"k:{i}", {**BASE, "depth": 10 + i, "mixup": 0.1 * (i + 1)}, line="speech") for i in range(3)]
    assert knobs([*elsewhere, *unrelated(5)]) == []


def test_one_value_that_only_dead_ends_had_while_another_worked() -> None:
    sgd = [dead(f"k:{i}", {**BASE, "depth": 10 + i, "optimizer": "sgd"}) for i in range(3)]
    adam = [worked(f"w:{i}", {**BASE, "depth": 20 + i, "optimizer": "adam"}) for i in range(5)]
    text = yaml_of({**BASE, "optimizer": "SGD"})
    (finding,) = [f for f in findings_in(text, [*sgd, *adam]) if f.evidence == "knob"]
    assert finding.message == "optimizer sgd: all 3 runs with it ended badly, last dead end, “worse by far” (k:2)"
    assert [f for f in findings_in({**BASE, "optimizer": "adam"}, [*sgd, *adam]) if f.evidence == "knob"] == []


def test_many_keys_of_the_same_runs_are_an_experiment_of_its_own() -> None:
    extra = {f"new_{name}": 1 for name in ("a", "b", "c", "d")}
    runs = [dead(f"k:{i}", {**BASE, "depth": 10 + i, **extra}) for i in range(3)]
    draft = {**BASE, **extra, "depth": 99, "width": 1}
    assert squiggles(findings_in(draft, [*runs, *unrelated(5)])) == []


def test_what_fewer_than_three_set_is_for_the_hover() -> None:
    found = findings_in({**BASE, "mixup": 0.9}, [*setters(1), *unrelated(5)])
    assert [(f.evidence, f.severity, f.message) for f in found if f.blamed == ("mixup",)] == [
        ("knob", "hover", "mixup: the only run with it ended badly, dead end, “worse by far” (k:0)")
    ]
    assert findings_in({**BASE, "mixup": 0.9}, [*setters(1), *unrelated(4)]) == []


def test_the_hover_tells_of_a_code_error_too() -> None:
    broken = crashed("k:0", {**BASE, "depth": 1, "mixup": 0.5}, "KeyError: 'mixup'")
    found = findings_in({**BASE, "mixup": 0.9}, [broken, *unrelated(5)])
    assert [(f.evidence, f.severity, f.cause) for f in found if f.blamed == ("mixup",)] == [
        ("knob", "hover", "code_error")
    ]
