"""Members of a search are one family, and never evidence against each other while it runs."""

from __future__ import annotations

from typing import Any

import pytest
from findings_pool import BASE, crashed, dead, findings_in, record, squiggles, told, unrelated, worked

from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.findings import FindingSettings
from tried.findings.key_history import key_history
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord

RUNNING = {"outcome": "running"}


def member(record_id: str, **more: Any) -> ExperimentRecord:
    return dead(record_id, {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)}, sweep="s", **more)


def still_running(**more: Any) -> ExperimentRecord:
    return record("r:now", {**BASE, "lr": 0.02}, conclusion=RUNNING, **more)


def test_what_a_running_search_found_to_fail_is_no_evidence() -> None:
    config = {**BASE, "lr": 0.5}
    assert squiggles(findings_in(config, [member("r:1")])) == [("repeat", "warning", "r:1")]
    assert findings_in(config, [member("r:1"), still_running(sweep="s")]) == []


def test_another_search_that_runs_is_nothing_to_it() -> None:
    records = [member("r:1"), still_running(sweep="other")]
    assert squiggles(findings_in({**BASE, "lr": 0.5}, records)) == [("repeat", "warning", "r:1")]


@pytest.mark.parametrize(("outcome", "count"), [("running", 0), ("completed", 1)])
def test_the_record_of_the_search_itself_says_that_it_runs(outcome: str, count: int) -> None:
    search = record("s", {}, role="sweep", conclusion={"outcome": outcome})
    assert len(squiggles(findings_in({**BASE, "lr": 0.5}, [member("r:1"), search]))) == count


def test_no_knob_is_blamed_for_what_a_running_search_found() -> None:
    runs = [dead(f"r:{i}", {**BASE, "mixup": 0.3, "width": 200 + i}, sweep="s") for i in range(3)]
    since = worked("later", {**BASE, "depth": 99})
    config = {**BASE, "mixup": 0.4, "width": 300}
    assert [each[0] for each in squiggles(findings_in(config, [*unrelated(5), *runs, since]))] == ["knob"]
    assert squiggles(findings_in(config, [*unrelated(5), *runs, since, still_running(sweep="s")])) == []


def test_members_that_worked_count_and_contradict() -> None:
    good = worked("r:2", {**BASE, "lr": 0.5}, sweep="s")
    outside = dead("r:0", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)})
    found = findings_in({**BASE, "lr": 0.5}, [outside, good, still_running(sweep="s")])
    assert squiggles(found) == []
    assert [(finding.record, finding.contradicted_by) for finding in found] == [("r:0", ("r:2",))]


def test_the_history_of_a_key_counts_no_dead_ends_of_a_running_search() -> None:
    text = "lr: 0.5\ndepth: 4\nwidth: 128\ndropout: 0.1\n"
    (draft,) = drafts_of(parse(text, "yaml"), text)
    counted = []
    for more in ([], [still_running(sweep="s")]):
        history = ParameterHistory.empty().updated((), [member("r:1"), *more])
        found = key_history(draft, draft.parameters[0], history, FindingSettings(research_line="vision"))
        assert found is not None
        counted.append((found.values[0].runs, found.values[0].dead_ends, found.values[0].by_this))
    assert counted == [(1, 1, 1), (1, 0, 0)]


@pytest.mark.parametrize("outcome", ["stopped", "pruned"])
def test_what_was_stopped_or_pruned_is_neither_here_nor_there(outcome: str) -> None:
    stopped = record("r:1", {**BASE, "lr": 0.5}, conclusion={"outcome": outcome})
    bad = crashed("r:2", {**BASE, "lr": 0.5}, "CUDA out of memory")
    assert told(findings_in({**BASE, "lr": 0.5}, [stopped])) == [("repeat", "hover", "r:1")]
    contradicted = findings_in({**BASE, "lr": 0.5}, [stopped, bad])
    assert [finding.record for finding in contradicted] == ["r:2"]
