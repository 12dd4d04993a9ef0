"""What a parameter did: points, scales and places on the axis, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from record_pool import crash, drafts, pool, run

from tried.findings.settings import FindingSettings
from tried.related import plots as drawing
from tried.related.plots import Plot
from tried.related.record_view import record_view

SETTINGS = FindingSettings(research_line="vision")


def plots(folder: Path, name: str, *records: dict[str, Any], config: str = "") -> dict[str, Plot]:
    snapshot = pool(folder, *records)
    record = snapshot.get(name)
    assert record is not None
    shown = record_view(record, snapshot, SETTINGS, drafts(config) if config else ())
    return {plot.key: plot for plot in shown.plots}


def points(plot: Plot) -> list[tuple[str, float, float | None, str]]:
    return [(point.record, point.x, point.y, point.outcome) for point in plot.points]


def test_each_parameter_that_differs_is_drawn_against_the_objective(tmp_path: Path) -> None:
    records = [
        run("a", {"lr": 0.001, "depth": 4}, 0.90),
        run("b", {"lr": 0.01, "depth": 4}, 0.92, verdict="works"),
        run("c", {"lr": 0.1, "depth": 4}, 0.3, verdict="dead_end"),
        crash("d", {"lr": 1.0, "depth": 4}),
        run("e", {"lr": 0.02, "depth": 4}, 0.91, verdict="inconclusive"),
        run("f", {"lr": 0.03, "depth": 4}, 0.5, conclusion={"outcome": "running"}),
    ]
    found = plots(tmp_path, "b", *records, config="lr: 0.005\ndepth: 4\n")
    assert list(found) == ["lr"]  # the depth does not differ
    plot = found["lr"]
    assert points(plot) == [
        ("a", 0.001, 0.90, "works"),
        ("b", 0.01, 0.92, "works"),
        ("c", 0.1, 0.3, "dead_end"),
        ("d", 1.0, None, "dead_end"),
        ("e", 0.02, 0.91, "inconclusive"),
        ("f", 0.03, 0.5, "running"),
    ]
    assert (plot.metric, plot.direction, plot.scale, plot.categories) == ("val_acc", "max", "log", None)
    assert (plot.draft, plot.draft_text, plot.record) == (0.005, "0.005", 0.01)
    assert [point.record for point in plot.points if point.is_this] == ["b"]


def test_only_runs_with_the_same_metric_and_dead_ends_without_one(tmp_path: Path) -> None:
    records = [
        run("a", {"lr": 0.1, "depth": 4}, 0.9),
        run("b", {"lr": 0.2, "depth": 4}, 0.8),
        run("other", {"lr": 0.3, "depth": 4}, metrics={"val_loss": 1.0}, objective="val_loss"),
        run("both", {"lr": 0.4, "depth": 4}, metrics={"val_loss": 1.0, "val_acc": 0.7}, objective="val_loss"),
        run("nan", {"lr": 0.5, "depth": 4}, "nan"),
        run("open", {"lr": 0.6, "depth": 4}, conclusion={"outcome": "running"}),
        run("elsewhere", {"lr": 0.7, "depth": 4}, 0.9, research_line="speech"),
    ]
    plot = plots(tmp_path, "a", *records, config="lr: 0.15\ndepth: 4\n")["lr"]
    assert [(name, y) for name, _, y, _ in points(plot)] == [("a", 0.9), ("b", 0.8), ("both", 0.7)]


def test_what_is_no_evidence_for_the_draft_is_left_out_but_for_the_record_itself(tmp_path: Path) -> None:
    """Another dataset is another context; without a draft all of the line is drawn."""
    records = [
        run("a", {"lr": 0.1, "dataset": "c4"}, 0.9),
        run("b", {"lr": 0.2, "dataset": "c4"}, 0.8),
        run("c", {"lr": 0.3, "dataset": "wiki"}, 0.7),
        run("d", {"lr": 0.4, "dataset": "wiki"}, 0.6),
    ]
    beside = plots(tmp_path, "d", *records, config="lr: 0.15\ndataset: c4\n")["lr"]
    assert [point.record for point in beside.points] == ["a", "b", "d"]
    alone = plots(tmp_path, "d", *records)
    assert list(alone) == ["lr", "dataset"]
    assert [point.record for point in alone["lr"].points] == ["a", "b", "c", "d"]
    assert (alone["lr"].draft, alone["lr"].draft_text, alone["lr"].record) == (None, None, 0.4)


def test_texts_are_categories_the_most_frequent_first(tmp_path: Path) -> None:
    names = ["sgd", "adamw", "adamw", "SGD", "adamw", "lion"]
    records = [run(f"r{place}", {"optimizer": name, "depth": 4}, 0.9) for place, name in enumerate(names)]
    plot = plots(tmp_path, "r0", *records, config="optimizer: muon\ndepth: 4\n")["optimizer"]
    assert plot.scale == "category"
    assert plot.categories == ("adamw", "sgd", "lion", "muon")
    assert [point.x for point in plot.points] == [1.0, 0.0, 0.0, 1.0, 0.0, 2.0]
    assert (plot.draft, plot.draft_text, plot.record) == (3.0, "muon", 1.0)


def test_of_ever_so_many_texts_few_are_drawn_with_the_records_and_the_drafts_own(tmp_path: Path) -> None:
    records = [run(f"r{place}", {"activation": f"n{place // 2}", "depth": 4}, 0.9) for place in range(80)]
    records.append(run("this", {"activation": "mine", "depth": 4}, 0.9))
    plot = plots(tmp_path, "this", *records, config="activation: ours\ndepth: 4\n")["activation"]
    assert plot.categories is not None
    assert len(plot.categories) == drawing.MOST_CATEGORIES + 1
    assert plot.categories[-1] == "ours"
    assert plot.categories.index("mine") == plot.record
    assert len(plot.points) == 2 * (drawing.MOST_CATEGORIES - 1) + 1


def test_where_every_run_has_a_text_of_its_own_nothing_is_drawn(tmp_path: Path) -> None:
    records = [run(f"r{place}", {"wall": f"{place}.5s", "depth": 4}, 0.9) for place in range(60)]
    assert plots(tmp_path, "r0", *records, config="wall: 1s\ndepth: 4\n") == {}


@pytest.mark.parametrize(
    ("key", "values", "draft", "scale"),
    [
        ("width", [16, 64], 32, "linear"),  # less than two decades
        ("width", [16, 1600], 32, "log"),
        ("width", [16, 64], 1600, "log"),  # the draft counts
        ("width", [0, 1600], 32, "linear"),  # no logarithm of 0
        ("width", [16, 1600], 0, "linear"),
        ("optimizer.lr", [0.01, 0.1], 0.02, "log"),  # a rate: one decade
        ("weight_decay", [0.01, 0.1], 0.02, "log"),
        ("learning_rate", [0.01, 0.02], 0.015, "linear"),
        ("decayed_layers", [1, 20], 2, "linear"),
    ],
)
def test_scales(tmp_path: Path, key: str, values: list[float], draft: float, scale: str) -> None:
    records = [run(f"r{place}", {key: value, "depth": 4}, 0.9) for place, value in enumerate(values)]
    (plot,) = plots(tmp_path, "r0", *records, config=f"{key}: {draft}\ndepth: 4\n").values()
    assert plot.scale == scale
    assert plot.draft == draft


def test_nothing_to_see_is_not_drawn(tmp_path: Path) -> None:
    alike = [run(f"r{place}", {"lr": 0.1, "depth": 4}, 0.9) for place in range(3)]
    assert plots(tmp_path, "r0", *alike, config="lr: 0.2\ndepth: 4\n") == {}
    without_result = [run(f"r{place}", {"lr": 0.1 + place, "depth": 4}) for place in range(3)]
    assert plots(tmp_path, "r0", *without_result, config="lr: 0.2\ndepth: 4\n") == {}


def test_of_a_record_without_a_result_the_metric_is_that_of_the_others(tmp_path: Path) -> None:
    records = [
        run("a", {"lr": 0.1, "depth": 4}, 0.9),
        run("b", {"lr": 0.2, "depth": 4}, 0.8),
        crash("c", {"lr": 0.3, "depth": 4}),
    ]
    plot = plots(tmp_path, "c", *records, config="lr: 0.15\ndepth: 4\n")["lr"]
    assert plot.metric == "val_acc"
    assert points(plot)[2] == ("c", 0.3, None, "dead_end")


def test_a_value_that_was_cut_off_is_no_point(tmp_path: Path) -> None:
    records = [
        run("a", {"lr": 0.1, "depth": 4}, 0.9),
        run("b", {"lr": 0.2, "depth": 4}, 0.8),
        run("c", {"lr": "x" * 250, "depth": 4}, 0.8),
        run("d", {"lr": "${base}", "depth": 4}, 0.8),
    ]
    plot = plots(tmp_path, "a", *records, config="lr: 0.15\ndepth: 4\n")["lr"]
    assert [point.record for point in plot.points] == ["a", "b"]
    assert plot.scale == "linear"


def test_the_most_similar_are_drawn_where_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two points: the record itself, and of the others the latest of those that agree in depth with the draft."""
    monkeypatch.setattr(drawing, "MOST_POINTS", 2)
    records = [
        run("this", {"lr": 0.1, "depth": 9, "width": 9}, 0.1),
        run("far", {"lr": 0.2, "depth": 9, "width": 4}, 0.2),
        run("near", {"lr": 0.3, "depth": 4, "width": 4}, 0.3),
        run("near, later", {"lr": 0.4, "depth": 4, "width": 4}, 0.4),
        run("far, later", {"lr": 0.5, "depth": 9, "width": 4}, 0.5),
    ]
    plot = plots(tmp_path, "this", *records, config="lr: 0.15\ndepth: 4\nwidth: 4\n")["lr"]
    assert [point.record for point in plot.points] == ["this", "near, later"]


def test_at_most_eight(tmp_path: Path) -> None:
    keys = [f"knob{place}" for place in range(12)]
    records = [run(f"r{place}", dict.fromkeys(keys, place) | {"depth": 4}, 0.9) for place in range(3)]
    config = "".join(f"{key}: 7\n" for key in keys) + "depth: 4\n"
    assert list(plots(tmp_path, "r0", *records, config=config)) == keys[:8]
