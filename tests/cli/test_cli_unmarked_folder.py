"""A project that nothing marks: the folder in which a command is given holds the pool and the configs."""

from __future__ import annotations

import pytest
from cli_runner import Runner

CONFIG = "lr: 0.5\nbatch_size: 32\ndepth: 12\n"


@pytest.fixture
def project(tried: Runner) -> Runner:
    tried.journal(
        {
            "id": "hot",
            "params": {"lr": 0.5, "batch_size": 32, "depth": 12},
            "conclusion": {"outcome": "failed", "headline": "diverged"},
        },
        name="exp/.tried/pool.jsonl",
    )
    tried.write("cfg/flat.yaml", CONFIG)
    return tried


def test_configs_in_a_subfolder_meet_the_pool_of_the_current_folder(project: Runner) -> None:
    done = project("check", "cfg/flat.yaml")
    assert (done.status, done.lines[-1]) == (1, "1 config, 1 past run: 1 warning, 0 informations, 0 for the hover")
    assert [one["id"] for one in project("rank", "cfg/flat.yaml", "--json").json["results"]] == ["hot"]


def test_a_folder_that_is_marked_keeps_its_own(project: Runner) -> None:
    project.write("cfg/tried.toml", "")
    done = project("check", "cfg/flat.yaml")
    assert (done.status, done.lines[-1]) == (0, "1 config, 0 past runs: 0 warnings, 0 informations, 0 for the hover")


def test_a_file_elsewhere_belongs_to_its_own_folder(project: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.folder / "exp")
    done = project("check", project.folder / "cfg" / "flat.yaml")
    assert (done.status, done.lines[-1]) == (0, "1 config, 0 past runs: 0 warnings, 0 informations, 0 for the hover")
