"""When a workspace replays its pool anew, and what holds until then."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tried.evaluation.backtest import Tally
from tried.findings.finding import Evidence
from tried.workspace import Workspace

BASE = {"lr": 0.01, "width": 128, "warmup": 100}


def run(number: int, verdict: str, depth: int) -> dict[str, Any]:
    return {
        "id": f"r{number:03}",
        "params": {**BASE, "depth": depth, "seed": number},
        "timestamp": f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z",
        "research_line": "a",
        "verdict": verdict,
    }


def repeats(right: int, wrong: int) -> Iterator[dict[str, Any]]:
    """Pairs of a dead end and its repeat."""
    for number in range(right + wrong):
        yield run(2 * number, "dead_end", 100 + number)
        yield run(2 * number + 1, "dead_end" if number < right else "works", 100 + number)


def write(folder: Path, records: Iterable[dict[str, Any]]) -> None:
    journal = folder / ".tried" / "pool.jsonl"
    journal.parent.mkdir(exist_ok=True)
    journal.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    write(tmp_path, repeats(3, 17))  # 40 runs, 23 of them dead ends
    opened = Workspace(tmp_path, editor_settings={"findings": {"calibrate": True}})
    opened.refresh()
    return opened


def quiet(workspace: Workspace) -> dict[Evidence, Tally] | None:
    return None if workspace.calibration is None else dict(workspace.calibration.quiet)


def test_it_is_made_when_asked_for_and_kept(workspace: Workspace) -> None:
    assert (workspace.calibration_is_due, workspace.calibration) == (True, None)

    assert workspace.calibrate()

    assert not workspace.calibration_is_due
    assert quiet(workspace) == {"repeat": Tally(20, 3)}
    assert not workspace.calibrate()


def test_without_the_setting_there_is_none(workspace: Workspace) -> None:
    workspace.calibrate()
    workspace.configure({})
    assert (workspace.calibration_is_due, workspace.calibration, workspace.calibrate()) == (False, None, False)

    workspace.configure({"findings": {"calibrate": True}})  # of the same rules, so it is still there
    assert quiet(workspace) == {"repeat": Tally(20, 3)}


def test_a_pool_that_grew_a_little_is_not_replayed(workspace: Workspace) -> None:
    workspace.calibrate()
    more = [run(60 + number, "works", 300 + number) for number in range(5)]

    write(workspace.folder or Path(), [*repeats(3, 17), *more[:4]])  # a tenth more
    workspace.refresh()
    assert not workspace.calibration_is_due

    write(workspace.folder or Path(), [*repeats(3, 17), *more])
    workspace.refresh()
    assert workspace.calibration_is_due
    assert quiet(workspace) == {"repeat": Tally(20, 3)}  # the old one holds until then


def test_verdicts_that_were_given_count_as_growth(workspace: Workspace) -> None:
    """As many records, but of 23 dead ends 3 more."""
    workspace.calibrate()
    write(workspace.folder or Path(), repeats(6, 14))
    workspace.refresh()

    assert workspace.calibration_is_due
    assert workspace.calibrate()
    assert quiet(workspace) == {"repeat": Tally(20, 6)}


def test_other_rules_make_another_calibration(workspace: Workspace) -> None:
    workspace.calibrate()
    workspace.configure({"findings": {"calibrate": True, "severity": {"repeat": "hover"}}})
    assert (workspace.calibration_is_due, workspace.calibration) == (True, None)

    assert not workspace.calibrate()  # nothing is underlined any more, so nothing has to be quiet
    assert quiet(workspace) == {}


def test_a_replay_that_is_ended_leaves_nothing_behind(workspace: Workspace) -> None:
    def end() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        workspace.calibrate(end)

    assert (workspace.calibration_is_due, workspace.calibration) == (True, None)
    assert workspace.calibrate()


def test_an_empty_pool_and_findings_that_are_off_need_none(tmp_path: Path) -> None:
    empty = Workspace(tmp_path, editor_settings={"findings": {"calibrate": True}})
    empty.refresh()
    assert not empty.calibration_is_due

    write(tmp_path, repeats(3, 17))
    silent = Workspace(tmp_path, editor_settings={"findings": {"calibrate": True, "enable": False}})
    silent.refresh()
    assert not silent.calibration_is_due


def reopened(workspace: Workspace, **findings: Any) -> Workspace:
    """The same folder in the next process of a server."""
    opened = Workspace(
        workspace.folder, editor_settings={"findings": {"calibrate": True, **findings}}, paced=True, recalls=True
    )
    opened.refresh()
    return opened


def test_the_next_server_knows_at_once_what_the_last_one_found(workspace: Workspace) -> None:
    first = reopened(workspace)
    assert (first.calibration_is_due, first.calibration) == (True, None)
    assert first.calibrate()

    second = reopened(workspace)
    assert not second.calibration_is_due
    assert quiet(second) == {"repeat": Tally(20, 3)}
    assert not second.calibrate()


def test_what_the_last_server_found_holds_until_a_pool_that_has_grown_is_replayed(workspace: Workspace) -> None:
    reopened(workspace).calibrate()
    write(workspace.folder or Path(), repeats(6, 14))

    second = reopened(workspace)
    assert quiet(second) == {"repeat": Tally(20, 3)}
    assert second.calibration_is_due
    assert second.calibrate()
    assert quiet(second) == {"repeat": Tally(20, 6)}
    assert quiet(reopened(workspace)) == {"repeat": Tally(20, 6)}


def test_what_was_found_by_other_rules_says_nothing(workspace: Workspace) -> None:
    reopened(workspace).calibrate()
    for other in ({"severity": {"near": "hover"}}, {"knob_dead_ends": 4}):
        assert reopened(workspace, **other).calibration is None
    write_settings = (workspace.folder or Path()) / "tried.toml"
    write_settings.write_text('[metrics.directions]\nloss = "max"\n')
    assert reopened(workspace).calibration is None


def test_a_command_line_says_what_follows_from_the_pool_alone(workspace: Workspace) -> None:
    """Whatever a server has found before."""
    reopened(workspace).calibrate()
    write(workspace.folder or Path(), repeats(5, 16))
    opened = Workspace(workspace.folder, editor_settings={"findings": {"calibrate": True}})
    opened.refresh()
    assert opened.calibration is None
    opened.calibrate()
    assert quiet(opened) == {"repeat": Tally(21, 5)}
    assert quiet(reopened(workspace)) == {"repeat": Tally(20, 3)}
