"""Metrics as programs write them beside their runs."""

from __future__ import annotations

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.sources.common.logged_metrics import (
    END_LIMIT,
    METRIC_LIMIT,
    WHOLE_LIMIT,
    Logged,
    last_of,
    metrics_in_csv,
)
from tried.pool.sources.common.logged_metrics import metrics_in_json as in_json
from tried.pool.sources.common.run_files import FolderReader, Unreadable, bytes_of, end_of, json_in, start_of, text_of


def test_the_last_number_of_each_metric_counts() -> None:
    rows: list[dict[str, Any]] = [
        {"step": 0, "loss": 3, "acc": None, "name": "x"},
        {"step": 10, "loss": "nan", "acc": "0.5", "ok": True},
        {"step": 20, "loss": 2.0, "acc": ""},
        {"step": 30, "loss": "inf", "nested": {"f1": 1}},
    ]
    found = last_of(rows)
    assert found.values == {"loss": math.inf, "acc": 0.5, "nested.f1": 1.0}
    assert found.nonfinite == {"loss": 10}
    assert found.last_step == {"step": 30.0}
    assert found.times == {"loss": 4, "acc": 1, "nested.f1": 1}


def test_the_first_step_column_numbers_the_rows() -> None:
    found = last_of([{"epoch": 3, "step": 40, "loss": math.nan}, {"epoch": 4, "loss": math.nan}])
    assert (found.nonfinite, found.last_step) == ({"loss": 40}, {"step": 40.0, "epoch": 4.0})
    assert last_of([{"loss": math.nan}]).nonfinite == {"loss": None}


def test_so_many_metrics_and_no_more() -> None:
    assert len(last_of([{f"m{number}": 1 for number in range(METRIC_LIMIT + 10)}]).values) == METRIC_LIMIT


def test_of_two_files_the_second_goes_before(tmp_path: Path) -> None:
    both = last_of([{"a": 1, "b": 1}]).joined(last_of([{"b": math.nan}]))
    assert (both.values["a"], both.nonfinite) == (1.0, {"b": None})
    assert Logged().history
    (tmp_path / "m.json").write_text('{"a": 1}')
    result = in_json(tmp_path / "m.json")
    assert result is not None
    assert not Logged().joined(result).history


def test_a_table_with_quotes_odd_rows_and_zero_bytes(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    path.write_bytes(b'\xef\xbb\xbfstep,"val,loss",acc\r\n0,2.5\r\n1,1.5,0.25,9,9\r\n2,\x001.25,\r\n')
    found = metrics_in_csv(path)
    assert found is not None
    assert found.values == {"val,loss": 1.25, "acc": 0.25}
    path.write_text("")
    assert metrics_in_csv(path) == Logged()
    assert metrics_in_csv(tmp_path / "none.csv") is None


def test_of_a_large_table_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    row = "1,nan,0.5\n"
    path.write_text("step,loss,acc\n0,1,7\n" + row * (WHOLE_LIMIT // len(row) + 1) + "2,3,0.25\n")
    found = metrics_in_csv(path)
    assert found is not None
    assert (found.values, found.nonfinite) == ({"loss": 3.0, "acc": 0.25}, {"loss": None})
    assert sum(found.times.values()) < 2 * END_LIMIT / len(row) + 3


@given(st.binary(max_size=200))
def test_whatever_stands_in_a_file_is_numbers_or_refused(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m").write_bytes(data)
        reader = FolderReader(Path(folder), "run")
        for read in (metrics_in_csv, in_json):
            found = reader.read("m", read)
            assert (found is None) == ("run/m" in reader.broken)
            assert found is None or all(isinstance(value, float) for value in found.values.values())
            reader.broken.clear()


def test_files_are_read_with_bounds(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abcdef")
    assert (bytes_of(path), start_of(path, 2), end_of(path, 2), end_of(path, 99)) == (
        b"abcdef",
        b"ab",
        b"ef",
        b"abcdef",
    )
    with pytest.raises(Unreadable, match="files of up to 0 MiB are read"):
        bytes_of(path, 5)
    assert bytes_of(tmp_path / "none") is None
    assert bytes_of(path / "below") is None
    with pytest.raises(Unreadable, match="is no file"):
        bytes_of(tmp_path)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(Unreadable, match="is a link and is not read"):
        text_of(tmp_path / "link")
    with pytest.raises(Unreadable, match="a name that no file can have"):
        text_of("nul\0byte")


@pytest.mark.parametrize("text", ["", "{", "[1,", "[" * 100_000, '{"a": nope}', "\ud800"])
def test_what_is_no_json_is_refused_in_words(text: str) -> None:
    with pytest.raises(Unreadable, match=r"\Ais (?:no JSON: line 1: .+|nested too deep)\Z"):
        json_in(text)


def test_numbers_that_are_too_long_stay_text() -> None:
    assert json_in("9" * 5_000) == "9" * 5_000
    assert math.isnan(json_in("NaN"))


def test_a_reader_keeps_what_was_broken_and_since_when(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text("{")
    os.utime(tmp_path / "half.json", (1_000, 1_000))
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "good.json").write_text(json.dumps({"a": 1}))
    reader = FolderReader(tmp_path, "run")
    assert (reader.json("good.json"), reader.json("none.json"), reader.json("half.json")) == ({"a": 1}, None, None)
    assert reader.json("folder.json") is None
    assert set(reader.broken) == {"run/half.json", "run/folder.json"}
    assert reader.broken["run/folder.json"] == "is no file"
    assert reader.half_written == 1_000
    assert reader.names() == ["folder.json", "good.json", "half.json"]
