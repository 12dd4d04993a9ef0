"""MLflow file stores that other people have left: all of it is read, and is what the files say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import scan_all
from tried.pool.sources.mlflow.files import MlflowFilesSource

STORES = Path(__file__).parents[2] / ".." / "shared" / "data" / "stores"


def _read(name: str) -> dict[str, ExperimentRecord]:
    store = STORES / name
    if not store.exists():
        pytest.skip(f"the store {name} is not here")
    said = scan_all(MlflowFilesSource(store / "mlruns", store))
    assert said.skipped == ()
    runs = sum(1 for path in (store / "mlruns").glob("*/*/meta.yaml") if path.is_file())
    assert len(said.records) == runs
    return dict(said.records)


def test_launchers_and_steps_of_a_pipeline_are_no_experiments() -> None:
    records = _read("mlflow-hydra-genre")
    assert len(records) == 37
    assert Counter(record.role for record in records.values()) == {"launcher": 13, "step": 24}
    assert Counter(record.name for record in records.values()) == {
        "genre_classification": 13,
        "genre_classification#download": 5,
        "genre_classification#preprocess": 5,
        "genre_classification#random_forest": 5,
        "genre_classification#check_data": 3,
        "genre_classification#segregate": 3,
        "genre_classification#evaluate": 3,
    }
    ended = Counter((record.role, record.outcome) for record in records.values())
    assert ended == {("launcher", "completed"): 7, ("launcher", "failed"): 6, ("step", "completed"): 24}


def test_a_step_is_told_as_its_files_have_it() -> None:
    record = _read("mlflow-hydra-genre")["mlflow:6141eca3c20b48ec8c0617b9709854ce"]
    assert record.params == {
        "artifact_description": "'Data with preprocessing applied'",
        "artifact_name": "preprocessed_data.csv",
        "artifact_type": "preprocessed_data",
        "input_artifact": "raw_data.parquet:latest",
    }
    assert record.timestamp == "2021-08-14T16:56:38.591000Z"
    assert record.duration is not None
    assert (record.duration.secs, record.duration.nanos) == (13, 57_000_000)
    assert record.git == {"sha": "9740abf1973478067cca523c20d83b5e7aed0fd1"}
    assert record.experiment == "Default"
    assert record.places == ["mlruns/0/6141eca3c20b48ec8c0617b9709854ce"]
    assert record.tags == []


def test_runs_of_kedro_are_experiments_and_one_never_ended() -> None:
    records = _read("mlflow-kedro")
    assert len(records) == 8
    assert {record.role for record in records.values()} == {"experiment"}
    assert Counter(record.outcome for record in records.values()) == {"completed": 7, "running": 1}
    unfinished = records["mlflow:e7ee54ee63d2418eb216070e6e5d2414"]
    assert (unfinished.outcome, unfinished.duration) == ("running", None)
    assert unfinished.last_written == "2022-10-05T05:22:44.662000Z"
    assert records["mlflow:97d9082915ca44679bf93a976d82e02a"].params == {
        "etl_transforms": "['drop_constant_values', 'drop_duplicates']",
        "shape raw_data": "(74790, 25)",
    }
    assert records["mlflow:18368443dc5d45a8a30591f113ca047d"].params.keys() == {"shape raw_data"}


def test_runs_come_in_the_order_of_time() -> None:
    times = [record.timestamp for record in _read("mlflow-hydra-genre").values()]
    assert times == sorted(times, key=str)
