"""The record as people write it: strict where it matters, tolerant where life is."""

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pool_records import record

from tried.pool.record import ExperimentRecord, as_number, parse_time


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-03-08T21:25:05Z", datetime(2026, 3, 8, 21, 25, 5, tzinfo=UTC)),
        ("2026-03-08T23:25:05+02:00", datetime(2026, 3, 8, 21, 25, 5, tzinfo=UTC)),
        ("2026-03-08T21:25:05", datetime(2026, 3, 8, 21, 25, 5, tzinfo=UTC)),
        ("2026-03-08 21:25", datetime(2026, 3, 8, 21, 25, tzinfo=UTC)),
        ("2026-03-08T08:37:37.339258126Z", datetime(2026, 3, 8, 8, 37, 37, 339258, tzinfo=UTC)),
        ("2026-03-08", datetime(2026, 3, 8, tzinfo=UTC)),
        ("2026-03-08,", datetime(2026, 3, 8, tzinfo=UTC)),
        ("2026-03-08T10: 20: 30Z", datetime(2026, 3, 8, 10, 20, 30, tzinfo=UTC)),
        ("20260308", datetime(2026, 3, 8, tzinfo=UTC)),
        ("20260308-212505", datetime(2026, 3, 8, 21, 25, 5, tzinfo=UTC)),
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1700000000.5", datetime(2023, 11, 14, 22, 13, 20, 500000, tzinfo=UTC)),
        ("1700000000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("yesterday", None),
        ("2026-13-45", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("", None),
        (None, None),
    ],
)
def test_timestamps_of_all_kinds(text: str | None, moment: datetime | None) -> None:
    assert parse_time(text) == moment


def test_a_timestamp_may_be_a_number_and_is_kept_as_written() -> None:
    run = record(timestamp=1700000000)
    assert run.time == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert json.loads(run.to_json())["timestamp"] == "1700000000"
    assert json.loads(record(timestamp="last Tuesday").to_json())["timestamp"] == "last Tuesday"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        ("0.5", 0.5),
        ("-inf", -math.inf),
        (True, None),
        (None, None),
        ("151K", None),
        ([1], None),
        (10**400, None),
    ],
)
def test_numbers_of_all_kinds(value: Any, number: float | None) -> None:
    assert as_number(value) == number


def test_non_finite_metrics_are_kept_and_written_as_text() -> None:
    run = ExperimentRecord.model_validate_json('{"id":"a","metrics":{"loss":NaN,"gain":-Infinity,"acc":0.5}}')
    assert math.isnan(run.numbers["loss"])
    assert run.numbers["gain"] == -math.inf
    written = json.loads(run.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert written["metrics"] == {"loss": "nan", "gain": "-inf", "acc": 0.5}
    again = ExperimentRecord.model_validate(written)
    assert math.isnan(again.numbers["loss"])


def test_integers_beyond_2_to_the_53_are_kept_whole() -> None:
    line = '{"id":"a","params":{"seed":9007199254740993,"big":123456789012345678901234567890}}'
    assert json.loads(ExperimentRecord.model_validate_json(line).to_json())["params"] == {
        "seed": 9007199254740993,
        "big": 123456789012345678901234567890,
    }


def test_unknown_fields_survive_a_round_trip_at_every_level() -> None:
    written = {
        "id": "a",
        "schema_version": 2,
        "kind": "experiment",
        "mood": {"good": [1, None]},
        "conclusion": {"outcome": "completed", "reviewer": "Ada"},
        "derivation": {
            "from": None,
            "why": "x",
            "changes": [{"change": "ParamChanged", "key": "lr", "from": None, "to": 0.1, "by": "Ada"}],
            "metric_delta": {"val_loss": {"before": 1.0, "unit": "nats"}},
        },
        "architecture": {"digest": "d", "nodes": {"a": "filter:A"}, "family": "cnn"},
        "duration": {"secs": 3, "nanos": 0, "clock": "wall"},
    }
    assert json.loads(ExperimentRecord.model_validate(written).to_json()) == written


@pytest.mark.parametrize(
    ("given_fields", "read"),
    [
        ({"tags": "one"}, {"tags": ["one"]}),
        ({"tags": None}, {"tags": []}),
        ({"tags": [1, None, "x"]}, {"tags": ["1", "x"]}),
        ({"params": None, "metrics": None}, {"params": {}, "metrics": {}}),
        ({"name": None}, {"name": ""}),
        ({"id": 17}, {"id": "17"}),
        ({"duration": 1.5}, {"duration": {"secs": 1, "nanos": 500000000}}),
        ({"conclusion": "worse"}, {"conclusion": {"headline": "worse"}}),
        ({"verdict": "Dead-End"}, {"verdict": "dead_end"}),
        ({"verdict": " "}, {"verdict": None}),
        ({"cause": "out of memory"}, {"cause": "out_of_memory"}),
        ({"directions": {"gap": "minimize", "f1": "Higher"}}, {"directions": {"gap": "min", "f1": "max"}}),
        (
            {"derivation": {"changes": ["lr up"]}},
            {"derivation": {"changes": [{"change": "Unspecified", "reason": "lr up"}]}},
        ),
        (
            {"derivation": {"metric_delta": {"a": 1, "b": None}}},
            {"derivation": {"metric_delta": {"a": {"delta": 1.0}, "b": {"delta": None}}}},
        ),
        ({"derivation": {"changes": None, "metric_delta": None}}, {"derivation": {"changes": [], "metric_delta": {}}}),
    ],
)
def test_what_people_write_is_understood(given_fields: dict[str, Any], read: dict[str, Any]) -> None:
    written = json.loads(record(**{"id": "a", **given_fields}).to_json())
    for field, value in read.items():
        assert written[field] == value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {"id": st.text(min_size=1, max_size=9)},
        optional={
            "params": st.dictionaries(st.text(max_size=6), JSON, max_size=4),
            "metrics": st.dictionaries(st.text(max_size=6), st.floats() | st.text(max_size=4), max_size=4),
            "notes": st.text(max_size=20),
            "extra": JSON,
        },
    )
)
def test_what_is_written_is_read_as_the_same(fields: dict[str, Any]) -> None:
    line = ExperimentRecord.model_validate(fields).to_json()
    again = ExperimentRecord.model_validate_json(line)
    assert json.loads(again.to_json()) == json.loads(line)
    assert again.id == fields["id"]
    assert again.params == fields.get("params", {})
