"""Optuna writes trials into a database and a journal file; both are read to the same records."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import Said, scan_all
from tried.pool.sources.optuna import database as optuna_database
from tried.pool.sources.optuna import journal as optuna_journal
from tried.pool.sources.optuna.database import OptunaDatabaseSource
from tried.pool.sources.optuna.journal import OptunaJournalSource
from tried.pool.sources.source import Source

Write = Callable[..., subprocess.CompletedProcess[str]]
OUTCOMES = {"RUNNING": "running", "WAITING": "running", "COMPLETE": "completed", "PRUNED": "pruned", "FAIL": "failed"}
STUDIES = ["optuna:empty", "optuna:several", "optuna:tune/ü", "optuna:unnamed"]


@dataclass(frozen=True)
class Written:
    folder: Path
    name: str
    source: Source
    trials: dict[str, Any]
    said: Said

    def record(self, name: str) -> ExperimentRecord:
        return self.said.records[f"optuna:{name}"]


@pytest.fixture(scope="module")
def both(write_with_tracker: Write, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    folder = tmp_path_factory.mktemp("optuna")
    trials = json.loads(write_with_tracker("write_optuna.py", folder, "write").stdout.splitlines()[-1])
    names = [path.name for path in folder.iterdir()]
    [database] = optuna_database.store_at(folder, [], names)
    [journal] = optuna_journal.store_at(folder, [], names)
    sources: dict[str, Source] = {
        "database": OptunaDatabaseSource(database, folder),
        "journal": OptunaJournalSource(journal, folder),
    }
    return {name: Written(folder, name, source, trials[name], scan_all(source)) for name, source in sources.items()}


@pytest.fixture(params=["database", "journal"])
def written(request: pytest.FixtureRequest, both: dict[str, Written]) -> Written:
    return both[str(request.param)]


def test_all_trials_and_studies_are_read_with_optunas_own_parameters(written: Written) -> None:
    assert written.said.skipped == ()
    assert set(written.said.records) == {*STUDIES, *(f"optuna:{name}" for name in written.trials)}
    for name, trial in written.trials.items():
        record = written.record(name)
        if trial["state"] != "WAITING":
            assert record.params == trial["params"]
        if name not in ("tune/ü/3",):  # it completed, at minus infinity
            assert record.outcome == OUTCOMES[trial["state"]], name


def test_a_trial_says_what_it_found(written: Written) -> None:
    record = written.record("tune/ü/0")
    assert record.metrics == {"value": record.params["optimizer.lr"]}
    assert (record.objective, record.directions) == ("value", {"value": "min"})
    assert (record.notes, record.tags) == ("trial 0: größer 模型", ["host=a"])
    assert (record.sweep, record.experiment, record.role) == ("optuna:tune/ü", "tune/ü", "experiment")
    assert record.time is not None
    assert record.duration is not None
    assert type(record.params["layers"]) is int


def test_pruned_is_no_failure_and_has_its_last_value(written: Written) -> None:
    record = written.record("tune/ü/4")
    assert (record.outcome, record.cause, record.metrics) == ("pruned", None, {"value": 0.25})


def test_a_value_that_is_no_number_is_divergence_an_exception_is_none(written: Written) -> None:
    diverged, failed = written.record("tune/ü/2"), written.record("tune/ü/1")
    assert (diverged.outcome, diverged.cause, diverged.metrics) == ("failed", "diverged", {"value": "nan"})
    assert diverged.generated_headline == "diverged: value is NaN at step 5"
    assert (failed.outcome, failed.cause, failed.metrics) == ("failed", None, {})
    assert written.record("tune/ü/3").metrics == {"value": "-inf"}


def test_a_trial_that_waits_has_its_planned_parameters(written: Written) -> None:
    assert written.record("tune/ü/7").params == {"optimizer.lr": 0.02}


def test_several_objectives_are_metrics_of_their_names(written: Written) -> None:
    record = written.record("several/0")
    assert record.metrics == {"loss": record.params["x"], "accuracy": 0.5}
    assert (record.objective, record.directions) == (None, {"loss": "min", "accuracy": "max"})
    assert written.record("unnamed/0").directions == {"values_0": "max", "values_1": "min"}


def test_the_study_is_the_sweep(written: Written) -> None:
    study = written.record("tune/ü")
    assert (study.role, study.outcome, study.notes) == ("sweep", "running", "the whole search")
    finite = [written.record(f"tune/ü/{number}").metrics["value"] for number in (0, 5)]
    assert study.metrics == {"value": min(finite)}
    assert (written.record("several").outcome, written.record("empty").outcome) == ("completed", "completed")


def test_a_database_and_a_journal_say_the_same_of_the_same_trials(both: dict[str, Written]) -> None:
    """But for times and places: the two searches ran one after the other."""
    changing = {"timestamp", "duration", "last_written", "places", "metrics", "params"}
    told = [{i: record.model_dump(exclude=changing) for i, record in one.said.records.items()} for one in both.values()]
    for record_id, record in told[0].items():
        assert _without_seconds(record) == _without_seconds(told[1][record_id])


def test_what_changes_later_is_all_that_is_said_later(both: dict[str, Written], write_with_tracker: Write) -> None:
    folder = both["journal"].folder
    write_with_tracker("write_optuna.py", folder, "more")
    for written in both.values():
        later = scan_all(written.source, written.said.cursor, written.said)
        news = sorted(record.id for delta in later.deltas for record in delta.upserts)
        assert news == ["optuna:several", "optuna:tune/ü", "optuna:tune/ü/6", "optuna:tune/ü/8"]
        assert later.records["optuna:tune/ü/6"].metrics == {"value": 1e-9}
        assert later.records["optuna:tune/ü/8"].metrics == {"value": 0.75}
        assert later.records["optuna:several"].notes == "enough"
        assert not [record_id for record_id in later.records if record_id.startswith("optuna:unnamed")]
        assert scan_all(written.source).records == later.records


def _without_seconds(record: dict[str, Any]) -> dict[str, Any]:
    headline = (record["generated_headline"] or "").split(", value")[0].split(", loss")[0].split(", values_0")[0]
    return {**record, "generated_headline": headline}
