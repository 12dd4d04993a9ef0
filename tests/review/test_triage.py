"""Groups of what nobody explained, and the sentences that are proposed for them."""

from __future__ import annotations

from typing import Any

import pytest
from review_pool import failed, record, runs_from

from tried.pool.record import ExperimentRecord
from tried.review.triage import Group, normalised_error, triage

WORKED = [record(f"ok{i}", {"lr": lr, "batch_size": 32}) for i, lr in enumerate([0.001, 0.002, 0.003] * 4)]


def groups(*records: ExperimentRecord) -> list[Group]:
    return triage(runs_from([*WORKED, *records]))


def shown(*records: ExperimentRecord) -> list[tuple[str, list[str], str | None, str | None]]:
    return [(g.cause, [run.id for run in g.runs], g.proposal, g.verdict) for g in groups(*records)]


def test_out_of_memory_and_divergence_are_told_by_their_region() -> None:
    big = [
        failed(f"big{i}", {"lr": 0.001, "batch_size": size}, "out_of_memory") for i, size in enumerate((64, 128, 64))
    ]
    hot = [failed(f"hot{i}", {"lr": lr, "batch_size": 32}) for i, lr in enumerate((0.01, 0.1, 0.5, 0.01))]
    assert shown(*big, *hot) == [
        ("diverged", ["hot0", "hot1", "hot2", "hot3"], "diverges at lr >= 0.01 (4 runs; 0.003 works)", "dead_end"),
        ("out_of_memory", ["big0", "big1", "big2"], "out of memory at batch_size >= 64 (3 runs; 32 fits)", "dead_end"),
    ]


def test_errors_are_one_group_whatever_their_numbers() -> None:
    error = "Traceback (most recent call last):\n  File {}\nValueError: shape {} does not fit /tmp/{}/x.pt"
    three = [
        failed(f"e{i}", {"lr": 0.001}, "code_error", error=error.format(i, i, i), research_line=f"line{i}")
        for i in range(3)
    ]
    other = failed("other", {"lr": 0.001}, "code_error", error="KeyError: 'val'")
    assert shown(*three, other) == [
        (
            "code_error",
            ["e0", "e1", "e2"],
            "fails in the code: ValueError: shape 0 does not fit /tmp/0/x.pt (3 runs)",
            None,
        ),
        ("code_error", ["other"], "fails in the code: KeyError: 'val'", None),
    ]


def test_what_is_no_fault_of_the_experiment_is_no_dead_end() -> None:
    stopped = record("s", {"lr": 1}, "stopped", cause="stopped")
    machine = failed("m", {"lr": 1}, "infrastructure", error="NCCL error 5")
    assert shown(stopped, machine) == [
        ("stopped", ["s"], None, None),
        ("infrastructure", ["m"], "the machine failed, not the experiment: NCCL error 5", None),
    ]


def test_a_common_change_is_an_explanation_too() -> None:
    parent = record("p", {"lr": 0.001, "warmup": 5})
    children = [failed(f"c{i}", {"lr": 0.001, "warmup": 0}, parent="p") for i in range(2)]
    (group,) = groups(parent, *children)
    assert (group.change, group.proposal) == ("warmup 0", "diverges with warmup 0 (2 runs)")
    assert group.verdict == "dead_end"


def test_a_region_holds_in_its_context() -> None:
    def at(dataset: str, size: int) -> dict[str, Any]:
        return {"dataset": dataset, "batch_size": size, "lr": 0.001}

    small = [record(f"small{i}", at("cifar", 100)) for i in range(9)]
    fits = [record(f"fits{i}", at("melanoma", size)) for i, size in enumerate((4, 8))]
    big = [failed(f"big{i}", at("melanoma", size), "out_of_memory") for i, size in enumerate((100, 32, 16))]
    found = triage(runs_from([*small, *fits, *big]))
    assert [(group.proposal, group.verdict) for group in found] == [
        ("out of memory at dataset = melanoma and batch_size >= 16 (3 runs; 8 fits)", "dead_end")
    ]


def test_what_broke_later_for_another_cause_did_fit() -> None:
    big = [failed(f"big{i}", {"batch_size": 32}, "out_of_memory", duration=20) for i in range(2)]
    late = failed("late", {"batch_size": 8}, "code_error", error="KeyError: 1", duration=21)
    early = failed("early", {"batch_size": 16}, "code_error", error="KeyError: 1", duration=20)
    found = triage(runs_from([*big, late, early]))
    assert [group.proposal for group in found if group.cause == "out_of_memory"] == [
        "out of memory at batch_size >= 32 (2 runs; 8 fits)"
    ]


