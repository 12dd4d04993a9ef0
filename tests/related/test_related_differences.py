"""What differs between a config and a past run, as a person reads it."""

from __future__ import annotations

from typing import Any

import pytest
from related_pool import BASE, CONFIG, analysed, record, snapshot_of

from tried.analysis import leading_draft
from tried.findings.settings import FindingSettings
from tried.pool.record import ExperimentRecord
from tried.related.differences import MOST_SHOWN, DraftDifferences


def differences(config: str, run: ExperimentRecord, *others: ExperimentRecord) -> list[tuple[str, Any, Any]] | None:
    snapshot = snapshot_of(run, *others)
    draft = leading_draft(analysed(snapshot, config).drafts)
    assert draft is not None
    found = DraftDifferences(draft, snapshot.history, FindingSettings()).of(
        snapshot.history.lines[run.research_line].runs[run.id]
    )
    if found is None:
        return None
    assert found.total >= len(found.shown)
    return [(each.key, each.draft, each.record) for each in found.shown]


def siblings(count: int, name: str = "sibling", **more: Any) -> list[ExperimentRecord]:
    return [record(f"{name}-{place}", {**BASE, **more, "lr": 1 + place}) for place in range(count)]


def test_nothing_differs() -> None:
    assert differences(CONFIG, record("r")) == []


def test_values_as_they_were_written_in_the_order_of_the_file() -> None:
    config = "research_line: vision\noptimizer:\n  dropout: 0.20\n  lr: 0.05\nwidth: 128\ndepth: 4\n"
    run = record("r", {"lr": "1e-2", "depth": 8, "width": 128, "dropout": 0.1})
    assert differences(config, run) == [
        ("optimizer.dropout", "0.2", "0.1"),
        ("optimizer.lr", "0.05", "1e-2"),
        ("depth", "4", "8"),
    ]


def test_seeds_hardware_and_bookkeeping_are_no_differences() -> None:
    run = record("r", {**BASE, "seed": 3, "gpu": "A100", "output_dir": "/runs/3"})
    config = CONFIG + "seed: 4\ngpu: H100\noutput_dir: /runs/4\n"
    assert differences(config, run) == []


def test_budgets_come_behind_and_what_one_side_sets_behind_these() -> None:
    config = (
        "research_line: vision\nepochs: 3\n" + CONFIG.partition("\n")[2].replace("0.01", "0.05") + "momentum: 0.9\n"
    )
    run = record("r", {**BASE, "epochs": 5, "nesterov": True})
    other = record("other", {**BASE, "depth": 9, "momentum": 0.5})
    assert differences(config, run, other) == [
        ("lr", "0.05", "0.01"),
        ("epochs", "3", "5"),
        ("momentum", "0.9", None),
        ("nesterov", None, "true"),
    ]


def test_what_no_run_ever_set_is_last() -> None:
    assert differences(CONFIG + "label_smoothing: 0.1\n", record("r", {**BASE, "nesterov": True})) == [
        ("nesterov", None, "true"),
        ("label_smoothing", "0.1", None),
    ]


def test_what_nearly_all_log_at_its_usual_value_goes_without_saying() -> None:
    run = record("r", {**BASE, "clip": 1.0})
    usual = siblings(6, clip=1.0)
    assert differences(CONFIG, run, *usual) == []
    assert differences(CONFIG + "clip: 1.0\n", record("r"), *usual, *siblings(6, "further", clip=1.0)) == []


@pytest.mark.parametrize("others", [siblings(3, clip=1.0), siblings(6), siblings(6, clip=0.5)])
def test_what_few_log_or_otherwise_is_said(others: list[ExperimentRecord]) -> None:
    assert differences(CONFIG, record("r", {**BASE, "clip": 1.0}), *others) == [("clip", None, "1.0")]


def test_what_a_run_changed_is_said_whatever_the_others_do() -> None:
    derivation = {"changes": [{"change": "ParamChanged", "key": "clip", "from": 0.5, "to": 1.0}]}
    run = record("r", {**BASE, "clip": 1.0}, derivation=derivation)
    assert differences(CONFIG, run, *siblings(6, clip=1.0)) == [("clip", None, "1.0")]


def test_a_value_that_cannot_be_known_is_no_difference() -> None:
    assert differences(CONFIG.replace("lr: 0.01", "lr: ${base.lr}"), record("r")) == []
    assert differences(CONFIG, record("r", {**BASE, "lr": "x" * 500})) == []


def test_null_in_the_file_is_a_value() -> None:
    assert differences(CONFIG.replace("dropout: 0.1", "dropout: null"), record("r")) == [("dropout", "null", "0.1")]


def test_of_a_run_that_logs_nothing_only_its_change_is_known() -> None:
    """As of a table of results in words."""
    changed = {"changes": [{"change": "ParamChanged", "key": "lr", "from": 0.01, "to": 0.5}]}
    assert differences(CONFIG, record("r", {}, derivation=changed), *siblings(3)) == [("lr", "0.01", "0.5")]
    same = {"changes": [{"change": "ParamChanged", "key": "lr", "from": 0.5, "to": 0.01}]}
    assert differences(CONFIG, record("r", {}, derivation=same), *siblings(3)) is None


@pytest.mark.parametrize(
    "run",
    [
        record("r", {}),
        record("r", {"seed": 3}),
        record("r", {"vocabulary": 32000, "merges": 5}),
        record("r", {"vocabulary": 32000, "lr": 0.7}, research_line="text"),
    ],
)
def test_where_nothing_can_be_compared(run: ExperimentRecord) -> None:
    assert differences(CONFIG, run, *siblings(2)) is None


def test_a_similar_setting_of_another_line_is_compared() -> None:
    run = record("r", {**BASE, "lr": 0.3}, research_line="text")
    assert differences(CONFIG, run, *siblings(2)) == [("lr", "0.01", "0.3")]


def test_of_very_many_differences_the_first_are_shown_and_all_counted() -> None:
    keys = [f"knob_{place:02}" for place in range(30)]
    config = CONFIG + "".join(f"{key}: 1\n" for key in keys)
    snapshot = snapshot_of(record("r", {**BASE, **dict.fromkeys(keys, 2)}))
    draft = leading_draft(analysed(snapshot, config).drafts)
    assert draft is not None
    found = DraftDifferences(draft, snapshot.history, FindingSettings()).of(snapshot.history.lines["vision"].runs["r"])
    assert found is not None
    assert found.total == 30
    assert [each.key for each in found.shown] == keys[:MOST_SHOWN]
