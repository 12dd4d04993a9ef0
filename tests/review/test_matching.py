"""Which runs a place stands for."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest
from review_pool import record, runs_from

from tried.review.matching import members_of, runs_at

HOME = PurePosixPath("/home/ana/ships")
RUNS = runs_from(
    [
        record("a", {}, run_dir="/home/ana/ships/outputs/1"),
        record("b", {}, run_dir="outputs/2", places=["https://example.org/outputs/3"]),
        record("inner", {}, run_dir="outputs/2/retry"),
        record("stored", {}, places=["mlruns/0/7f3a"]),
        record("at-home", {}, run_dir="."),
        record("nowhere", {}),
    ]
)


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("outputs/1", ["a"]),
        ("outputs/2", ["b"]),
        ("outputs/2/config.yaml", ["b"]),
        ("outputs/2/retry/.hydra/config.yaml", ["inner"]),
        ("outputs", ["a", "b", "inner"]),
        ("mlruns/0/7f3a", ["stored"]),
        ("mlruns", ["stored"]),
        ("configs/x.yaml", []),
        ("outputs/3", []),
        ("", ["at-home"]),
    ],
)
def test_runs_at_a_place(place: str, found: list[str]) -> None:
    assert [run.id for run in runs_at(RUNS, HOME / place, HOME)] == found


def test_members_of_a_search() -> None:
    runs = runs_from([record(name, {}, sweep=sweep) for name, sweep in (("a", "optuna:night"), ("b", "x/night"))])
    assert [run.id for run in members_of(runs, "night")] == ["a", "b"]
    assert [run.id for run in members_of(runs, "optuna:night")] == ["a"]
    assert members_of(runs, "ight") == []