def test_where_nothing_is_known_nothing_is_proposed_and_nothing_judged() -> None:
    worse: dict[str, Any] = {"derivation": {"metric_delta": {"val_loss": {"before": 1.0, "after": 2.0}}}}
    found = shown(
        *(record(f"w{i}", {"alpha": i}, cause="worse", **worse) for i in range(3)),
        *(failed(f"u{i}", {}, "unknown") for i in range(3)),
        *(failed(f"d{i}", {}, "diverged") for i in range(3)),
    )
    assert sorted((cause, proposal, verdict) for cause, _, proposal, verdict in found if proposal is None) == [
        ("unknown", None, None),
        ("worse", None, None),
    ]
    assert ("diverged", ["d0", "d1", "d2"], "diverges (3 runs)", None) in found


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": "dead_end"},
        {"verdict": "inconclusive"},
        {"conclusion": {"outcome": "failed", "headline": "too hot"}},
    ],
)
def test_what_somebody_explained_is_left_alone(fields: dict[str, Any]) -> None:
    assert groups(failed("x", {"lr": 1}, **fields)) == []


def test_a_headline_that_a_program_made_explains_nothing() -> None:
    made: dict[str, Any] = {"conclusion": {"outcome": "failed", "headline": "failed after 3 s", "derived": True}}
    assert len(groups(failed("x", {"lr": 1}, **made))) == 1


def test_running_and_finished_runs_are_no_business_of_triage() -> None:
    assert groups(record("r", {"lr": 1}, "running"), record("p", {"lr": 1}, "pruned")) == []


def test_the_rest_of_a_group_is_a_group_of_its_own() -> None:
    hot = [failed(f"hot{i}", {"lr": 0.1 + i, "batch_size": 32}) for i in range(7)]
    odd = failed("odd", {"lr": 0.002, "batch_size": 32})
    assert [(len(g.runs), str(g.region)) for g in groups(*hot, odd)] == [(7, "lr >= 0.1"), (1, "None")]


def test_one_sentence_never_goes_to_runs_of_several_research_lines_unless_their_error_is_one() -> None:
    scattered = [failed(f"x{i}", {}, cause, research_line=f"line{i % 2}") for i in range(4) for cause in ["unknown"]]
    stopped = [record(f"s{i}", {}, "stopped", cause="stopped", research_line=f"line{i}") for i in range(2)]
    silent = [failed(f"c{i}", {}, "code_error", research_line=f"line{i}") for i in range(2)]
    assert sorted([run.id for run in group.runs] for group in groups(*scattered, *stopped, *silent)) == [
        ["c0"],
        ["c1"],
        ["s0"],
        ["s1"],
        ["x0", "x2"],
        ["x1", "x3"],
    ]


def test_what_came_out_badly_did_not_break() -> None:
    def at(lr: float, size: int) -> dict[str, Any]:
        return {"lr": lr, "batch_size": size, "optimizer": "adamw"}

    sizes, rates = (32, 128), (1e-4, 1e-3, 1e-2)
    fine = [record(f"ok{lr}-{size}", at(lr, size)) for lr in rates for size in sizes]
    said: dict[str, Any] = {"conclusion": {"outcome": "completed", "headline": "too hot"}}
    nan = [record(f"nan{size}", at(0.1, size), cause="diverged", metrics={"val_loss": "nan"}, **said) for size in sizes]
    broken = [failed(f"big{lr}", at(lr, 512), "unknown") for lr in (*rates, 0.1)]
    found = triage(runs_from([*fine, *nan, *broken]))
    # 4 of 4 at 512, and none of the 6 that worked and the 2 that came out as NaN: one of C(12, 4) ways
    assert [(group.cause, group.proposal, group.worked) for group in found] == [
        ("unknown", "fails at batch_size >= 512 (4 runs; 128 works)", 8),
    ]


def test_a_contrast_that_differs_otherwise_too_is_none() -> None:
    adamw, sgd = {"optimizer": "adamw"}, {"optimizer": "sgd"}
    rates = [record(f"w{lr}", {**adamw, "lr": lr, "depth": i}) for i, lr in enumerate((1e-4, 1e-3))]
    other = record("sgd", {**sgd, "lr": 0.1, "depth": 1})
    hot = [failed(f"hot{i}", {**adamw, "lr": 0.5, "depth": i}) for i in range(2)]
    assert [group.proposal for group in triage(runs_from([*rates, other, *hot]))] == [
        "diverges at lr >= 0.5 (2 runs; 0.001 works)"
    ]
    assert [group.proposal for group in triage(runs_from([other, *hot]))] == [
        "diverges at lr >= 0.5 (2 runs; 1 other worked)"
    ]


def test_numbers_addresses_and_paths_are_no_part_of_an_error() -> None:
    assert normalised_error("RuntimeError: at 0x7f3a in /home/ana/x.py: 12 != 3.5e-4") == (
        "runtimeerror: at … in …: … != …"
    )
    assert normalised_error("") == ""
